"""Write docs/reference/commands.md from what `designstudio COMMAND --help` says: `python docs/make_commands.py`."""

from pathlib import Path
from typing import Any

import typer

from designstudio.cli import app
from designstudio.cli.commands import COMMANDS, load_command

PAGE = Path(__file__).parent / "reference" / "commands.md"
TITLE = """# Commands

<!-- Written by docs/make_commands.py: change the commands, not this page. -->

`designstudio COMMAND --help` says the same. `--quiet` and `--debug` may stand anywhere. Exit codes: 0 all is well, 1 the
work failed (of `verify`: something differs), 2 the input was wrong. A mistake gives one sentence; `--debug` adds the
traceback.
`designstudio --install-completion` teaches your shell to complete commands and options.
"""
EXAMPLE = "Example: "


def write_page() -> str:
    """The whole page."""
    root = typer.main.get_command(app)
    parts = [TITLE, "## designstudio\n", _list_options([p for p in root.params if p.name in ("version", "quiet", "debug")])]
    parts += [_write_command(name, load_command(name)) for name in sorted(COMMANDS)]
    return "\n".join(parts)


def _write_command(name: str, command: Any) -> str:
    text, _, example = command.help.partition(EXAMPLE)
    paragraphs = [" ".join(paragraph.split()) for paragraph in text.strip().split("\n\n")]
    arguments = [p for p in command.params if p.param_type_name == "argument"]
    options = [p for p in command.params if p.param_type_name == "option" and not p.hidden and p.name != "help"]
    required = [f"{p.opts[0]} {_name_value(p)}" for p in options if p.required]
    usage = " ".join(["designstudio", name, *map(_name_argument, arguments), *required, "[OPTIONS]"])
    lines = [
        f"## designstudio {name}\n",
        "\n\n".join(paragraphs),
        f"\n    {usage}\n",
        "For example:\n",
        f"    {example.strip()}\n",
    ]
    return "\n".join([*lines, _list_options([*arguments, *options])])


def _list_options(parameters: list[Any]) -> str:
    rows = ["| option | meaning | default |", "|---|---|---|"]
    for parameter in parameters:
        is_argument = parameter.param_type_name == "argument"
        value = "" if is_argument or parameter.is_flag else f" {_name_value(parameter)}"
        names = _name_argument(parameter) if is_argument else ", ".join([*parameter.opts, *parameter.secondary_opts])
        rows.append(f"| `{names}{value}` | {_escape(parameter.help or '')} | {_say_default(parameter)} |")
    return "\n".join(rows) + "\n"


def _name_argument(parameter: Any) -> str:
    name = parameter.metavar or parameter.name.upper()
    return name if parameter.required else f"[{name}]"


def _name_value(parameter: Any) -> str:
    return parameter.metavar or "VALUE"


def _say_default(parameter: Any) -> str:
    default = parameter.default
    if parameter.required:
        return "needed"
    if default is None or default is False or default == []:
        return ""
    return f"`{default}`" if default is not True else f"`{parameter.opts[0]}`"


def _escape(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    PAGE.write_text(write_page(), encoding="utf-8")
    print(f"Wrote {PAGE.name}.")
