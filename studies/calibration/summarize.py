"""One table and one figure from the calibrations of all costs.

python studies/calibration/summarize.py
"""

from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from designstudio.core.tables import read_csv, write_csv
from designstudio.evaluate.calibration import quantity_symbols
from designstudio.model.costs import PAPER_COST_NAMES, get_cost
from designstudio.runs.calibrate import tabulate_ranks
from designstudio.viz.calibration import draw_calibration_page
from designstudio.viz.figures import save_figure

RESULTS = Path(__file__).parent / "results"
FOLDERS = {"importance sampling first": RESULTS, "NUTS": RESULTS / "nuts"}


def main() -> None:
    """Summarise the ranks that are there."""
    rows = [row for method, folder in FOLDERS.items() for row in summarize(method, folder)]
    write_csv(RESULTS / "summary.csv", rows)


def summarize(method: str, folder: Path) -> list[dict[str, Any]]:
    """All quantities of all costs that were fitted by a method, and their figure."""
    by_cost = {name: read_ranks(folder, name) for name in PAPER_COST_NAMES if (folder / f"{name}_ranks.csv").exists()}
    rows = [{"method": method, **row} for name, ranks in by_cost.items() for row in tabulate_ranks(name, ranks)]
    outside = [f"{row['quantity']} ({row['cost']}, {row['band_used']})" for row in rows if not row["is_inside"]]
    print(f"{method}: {len(rows)} quantities of {len(by_cost)} costs; outside their band: {', '.join(outside) or 'none'}.")
    failed = {row["cost"]: row["failed"] for row in rows}
    print("Failed fits: " + ", ".join(f"{name} {count}" for name, count in failed.items()) + ".")
    symbols = quantity_symbols(parameter for name in by_cost for parameter in get_cost(name).all_parameters)
    figure = draw_calibration_page(by_cost, title=f"Simulation-based calibration: {method}", symbols=symbols)
    save_figure(figure, folder / "calibration.png")
    return rows


def read_ranks(folder: Path, name: str) -> xr.Dataset:
    """Ranks of one cost."""
    rows = read_csv(folder / f"{name}_ranks.csv")
    columns = {quantity: np.array([float(row[quantity]) for row in rows]) for quantity in rows[0]}
    # A rank is never quite 0 or 1, where the band has no width; rounded to four digits it may be.
    return xr.Dataset({quantity: ("dataset", np.clip(ranks, 5e-5, 1 - 5e-5)) for quantity, ranks in columns.items()})


if __name__ == "__main__":
    main()
