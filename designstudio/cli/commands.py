"""Which commands there are. Each is imported when it is called, so that help and completion need not wait for all."""

import ast
import functools
import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperGroup

from designstudio.cli.notes import lift
from designstudio.cli.stopping import describe_stop

# The module of designstudio.cli in which a command is, and the function that it calls.
COMMANDS = {
    "actors": ("actors", "show_actors"),
    "train": ("train", "train"),
    "act": ("act", "act"),
    "init": ("init", "init_study"),
    "schema": ("schema", "print_schema"),
    "evaluate": ("evaluate", "evaluate"),
    "app": ("studio", "app"),
    "fit": ("fit", "fit"),
    "power": ("power", "power"),
    "search": ("search", "search"),
    "sweep": ("sweep", "sweep"),
    "worker": ("worker", "worker"),
    "plan": ("plan", "plan"),
    "report": ("report", "report"),
    "calibrate": ("calibrate", "calibrate_cost"),
    "schedule": ("schedule", "schedule"),
    "preregister": ("preregister", "preregister"),
    "verify": ("verify", "verify"),
}
# As shells have it for what Ctrl-C has ended.
STOPPED = 130
LOOK: dict[str, Any] = {"pretty_exceptions_enable": False, "rich_markup_mode": "rich"}


class Commands(TyperGroup):
    """The commands, with --quiet and --debug wherever the user writes them."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the options of the root command."""
        return super().parse_args(ctx, lift(args))

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that is called, itself in place of its entry in the list."""
        name, command, rest = super().resolve_command(ctx, args)
        return name, load_command(name) if name and command else command, rest


def list_commands(app: typer.Typer) -> None:
    """Put all commands into the list, with what help says about them."""
    for name in COMMANDS:
        app.command(name, help=_read_help(name))(_not_loaded)


def load_command(name: str) -> Any:
    """A command with its options."""
    module, function = COMMANDS[name]
    alone = typer.Typer(add_completion=False, **LOOK)
    loaded = importlib.import_module(f"designstudio.cli.{module}")
    alone.command(name)(_configure_first(getattr(loaded, function)))
    command = typer.main.get_command(alone)
    # Help of some options names what is registered by then.
    getattr(loaded, "finish_command", lambda _: None)(command)
    return command


def _configure_first(command: Callable[..., None]) -> Callable[..., None]:
    """The command with JAX set up before it; asking for its help does not need JAX."""

    @functools.wraps(command)
    def call(*arguments: Any, **options: Any) -> None:
        from designstudio.core.configuration import configure  # noqa: PLC0415

        configure()
        try:
            command(*arguments, **options)
        except KeyboardInterrupt:
            typer.echo(describe_stop(command.__name__, options), err=True)
            raise typer.Exit(STOPPED) from None

    return call


def _not_loaded() -> None:
    raise AssertionError("A command in the list is replaced by itself before it is called.")


def _read_help(name: str) -> str:
    """The docstring of a command, read without importing what the command needs."""
    module, function = COMMANDS[name]
    source = Path(__file__).with_name(f"{module}.py").read_text(encoding="utf-8")
    found = next(n for n in ast.parse(source).body if isinstance(n, ast.FunctionDef) and n.name == function)
    return ast.get_docstring(found) or ""
