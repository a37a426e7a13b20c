"""Study files: a study as TOML that people write and read. `designstudio init` writes a commented one to start from.

Whatever is wrong with a file is said in a sentence or two: which file, which line, which key, what was given and what is
allowed. Nothing in a file is executed.
"""

import dataclasses
import os
import re
import tomllib
from pathlib import Path
from typing import Any

from designstudio.model.costs import AbstractCost, get_cost
from designstudio.study.design_entries import read_designs, read_stimuli
from designstudio.study.entry import Entry, Origin, StudyFileError
from designstudio.study.locate import locate_keys
from designstudio.study.population import Population
from designstudio.study.search_entries import read_search
from designstudio.study.sections import read_analysis, read_cost, read_goals, read_population, read_quantities
from designstudio.study.study import AMORTIZED, EXACT, FIDELITIES, Study

_SETTINGS = ("title", "cost", "actor", "fidelity", "datasets", "interval", "seed", "candidates")
_SECTIONS = ("population", "analysis", "quantities", "goals", "stimuli", "designs", "search")
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
    root = Entry(document, (), Origin(source, locate_keys(text, document), _SETTINGS))
    # A search brings its own designs.
    required = ["cost"] if "search" in document else ["cost", "designs"]
    top = root.table((*_SETTINGS, *_SECTIONS), required=required)
    cost = read_cost(top["cost"])
    study = _build_study(top, cost)
    for field, value, entry in _read_settings(top, Path(folder)):
        with entry.explain():
            study = dataclasses.replace(study, **{field: value})
    return study


def _build_study(top: dict[str, Entry], cost: AbstractCost) -> Study:
    """The sections of the file, with all settings at their defaults."""
    population = read_population(top["population"], cost) if "population" in top else Population()
    simulated = get_cost(population.cost or cost.name)
    stimuli = read_stimuli(top["stimuli"]) if "stimuli" in top else None
    designs = read_designs(top["designs"], stimuli, simulated) if "designs" in top else ()
    quantities = read_quantities(top["quantities"], cost) if "quantities" in top else ()
    goals = read_goals(top["goals"], cost, simulated, quantities) if "goals" in top else ()
    search = None
    if "search" in top:
        names = [*(parameter.name for parameter in cost.all_parameters), *(quantity.name for quantity in quantities)]
        search = read_search(top["search"], simulated, names, goals, FIDELITIES)
    with top["designs" if "designs" in top else "search"].explain():
        study = Study(cost.name, designs, population=population, search=search)
    # One at a time: what the study refuses is then known to stand in this section.
    if "analysis" in top:
        with top["analysis"].explain():
            study = dataclasses.replace(study, analysis=read_analysis(top["analysis"], cost, simulated))
    if "quantities" in top:
        with top["quantities"].explain():
            study = dataclasses.replace(study, quantities=quantities)
    if "goals" in top:
        with top["goals"].explain():
            study = dataclasses.replace(study, goals=goals)
    return study


def _read_settings(top: dict[str, Entry], folder: Path) -> list[tuple[str, Any, Entry]]:
    """Field of the study, value and entry of each setting that the file has."""
    readers: dict[str, tuple[str, Any]] = {
        "title": ("title", Entry.text),
        "actor": ("actor", lambda entry: _read_actor(entry, folder)),
        "fidelity": ("fidelity", lambda entry: entry.choose("fidelity", FIDELITIES)),
        "datasets": ("num_datasets", lambda entry: entry.whole_number(1)),
        "interval": ("interval", lambda entry: entry.number(0, 1)),
        "seed": ("seed", lambda entry: entry.whole_number(0)),
        "candidates": ("candidates", lambda entry: tuple(read_cost(item).name for item in entry.items("costs"))),
    }
    return [(field, read(top[key]), top[key]) for key, (field, read) in readers.items() if key in top]


def _read_actor(entry: Entry, folder: Path) -> str:
    name = entry.text()
    if name in (AMORTIZED, EXACT):
        return name
    path = folder / name
    # Not Path.is_file, which fails on names that are too long.
    if not os.path.isfile(path):
        raise entry.error(f"The actor must be {AMORTIZED!r}, {EXACT!r} or an actor file, but there is no file '{path}'.")
    return str(path)


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
