"""The command line: thin commands over the library.

Exit codes: 0 all is well, 1 the work failed, 2 the input was wrong. A user's mistake gives one sentence, never a traceback.
"""

import sys
import warnings

import typer
from rich.console import Console

from designstudio.cli import (
    act,
    actors,
    calibrate,
    evaluate,
    fit,
    init,
    plan,
    power,
    preregister,
    report,
    schedule,
    search,
    sweep,
    train,
    verify,
    worker,
)
from designstudio.cli import app as studio
from designstudio.errors import OutsideTrainingBoxWarning, StudioError

app = typer.Typer(
    help="Design and simulate experiments for Bayesian actor models.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)
app.command("actors")(actors.show_actors)
app.command("train")(train.train)
app.command("act")(act.act)
app.command("init")(init.init_study)
app.command("evaluate")(evaluate.evaluate)
app.command("app")(studio.app)
app.command("fit")(fit.fit)
app.command("power")(power.power)
app.command("search")(search.search)
app.command("sweep")(sweep.sweep)
app.command("worker")(worker.worker)
app.command("plan")(plan.plan)
app.command("report")(report.report)
app.command("calibrate")(calibrate.calibrate_cost)
app.command("schedule")(schedule.schedule)
app.command("preregister")(preregister.preregister)
app.command("verify")(verify.verify)


@app.callback(invoke_without_command=True)
def _root(
    version: bool = typer.Option(False, "--version", help="Print the version and exit."),
) -> None:
    if version:
        from designstudio import __version__  # noqa: PLC0415

        typer.echo(__version__)
        raise typer.Exit


def main() -> None:
    """Entry point of the `designstudio` command."""
    console = Console(stderr=True, soft_wrap=True, highlight=False)

    def show_warning(message: Warning | str, category: type[Warning], *details: object) -> None:
        if issubclass(category, OutsideTrainingBoxWarning):
            console.print(f"Warning: {message}", style="yellow", markup=False)

    warnings.showwarning = show_warning  # type: ignore[assignment]
    try:
        app()
    except StudioError as error:
        console.print(f"Error: {error}", style="red", markup=False)
        sys.exit(2)
