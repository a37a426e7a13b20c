"""`designstudio sweep`: a design over a grid of values."""

from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from designstudio.cli.notes import note, notes_console
from designstudio.cli.options import CostFileOption, JsonOption, print_files, write_json
from designstudio.cli.progress import show_progress
from designstudio.cli.search import StorageOption
from designstudio.cli.stopping import describe_stop, stop_on_signal
from designstudio.cli.wide_tables import TableColumn, print_wide
from designstudio.core.files import check_file
from designstudio.errors import StudioError
from designstudio.metrics.monte_carlo import Score

if TYPE_CHECKING:
    from designstudio.search.sweep import SweepResult

# Letters of a head's line, if its words allow.
HEAD_WIDTH = 14


def sweep(
    study: Annotated[Path, typer.Argument(help="A study file.", metavar="STUDY")],
    along: Annotated[
        list[str], typer.Option(help="A variable with its values: trials=30:300:30 or 'sigma[1]=0.1,0.2'. Up to two.")
    ],
    design: Annotated[str | None, typer.Option(help="Name of the design to vary; default: the study's first.")] = None,
    fidelity: Annotated[str | None, typer.Option(help="information, importance or nuts.")] = None,
    datasets: Annotated[int | None, typer.Option(help="Simulated participants for each point.")] = None,
    workers: Annotated[int, typer.Option(help="Processes that work at the same time.")] = 1,
    storage: StorageOption = None,
    seed: Annotated[int | None, typer.Option(help="Seed of everything random.")] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder of the sweep; default: the study's name with -sweep.", metavar="DIR")
    ] = None,
    cost_file: CostFileOption = None,
    json: JsonOption = None,
) -> None:
    """Evaluate a design over a grid of values, by as many workers as there are: power curves and contours.

    Everything finished is kept in the folder of the sweep: after Ctrl-C the same command goes on.

    Example: designstudio sweep study.toml --along trials=30:300:30 --along participants=10:40:10 --workers 2
    """
    from designstudio.runs.sweep import SweepRequest, run_sweep  # noqa: PLC0415  (keeps `designstudio --help` fast)
    from designstudio.search.sweep import parse_along  # noqa: PLC0415

    check_file(json)
    variables = dict(parse_along(text) for text in along)
    if len(variables) < len(along):
        raise StudioError("A sweep goes along one variable or two different ones.")
    folder = out if out is not None else Path(f"{study.stem}-sweep")
    request = SweepRequest(study, variables, folder, design, fidelity, datasets, seed, workers, storage, cost_file)
    console = notes_console()
    with (
        stop_on_signal(lambda: console.print("Stopping after the points that have begun ...")) as should_stop,
        show_progress("Sweeping") as progress,
    ):
        result = run_sweep(request, progress=progress, notify=note, should_stop=should_stop)
    console = Console()
    _print_table(result, console)
    for sentence in result.overview().notes:
        Console().print(f"• {sentence}", markup=False, highlight=False)
    if not result.is_finished:
        typer.echo(describe_stop("sweep", {"out": folder}))
    print_files(folder)
    write_json(json, result.as_dict())


def _print_table(result: "SweepResult", console: Console) -> None:
    evaluations = [evaluation for _, evaluation in result.points]
    columns = [TableColumn(name, [f"{values[name]:g}" for values, _ in result.points]) for name in result.grid.along]
    num_keys = len(columns)
    columns.append(TableColumn("status", [evaluation.get("status", "-") for evaluation in evaluations], is_text=True))
    columns.append(TableColumn("failed", [str(evaluation["convergence"]["failed"]) for evaluation in evaluations]))
    for goal in dict.fromkeys(goal for evaluation in evaluations for goal in evaluation["power"]):
        powers = [evaluation["power"].get(goal) for evaluation in evaluations]
        columns.append(TableColumn(_break(f"P({goal})"), [Score.from_dict(power).chance for power in powers]))
        # An interval that should be narrow has no rate of its own.
        rates = [(power or {}).get("when_absent") for power in powers]
        if any(rates):
            absent = [Score.from_dict(rate).chance for rate in rates]
            columns.append(TableColumn(_break(f"P({goal}), effect absent"), absent))
    for name in dict.fromkeys(name for evaluation in evaluations for name in evaluation["recovery"]):
        errors = [str(Score.from_dict(evaluation["recovery"].get(name, {}).get("rmse"))) for evaluation in evaluations]
        columns.append(TableColumn(f"RMSE of\n{name}", errors))
    print_wide(
        console,
        f"{result.grid.design}: {result.question.title}".rstrip(": "),
        columns,
        num_keys=num_keys,
        note=f"{result.grid.num_datasets} data sets each, fidelity {result.grid.fidelity}. ± is the Monte Carlo error.",
    )


def _break(head: str) -> str:
    """Over lines, between words."""
    return fill(head, HEAD_WIDTH, break_long_words=False, break_on_hyphens=False)
