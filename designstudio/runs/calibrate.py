"""`calibrate`: simulation-based calibration of the whole chain from simulation to posterior."""

import dataclasses
from pathlib import Path
from typing import Any

import xarray as xr

from designstudio.core.progress import ProgressCallback
from designstudio.core.tables import write_csv
from designstudio.errors import StudioError
from designstudio.evaluate.calibration import Calibration, calibrate, quantity_symbols
from designstudio.inference.settings import FitSettings
from designstudio.metrics.calibration import score_calibration
from designstudio.model.actors import load_actor
from designstudio.model.costs import get_cost
from designstudio.model.likelihood.model import BehaviorModel
from designstudio.runs.folder import check_folder, use_cost_file


@dataclasses.dataclass(frozen=True)
class CalibrateRequest:
    """What is to be calibrated.

    Attributes:
        cost: by its name.
        num_datasets: how many are simulated and fitted.
        num_trials: in each condition.
        num_levels: uncertainty levels, each with perceptual noise of its own.
        fixed: parameters that the fit knows.
        seed: of everything random.
        folder: where ranks, table and figure are written; nowhere if None.
        actor: an actor file; by default the package's own for the cost.
        cost_file: a user's file of costs, which is executed.
        method: how data sets are fitted: `auto`, `importance` or `nuts`.
    """

    cost: str
    num_datasets: int = 200
    num_trials: int = 60
    num_levels: int = 1
    fixed: tuple[str, ...] = ()
    seed: int = 1
    folder: Path | None = None
    actor: Path | None = None
    cost_file: Path | None = None
    method: str = "auto"


def run_calibrate(request: CalibrateRequest, *, progress: ProgressCallback | None = None) -> Calibration:
    """Simulate, fit and rank, and write the folder of the run."""
    use_cost_file(request.cost_file)
    check_folder(request.folder)
    get_cost(request.cost)
    for name, value, least in (
        ("--datasets", request.num_datasets, 20),
        ("--trials", request.num_trials, 3),
        ("--levels", request.num_levels, 1),
    ):
        if value < least:
            raise StudioError(f"{name} must be at least {least}, but {value} was given.")
    settings = FitSettings(method=request.method, keeps_log_likelihood=False)
    actor = load_actor(request.cost if request.actor is None else request.actor)
    noise = actor.family.perceptual_noise.name
    model = BehaviorModel(
        actor,
        num_conditions=request.num_levels,
        per_condition=() if noise in request.fixed else (noise,),
        fixed=request.fixed,
    )
    result = calibrate(
        model,
        num_datasets=request.num_datasets,
        num_trials=request.num_trials,
        settings=settings,
        seed=request.seed,
        progress=progress,
    )
    if request.folder is not None:
        _write_calibration(result, quantity_symbols(model.parameters), request.folder)
    return result


def tabulate_ranks(cost: str, ranks: xr.Dataset) -> list[dict[str, Any]]:
    """One row a quantity: how far its ranks are from uniform."""
    scores = score_calibration(ranks)
    return [
        {
            "cost": cost,
            "quantity": str(name),
            "datasets": int(row["num_datasets"]),
            "failed": int(row["num_failed"]),
            "max_deviation": round(float(row["max_deviation"]), 4),
            "band_used": round(float(row["band_used"]), 3),
            "is_inside": bool(row["is_inside"]),
            "mean_rank": round(float(row["mean_rank"]), 4),
            "chi_square_p": round(float(row["chi_square_p"]), 4),
        }
        for name in scores["quantity"].values
        for row in [scores.sel(quantity=name)]
    ]


def list_files(cost: str) -> tuple[str, str, str]:
    """Names of what a calibration writes: table, ranks, figure."""
    return f"{cost}_table.csv", f"{cost}_ranks.csv", f"{cost}.png"


def _write_calibration(result: Calibration, symbols: dict[str, str], folder: Path) -> None:
    from designstudio.viz.calibration import draw_calibration  # noqa: PLC0415  (imports the plotting stack)
    from designstudio.viz.figures import save_figure  # noqa: PLC0415

    table, ranks, figure = list_files(result.cost)
    folder.mkdir(parents=True, exist_ok=True)
    write_csv(folder / table, tabulate_ranks(result.cost, result.ranks))
    columns = {str(name): result.ranks[name].values for name in result.ranks}
    write_csv(
        folder / ranks,
        [{name: f"{values[i]:.6f}" for name, values in columns.items()} for i in range(result.ranks.sizes["dataset"])],
    )
    save_figure(draw_calibration(result.ranks, title=f"Calibration of {result.cost}", symbols=symbols), folder / figure)
