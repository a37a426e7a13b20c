"""Put the committed results into README, between its markers.

    python studies/readme.py

Each block of README between `<!-- name:start -->` and `<!-- name:end -->` is made here from result files or from a command,
so no number in it is typed by hand. A test checks that README is up to date.
"""

import math
import statistics
from pathlib import Path

from typer.testing import CliRunner

from designstudio.cli import app
from designstudio.core.tables import as_markdown, fill_blocks, read_csv

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "studies" / "benchmark" / "results"


def main() -> None:
    """Rewrite README."""
    path = ROOT / "README.md"
    path.write_text(fill(path.read_text()))


def fill(text: str) -> str:
    """The text with every block made anew."""
    blocks = {
        "quickstart": make_output("quickstart"),
        "act": make_action(),
        "search": make_output("search"),
        "racing": make_racing(),
        "workers": as_markdown(read_rows("search_workers.csv")),
        "studio": as_markdown(read_rows("dashboard.csv")),
        "speed": as_markdown(read_rows("evaluations_speed.csv")),
        "agreement": as_markdown(read_rows("evaluations_agreement.csv")),
        "coverage": as_markdown(read_rows("evaluations_coverage.csv")),
        "accuracy": make_accuracy(),
        "throughput": as_markdown(read_rows("actors_throughput.csv")),
        "importance": as_markdown(read_rows("fits_importance.csv")),
        "latent": as_markdown(read_rows("nuts_speed.csv")),
    }
    return fill_blocks(text, blocks)


def make_output(study: str) -> str:
    """What the command of a study printed when its results were committed."""
    printed = (ROOT / "studies" / study / "results" / "output.txt").read_text()
    return "```\n" + "\n".join(line.rstrip() for line in printed.strip("\n").splitlines()) + "\n```"


def make_racing() -> str:
    """Five seeds of each search, taken together."""
    rows = read_rows("search_racing.csv")
    table = []
    for name in dict.fromkeys(row["search"] for row in rows):
        chosen = [row for row in rows if row["search"] == name]
        ratios = [float(row["log ratio to racing"]) for row in chosen]
        error = statistics.stdev(ratios) / math.sqrt(len(ratios))
        table.append(
            {
                "search": name,
                "searches": str(len(chosen)),
                "designs": f"{statistics.mean(int(row['designs']) for row in chosen):.0f}",
                "data sets fitted": f"{sum(int(row['data sets fitted']) for row in chosen):,}",
                "RMSE of winners, mean": f"{statistics.mean(float(row['RMSE of the winner, fresh']) for row in chosen):.4f}",
                "log ratio to racing, mean over seeds": f"{statistics.mean(ratios):+.3f} ± {error:.3f}",
            }
        )
    return as_markdown(table)


def make_action() -> str:
    """The output of the command that shows an actor at work."""
    result = CliRunner().invoke(app, ["act", "quadratic_effort"], env={"COLUMNS": "100", "NO_COLOR": "1"})
    return "```\n" + "\n".join(line.rstrip() for line in result.stdout.strip("\n").splitlines()) + "\n```"


def make_accuracy() -> str:
    """One row a cost: the package's actor, one trained to the promise, the paper's architecture."""
    by_cost: dict[str, dict[str, dict[str, str]]] = {}
    for row in read_rows("actors_training.csv"):
        by_cost.setdefault(row["cost"], {})[row["architecture"]] = row
    table = []
    for cost, rows in by_cost.items():
        ours, trained, paper = rows["coefficients (in the package)"], rows["coefficients"], rows["paper"]
        table.append(
            {
                "cost": f"`{cost}`",
                "median": ours["median"],
                "p99": ours["p99"],
                "max": ours["max"],
                "trained anew: median / p99": f"{trained['median']} / {trained['p99']}",
                "in": f"{float(trained['seconds']):.0f} s, {trained['steps']} steps",
                "paper's architecture: median / p99": f"{paper['median']} / {paper['p99']}",
                "steps": f"{int(paper['steps']):,}",
            }
        )
    return as_markdown(table)


def read_rows(name: str) -> list[dict[str, str]]:
    """A result file."""
    return read_csv(RESULTS / name)


if __name__ == "__main__":
    main()
