"""What prose says about the code, found and looked up: modules, names, files, commands, options, make's targets.

Prose is Markdown, the docstrings and comments of Python files, and options in the sentences that they print. Whatever is
named in it must be there: `find_mistakes` returns each thing that is not, with the line on which it is named.
"""

import ast
import functools
import importlib
import io
import re
import subprocess
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import typer

from designstudio.cli import app
from designstudio.cli.commands import COMMANDS, load_command
from tests.helpers.pages import find_calls

ROOT = Path(__file__).parents[2]
PACKAGE = "designstudio"
FOLDERS = (PACKAGE, "tests", "studies", "docs", "apps")
# Files that prose asks the reader to write.
FILES_OF_READERS = ("my_cost.py",)
# What names of files end with.
ENDINGS = (
    "actor",
    "conf",
    "csv",
    "html",
    "json",
    "log",
    "md",
    "nc",
    "png",
    "py",
    "svg",
    "toml",
    "tsv",
    "txt",
    "xlsx",
    "zarr",
)
# Names of other programs that prose tells about.
NAMES_OF_OTHERS = frozenset({"CUDA_VISIBLE_DEVICES", "CudaDevice", "CpuDevice", "JAX_COMPILATION_CACHE_DIR", "--gres"})

_DOTTED = re.compile(rf"(?<![\w./-]){PACKAGE}(?:\.[A-Za-z_]\w*)+")
_IMPORT = re.compile(rf"from ({PACKAGE}(?:\.\w+)*) import \(?([\w, ]+)")
_FILE = re.compile(r"(?<![\w./<-])((?:[\w-]+/)*[\w-]+\.py)\b(?!\.\w)")
_PLACE = re.compile(rf"(?<![\w./<:-])((?:{'|'.join(FOLDERS)})(?:/[\w-]+)+(?:\.[a-z]+)?)(?![\w*{{<])")
_LINK = re.compile(r"\]\((?!https?:|#|mailto:)([^)#\s]+)")
_SCRIPT = re.compile(r"^python ([\w/-]+\.py)\b")
_SPAN = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
_COMMAND = re.compile(rf"(?<![\w/.])(?<!import ){PACKAGE} ([a-z]+)\b(?!\.\w)")
_OPTION = re.compile(r"(?<![\w-])--[a-z][a-z0-9-]*")
_MAKE = re.compile(r"(?:^|(?<=\$ ))make ([a-z-]+)")
_NAME = re.compile(r"^([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)(?:\(.*\))?$")
_EXAMPLE = re.compile(rf"^\s*(?:Example: )?((?:{PACKAGE}|python|make) .*)$")


class Line(NamedTuple):
    """One line of prose; `is_code` if all of it is code, as in a block, `is_printed` if a program prints it."""

    number: int
    text: str
    is_code: bool
    is_printed: bool = False


class Mistake(NamedTuple):
    """Something that prose names and that is not there."""

    path: str
    line: int
    what: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.what}"


def list_pages() -> list[Path]:
    """Every file with prose: Markdown pages, and the Python of the package, the studies and the app."""
    pages = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/**/*.md", "studies/**/README.md", "apps/README.md"]
    code = [f"{PACKAGE}/**/*.py", "studies/**/*.py", "apps/*.py", "docs/*.py"]
    return sorted(path for pattern in pages + code for path in ROOT.glob(pattern))


def find_mistakes(path: Path, text: str | None = None) -> list[Mistake]:
    """Everything that a file, or a text in its place, names and that is not there."""
    text = path.read_text(encoding="utf-8") if text is None else text
    lines = _read_python(text) if path.suffix == ".py" else _read_markdown(text)
    name = path.relative_to(ROOT).as_posix()
    return [Mistake(name, line.number, what) for line in lines for what in _check_line(line, path)]


def _read_markdown(text: str) -> Iterator[Line]:
    fence = None
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("```"):
            fence = None if fence is not None else line.removeprefix("```").split(" ")[0]
            continue
        # Output and other languages are no prose; what they say is tested where it is made.
        if fence in (None, "python", "sh", "console", "bash"):
            yield Line(number, line, is_code=fence is not None or line.startswith("    "))


def _read_python(text: str) -> Iterator[Line]:
    docstrings: set[ast.AST] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)) and ast.get_docstring(node):
            docstring = node.body[0]
            docstrings.add(docstring.value)
            for offset, line in enumerate(ast.get_source_segment(text, docstring).splitlines()):
                example = _EXAMPLE.match(line)
                yield Line(docstring.lineno + offset, example[1] if example else line, is_code=example is not None)
        elif isinstance(node, ast.Constant) and node not in docstrings and _is_sentence(node.value):
            yield Line(node.lineno, node.value, is_code=False, is_printed=True)
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield Line(token.start[0], token.string, is_code=False)


def _is_sentence(value: object) -> bool:
    """Whether it is a text for people, no name and no style sheet."""
    return isinstance(value, str) and " " in value and "{" not in value and "var(" not in value


def _check_line(line: Line, path: Path) -> Iterator[str]:
    if line.is_printed:
        yield from _check_options(line.text, _options())
        return
    yield from _check_modules(line.text)
    yield from _check_places(line.text, path)
    for code in [line.text] if line.is_code else _SPAN.findall(line.text):
        yield from _check_code(code.strip())
    if not line.is_code:
        for span in _SPAN.findall(line.text):
            yield from _check_name(span.strip())


def _check_modules(text: str) -> Iterator[str]:
    for dotted in _DOTTED.findall(text):
        if not _is_there(dotted):
            yield f"there is no {dotted}"
    for module, names in _IMPORT.findall(text):
        for name in filter(None, (name.split(" as ")[0].strip() for name in names.split(","))):
            if not _is_there(f"{module}.{name}"):
                yield f"{module} has no {name}"


def _check_places(text: str, path: Path) -> Iterator[str]:
    for place in _PLACE.findall(text):
        if not place.endswith(".py") and not (ROOT / place).exists() and place not in _tracked():
            yield f"there is no {place}"
    for file in _FILE.findall(text):
        if file not in FILES_OF_READERS and not any(f"/{known}".endswith(f"/{file}") for known in _tracked()):
            yield f"there is no {file}"
    if path.suffix == ".md":
        for link in _LINK.findall(text):
            if not (path.parent / link).exists():
                yield f"the link {link} leads nowhere"


def _check_code(code: str) -> Iterator[str]:
    """A command and its options."""
    for target in _MAKE.findall(code):
        if target not in _targets():
            yield f"make has no target {target}"
    calls = _find_calls(code)
    for call in calls:
        if problem := _try_call(call):
            yield problem
    script = _SCRIPT.match(code)
    if script and (ROOT / script[1]).exists():
        yield from _check_options(code, _read_options(script[1]))
    elif code.startswith("--"):
        yield from _check_options(code, _options())


def _check_options(text: str, known: frozenset[str]) -> Iterator[str]:
    for option in _OPTION.findall(text):
        if option not in known | NAMES_OF_OTHERS:
            yield f"there is no option {option}"


def _find_calls(code: str) -> list[list[str]]:
    try:
        return find_calls(code.replace("...", "").replace("[OPTIONS]", "")) if _COMMAND.search(code) else []
    except ValueError:  # a quotation mark that ends on another line
        return [[_COMMAND.search(code)[1], "--help"]]


def _try_call(call: list[str]) -> str:
    """What is wrong with a call of designstudio. A bare mention may leave arguments out, and name them in capitals."""
    if not call or not re.fullmatch(r"[a-z]+", call[0]):
        return ""
    if call[0] not in COMMANDS:
        return f"designstudio has no command {call[0]}"
    known = {name for parameter in load_command(call[0]).params for name in (*parameter.opts, *parameter.secondary_opts)}
    for word in call[1:]:
        option = word.split("=")[0]
        if option.startswith("--") and option not in known | {"--help", "--quiet", "--debug"}:
            return f"designstudio {call[0]} has no option {option}"
    return ""


def _check_name(span: str) -> Iterator[str]:
    """A name in backticks that can only be one of the code: dotted, with an underscore, or of a class."""
    found = _NAME.match(span)
    if found is None or span.startswith(f"{PACKAGE}."):
        return
    head, *rest = found[1].split(".")
    if not rest:
        is_ours = "_" in head.strip("_") or re.match(r"[A-Z][a-z]+[A-Z]", head)
        if is_ours and head not in _words() and head not in NAMES_OF_OTHERS:
            yield f"nothing here is called {head}"
        return
    modules = [module for module in _modules() if module.endswith(f".{head}")]
    if _is_file_or_key(found[1]) or any(_is_there(".".join([module, *rest])) for module in modules):
        return
    if modules or not {head, *rest} <= _words():
        yield f"there is no {found[1]}"


def _is_file_or_key(dotted: str) -> bool:
    """Whether it is the name of a file that a run leaves, or a key that the code itself writes with a dot."""
    return dotted in _words() or dotted.rsplit(".", maxsplit=1)[-1] in ENDINGS


@functools.cache
def _is_there(dotted: str) -> bool:
    """Whether a module, or something in it, has this name."""
    parts = dotted.split(".")
    for size in range(len(parts), 0, -1):
        if ".".join(parts[:size]) in _modules():
            return _has(importlib.import_module(".".join(parts[:size])), parts[size:])
    return False


def _has(thing: object, names: list[str]) -> bool:
    for i, name in enumerate(names):
        if not hasattr(thing, name):
            is_field = any(name in getattr(one, "__annotations__", {}) for one in getattr(thing, "__mro__", ()))
            return is_field and i == len(names) - 1
        thing = getattr(thing, name)
    return True


@functools.cache
def _tracked() -> frozenset[str]:
    """Files of the repository, new ones too."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    return frozenset(name for name in listed if (ROOT / name).exists())


@functools.cache
def _modules() -> frozenset[str]:
    files = [Path(name) for name in _tracked() if name.startswith(f"{PACKAGE}/") and name.endswith(".py")]
    return frozenset(".".join((file.parent if file.stem == "__init__" else file.with_suffix("")).parts) for file in files)


@functools.cache
def _words() -> frozenset[str]:
    """Every name in the code, every text in it that could be one, and every key of the studies."""
    found: set[str] = set()
    for name in _tracked():
        found |= {Path(name).stem, *Path(name).parts[:-1]}
        if name.endswith(".toml"):
            found |= set(re.findall(r"\w+", (ROOT / name).read_text(encoding="utf-8")))
        if name.endswith(".py"):
            for node in ast.walk(ast.parse((ROOT / name).read_text(encoding="utf-8"))):
                found |= {str(getattr(node, field)) for field in ("id", "attr", "arg", "name") if hasattr(node, field)}
                # Tests name what must not be there.
                if isinstance(node, ast.Constant) and isinstance(node.value, str) and not name.startswith("tests/"):
                    found |= set(re.findall(r"^[\w.]+$", node.value))
    return frozenset(found)


@functools.cache
def _targets() -> frozenset[str]:
    return frozenset(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))


@functools.cache
def _options() -> frozenset[str]:
    """Options of all commands and of all scripts."""
    commands = [typer.main.get_command(app), *map(load_command, COMMANDS)]
    ours = {name for command in commands for p in command.params for name in (*p.opts, *p.secondary_opts)}
    scripts = (_read_options(name) for name in _tracked() if name.startswith("studies/") and name.endswith(".py"))
    return frozenset(ours.union(*scripts))


@functools.cache
def _read_options(script: str) -> frozenset[str]:
    """What a script's parser of arguments takes."""
    calls = [node for node in ast.walk(ast.parse((ROOT / script).read_text(encoding="utf-8"))) if isinstance(node, ast.Call)]
    added = (call.args[0] for call in calls if getattr(call.func, "attr", "") == "add_argument" and call.args)
    return frozenset(str(name.value) for name in added if isinstance(name, ast.Constant)) | {"--help"}
