"""`designstudio evaluate`: what would these designs tell us?"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from designstudio.cli.notes import note
from designstudio.cli.options import CostFileOption, JsonOption, print_files, write_json
from designstudio.cli.progress import show_progress
from designstudio.core.files import check_file

if TYPE_CHECKING:
    from designstudio.evaluate.evaluate_study import StudyResult


def evaluate(
    study: Annotated[Path, typer.Argument(help="A study file; `designstudio init` writes one.", metavar="STUDY")],
    fidelity: Annotated[
        str | None, typer.Option(help="information (milliseconds), importance (below a second), nuts (seconds) or paper.")
    ] = None,
    datasets: Annotated[int | None, typer.Option(help="Simulated participants for each design.")] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of everything random.")] = None,
    out: Annotated[Path | None, typer.Option(help="Folder for scores, summaries and figures.", metavar="DIR")] = None,
    cost_file: CostFileOption = None,
    json: JsonOption = None,
) -> None:
    """Simulate, fit and score every design of a study, side by side, and say what that means.

    Options take the place of what the study file says. Finished work is kept: a rerun is instant.

    Example: designstudio evaluate study.toml --datasets 200 --json result.json
    """
    from designstudio.runs.evaluate import EvaluateRequest, run_evaluate  # noqa: PLC0415  (keeps `designstudio --help` fast)

    check_file(json)
    request = EvaluateRequest(study, fidelity, datasets, seed, out, cost_file)
    with show_progress("Evaluating") as progress:
        result = run_evaluate(request, progress=progress, notify=note)
    Console().print(_as_table(result))
    if all(evaluation.is_cached for evaluation in result.evaluations):
        typer.echo("All of this was evaluated before and found in the cache.")
    _print_verdict(result.verdict)
    print_files(out)
    write_json(json, result.as_dict())


def _print_verdict(verdict: tuple[str, ...]) -> None:
    typer.echo("\nVerdict")
    console = Console(highlight=False)
    for sentence in verdict:
        console.print(f"• {sentence}", markup=False, soft_wrap=False)


def _as_table(result: "StudyResult") -> Table:
    from designstudio.evaluate.overview import ERRORS, describe_run, tabulate_designs  # noqa: PLC0415

    caption = f"{describe_run(result.evaluations)} {ERRORS}"
    table = Table(
        title=escape(result.study.title or "Designs"), caption=caption, box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False
    )
    table.add_column("", no_wrap=True)
    for evaluation in result.evaluations:
        table.add_column(escape(evaluation.design.name), justify="right", overflow="fold")
    for row in tabulate_designs(result.evaluations):
        # Names such as sigma[low] are no styles.
        table.add_row(*map(escape, (row.name, *row.cells)))
    return table
