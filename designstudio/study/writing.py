"""Studies as study files: the counterpart of `designstudio.study.file`.

What is written is read back before it is handed out, and must be the same study. So a file never says something else than
the study it was made from; what files have no words for (a quantity that is a Python function, a block of a search of
another size) is refused with a sentence. Only the unit of a quantity, which is just shown, is lost.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from designstudio.errors import StudioError
from designstudio.study.analysis import Analysis, Known
from designstudio.study.design import Design
from designstudio.study.entry import StudyFileError
from designstudio.study.file import parse_study
from designstudio.study.goals import Goal
from designstudio.study.population import Population
from designstudio.study.prior_entries import describe_prior
from designstudio.study.quantities import Quantity
from designstudio.study.saving import save_text
from designstudio.study.search_writing import complete_objectives, write_search
from designstudio.study.sections import TRUTH
from designstudio.study.study import AMORTIZED, EXACT, Study
from designstudio.study.toml_text import write_comment, write_list, write_pair, write_pairs


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
    sections = [
        [line for note in notes for line in write_comment(note)],
        _write_settings(study, Path(folder)),
        _write_population(study.population),
        *_write_analysis(study.analysis),
        _write_quantities(study.quantities),
        *_head("What the study should achieve.", [_write_goal(goal) for goal in study.goals]),
        *_head("The designs that compete.", [_write_design(design) for design in study.designs]),
        *([] if study.search is None else write_search(study.search)),
    ]
    text = "\n\n".join("\n".join(lines) for lines in sections if lines) + "\n"
    _check_same(study, text, Path(folder))
    return text


def _head(comment: str, sections: list[list[str]]) -> list[list[str]]:
    """Sections of one kind with a comment above the first."""
    return [[*write_comment(comment), *sections[0]], *sections[1:]] if sections else []


def _write_settings(study: Study, folder: Path) -> list[str]:
    table: dict[str, Any] = {"title": study.title} if study.title else {}
    table |= {
        "cost": study.cost,
        "actor": _name_actor(study.actor, folder),
        "fidelity": study.fidelity,
        "datasets": study.num_datasets,
        "interval": study.interval,
        "seed": study.seed,
    }
    if study.candidates:
        table["candidates"] = study.candidates
    return write_pairs(table)


def _name_actor(actor: str, folder: Path) -> str:
    if actor in (AMORTIZED, EXACT):
        return actor
    path, home = Path(actor).resolve(), folder.resolve()
    return str(path.relative_to(home) if path.is_relative_to(home) else path)


def _write_population(population: Population) -> list[str]:
    table: dict[str, Any] = {name: describe_prior(prior) for name, prior in population.priors.items()}
    if population.cost is not None:
        table["cost"] = population.cost
    defaults = Population()
    for name in ("follows_analysis", "lapse_rate", "outlier_rate", "outlier_scale"):
        if getattr(population, name) != getattr(defaults, name):
            table[name] = getattr(population, name)
    comment = "Who is simulated: a number is everyone's, a table says how participants differ."
    return [*write_comment(comment), "[population]", *write_pairs(table)] if table else []


def _write_analysis(analysis: Analysis) -> list[list[str]]:
    names = {name: getattr(analysis, name) for name in ("per_condition", "shared") if getattr(analysis, name)}
    sections = []
    if names:
        comment = "What the fit estimates for each condition, or as one value for all of them."
        sections.append([*write_comment(comment), "[analysis]", *write_pairs(names)])
    if analysis.priors:
        priors = write_pairs({name: describe_prior(prior) for name, prior in analysis.priors.items()})
        sections.append([*write_comment("Priors of the fit."), "[analysis.priors]", *priors])
    if analysis.known:
        known = write_pairs({name: _describe_known(known) for name, known in analysis.known.items()})
        sections.append([*write_comment("What the fit takes as known."), "[analysis.known]", *known])
    return sections


def _describe_known(known: Known) -> Any:
    if known.value is not None:
        return float(known.value)
    return TRUTH if known.factor == 1 else {"factor": float(known.factor)}


def _write_quantities(quantities: Sequence[Quantity]) -> list[str]:
    if not quantities:
        return []
    formulas = write_pairs({quantity.name: quantity.text for quantity in quantities})
    return [*write_comment("Functions of the parameters that are reported, too."), "[quantities]", *formulas]


def _write_goal(goal: Goal) -> list[str]:
    table: dict[str, Any] = {"kind": goal.kind, "quantity": goal.quantity}
    for name in ("value", "margin", "width"):
        if getattr(goal, name) is not None:
            table[name] = float(getattr(goal, name))
    if goal.group:
        table["group"] = {name: describe_prior(prior) for name, prior in goal.group.items()}
    return ["[[goals]]", *write_pairs(table)]


def _write_design(design: Design) -> list[str]:
    conditions = []
    for condition in design.conditions:
        table: dict[str, Any] = {"name": condition.name, "trials": condition.num_trials}
        table |= {name: float(value) for name, value in condition.levels.items()}
        table |= {name: describe_prior(prior) for name, prior in condition.population.items()}
        if condition.stimuli is not None:
            table["stimuli"] = condition.stimuli.as_dict()
        conditions.append(table)
    head = {"name": design.name, "seconds_per_trial": design.seconds_per_trial, "participants": design.num_participants}
    stimuli = write_pair("stimuli", design.stimuli.as_dict())
    return ["[[designs]]", *write_pairs(head), stimuli, *write_list("conditions", conditions)]


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
    search = None if study.search is None else complete_objectives(study.search)
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
