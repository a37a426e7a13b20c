"""`designstudio power`: what more trials or participants would buy."""

from pathlib import Path
from typing import Annotated, Any

import pandas as pd
import typer
import xarray as xr
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from designstudio.cli.options import CostFileOption, JsonOption, check_output, use_cost_file, write_json
from designstudio.cli.progress import show_progress
from designstudio.errors import StudioError


def power(
    study: Annotated[Path, typer.Argument(help="A study file with goals.", metavar="STUDY")],
    along: Annotated[
        str, typer.Option(help="trials, participants, a level such as 'sigma[1]', or stimuli.high.")
    ] = "trials",
    values: Annotated[str, typer.Option(help="Its values.")] = "30,60,120,240",
    participants: Annotated[
        str | None, typer.Option(help="Also along participants, such as 10,20,40: power over participants and trials.")
    ] = None,
    design: Annotated[str | None, typer.Option(help="Name of the design to vary; default: the study's first.")] = None,
    fidelity: Annotated[str | None, typer.Option(help="information, importance or nuts.")] = None,
    datasets: Annotated[int | None, typer.Option(help="Simulated participants for each point.")] = None,
    out: Annotated[Path | None, typer.Option(help="Where to draw the curves (.png or .svg).", metavar="FILE")] = None,
    cost_file: CostFileOption = None,
    json: JsonOption = None,
) -> None:
    """Show the chance to reach each goal of a study along a variable of its design.

    Example: designstudio power study.toml --design two-levels --along trials --values 30,60,120
    """
    from designstudio.evaluate.curves import map_power, trace_power  # noqa: PLC0415  (keeps `designstudio --help` fast)
    from designstudio.study.file import read_study  # noqa: PLC0415

    use_cost_file(cost_file)
    check_output(json)
    check_output(out)
    question = read_study(study).replace(fidelity=fidelity, num_datasets=datasets)
    chosen = question.designs[0] if design is None else question.design(design)
    numbers = _parse(values, "--values")
    with show_progress("Computing power") as progress:
        if participants is None:
            result = trace_power(question, chosen, along, numbers, progress=progress)
        else:
            if along != "trials":
                raise StudioError(f"--participants goes with --along trials, but --along {along} was given.")
            trials, people = ([int(v) for v in part] for part in (numbers, _parse(participants, "--participants")))
            result = map_power(question, chosen, trials=trials, participants=people, progress=progress)
    for goal in result["goal"].values:
        Console().print(_as_table(result.sel(goal=goal), str(goal), chosen.name))
    if out is not None:
        draw_power(result, out)
        typer.echo(f"Wrote {out}.")
    write_json(json, {"design": chosen.name, "points": _as_records(result)})


def draw_power(result: xr.Dataset, *paths: Path) -> None:
    """Draw a curve, or contours over participants and trials, into one file or several."""
    from designstudio.viz.figures import save_figure  # noqa: PLC0415  (imports the plotting stack)
    from designstudio.viz.power import draw_power_contours, draw_power_curve  # noqa: PLC0415

    if "participants" in result.dims and "trials" in result.dims:
        save_figure(draw_power_contours(result["value"].isel(goal=0)), *paths)
    else:
        save_figure(draw_power_curve(result), *paths)


def _as_table(result: xr.Dataset, goal: str, design: str) -> Table:
    table = Table(title=f"{design}: chance that\n{goal}", box=SIMPLE_HEAD)
    columns = str(result["value"].dims[-1])
    rows = str(result["value"].dims[0]) if result["value"].ndim > 1 else None
    table.add_column(rows or columns, justify="right")
    if rows is None:
        table.add_column("chance", justify="right")
        for value in result[columns].values:
            point = result.sel({columns: value})
            table.add_row(f"{value:g}", f"{float(point['value']):.2f} ± {float(point['mcse']):.2f}")
        return table
    for value in result[columns].values:
        table.add_column(f"{value:g} {columns}", justify="right")
    for row in result[rows].values:
        cells = [result.sel({rows: row, columns: value}) for value in result[columns].values]
        table.add_row(f"{row:g}", *(f"{float(cell['value']):.2f} ± {float(cell['mcse']):.2f}" for cell in cells))
    return table


def _as_records(result: xr.Dataset) -> list[dict[str, Any]]:
    frame = result.to_dataframe().reset_index()
    return [{key: None if pd.isna(value) else value for key, value in record.items()} for record in frame.to_dict("records")]


def _parse(text: str, option: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise StudioError(f"{option} takes numbers such as 30,60,120, but {text!r} was given.") from None
