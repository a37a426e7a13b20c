"""The section [search] of a study file: designs to choose from, objectives, constraints."""

import dataclasses
from collections.abc import Callable
from typing import Any

from designstudio.errors import StudioError
from designstudio.metrics import get_metric
from designstudio.metrics.base import GOAL, QUANTITY
from designstudio.metrics.registry import list_objective_names
from designstudio.model.parameters import Parameter
from designstudio.study.objectives import Constraint, Objective, list_parts
from designstudio.study.schema.context import Context
from designstudio.study.schema.entry import Entry
from designstudio.study.schema.kinds import (
    LARGEST_WHOLE_NUMBER,
    LINES,
    POSITIVE,
    SECTION,
    Field,
    JsonSchema,
    Kind,
    ListOf,
    Name,
    Number,
    Text,
    Truth,
    Whole,
)
from designstudio.study.schema.priors import Value, parameter_fields
from designstudio.study.schema.record import Record
from designstudio.study.search_plan import SAMPLERS, SearchPlan
from designstudio.study.space import DIMENSIONS, Choice, Range, Space, Variable, check_variable, list_values
from designstudio.study.study import FIDELITIES

_STIMULI = "stimuli."
_LIKE = 'a value, { range = [0.05, 0.35] } or { choice = ["uniform", "log-uniform"] }'


def search_record(context: Context) -> Record:
    """How designs are searched."""
    fidelity = Name("fidelity", FIDELITIES)
    objectives = ListOf(ObjectiveTable(context), 'objectives, such as [{ score = "rmse", of = ["mu_0", "beta"] }]')
    limited = ObjectiveTable(context, is_limited=True)
    constraints = ListOf(limited, 'constraints, such as [{ score = "minutes", at_most = 10 }]')
    return Record(
        SearchPlan,
        (
            Field(
                "objectives",
                objectives,
                "What to make small or large; by default the information gained on prior and cost.",
                layout=LINES,
            ),
            Field("constraints", constraints, "What a design must fulfil.", layout=LINES),
            Field("sampler", Name("sampler", SAMPLERS), "How Optuna proposes designs."),
            Field("fidelity", fidelity, "How designs are scored while searching."),
            Field("datasets", Whole(16), "Simulated participants for a design that is not given up early.", "num_datasets"),
            Field("racing", Truth(), "Whether weak designs are given up early.", "races"),
            Field(
                "screen",
                Whole(0),
                "Designs that fidelity information looks at first.",
                "num_screened",
            ),
            Field("finalists", Whole(1), "Best designs that are scored again.", "num_finalists"),
            Field("verify_fidelity", fidelity, "How the finalists are scored."),
            Field("fresh_datasets", Whole(10), "Fresh data sets for the finalists.", "num_fresh"),
            Field(
                "space",
                space_record(context),
                "Which designs may be tried: for each variable a value, a range or a choice.",
                is_required=True,
                layout=SECTION,
                comment="For each variable a value, a range or a choice.",
            ),
        ),
    )


def space_record(context: Context) -> Record:
    """The designs to choose from."""

    def build(stimuli: dict[str, Variable] | None = None, **given: Any) -> Space:
        levels = [name for name in given if name in context.simulated]
        if len(levels) > 1:
            raise StudioError(f"Levels set one parameter, but {' and '.join(levels)} were given: keep one of them.")
        variables = {name: given.pop(name) for name in DIMENSIONS if name in given}
        variables |= {f"{_STIMULI}{name}": variable for name, variable in (stimuli or {}).items()}
        level = {"parameter": levels[0], "level": given.pop(levels[0])} if levels else {}
        return Space(variables, **level, **given)

    def get_level(space: Space, name: str) -> Variable | None:
        return space.level if space.parameter == name else None

    def level_kind(parameter: Parameter) -> Kind:
        def check(entry: Entry, variable: Variable) -> None:
            for value in list_values(variable):
                Value(parameter).read(Entry(value, entry.path, entry.origin))

        return SearchVariable(Value(parameter), check)

    inside = tuple(_variable_field(name) for name in DIMENSIONS if name.startswith(_STIMULI))
    stimuli = Record(dict, inside, words='a table such as { distribution = "uniform", low = 0.25, high = 5.0 }')
    return Record(
        Space,
        (
            *(_variable_field(name) for name in DIMENSIONS if not name.startswith(_STIMULI)),
            *parameter_fields(context.simulated.values(), level_kind, get_level),
            Field("seconds_per_trial", POSITIVE, "How long a trial takes.", unit="seconds"),
            Field("stimuli", stimuli, "What is shown.", get=lambda space: space),
        ),
        build,
    )


def _variable_field(name: str) -> Field:
    dimension, key = DIMENSIONS[name], name.removeprefix(_STIMULI)
    value: Kind = Number(dimension.low, dimension.high)
    if dimension.list_options is not None:
        value = Name(key, dimension.list_options())
    elif dimension.is_whole:
        value = Whole(int(dimension.low), most=int(min(dimension.high, LARGEST_WHOLE_NUMBER)))

    def check(entry: Entry, variable: Variable) -> None:
        with entry.explain():
            check_variable(name, variable)

    kind = SearchVariable(value, check, is_whole=dimension.is_whole)
    default, get = dimension.default, lambda space: space.variables.get(name)
    return Field(key, kind, dimension.doc, unit=dimension.unit, default=default, get=get)


@dataclasses.dataclass(frozen=True)
class SearchVariable(Kind):
    """A value, a range or a choice.

    Attributes:
        value: what a single value may be.
        check: refuses values that it cannot have.
        is_whole: whether ends of ranges are whole numbers.
    """

    value: Kind
    check: Callable[[Entry, Variable], None]
    is_whole: bool = False

    @property
    def words(self) -> str:
        return f"{self.value.words}; or a range or choice of them"

    def read(self, entry: Entry) -> Variable:
        if isinstance(entry.value, list):
            raise entry.refuse(_LIKE)
        variable = self._read_table(entry) if isinstance(entry.value, dict) else _read_option(entry)
        self.check(entry, variable)
        return variable

    def write(self, value: Variable) -> Any:
        if isinstance(value, Choice):
            return {"choice": list(value.options)}
        if not isinstance(value, Range):
            return value
        cast = int if self.is_whole else float
        step = {} if value.step is None else {"step": cast(value.step)}
        return {"range": [cast(value.low), cast(value.high)], **step}

    def schema(self) -> JsonSchema:
        value = self.value.schema()
        choice = {"type": "array", "items": value, "minItems": 2, "uniqueItems": True}
        tables = [_close({"choice": choice}, ["choice"])]
        if not isinstance(self.value, Name):
            ends = {"type": "array", "items": value, "minItems": 2, "maxItems": 2}
            tables.append(_close({"range": ends, "step": POSITIVE.schema()}, ["range"]))
        return {"anyOf": [value, *tables]}

    def _read_table(self, entry: Entry) -> Variable:
        table = entry.table(("range", "step", "choice"), like=_LIKE)
        if ("range" in table) == ("choice" in table):
            raise entry.error(f"This needs either a range or a choice. Write {_LIKE}.")
        with entry.explain():
            if "choice" in table:
                if "step" in table:
                    raise table["step"].error("A choice has no step: only a range does.")
                return Choice(tuple(_read_option(item) for item in table["choice"].items("options")))
            ends = [Number().read(item) for item in table["range"].items("two numbers, the low and the high end")]
            if len(ends) != 2:
                raise table["range"].error(f"A range has two ends, the low and the high one, but {len(ends)} were given.")
            return Range(ends[0], ends[1], POSITIVE.read(table["step"]) if "step" in table else None)


@dataclasses.dataclass(frozen=True)
class PartOf(Kind):
    """What a score is of: quantities, all parameters or those of prior and cost, or a goal's number."""

    context: Context
    score: str

    @property
    def words(self) -> str:
        return 'names in "quotes", "prior_cost" or "all", or a goal\'s number'

    def read(self, entry: Entry) -> tuple[str, ...]:
        metric = get_metric(self.score)
        if metric.scope == GOAL:
            number, goals = Whole(1).read(entry), self.context.goals or ()
            if number > len(goals):
                raise entry.error(f"There is no goal number {number}: the study has {len(goals)}.")
            return (str(number),)
        parts = list_parts(metric)
        if metric.scope != QUANTITY and not parts:
            raise entry.error(f"The score {self.score!r} is of the whole design: leave out of = ....")
        kind = Name("quantity", self.context.scored) if metric.scope == QUANTITY else Name("part", parts)
        return ListOf(kind, 'names in "quotes"').read(entry) if isinstance(entry.value, list) else (kind.read(entry),)

    def write(self, value: tuple[str, ...]) -> Any:
        scope = get_metric(self.score).scope
        return int(value[0]) if scope == GOAL else list(value) if scope == QUANTITY else value[0]

    def schema(self) -> JsonSchema:
        names = {"type": "array", "items": Text().schema()}
        return {"anyOf": [Text().schema(), names, Whole(1).schema()]}


@dataclasses.dataclass(frozen=True)
class ObjectiveTable(Kind):
    """A score of something; of a constraint also its limits.

    Attributes:
        context: the study's quantities and goals.
        is_limited: whether it is a constraint.
    """

    context: Context
    is_limited: bool = False

    @property
    def words(self) -> str:
        return 'a table such as { score = "rmse", of = ["beta"] }'

    def table(self, score: str = "") -> Record:
        """The keys, for a score that is known already."""
        limits = {"at_most": "It must not be larger.", "at_least": "It must not be smaller."}
        fields = (
            Field("score", Name("score", list_objective_names()), "A metric.", is_required=True),
            Field("of", PartOf(self.context, score), "What it is of."),
            *(Field(key, Number(), doc) for key, doc in limits.items() if self.is_limited),
        )
        return Record(Constraint if self.is_limited else Objective, fields, self._build, self.words)

    def read(self, entry: Entry) -> Objective | Constraint:
        table = entry.value if isinstance(entry.value, dict) else {}
        score = Name("score", list_objective_names()).read(entry.child("score")) if "score" in table else ""
        found: Objective | Constraint = self.table(score).read(entry)
        return found

    def write(self, value: Objective | Constraint) -> Any:
        objective = (value.objective if isinstance(value, Constraint) else value).complete()
        ends = {key: getattr(value, key) for key in ("at_most", "at_least") if getattr(value, key, None) is not None}
        of = {"of": PartOf(self.context, objective.score).write(objective.of)} if objective.of else {}
        return {"score": objective.score, **of, **ends}

    def schema(self) -> JsonSchema:
        limits = {"anyOf": [{"required": ["at_most"]}, {"required": ["at_least"]}]} if self.is_limited else {}
        return self.table().schema() | limits

    def _build(self, score: str, of: tuple[str, ...] = (), **ends: float) -> Objective | Constraint:
        if get_metric(score).scope == GOAL and not self.context.goals:
            raise StudioError("The study has no goals, so there is no power to search for: add [[goals]].")
        objective = Objective(score, of).complete()
        return Constraint(objective, **ends) if self.is_limited else objective


def _close(properties: JsonSchema, required: list[str]) -> JsonSchema:
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _read_option(entry: Entry) -> float | int | str:
    if isinstance(entry.value, str):
        return Text().read(entry)
    number = Number().read(entry)
    return int(number) if isinstance(entry.value, int) else number
