"""`designstudio power`: what more trials or participants would buy."""

from pathlib import Path
from typing import Annotated

import typer
import xarray as xr
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from designstudio.cli.notes import note
from designstudio.cli.options import CostFileOption, JsonOption, print_files, write_json
from designstudio.cli.progress import show_progress
from designstudio.core.files import check_file
from designstudio.errors import StudioError

FIGURES = (".png", ".svg")


def power(
    study: Annotated[Path, typer.Argument(help="A study file with goals.", metavar="STUDY")],
    along: Annotated[
        str, typer.Option(help="trials, participants, a level such as 'sigma[1]', or stimuli.high.")
    ] = "trials",
    values: Annotated[
        str | None, typer.Option(help="Its values; default: 30,60,120,240. With --target: the fewest and the most to try.")
    ] = None,
    target: Annotated[
        float | None, typer.Option(help="With --along participants: find how many reach this power, such as --target 0.8.")
    ] = None,
    participants: Annotated[
        str | None, typer.Option(help="Also along participants, such as 10,20,40: power over participants and trials.")
    ] = None,
    design: Annotated[str | None, typer.Option(help="Name of the design to vary; default: the study's first.")] = None,
    fidelity: Annotated[str | None, typer.Option(help="information, importance or nuts.")] = None,
    datasets: Annotated[int | None, typer.Option(help="Simulated participants for each point.")] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder for curves and figure, or a .png or .svg file.", metavar="DIR")
    ] = None,
    cost_file: CostFileOption = None,
    json: JsonOption = None,
) -> None:
    """Show the chance to reach each goal of a study along a variable of its design, or find how many participants it needs.

    Example: designstudio power study.toml --design two-levels --along trials --values 30,60,120
    """
    from designstudio.runs.power import PowerRequest, describe_power, find_target, run_power  # noqa: PLC0415  (keeps `--help` fast)

    check_file(json)
    is_figure = out is not None and out.suffix in FIGURES
    check_file(out if is_figure else None)
    request = PowerRequest(
        study,
        along,
        None if values is None else _parse(values, "--values"),
        None if participants is None else _parse(participants, "--participants"),
        design,
        fidelity,
        datasets,
        folder=None if is_figure else out,
        cost_file=cost_file,
        target=target,
    )
    with show_progress("Computing power") as progress:
        result = run_power(request, progress=progress, notify=note)
    for goal in result.points["goal"].values:
        Console().print(_as_table(result.points.sel(goal=goal), str(goal), result.design.name))
    described = describe_power(result)
    for answer in result.answers:
        Console().print(str(answer), markup=False, highlight=False)
    for sentence in described["warnings"]:
        Console().print(f"• {sentence}", markup=False, highlight=False)
    if out is not None and is_figure:
        from designstudio.viz.figures import save_figure  # noqa: PLC0415  (imports the plotting stack)
        from designstudio.viz.power import draw_power  # noqa: PLC0415

        save_figure(draw_power(result.points, **find_target(result)), out)
        typer.echo(f"Wrote {out}.")
    print_files(request.folder)
    write_json(json, described)


def _as_table(result: xr.Dataset, goal: str, design: str) -> Table:
    from designstudio.evaluate.curves import read_power  # noqa: PLC0415
    from designstudio.evaluate.power_words import format_chance, format_power  # noqa: PLC0415

    table = Table(title=escape(f"{design}: chance that\n{goal}"), box=SIMPLE_HEAD)
    columns = str(result["value"].dims[-1])
    rows = str(result["value"].dims[0]) if result["value"].ndim > 1 else None
    table.add_column(rows or columns, justify="right")
    if rows is None:
        table.add_column("chance", justify="right")
        table.add_column("effect absent", justify="right")
        for value in result[columns].values:
            power = read_power(result.sel({columns: value}))
            table.add_row(f"{value:g}", format_chance(power.present), format_chance(power.when_absent))
        return table
    table.caption = "in brackets: with the effect absent"
    for value in result[columns].values:
        table.add_column(f"{value:g} {columns}", justify="right")
    for row in result[rows].values:
        cells = [read_power(result.sel({rows: row, columns: value})) for value in result[columns].values]
        table.add_row(f"{row:g}", *map(format_power, cells))
    return table


def _parse(text: str, option: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise StudioError(f"{option} takes numbers such as 30,60,120, but {text!r} was given.") from None
