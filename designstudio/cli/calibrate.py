"""`designstudio calibrate`: simulation-based calibration of the whole chain from simulation to posterior."""

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
import xarray as xr
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from designstudio.cli.options import ActorOption, CostFileOption, JsonOption, check_output, use_cost_file, write_json
from designstudio.cli.progress import show_progress
from designstudio.core.tables import write_csv
from designstudio.errors import StudioError
from designstudio.model.actors import load_actor
from designstudio.model.costs import get_cost


def calibrate_cost(
    cost: Annotated[str, typer.Argument(help="Name of the cost.")],
    datasets: Annotated[int, typer.Option(help="How many data sets to simulate and fit.")] = 200,
    trials: Annotated[int, typer.Option(help="Trials in each condition.")] = 60,
    levels: Annotated[int, typer.Option(help="Uncertainty levels, each with its own sigma.")] = 1,
    fixed: Annotated[list[str] | None, typer.Option(help="A parameter that the fit knows; may be repeated.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of everything random.")] = 1,
    out: Annotated[Path | None, typer.Option(help="Folder for ranks, table and figure.", metavar="DIR")] = None,
    actor: ActorOption = None,
    cost_file: CostFileOption = None,
    json: JsonOption = None,
) -> None:
    """Check that posteriors mean what they say: ranks of true values among posterior draws must be uniform.

    Example: designstudio calibrate quadratic_effort --datasets 1000 --out calibration
    """
    from designstudio.evaluate.calibration import calibrate  # noqa: PLC0415
    from designstudio.metrics.calibration import score_calibration  # noqa: PLC0415
    from designstudio.model.likelihood.model import BehaviorModel  # noqa: PLC0415  (keeps `designstudio --help` fast)

    use_cost_file(cost_file)
    check_output(json)
    get_cost(cost)
    for name, value, least in (("--datasets", datasets, 20), ("--trials", trials, 3), ("--levels", levels, 1)):
        if value < least:
            raise StudioError(f"{name} must be at least {least}, but {value} was given.")
    known = tuple(fixed or ())
    loaded = load_actor(cost if actor is None else actor)
    noise = loaded.family.perceptual_noise.name
    model = BehaviorModel(loaded, num_conditions=levels, per_condition=() if noise in known else (noise,), fixed=known)
    with show_progress(f"Calibrating {cost}") as progress:
        result = calibrate(model, num_datasets=datasets, num_trials=trials, seed=seed, progress=progress)
    scores = score_calibration(result.ranks)
    rows = make_rows(cost, scores)
    Console().print(_as_table(cost, rows))
    stages = dict(zip(*np.unique(result.diagnostics["stage"].values, return_counts=True), strict=True))
    typer.echo("Fitted by " + ", ".join(f"{stage}: {count}" for stage, count in stages.items()) + ".")
    num_failed = int((~result.diagnostics["is_good"]).sum())
    typer.echo(f"{num_failed} of {datasets} fits failed; they are counted, and have no rank.")
    if out is not None:
        write_calibration(cost, result.ranks, rows, model.parameters, out)
    write_json(json, {"cost": cost, "datasets": datasets, "seed": seed, "num_failed": num_failed, "quantities": rows})


def make_rows(cost: str, scores: xr.Dataset) -> list[dict[str, Any]]:
    """One row a quantity."""
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


def write_calibration(cost: str, ranks: xr.Dataset, rows: list[dict[str, Any]], parameters: Any, out: Path) -> None:
    """Ranks and table as CSV, the figure as PNG."""
    from designstudio.evaluate.calibration import quantity_symbols  # noqa: PLC0415
    from designstudio.viz.calibration import draw_calibration  # noqa: PLC0415  (imports the plotting stack)
    from designstudio.viz.figures import save_figure  # noqa: PLC0415

    out.mkdir(parents=True, exist_ok=True)
    write_csv(out / f"{cost}_table.csv", rows)
    columns = {str(name): ranks[name].values for name in ranks}
    write_csv(
        out / f"{cost}_ranks.csv",
        [{name: f"{values[i]:.6f}" for name, values in columns.items()} for i in range(ranks.sizes["dataset"])],
    )
    figure = draw_calibration(ranks, title=f"Calibration of {cost}", symbols=quantity_symbols(parameters))
    save_figure(figure, out / f"{cost}.png")
    typer.echo(f"Wrote {cost}_table.csv, {cost}_ranks.csv and {cost}.png to {out}.")


def _as_table(cost: str, rows: list[dict[str, Any]]) -> Table:
    caption = "band used: largest deviation of the ranks' ECDF, as a share of the 95 % simultaneous band"
    table = Table(title=f"Calibration of {cost}, {rows[0]['datasets']} data sets", caption=caption, box=SIMPLE_HEAD)
    for header in ("quantity", "failed", "max deviation", "band used", "inside", "mean rank"):
        table.add_column(header, justify="left" if header == "quantity" else "right", no_wrap=True)
    for row in rows:
        table.add_row(
            row["quantity"],
            str(row["failed"]),
            f"{row['max_deviation']:.3f}",
            f"{row['band_used']:.2f}",
            "yes" if row["is_inside"] else "NO",
            f"{row['mean_rank']:.3f}",
        )
    return table
