"""What a command says besides its results: notes and progress, on the error stream, and nothing of it with --quiet."""

from contextvars import ContextVar
from typing import Any

import typer
from rich.console import Console

QUIET, DEBUG = "--quiet", "--debug"
# Options of the root command that may stand after the name of a command, too.
ANYWHERE = (QUIET, DEBUG)

_is_quiet: ContextVar[bool] = ContextVar("is_quiet", default=False)


def lift(arguments: list[str]) -> list[str]:
    """Arguments with the options that may stand anywhere in front."""
    options, others = _split(arguments)
    ours = [option for option in options if option in ANYWHERE]
    return [*ours, *(option for option in options if option not in ANYWHERE), *others]


def is_given(option: str, arguments: list[str]) -> bool:
    """Whether an option is among the arguments."""
    return option in _split(arguments)[0]


def _split(arguments: list[str]) -> tuple[list[str], list[str]]:
    """What may be an option, and what may not, because it follows a --."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    return arguments[:end], arguments[end:]


def set_quiet(quiet: bool) -> None:
    """Whether notes and progress are left out from now on."""
    _is_quiet.set(quiet)


def is_quiet() -> bool:
    """Whether the user wants results only."""
    return _is_quiet.get()


def note(text: str) -> None:
    """Say something that is not a result."""
    if not is_quiet():
        typer.echo(text, err=True)


def notes_console(**options: Any) -> Console:
    """A console on the error stream, for progress."""
    return Console(stderr=True, quiet=is_quiet(), **options)
