"""The study file as a whole: its settings and sections, in the order in which they are read and written."""

import dataclasses
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from designstudio.model.costs import get_cost
from designstudio.model.parameters import STIMULUS_UNIT
from designstudio.model.scale import Scale
from designstudio.study.schema.context import Context, parameters_by_name
from designstudio.study.schema.designs import design_kind, stimuli_kind
from designstudio.study.schema.entry import Entry
from designstudio.study.schema.kinds import (
    POSITIVE,
    SECTION,
    SEVERAL,
    TEXT,
    Field,
    Kind,
    define,
    list_of,
    number,
    one_of,
    sections_of,
    table,
    whole,
)  # fmt: skip
from designstudio.study.schema.priors import prior_definition
from designstudio.study.schema.search import search_kind
from designstudio.study.schema.sections import (
    analysis_kind,
    cost_kind,
    formulas_kind,
    goal_kind,
    group_kind,
    population_kind,
)
from designstudio.study.study import AMORTIZED, EXACT, FIDELITIES, Study
from designstudio.study.units import resolve_scale

DRAFT = "http://json-schema.org/draft-07/schema#"


def list_settings(folder: Path = Path()) -> tuple[Field, ...]:
    """Keys that belong above the first section."""
    people = "Simulated participants for each design; more make it more certain."
    return (
        Field("title", TEXT, "Stands above tables and figures."),
        Field("cost", cost_kind(), "The cost that the analysis assumes.", is_required=True),
        Field("actor", actor_kind(folder), "How optimal actions are computed."),
        Field("unit", TEXT, "What stimuli, responses and all that shares their unit are in, such as ms; else the actor's."),
        Field(
            "scale",
            POSITIVE,
            "How many of that unit one unit of the actor is; by default 1 if the stimuli lie where actors are at home, else "
            "1, 2 or 5 times a power of ten.",
        ),
        Field("fidelity", one_of("fidelity", FIDELITIES), "How thoroughly each data set is analysed."),
        Field("datasets", whole(1, least=10), people, "num_datasets"),
        Field(
            "studies",
            whole(1, least=10),
            "Simulated studies for each design, for goals of groups.",
            "num_studies",
            hides_default=True,
        ),
        Field("interval", number(0, 1), "Probability of the reported intervals, at least 0.5."),
        Field("seed", whole(0), "The same seed gives the same results."),
        Field("candidates", list_of(cost_kind(), "costs"), "Two or more costs between which the data should decide."),
    )


class Section(NamedTuple):
    """A section of the file: what stands in it, given those above it; a sentence; and how it is written."""

    describe: Callable[[Context], Kind]
    doc: str
    layout: str = SECTION


SECTIONS = {
    "population": Section(
        population_kind, "Who is simulated: a number is everyone's, a table says how participants differ."
    ),
    "analysis": Section(analysis_kind, "What the fit estimates for each condition, or as one value for all of them."),
    "quantities": Section(formulas_kind, "Functions of the parameters that are reported, too."),
    "groups": Section(
        lambda context: sections_of(group_kind(context)), "Groups of participants, for goals of whole studies.", SEVERAL
    ),
    "goals": Section(lambda context: sections_of(goal_kind(context)), "What the study should achieve.", SEVERAL),
    "stimuli": Section(lambda _: stimuli_kind(), "What every design shows that has no stimuli of its own."),
    "designs": Section(lambda context: sections_of(design_kind(context)), "The designs that compete.", SEVERAL),
    "search": Section(search_kind, "Which other designs may be tried, and for what."),
}


def actor_kind(folder: Path) -> Kind:
    """The package's own actors, or a file in the folder of the study."""

    def read(entry: Entry) -> str:
        name: str = TEXT.read(entry)
        if name in (AMORTIZED, EXACT):
            return name
        path = folder / name
        # Not Path.is_file, which fails on names that are too long.
        if not os.path.isfile(path):
            raise entry.error(f"The actor must be {AMORTIZED!r}, {EXACT!r} or an actor file, but there is no file '{path}'.")
        return str(path)

    def write(actor: str) -> str:
        if actor in (AMORTIZED, EXACT):
            return actor
        path, home = Path(actor).resolve(), folder.resolve()
        return str(path.relative_to(home) if path.is_relative_to(home) else path)

    schema = {"type": "string", "examples": [AMORTIZED, EXACT]}
    return Kind(f'"{AMORTIZED}", "{EXACT}" or an actor file', read, schema, write)


# Wherever they stand in a file: goals may be about its quantities, and the search for its goals.
LAST = ("goals", "search")
# What makes a study, to which all else is added.
BEGINNING = ("cost", "unit", "scale", "designs", "population")


def document_kind(context: Context) -> Kind:
    """All settings and sections."""
    sections = [
        # A study has no stimuli of its own: every design is written with those that it shows.
        Field(key, of.describe(context), of.doc, layout=of.layout, get=lambda study, key=key: getattr(study, key, None))
        for key, of in SECTIONS.items()
    ]
    return table(Study, (*list_settings(context.folder), *sections))


def read_document(root: Entry, folder: Path) -> Study:
    """The study that a document describes.

    Raises:
        StudyFileError: if it describes none.
    """
    settings = {field.key: field for field in list_settings(folder)}
    # A search brings its own designs.
    top = root.table((*settings, *SECTIONS), required=["cost"] if "search" in root.value else ["cost", "designs"])
    values = {field.name: field.kind.read(top[key]) for key, field in settings.items() if key in top}
    for entry in [top[key] for key in ("unit", "scale") if key in top]:
        with entry.explain():
            unit = values.get("unit", "")
            resolve_scale(unit, values.get("scale", 1.0 if unit else None), (), None)
    context = _find_costs(top, folder, _read_unit(values))
    if "unit" in values and "scale" not in values:
        # What is allowed depends on the scale, which depends on the stimuli: the first study is only asked for it.
        values["scale"] = _begin_study(top, dict(values), context)[0].scale
        context = _find_costs(top, folder, _read_unit(values))
    study, values = _begin_study(top, values, context)
    # One at a time: what the study refuses is then known to stand under this key.
    rest = [key for key in top if key not in BEGINNING and key != "stimuli"]
    for key in sorted(rest, key=lambda key: LAST.index(key) if key in LAST else -1):
        name = settings[key].name if key in settings else key
        with top[key].explain():
            study = dataclasses.replace(study, **{name: values[name]})
    return study


def _begin_study(top: dict[str, Entry], values: dict[str, Any], context: Context) -> tuple[Study, dict[str, Any]]:
    """The least that is a study, and the values of all keys."""
    for key in [key for key in SECTIONS if key in top]:
        values[key] = SECTIONS[key].describe(context).read(top[key])
        if key in ("quantities", "goals", "stimuli"):
            context = dataclasses.replace(context, **{key: values[key]})
    first = {name: values[name] for name in BEGINNING if name in values}
    bare = {} if "designs" in top else {"search": dataclasses.replace(values["search"], objectives=(), constraints=())}
    with top["designs" if "designs" in top else "search"].explain():
        return Study(**{"designs": (), **first, **bare}), values


def json_schema() -> dict[str, Any]:
    """The JSON Schema of study files (draft 7, which editors of TOML know), with everything that is registered."""
    return {
        "$schema": DRAFT,
        "title": "A study of designstudio",
        **document_kind(Context.any()).schema,
        "anyOf": [{"required": ["designs"]}, {"required": ["search"]}],
        "definitions": {"prior": prior_definition(), "stimuli": define(stimuli_kind())},
    }


def _read_unit(values: dict[str, Any]) -> Scale:
    return Scale(values.get("scale", 1.0), values.get("unit") or STIMULUS_UNIT)


def _find_costs(top: dict[str, Entry], folder: Path, scale: Scale) -> Context:
    """The costs that are fitted and simulated: other parts speak of their parameters."""
    fitted = simulated = get_cost(cost_kind().read(top["cost"]))
    if "population" in top and isinstance(top["population"].value, dict) and "cost" in top["population"].value:
        simulated = get_cost(cost_kind().read(top["population"].child("cost")))
    unit = "" if scale.unit == STIMULUS_UNIT else scale.unit
    return Context(parameters_by_name(fitted, scale), parameters_by_name(simulated, scale), unit=unit, folder=folder)
