"""One table and one figure from the calibrations of all costs.

python studies/calibration/summarize.py
"""

from pathlib import Path

import numpy as np
import xarray as xr

from designstudio.core.tables import read_csv, write_csv
from designstudio.evaluate.calibration import quantity_symbols
from designstudio.model.costs import PAPER_COST_NAMES, get_cost
from designstudio.runs.calibrate import tabulate_ranks
from designstudio.viz.calibration import draw_calibration_page
from designstudio.viz.figures import save_figure

RESULTS = Path(__file__).parent / "results"


def main() -> None:
    """Summarise the ranks that are there."""
    by_cost = {name: read_ranks(name) for name in PAPER_COST_NAMES if (RESULTS / f"{name}_ranks.csv").exists()}
    rows = [row for name, ranks in by_cost.items() for row in tabulate_ranks(name, ranks)]
    write_csv(RESULTS / "summary.csv", rows)
    outside = [f"{row['quantity']} ({row['cost']})" for row in rows if not row["is_inside"]]
    print(f"{len(rows)} quantities of {len(by_cost)} costs; outside their band: {', '.join(outside) or 'none'}.")
    failed = {row["cost"]: row["failed"] for row in rows}
    print("Failed fits: " + ", ".join(f"{name} {count}" for name, count in failed.items()) + ".")
    symbols = quantity_symbols(parameter for name in by_cost for parameter in get_cost(name).all_parameters)
    figure = draw_calibration_page(by_cost, title="Simulation-based calibration", symbols=symbols)
    save_figure(figure, RESULTS / "calibration.png")


def read_ranks(name: str) -> xr.Dataset:
    """Ranks of one cost."""
    rows = read_csv(RESULTS / f"{name}_ranks.csv")
    columns = {quantity: np.array([float(row[quantity]) for row in rows]) for quantity in rows[0]}
    # A rank is never quite 0 or 1, where the band has no width; rounded to four digits it may be.
    return xr.Dataset({quantity: ("dataset", np.clip(ranks, 5e-5, 1 - 5e-5)) for quantity, ranks in columns.items()})


if __name__ == "__main__":
    main()
