"""The command line: thin commands over the library.

Exit codes: 0 all is well, 1 the work failed, 2 the input was wrong. A user's mistake gives one sentence, never a traceback,
unless --debug asks for it.
"""

import sys
import traceback
import warnings

import typer
from rich.console import Console

from designstudio.cli.commands import LOOK, Commands, list_commands
from designstudio.cli.notes import DEBUG, is_given, set_quiet
from designstudio.core.garbage import look_for_garbage_less_often
from designstudio.errors import OutsideTrainingBoxWarning, StudioError

app = typer.Typer(cls=Commands, no_args_is_help=True, **LOOK)
list_commands(app)


@app.callback(invoke_without_command=True)
def _root(
    context: typer.Context,
    version: bool = typer.Option(False, "--version", help="Print the version and exit."),
    quiet: bool = typer.Option(False, "--quiet", help="Results, warnings and errors only: no notes and no progress."),
    debug: bool = typer.Option(False, "--debug", help="Show where an error comes from, with its traceback."),
) -> None:
    """Design and simulate experiments for Bayesian actor models.

    --quiet and --debug may stand after the name of a command, too. Exit codes: 0 all is well, 1 the work failed, 2 the input
    was wrong.

    Example: designstudio init, then designstudio evaluate study.toml
    """
    set_quiet(quiet)
    if version:
        from designstudio import __version__  # noqa: PLC0415

        typer.echo(__version__)
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def main() -> None:
    """Entry point of the `designstudio` command."""
    look_for_garbage_less_often()
    console = Console(stderr=True, soft_wrap=True, highlight=False, emoji=False)

    def show_warning(message: Warning | str, category: type[Warning], *details: object) -> None:
        if issubclass(category, OutsideTrainingBoxWarning):
            console.print(f"Warning: {message}", style="yellow", markup=False)

    warnings.showwarning = show_warning  # type: ignore[assignment]
    try:
        app(prog_name="designstudio")
    except Exception as error:
        if is_given(DEBUG, sys.argv[1:]):
            traceback.print_exc()
        message, code = describe_error(error)
        console.print(message, style="red", markup=False)
        sys.exit(code)


def describe_error(error: Exception) -> tuple[str, int]:
    """One sentence about an error, and the exit code."""
    if isinstance(error, StudioError):
        return f"Error: {error}", 2
    if isinstance(error, OSError) and error.strerror and error.filename is not None:
        return f"Error: '{error.filename}' cannot be used: {error.strerror}.", 1
    lines = str(error).strip().splitlines()
    what = f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__
    return f"This should not have happened ({what}). Run again with --debug and report it.", 1
