"""`designstudio plan`: from the fits of a pilot to the study of the next experiment."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from designstudio.cli.options import CostFileOption, JsonOption, print_files, write_json
from designstudio.cli.progress import show_progress
from designstudio.core.files import check_file
from designstudio.errors import StudioError

if TYPE_CHECKING:
    import xarray as xr

    from designstudio.fitting.plan import Plan


def plan(
    source: Annotated[Path, typer.Option("--from", help="Folder of the fits.", metavar="FIT_DIR")],
    cost: Annotated[str | None, typer.Option(help="Which fits; default: those of the cost that predicts best.")] = None,
    out: Annotated[
        Path, typer.Option(help="The study file to write, or a folder for all about the plan.", metavar="FILE")
    ] = Path("study.toml"),
    datasets: Annotated[int, typer.Option(help="Simulated participants to check the plan with; 0 for no check.")] = 100,
    figure: Annotated[
        Path | None, typer.Option(help="A .png or .svg file for a figure of the check.", metavar="FILE")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the study file if there is one.")] = False,
    cost_file: CostFileOption = None,
    json: JsonOption = None,
) -> None:
    """Turn fitted subjects into a study: they become its population, their experiment the design to beat.

    Then compare how precisely they were fitted with how precisely the plan says they would be.

    Example: designstudio plan --from fits --out study.toml
    """
    from designstudio.runs.plan import PLANNED, PlanRequest, describe_plan, run_plan  # noqa: PLC0415  (keeps `--help` fast)

    check_file(json)
    check_file(figure)
    if figure is not None and (figure.suffix not in (".png", ".svg") or datasets == 0):
        raise StudioError(f"--figure takes a .png or .svg file, and needs the check of --datasets, but {figure} was given.")
    is_file = out.suffix == ".toml"
    request = PlanRequest(source, cost, datasets, out if is_file else None, force, None if is_file else out, cost_file)
    with show_progress("Comparing with the pilot") as progress:
        result = run_plan(request, progress=progress)
    print_plan(result)
    if result.precision is not None:
        print_precision(result.precision)
    if figure is not None and result.precision is not None:
        from designstudio.viz.figures import save_figure  # noqa: PLC0415  (imports the plotting stack)
        from designstudio.viz.precision import draw_precision  # noqa: PLC0415

        save_figure(draw_precision(result.precision, title=f"{result.fit.name}: planned and achieved precision"), figure)
        typer.echo(f"Wrote {figure}.")
    print_files(request.folder)
    path = out if is_file else out / PLANNED
    name = shlex.quote(str(path))
    typer.echo(
        f"\nWrote {path}. Change what you like, then run\n  designstudio evaluate {name}\n  designstudio search {name}"
    )
    write_json(json, describe_plan(result))


def print_plan(plan: "Plan") -> None:
    """The population, the pilot and what to know about both, in words."""
    from designstudio.fitting.plan_words import describe_pilot, describe_population  # noqa: PLC0415

    study, console = plan.study, Console(highlight=False)
    for title, sentences in (
        (study.title, plan.notes),
        (f"People who minimise {study.cost}", describe_population(study)),
        ("The pilot", [describe_pilot(study)]),
    ):
        console.print(f"\n{title}", markup=False)
        for sentence in sentences:
            console.print(f"• {sentence}", markup=False)


def print_precision(precision: "xr.Dataset") -> None:
    """Planned against achieved, as a table."""
    from designstudio.fitting.plan import PRECISION_COLUMNS, tabulate_precision  # noqa: PLC0415

    caption = (
        f"Mean posterior sd: of {precision.attrs['num_simulated']} simulated participants, with its Monte Carlo error, and "
        f"of {precision.attrs['num_subjects']} subjects, with its standard error. Above 1: the pilot was less precise."
    )
    table = Table(title="Planned and achieved precision", caption=caption, box=SIMPLE_HEAD, pad_edge=False)
    for name in PRECISION_COLUMNS:
        table.add_column(name, justify="left" if name in ("", "unit") else "right")
    for row in tabulate_precision(precision):
        table.add_row(*row)
    Console().print(table)
