"""Pages of Markdown: their blocks of code, and whether the commands in them exist."""

import importlib.util
import re
import shlex
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import typer

from designstudio.cli import app
from designstudio.cli.commands import load_command
from designstudio.cli.notes import lift

_BLOCK = re.compile(
    r"(?:^<!-- not run:(?P<reason>.*?)-->\n)?^```(?P<language>\w*)(?P<options>[^\n]*)\n(?P<text>.*?)^```$",
    re.DOTALL | re.MULTILINE,
)
_INDENTED = re.compile(r"(?:^|\n)((?:    [^\n]*(?:\n|$))+)")
ADDED = " (add at the end)"


class Block(NamedTuple):
    """A block of code.

    Attributes:
        language: such as python or sh.
        text: the code.
        title: the file that the reader should write it to; "" if none.
        reason: why it is not run; None if it is.
    """

    language: str
    text: str
    title: str
    reason: str | None


def list_blocks(page: str) -> list[Block]:
    """All fenced blocks, in order."""
    found = []
    for match in _BLOCK.finditer(page):
        title = re.search(r'title="([^"]*)"', match["options"])
        reason = match["reason"]
        found.append(
            Block(match["language"], match["text"], title[1] if title else "", None if reason is None else reason.strip())
        )
    return found


def list_indented(page: str) -> list[str]:
    """All indented blocks outside of fenced ones, without their indent."""
    rest = _BLOCK.sub("", page)
    return [re.sub(r"^    ", "", block, flags=re.MULTILINE) for block in _INDENTED.findall(rest)]


def list_commands(text: str) -> list[list[str]]:
    """The words of each command in a block; comments left out, lines that end with a backslash joined."""
    lines = text.replace("\\\n", " ").splitlines()
    return [words for line in lines if (words := shlex.split(line, comments=True))]


def find_calls(text: str) -> list[list[str]]:
    """Arguments of each call of designstudio in a block, also behind another program such as srun, and without a pipe."""
    calls = []
    for words in list_commands(text):
        if "designstudio" in words:
            call = words[words.index("designstudio") + 1 :]
            stops = [call.index(stop) for stop in ("|", ">", "&", "&&") if stop in call]
            calls.append(call[: min(stops, default=len(call))])
    return calls


def check_call(arguments: list[str]) -> None:
    """Fail unless there is such a command and it takes these arguments."""
    root = typer.main.get_command(app)
    context = root.make_context("designstudio", lift(arguments), resilient_parsing=True)
    rest = [a for a in lift(arguments) if a not in ("--quiet", "--debug")]
    if not rest or rest[0].startswith("-"):
        known = {option for parameter in root.params for option in parameter.opts} | {"--help"}
        assert set(rest) <= known, f"designstudio has no option {rest}"
        return
    name, *given = rest
    assert name in root.commands, f"designstudio has no command {name!r}"
    if "--help" not in given:
        load_command(name).make_context(name, given, parent=context)


def load_script(path: Path) -> ModuleType:
    """A script that belongs to no package, as a module."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
