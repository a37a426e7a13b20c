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
    NUMBER,
    POSITIVE,
    SECTION,
    TEXT,
    TRUTH_VALUE,
    Field,
    Kind,
    close,
    list_of,
    number,
    one_of,
    table,
    whole,
)  # fmt: skip
from designstudio.study.schema.priors import parameter_fields, parameter_value
from designstudio.study.search_plan import SAMPLERS, SearchPlan
from designstudio.study.space import DIMENSIONS, Choice, Range, Space, Variable, check_variable, list_values
from designstudio.study.study import FIDELITIES

_STIMULI = "stimuli."
_LIKE = 'a value, { range = [0.05, 0.35] } or { choice = ["uniform", "log-uniform"] }'


def search_kind(context: Context) -> Kind:
    """How designs are searched."""
    fidelity, space = one_of("fidelity", FIDELITIES), space_kind(context)
    objectives = list_of(objective_kind(context), 'objectives, such as [{ score = "rmse", of = ["mu_0", "beta"] }]')
    limited = objective_kind(context, is_limited=True)
    constraints = list_of(limited, 'constraints, such as [{ score = "minutes", at_most = 10 }]')
    aims = "What to make small or large; by default the information gained on prior and cost."
    choices = "For each variable a value, a range or a choice."
    fields = (
        Field("objectives", objectives, aims, layout=LINES),
        Field("constraints", constraints, "What a design must fulfil.", layout=LINES),
        Field("sampler", one_of("sampler", SAMPLERS), "How Optuna proposes designs."),
        Field("fidelity", fidelity, "How designs are scored while searching."),
        Field("datasets", whole(16), "Simulated participants for a design that is not given up early.", "num_datasets"),
        Field("racing", TRUTH_VALUE, "Whether weak designs are given up early.", "races"),
        Field("screen", whole(0), "Designs that fidelity information looks at first.", "num_screened"),
        Field("finalists", whole(1), "Best designs that are scored again.", "num_finalists"),
        Field("verify_fidelity", fidelity, "How the finalists are scored."),
        Field("fresh_datasets", whole(10), "Fresh data sets for the finalists.", "num_fresh"),
        Field("num_errors", POSITIVE, "Monte Carlo errors by which a design must be ahead to be called better."),
        Field("worth_having", POSITIVE, "Difference between designs that matters: a share of sizes, else as it is."),
        Field("space", space, f"Which designs may be tried. {choices}", is_required=True, layout=SECTION, comment=choices),
    )
    return table(SearchPlan, fields)


def space_kind(context: Context) -> Kind:
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

    inside = tuple(_variable_field(name) for name in DIMENSIONS if name.startswith(_STIMULI))
    stimuli = table(dict, inside, words='a table such as { distribution = "uniform", low = 0.25, high = 5.0 }')
    fields = (
        *(_variable_field(name) for name in DIMENSIONS if not name.startswith(_STIMULI)),
        *parameter_fields(context.simulated.values(), _level_kind, get_level),
        Field("seconds_per_trial", POSITIVE, "How long a trial takes.", unit="seconds"),
        Field("stimuli", stimuli, "What is shown.", get=lambda space: space),
    )
    return table(Space, fields, build)


def variable_kind(value: Kind, check: Callable[[Entry, Variable], None], *, is_whole: bool = False) -> Kind:
    """A value, a range or a choice.

    Args:
        value: what a single value may be.
        check: refuses values that it cannot have.
        is_whole: whether ends of ranges are whole numbers.
    """

    def read(entry: Entry) -> Variable:
        if isinstance(entry.value, list):
            raise entry.refuse(_LIKE)
        variable = _read_range_or_choice(entry) if isinstance(entry.value, dict) else _read_option(entry)
        check(entry, variable)
        return variable

    def write(variable: Variable) -> Any:
        if isinstance(variable, Choice):
            return {"choice": list(variable.options)}
        if not isinstance(variable, Range):
            return variable
        cast = int if is_whole else float
        step = {} if variable.step is None else {"step": cast(variable.step)}
        return {"range": [cast(variable.low), cast(variable.high)], **step}

    choice = {"type": "array", "items": value.schema, "minItems": 2, "uniqueItems": True}
    schemas = [value.schema, close({"choice": choice}, ["choice"])]
    if "enum" not in value.schema:
        ends = {"type": "array", "items": value.schema, "minItems": 2, "maxItems": 2}
        schemas.append(close({"range": ends, "step": POSITIVE.schema}, ["range"]))
    return Kind(f"{value.words}; or a range or choice of them", read, {"anyOf": schemas}, write)


def part_kind(context: Context, score: str) -> Kind:
    """What a score is of: quantities, all parameters or those of prior and cost, or a goal's name (or number)."""

    def read(entry: Entry) -> tuple[str, ...]:
        metric = get_metric(score)
        if metric.scope == GOAL:
            goals = [goal.label for goal in context.goals or ()]
            given = TEXT.read(entry) if isinstance(entry.value, str) else str(whole(1).read(entry))
            with entry.explain():
                return Objective(score, (given,)).name_goal(goals).of
        parts = list_parts(metric)
        if metric.scope != QUANTITY and not parts:
            raise entry.error(f"The score {score!r} is of the whole design: leave out of = ....")
        kind = one_of("quantity", context.scored) if metric.scope == QUANTITY else one_of("part", parts)
        items = entry.items('names in "quotes"') if isinstance(entry.value, list) else [entry]
        return tuple(kind.read(item) for item in items)

    def write(of: tuple[str, ...]) -> Any:
        scope = get_metric(score).scope
        return list(of) if scope == QUANTITY else of[0]

    schemas = [TEXT.schema, {"type": "array", "items": TEXT.schema}, whole(1).schema]
    words = 'names in "quotes", "prior_cost" or "all", or the name or number of a goal'
    return Kind(words, read, {"anyOf": schemas}, write)


def objective_kind(context: Context, *, is_limited: bool = False) -> Kind:
    """A score of something; of a constraint also its limits."""
    scores = one_of("score", list_objective_names())
    limits = {"at_most": "It must not be larger.", "at_least": "It must not be smaller."} if is_limited else {}

    def build(score: str, of: tuple[str, ...] = (), **ends: float) -> Objective | Constraint:
        objective = Objective(score, of).name_goal([goal.label for goal in context.goals or ()]).complete()
        return Constraint(objective, **ends) if is_limited else objective

    def make(score: str) -> Kind:
        fields = (
            Field("score", scores, "A metric.", is_required=True),
            Field("of", part_kind(context, score), "What it is of."),
            *(Field(key, NUMBER, doc) for key, doc in limits.items()),
        )
        words = 'a table such as { score = "rmse", of = ["beta"] }'
        return table(Constraint if is_limited else Objective, fields, build, words=words)

    def read(entry: Entry) -> Any:
        # What a score may be of depends on the score.
        has_score = isinstance(entry.value, dict) and "score" in entry.value
        return make(scores.read(entry.child("score")) if has_score else "").read(entry)

    def write(value: Objective | Constraint) -> Any:
        objective = (value.objective if isinstance(value, Constraint) else value).complete()
        of = {"of": part_kind(context, objective.score).write(objective.of)} if objective.of else {}
        ends = {key: getattr(value, key) for key in limits if getattr(value, key) is not None}
        return {"score": objective.score, **of, **ends}

    kind = make("")
    needs = {"anyOf": [{"required": [key]} for key in limits]} if is_limited else {}
    return dataclasses.replace(kind, read=read, write=write, schema={**kind.schema, **needs})


def _variable_field(name: str) -> Field:
    dimension, key = DIMENSIONS[name], name.removeprefix(_STIMULI)
    value = number(dimension.low, dimension.high)
    if dimension.list_options is not None:
        value = one_of(key, dimension.list_options())
    elif dimension.is_whole:
        value = whole(int(dimension.low), most=int(min(dimension.high, LARGEST_WHOLE_NUMBER)))

    def check(entry: Entry, variable: Variable) -> None:
        with entry.explain():
            check_variable(name, variable)

    kind = variable_kind(value, check, is_whole=dimension.is_whole)
    default, get = dimension.default, lambda space: space.variables.get(name)
    return Field(key, kind, dimension.doc, unit=dimension.unit, default=default, get=get)


def _level_kind(parameter: Parameter) -> Kind:
    value = parameter_value(parameter)

    def check(entry: Entry, variable: Variable) -> None:
        for found in list_values(variable):
            value.read(Entry(found, entry.path, entry.origin))

    return variable_kind(value, check)


def _read_range_or_choice(entry: Entry) -> Variable:
    entries = entry.table(("range", "step", "choice"), like=_LIKE)
    if ("range" in entries) == ("choice" in entries):
        raise entry.error(f"This needs either a range or a choice. Write {_LIKE}.")
    with entry.explain():
        if "choice" in entries:
            if "step" in entries:
                raise entries["step"].error("A choice has no step: only a range does.")
            return Choice(tuple(_read_option(item) for item in entries["choice"].items("options")))
        ends = [NUMBER.read(item) for item in entries["range"].items("two numbers, the low and the high end")]
        if len(ends) != 2:
            raise entries["range"].error(f"A range has two ends, the low and the high one, but {len(ends)} were given.")
        return Range(ends[0], ends[1], POSITIVE.read(entries["step"]) if "step" in entries else None)


def _read_option(entry: Entry) -> float | int | str:
    option: float | str = TEXT.read(entry) if isinstance(entry.value, str) else NUMBER.read(entry)
    return int(option) if isinstance(entry.value, int) else option
