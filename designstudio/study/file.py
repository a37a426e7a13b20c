"""Study files: a study as TOML that people write and read. `designstudio init` writes a commented one to start from.

Whatever is wrong with a file is said in a sentence or two: which file, which line, which key, what was given and what is
allowed. Nothing in a file is executed. What is written is read back before it is handed out, and must be the same study:
what files have no words for (a quantity that is a Python function, a block of a search of another size) is refused with a
sentence. Only the unit of a quantity, which is just shown, is lost.

What a file may say is described once, in `designstudio.study.schema`.
"""

import contextlib
import dataclasses
import os
import re
import tomllib
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

from designstudio.core.files import write_text
from designstudio.errors import StudioError
from designstudio.model.costs import get_cost
from designstudio.study.schema.context import Context, parameters_by_name
from designstudio.study.schema.document import document_kind, list_settings, read_document
from designstudio.study.schema.entry import Entry, Origin, StudyFileError
from designstudio.study.schema.locate import locate_keys
from designstudio.study.schema.toml_text import write_comment, write_table
from designstudio.study.study import AMORTIZED, EXACT, Study

_HINT = 'Numbers are written like 0.5, text in "quotes", lists in [ ], and tables in { } on one line.'


def read_study(path: Path | str) -> Study:
    """The study in a file.

    Args:
        path: of a TOML file; an actor file that it names is looked for in the same folder.

    Raises:
        StudyFileError: if the file cannot be read, or does not describe a study.
    """
    path = Path(path)
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise StudyFileError(
            f"There is no study file '{path}': check the name, or write one with designstudio init."
        ) from None
    except IsADirectoryError:
        raise StudyFileError(f"'{path}' is a folder: give the study file in it.") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise StudyFileError(f"The study file '{path}' cannot be read: {reason}.") from None
    try:
        # Editors on Windows mark UTF-8 with three bytes that TOML does not know.
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise StudyFileError(f"{path}, line {line}: This is not UTF-8 text; save the study file as UTF-8.") from None
    return parse_study(text, str(path), folder=path.parent)


def parse_study(text: str, source: str, *, folder: Path | str = ".") -> Study:
    """The study that a text describes.

    Args:
        text: TOML.
        source: how messages call the text, such as the name of its file.
        folder: where an actor file is looked for.

    Raises:
        StudyFileError: if the text does not describe a study.
    """
    document = _parse_toml(text, source)
    settings = [field.key for field in list_settings()]
    return read_document(Entry(document, (), Origin(source, locate_keys(text, document), settings)), Path(folder))


def write_study(study: Study, path: Path | str, *, notes: Sequence[str] = (), overwrite: bool = False) -> None:
    """Write a study file, all of it or nothing.

    Args:
        study: what it says.
        path: of the new file.
        notes: sentences that stand above everything else, as comments.
        overwrite: whether it may replace a file.

    Raises:
        StudyFileError: if the study cannot be said in a file, there is such a file already, or it cannot be written.
    """
    save_text(format_study(study, notes=notes, folder=Path(path).parent), path, overwrite=overwrite)


def format_study(study: Study, *, notes: Sequence[str] = (), folder: Path | str = ".") -> str:
    """The study as TOML, with short comments.

    Args:
        study: what it says.
        notes: sentences that stand above everything else, as comments.
        folder: where the file will be; an actor file in it is named relative to it.

    Raises:
        StudyFileError: if files have no words for some of the study; the message says for what.
    """
    fitted, simulated = get_cost(study.cost), get_cost(study.population.cost or study.cost)
    kind = document_kind(Context(parameters_by_name(fitted), parameters_by_name(simulated), folder=Path(folder)))
    heads = [line for note in notes for line in write_comment(note)]
    blocks = [heads, *write_table(kind, kind.write(study))]
    text = "\n\n".join("\n".join(lines) for lines in blocks if lines) + "\n"
    _check_same(study, text, Path(folder))
    return text


def _parse_toml(text: str, source: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise StudyFileError(f"{source}: This is not a study file: it has lists in lists beyond measure.") from None
    except ValueError as error:
        # tomllib puts the place in the message, except where Python itself refuses a number.
        message, _, place = str(error).partition(" (at ")
        match = re.fullmatch(r"(line (\d+), column \d+)\)", place)
        if match is None:
            where = f"{source}, end of the file" if place else source
            raise StudyFileError(f"{where}: This is not TOML: {message}. {_HINT}") from None
        line = text.split("\n")[int(match[2]) - 1].strip()
        given = repr(line if len(line) <= 60 else f"{line[:60]}...")
        raise StudyFileError(f"{source}, {match[1]}: This is not TOML: {message}, in {given}. {_HINT}") from None


def _check_same(study: Study, text: str, folder: Path) -> None:
    """Refuse what is read back as another study, or not at all."""
    try:
        read = parse_study(text, "the file", folder=folder)
    except StudioError as error:
        raise StudyFileError(f"The study cannot be written to a file: {error}") from None
    difference = _find_difference(_neutralise(read), _neutralise(study), "")
    if difference:
        raise StudyFileError(f"The study cannot be written to a file, in which {difference}.")


def _neutralise(study: Study) -> Study:
    """The study with everything said in one way that can be said in two."""
    actor = study.actor if study.actor in (AMORTIZED, EXACT) else str(Path(study.actor).resolve())
    quantities = tuple(dataclasses.replace(quantity, unit="") for quantity in study.quantities)
    search = None if study.search is None else study.search.complete()
    return dataclasses.replace(study, actor=actor, quantities=quantities, search=search)


def _find_difference(read: Any, given: Any, path: str) -> str:
    """Where two values differ first, in words; "" if nowhere."""
    if read == given:
        return ""
    inner: dict[str, tuple[Any, Any]] = {}
    if type(read) is type(given) and dataclasses.is_dataclass(given):
        inner = {f".{f.name}": (getattr(read, f.name), getattr(given, f.name)) for f in dataclasses.fields(given)}
    elif isinstance(given, Mapping) and read.keys() == given.keys():
        inner = {f".{key}": (read[key], given[key]) for key in given}
    elif isinstance(given, tuple) and len(read) == len(given):
        inner = {f"[{place}]": pair for place, pair in enumerate(zip(read, given, strict=True))}
    for key, (one, other) in inner.items():
        difference = _find_difference(one, other, path + key)
        if difference:
            return difference
    return f"{path.removeprefix('.') or 'it'} would be {read}, not {given}"


def read_example() -> str:
    """The text of the example."""
    return resources.files("designstudio.study").joinpath("example.toml").read_text(encoding="utf-8")


def write_example(path: Path | str, *, overwrite: bool = False) -> None:
    """Write the example to a file.

    Args:
        path: of the new file.
        overwrite: whether it may replace a file.

    Raises:
        StudyFileError: if there is such a file already, or it cannot be written.
    """
    save_text(read_example(), path, overwrite=overwrite)


def save_text(text: str, path: Path | str, *, overwrite: bool = False) -> None:
    """Write a study file.

    Args:
        text: TOML.
        path: of the new file.
        overwrite: whether it may replace a file.

    Raises:
        StudyFileError: if there is such a file already, or it cannot be written.
    """
    path = Path(path)
    # Not Path.is_dir, which fails on names that are too long.
    if os.path.isdir(path):
        raise StudyFileError(f"'{path}' is a folder: give the name of a file in it, such as '{path / 'study.toml'}'.")
    has_taken_name = False
    try:
        if not overwrite:
            # "x" refuses an existing file and takes the name in the same step: nothing can come in between.
            path.open("x").close()
            has_taken_name = True
        write_text(path, text)
    except FileExistsError:
        raise StudyFileError(f"There is a file '{path}' already: choose another name, or replace it with --force.") from None
    except FileNotFoundError:
        raise StudyFileError(f"There is no folder '{path.parent}' to write '{path.name}' into; create it first.") from None
    except OSError as error:
        if has_taken_name:
            with contextlib.suppress(OSError):
                path.unlink()
        raise StudyFileError(f"The study file '{path}' cannot be written: {error.strerror}.") from None
