"""The study file as a whole: its settings and sections, in the order in which they are read and written."""

import dataclasses
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from designstudio.model.costs import get_cost
from designstudio.study.schema.context import Context, parameters_by_name
from designstudio.study.schema.designs import DesignTable, stimuli_record
from designstudio.study.schema.entry import Entry
from designstudio.study.schema.kinds import SECTION, SEVERAL, Field, JsonSchema, Kind, ListOf, Name, Number, Text, Whole
from designstudio.study.schema.priors import prior_schema
from designstudio.study.schema.record import Record
from designstudio.study.schema.search import search_record
from designstudio.study.schema.sections import Formulas, analysis_record, cost_kind, goal_record, population_record
from designstudio.study.study import AMORTIZED, EXACT, FIDELITIES, Study

DRAFT = "http://json-schema.org/draft-07/schema#"


@dataclasses.dataclass(frozen=True)
class ActorFile(Kind):
    """The package's own actors, or a file in the folder of the study."""

    folder: Path

    @property
    def words(self) -> str:
        return f'"{AMORTIZED}", "{EXACT}" or an actor file'

    def read(self, entry: Entry) -> str:
        name = Text().read(entry)
        if name in (AMORTIZED, EXACT):
            return name
        path = self.folder / name
        # Not Path.is_file, which fails on names that are too long.
        if not os.path.isfile(path):
            raise entry.error(f"The actor must be {AMORTIZED!r}, {EXACT!r} or an actor file, but there is no file '{path}'.")
        return str(path)

    def write(self, value: str) -> str:
        if value in (AMORTIZED, EXACT):
            return value
        path, home = Path(value).resolve(), self.folder.resolve()
        return str(path.relative_to(home) if path.is_relative_to(home) else path)

    def schema(self) -> JsonSchema:
        return {"type": "string", "examples": [AMORTIZED, EXACT]}


def _several(kind: Kind) -> ListOf:
    return ListOf(kind, "tables", is_sections=True)


# Keys that belong above the first section, and what stands there.
SETTINGS: dict[str, Callable[[Context], Field]] = {
    "title": lambda _: Field("title", Text(), "Stands above tables and figures."),
    "cost": lambda _: Field("cost", cost_kind(), "The cost that the analysis assumes.", is_required=True),
    "actor": lambda c: Field("actor", ActorFile(c.folder), "How optimal actions are computed."),
    "fidelity": lambda _: Field("fidelity", Name("fidelity", FIDELITIES), "How thoroughly each data set is analysed."),
    "datasets": lambda _: Field(
        "datasets",
        Whole(1, least=10),
        "Simulated participants for each design; more make it more certain.",
        "num_datasets",
    ),
    "interval": lambda _: Field("interval", Number(0, 1), "Probability of the reported intervals, at least 0.5."),
    "seed": lambda _: Field("seed", Whole(0), "The same seed gives the same results."),
    "candidates": lambda _: Field("candidates", ListOf(cost_kind(), "costs"), "Costs between which the data should decide."),
}
SECTIONS: dict[str, Callable[[Context], Field]] = {
    "population": lambda c: Field(
        "population",
        population_record(c),
        "Who is simulated: a number is everyone's, a table says how participants differ.",
        layout=SECTION,
    ),
    "analysis": lambda c: Field(
        "analysis",
        analysis_record(c),
        "What the fit estimates for each condition, or as one value for all of them.",
        layout=SECTION,
    ),
    "quantities": lambda c: Field(
        "quantities", Formulas(c.fitted), "Functions of the parameters that are reported, too.", layout=SECTION
    ),
    "goals": lambda c: Field("goals", _several(goal_record(c)), "What the study should achieve.", layout=SEVERAL),
    "stimuli": lambda _: Field(
        "stimuli", stimuli_record(), "What every design shows that has no stimuli of its own.", get=lambda _: None
    ),
    "designs": lambda c: Field("designs", _several(DesignTable(c)), "The designs that compete.", layout=SEVERAL),
    "search": lambda c: Field("search", search_record(c), "Which other designs may be tried, and for what.", layout=SECTION),
}


def read_document(root: Entry, folder: Path) -> Study:
    """The study that a document describes.

    Raises:
        StudyFileError: if it describes none.
    """
    # A search brings its own designs.
    required = ["cost"] if isinstance(root.value, dict) and "search" in root.value else ["cost", "designs"]
    top = root.table((*SETTINGS, *SECTIONS), required=required)
    context, values = _find_costs(top, folder), {}
    for key, describe in (SETTINGS | SECTIONS).items():
        if key in top:
            field = describe(context)
            values[field.name] = field.kind.read(top[key])
            if key in ("quantities", "goals", "stimuli"):
                context = dataclasses.replace(context, **{key: values[field.name]})
    values.pop("stimuli", None)
    first = {name: values.pop(name) for name in ("cost", "designs", "population", "search") if name in values}
    with top["designs" if "designs" in top else "search"].explain():
        study = Study(**{"designs": (), **first})
    # One at a time: what the study refuses is then known to stand under this key.
    for key, entry in top.items():
        name = (SETTINGS | SECTIONS)[key](context).name
        if name in values:
            with entry.explain():
                study = dataclasses.replace(study, **{name: values[name]})
    return study


def document_record(context: Context) -> Record:
    """All settings and sections."""
    return Record(Study, tuple(describe(context) for describe in (SETTINGS | SECTIONS).values()))


def json_schema() -> dict[str, Any]:
    """The JSON Schema of study files (draft 7, which editors of TOML know), with everything that is registered."""
    return {
        "$schema": DRAFT,
        "title": "A study of designstudio",
        **document_record(Context.any()).schema(),
        "anyOf": [{"required": ["designs"]}, {"required": ["search"]}],
        "definitions": {"prior": prior_schema(), "stimuli": stimuli_record().define()},
    }


def _find_costs(top: dict[str, Entry], folder: Path) -> Context:
    """The costs that are fitted and simulated: other parts speak of their parameters."""
    fitted = simulated = get_cost(cost_kind().read(top["cost"]))
    if "population" in top and isinstance(top["population"].value, dict) and "cost" in top["population"].value:
        simulated = get_cost(cost_kind().read(top["population"].child("cost")))
    return Context(parameters_by_name(fitted), parameters_by_name(simulated), folder=folder)
