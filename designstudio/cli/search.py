"""`designstudio search`: find the best design."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console, Group
from rich.live import Live
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar
from rich.table import Table

from designstudio.cli.notes import notes_console
from designstudio.cli.options import CostFileOption, JsonOption, print_files, write_json
from designstudio.cli.stopping import describe_stop, stop_on_signal
from designstudio.core.durations import format_estimate
from designstudio.core.files import check_file
from designstudio.errors import StudioError

if TYPE_CHECKING:
    from designstudio.core.progress import Progress, ProgressCallback
    from designstudio.search.records import CandidateRecord
    from designstudio.search.search_result import SearchResult
    from designstudio.study import Objective

DEFAULT_CANDIDATES = 100
StorageOption = Annotated[
    str | None,
    typer.Option("--storage", help="Address of a database to share, such as postgresql://user@host/name.", metavar="URL"),
]


def search(
    study: Annotated[Path, typer.Argument(help="A study file that says what to search for.", metavar="STUDY")],
    candidates: Annotated[
        int | None, typer.Option("--candidates", "--trials", help=f"Designs to try; default: {DEFAULT_CANDIDATES}.")
    ] = None,
    minutes: Annotated[float | None, typer.Option(help="Search for so long instead.")] = None,
    workers: Annotated[int, typer.Option(help="Processes; with 1 the result depends on the study file alone.")] = 1,
    storage: StorageOption = None,
    resume: Annotated[bool, typer.Option("--resume", help="Refuse to begin a new search.")] = False,
    seed: Annotated[int | None, typer.Option(help="Seed of everything random.")] = None,
    heartbeat: Annotated[int, typer.Option(help="Seconds between signs of life, in a shared database.")] = 10,
    out: Annotated[
        Path | None, typer.Option(help="Folder of the search; default: the study's name with -search.", metavar="DIR")
    ] = None,
    cost_file: CostFileOption = None,
    json: JsonOption = None,
) -> None:
    """Search the designs that a study allows for the best one, and check the finalists on fresh data.

    Everything finished is kept in the folder of the search: after Ctrl-C the same command goes on.

    Example: designstudio search study.toml --candidates 100 --out my-search --json result.json
    """
    from designstudio.runs.folder import use_cost_file  # noqa: PLC0415
    from designstudio.runs.search import SearchRequest, run_search  # noqa: PLC0415  (keeps `designstudio --help` fast)
    from designstudio.search.run_search import Budget  # noqa: PLC0415
    from designstudio.study.file import read_study  # noqa: PLC0415

    use_cost_file(cost_file)
    check_file(json)
    if candidates is not None and minutes is not None:
        raise StudioError("Give --candidates or --minutes, not both.")
    budget = (
        Budget(minutes=minutes) if minutes is not None else Budget(DEFAULT_CANDIDATES if candidates is None else candidates)
    )
    folder = out if out is not None else Path(f"{study.stem}-search")
    request = SearchRequest(
        study, folder, budget, seed, workers, storage=storage, heartbeat=heartbeat, must_exist=resume, cost_file=cost_file
    )
    console = notes_console()
    said = "Stopping after the candidates that have begun ..."
    with (
        stop_on_signal(lambda: console.print(said)) as should_stop,
        _show(console, _first_objective(read_study(study))) as progress,
    ):
        result = run_search(
            request,
            progress=progress,
            should_stop=should_stop,
            notify=lambda sentence: console.print(sentence, markup=False),
        )
    _print_result(result, folder)
    print_files(folder)
    write_json(json, result.as_dict())


def _first_objective(question: Any) -> "Objective | None":
    from designstudio.search.estimates import list_objectives  # noqa: PLC0415

    return list_objectives(question)[0] if question.search is not None else None


@contextmanager
def _show(console: Console, objective: "Objective | None") -> Iterator["ProgressCallback"]:
    """A bar and the best designs so far, on the terminal's error stream."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[note]}"))
    bar = Bar(*columns, TimeElapsedColumn(), console=console)
    task = bar.add_task("Preparing", total=None, note="compiling")
    with Live(bar, console=console, transient=True, refresh_per_second=4) as live:

        def update(progress: "Progress") -> None:
            for note in progress.details.get("notes", ()):
                console.print(note, markup=False)
            left = "" if progress.seconds_left is None else f", {format_estimate(progress.seconds_left)} left"
            pruned = f", {progress.details['num_pruned']} given up early" if progress.details.get("num_pruned") else ""
            bar.update(
                task,
                description=f"{progress.stage[0].upper()}{progress.stage[1:]}",
                total=progress.num_total,
                completed=progress.num_done,
                note=f"{progress.unit}{pruned}{left}",
            )
            best = progress.details.get("best")
            live.update(Group(_table_of_best(best, objective), bar) if best else bar)

        yield update


def _table_of_best(best: Sequence["CandidateRecord"], objective: "Objective | None") -> Table:
    from designstudio.study.design.description import format_cells  # noqa: PLC0415

    table = Table(title="Best designs so far", box=SIMPLE_HEAD)
    for column in ("candidate", "levels", "trials", "stimuli", escape(objective.label) if objective else ""):
        table.add_column(column, justify="left" if column == "stimuli" else "right")
    for record in best:
        score = record.scores[objective.label] if objective else ""
        cells = format_cells(record.design)
        table.add_row(str(record.number), cells.levels, cells.trials, cells.stimuli, str(score))
    return table


def _print_result(result: "SearchResult", folder: Path) -> None:
    from designstudio.search.verdict import describe_search  # noqa: PLC0415

    console = Console(highlight=False)
    if result.verification is not None and result.verification.ranked:
        console.print(_table_of_finalists(result))
    for sentence in describe_search(result):
        console.print(f"• {sentence}", markup=False)
    console.print(f"{result.compilations} programs compiled, {result.seconds:.0f} s of work.")
    if result.verification is None:
        console.print(describe_stop("search", {"out": folder}), soft_wrap=True, markup=False)


def _table_of_finalists(result: "SearchResult") -> Table:
    from designstudio.search.search_overview import tabulate_finalists  # noqa: PLC0415

    plan = result.question.search
    fresh = f"{plan.num_fresh} fresh data sets, {plan.verify_fidelity}" if plan else ""
    table = Table(
        title=escape(result.question.title or "Finalists"),
        caption=f"The last column of each score is from {fresh}. ± is the Monte Carlo error.",
        box=SIMPLE_HEAD,
    )
    columns, rows = tabulate_finalists(result)
    for column in columns:
        # Names stay whole: sentences speak of them.
        table.add_column(escape(column), justify="right" if "\n" in column else "left", no_wrap=not column)
    for row in rows:
        table.add_row(*map(escape, row))
    return table
