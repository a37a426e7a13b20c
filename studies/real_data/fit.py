"""Fit four published data sets under all seven costs, and compare the costs.

    python studies/real_data/fit.py [--only qu_shi]

Posteriors go to runs/real_data, tables and figures to results.
"""

import argparse
import csv
import time
from collections.abc import Mapping, Sequence

import numpy as np
from data import DATA_SETS, RESULTS, fit

from designstudio.cli.progress import show_progress
from designstudio.core.tables import write_csv
from designstudio.fitting.empirical_fit import EmpiricalFit
from designstudio.fitting.fit_verdict import list_lapses
from designstudio.metrics.monte_carlo import Score
from designstudio.viz.figures import save_figure
from designstudio.viz.fits import draw_fit

# Figures that are worth keeping with the project.
KEPT = ("comparison", "winners", "prior_means", "predictive", "cost_functions")


def main() -> None:
    """Fit, and write tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="*", choices=DATA_SETS, default=list(DATA_SETS))
    for name in parser.parse_args().only:
        started = time.process_time()
        with show_progress(name) as progress:
            result = fit(name, progress)
        counts = count_fits(result, time.process_time() - started)
        keep("fits.csv", name, [counts])
        keep("failures.csv", name, [{"data set": name, **failure._asdict()} for failure in result.failures])
        keep("comparison.csv", name, compare(result))
        keep("families.csv", name, compare_families(result))
        keep("lapses.csv", name, count_lapses(result))
        keep("checks.csv", name, check(result))
        draw(result)
        print(counts, flush=True)


def keep(file: str, name: str, rows: Sequence[Mapping[str, object]]) -> None:
    """Put the rows of one data set into a table, in place of those that were there; others get its columns."""
    path = RESULTS / file
    old = list(csv.DictReader(path.open())) if path.exists() else []
    columns = list((*rows, *old)[0]) if rows or old else []
    kept = [{column: row.get(column, "") for column in columns} for row in old if row["data set"] != name]
    if kept or rows:
        RESULTS.mkdir(exist_ok=True)
        write_csv(path, [*kept, *rows])


def count_fits(result: EmpiricalFit, seconds: float) -> dict[str, object]:
    """How many fits there are, how many converged, and how much time of the processor they took."""
    report = result.report
    num = len(result.subjects) * len(result.posteriors)
    failed = len(result.failures)
    return {
        "data set": result.name,
        "subjects": report.num_subjects,
        "conditions": report.num_conditions,
        "rows left out": report.num_rows - report.num_trials,
        "trials used": int(result.trials["is_present"].values.sum()),
        "fits": num,
        "converged": num - failed,
        "share converged": f"{(num - failed) / num:.1%}",
        "CPU seconds": f"{seconds:.0f}",
    }


def compare(result: EmpiricalFit) -> list[dict[str, object]]:
    """One row a cost."""
    assert result.comparison is not None
    total = result.comparison.total
    rows = []
    for cost in total["cost"].values:
        at = total.sel(cost=cost)
        rows.append(
            {
                "data set": result.name,
                "cost": str(cost),
                "elpd": f"{float(at['elpd']):.0f}",
                "difference": f"{float(at['difference']):.1f} ± {float(at['difference_se']):.1f}",
                "weight": f"{float(at['weight']):.2f}",
                "subjects won": str(Score(float(at["share_won"]), float(at["share_won_se"]))),
                "undecided": result.comparison.num_undecided,
            }
        )
    return rows


def count_lapses(result: EmpiricalFit) -> list[dict[str, object]]:
    """One row a cost: trials that are more likely lapses than not, and the rate of lapses of the median subject."""
    summary = result.summarize()["mean"].sel(parameter="lapse_rate")
    return [
        {
            "data set": result.name,
            "cost": cost,
            "probable lapses": len(list_lapses(result, cost)),
            "trials": int(result.trials["is_present"].values.sum()),
            "lapse rate, median subject": f"{float(summary.sel(cost=cost).median()):.4f}",
            "largest": f"{float(summary.sel(cost=cost).max()):.4f}",
        }
        for cost in result.posteriors
    ]


def check(result: EmpiricalFit) -> list[dict[str, object]]:
    """One row a cost: what is seen, what its fits expect, and the posterior predictive p-value."""
    rows = []
    for cost in result.posteriors:
        row: dict[str, object] = {"data set": result.name, "cost": cost}
        for name in result.predictive["check"].values:
            at = result.predictive.sel(cost=cost, check=name)
            seen, expected, sd, p = (float(at[part]) for part in ("observed", "expected", "sd", "p"))
            row[str(name)] = "-" if np.isnan(p) else f"{seen:.3f} ({expected:.3f} ± {sd:.3f}), p {p:.3f}"
        rows.append(row)
    return rows


def compare_families(result: EmpiricalFit) -> list[dict[str, object]]:
    """One row a family of costs."""
    assert result.comparison is not None
    families = result.comparison.families
    return [
        {
            "data set": result.name,
            "family": str(family),
            "subjects won": str(
                Score(float(families["share_won"].sel(family=family)), float(families["share_won_se"].sel(family=family)))
            ),
        }
        for family in families["family"].values
    ]


def draw(result: EmpiricalFit) -> None:
    """A few figures of each data set."""
    figures = draw_fit(result, subjects=result.subjects[:1])
    for name, figure in figures.items():
        if name.startswith(KEPT):
            save_figure(figure, RESULTS / f"{result.name}_{name}.png")


if __name__ == "__main__":
    main()
