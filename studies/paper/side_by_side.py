"""Put the paper's numbers and ours side by side into README.

    python studies/paper/side_by_side.py

The paper's mean squared errors are themselves averages over 100 simulated data sets, with an error about as large as ours. A
number agrees if it lies within two errors of the difference.
"""

import math
from pathlib import Path

from designstudio.core.tables import as_markdown, fill_blocks, read_csv

HERE = Path(__file__).parent
# Tables of the paper's appendix: study, actor, parameter, mean squared error.
PAPER = (
    ("quadratic", "exact", "mu_0", 0.10),
    ("quadratic", "amortized", "mu_0", 0.10),
    ("quadratic", "exact", "sigma_0", 3.98e-4),
    ("quadratic", "amortized", "sigma_0", 3.77e-4),
    ("quadratic", "exact", "sigma_r", 6.23e-4),
    ("quadratic", "amortized", "sigma_r", 6.13e-4),
    ("quadratic_effort", "exact", "mu_0", 0.74),
    ("quadratic_effort", "amortized", "mu_0", 0.77),
    ("quadratic_effort", "exact", "sigma_0", 3.63e-4),
    ("quadratic_effort", "amortized", "sigma_0", 4.08e-4),
    ("quadratic_effort", "exact", "sigma_r", 4.87e-4),
    ("quadratic_effort", "amortized", "sigma_r", 4.86e-4),
    ("quadratic_effort", "exact", "beta", 8.97e-4),
    ("quadratic_effort", "amortized", "beta", 8.97e-3),
    ("asymmetric_quadratic", "amortized", "mu_0", 0.34),
    ("asymmetric_quadratic", "amortized", "sigma_0", 3.87e-4),
    ("asymmetric_quadratic", "amortized", "sigma_r", 5.05e-4),
    ("asymmetric_quadratic", "amortized", "alpha", 3.23e-2),
)


def main() -> None:
    """Rewrite README."""
    path = HERE / "README.md"
    path.write_text(fill(path.read_text()))


def fill(text: str) -> str:
    """README with its tables made anew from the result files."""
    blocks = {
        "numbers": as_markdown(compare_numbers()),
        "fixing": as_markdown(list_fixing()),
        "times": as_markdown(list_times()),
        "designs": as_markdown(read("disentangling", "designs.csv")),
        "actors": as_markdown(
            [{"cost": cost, **row} for cost in ("quadratic", "quadratic_effort") for row in read(cost, "actors.csv")]
        ),
    }
    return fill_blocks(text, blocks)


def compare_numbers() -> list[dict[str, str]]:
    """One row for every number of the paper's tables."""
    rows = []
    for study, actor, parameter, paper in PAPER:
        ours = find(study, actor=actor, parameter=parameter, fixed="nothing", preset="nuts")
        value, error = float(ours["mse"]), float(ours["mcse"])
        distance = (value - paper) / (math.sqrt(2) * error)
        verdict = "agrees" if abs(distance) < 2 else f"{value / paper:.2g} times the paper's"
        rows.append(
            {
                "cost": study,
                "actor": actor,
                "MSE of": parameter,
                "paper": f"{paper:.3g}",
                "ours": f"{value:.3g} ± {error:.1g}",
                "errors apart": f"{distance:+.1f}",
                "verdict": verdict,
            }
        )
    return rows


def list_fixing() -> list[dict[str, str]]:
    """How fixing one of two confounded parameters helps the other."""
    rows = []
    for study, watched in (
        ("quadratic_effort", ("mu_0", "beta")),
        ("asymmetric_quadratic", ("mu_0", "alpha")),
        ("sigma", ("sigma_0", "sigma")),
    ):
        for fixed in dict.fromkeys(row["fixed"] for row in read(study, "mse.csv")):
            row = {"study": study, "fixed besides": fixed}
            for place, parameter in enumerate(watched):
                found = [r for r in select(study, actor="amortized", fixed=fixed) if r["parameter"] == parameter]
                row[f"MSE of {'prior' if place == 0 else 'other'}"] = (
                    f"{parameter} {float(found[0]['mse']):.3g} ± {float(found[0]['mcse']):.1g}"
                    if found
                    else f"{parameter} known"
                )
            rows.append(row)
    return rows


def list_times() -> list[dict[str, str]]:
    """The studio's default and the paper's number of draws."""
    rows = []
    for study in ("quadratic", "quadratic_effort"):
        for preset in ("nuts", "paper"):
            chosen = select(study, actor="exact", fixed="nothing", preset=preset)
            mse = ", ".join(f"{row['parameter']} {float(row['mse']):.3g}" for row in chosen)
            first = chosen[0]
            counts = f"{first['converged']} / {first['failed']}"
            rows.append(
                {
                    "cost": study,
                    "preset": "studio: 4 x 500 draws" if preset == "nuts" else "paper: 4 x 5,000 draws",
                    "seconds for 100 data sets, compiling included": first["seconds"],
                    "converged / failed": counts,
                    "largest R-hat": first["max_rhat"],
                    "MSE": mse,
                }
            )
    return rows


def find(study: str, **wanted: str) -> dict[str, str]:
    """The one row of a study's errors that matches."""
    (row,) = select(study, **wanted)
    return row


def select(study: str, **wanted: str) -> list[dict[str, str]]:
    """Rows of a study's errors that match."""
    return [row for row in read(study, "mse.csv") if all(row[key] == value for key, value in wanted.items())]


def read(study: str, name: str) -> list[dict[str, str]]:
    """A result file."""
    return read_csv(HERE / study / "results" / name)


if __name__ == "__main__":
    main()
