"""`designstudio calibrate`: simulation-based calibration of the whole chain from simulation to posterior."""

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from designstudio.cli.options import ActorOption, CostFileOption, JsonOption, write_json
from designstudio.cli.progress import show_progress
from designstudio.core.files import check_file


def calibrate_cost(
    cost: Annotated[str, typer.Argument(help="Name of the cost.")],
    datasets: Annotated[int, typer.Option(help="How many data sets to simulate and fit.")] = 200,
    trials: Annotated[int, typer.Option(help="Trials in each condition.")] = 60,
    levels: Annotated[int, typer.Option(help="Uncertainty levels, each with its own sigma.")] = 1,
    fixed: Annotated[list[str] | None, typer.Option(help="A parameter that the fit knows; may be repeated.")] = None,
    method: Annotated[str, typer.Option(help="How to fit: auto, importance or nuts.")] = "auto",
    seed: Annotated[int, typer.Option(help="Seed of everything random.")] = 1,
    out: Annotated[Path | None, typer.Option(help="Folder for ranks, table and figure.", metavar="DIR")] = None,
    actor: ActorOption = None,
    cost_file: CostFileOption = None,
    json: JsonOption = None,
) -> None:
    """Check that posteriors mean what they say: ranks of true values among posterior draws must be uniform.

    Example: designstudio calibrate quadratic_effort --datasets 1000 --out calibration
    """
    from designstudio.metrics.failed import say_most_often  # noqa: PLC0415  (keeps `designstudio --help` fast)
    from designstudio.runs.calibrate import (  # noqa: PLC0415  (keeps `designstudio --help` fast)
        CalibrateRequest,
        list_files,
        run_calibrate,
        tabulate_ranks,
    )

    check_file(json)
    request = CalibrateRequest(cost, datasets, trials, levels, tuple(fixed or ()), seed, out, actor, cost_file, method)
    with show_progress(f"Calibrating {cost}") as progress:
        result = run_calibrate(request, progress=progress)
    rows = tabulate_ranks(cost, result.ranks)
    Console().print(_as_table(cost, rows))
    stages = dict(zip(*np.unique(result.diagnostics["stage"].values, return_counts=True), strict=True))
    typer.echo("Fitted by " + ", ".join(f"{stage}: {count}" for stage, count in stages.items()) + ".")
    is_good = result.diagnostics["is_good"].values
    num_failed = int((~is_good).sum())
    why = say_most_often(is_good, result.diagnostics["reason"].values)
    typer.echo(f"{num_failed} of {datasets} fits failed{why}; they are counted, and have no rank.")
    if out is not None:
        table, ranks, figure = list_files(cost)
        typer.echo(f"Wrote {table}, {ranks} and {figure} to {out}.")
    write_json(json, {"cost": cost, "datasets": datasets, "seed": seed, "num_failed": num_failed, "quantities": rows})


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
