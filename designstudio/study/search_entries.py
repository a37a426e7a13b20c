"""The section [search] of a study file: designs to choose from, objectives, constraints."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from designstudio.metrics import get_metric
from designstudio.metrics.base import GOAL, QUANTITY
from designstudio.metrics.registry import list_objective_names
from designstudio.model.costs import AbstractCost
from designstudio.study.entry import Entry
from designstudio.study.goals import Goal
from designstudio.study.objectives import Constraint, Objective, default_part, list_parts
from designstudio.study.prior_entries import parameters_by_name, read_value
from designstudio.study.search_plan import SAMPLERS, SearchPlan
from designstudio.study.space import DEFAULTS, Choice, Range, Space, Variable, check_variable

_LIKE = 'a value, { range = [0.05, 0.35] } or { choice = ["uniform", "log-uniform"] }'
_KEYS = (
    "space",
    "objectives",
    "constraints",
    "sampler",
    "fidelity",
    "datasets",
    "racing",
    "screen",
    "finalists",
    "verify_fidelity",
    "fresh_datasets",
)
_STIMULI = tuple(name.removeprefix("stimuli.") for name in DEFAULTS if name.startswith("stimuli."))
_VARIABLES = tuple(name for name in DEFAULTS if "." not in name)


def read_search(
    entry: Entry, cost: AbstractCost, quantities: Collection[str], goals: Sequence[Goal], fidelities: Collection[str]
) -> SearchPlan:
    """How designs are searched.

    Args:
        entry: the section.
        cost: that of simulated participants, whose parameters levels set.
        quantities: names that are scored.
        goals: of the study.
        fidelities: names of the fidelities.
    """
    table = entry.table(_KEYS, required=["space"])
    given: dict[str, Any] = {"space": _read_space(table["space"], cost)}
    if "objectives" in table:
        items = table["objectives"].items('objectives, such as [{ score = "rmse", of = ["mu_0", "beta"] }]')
        given["objectives"] = tuple(_read_objective(item, quantities, goals, ()) for item in items)
    if "constraints" in table:
        items = table["constraints"].items('constraints, such as [{ score = "minutes", at_most = 10 }]')
        given["constraints"] = tuple(_read_constraint(item, quantities, goals) for item in items)
    if "sampler" in table:
        given["sampler"] = table["sampler"].choose("sampler", SAMPLERS)
    for key in ("fidelity", "verify_fidelity"):
        if key in table:
            given[key] = table[key].choose("fidelity", fidelities)
    numbers = {"datasets": ("num_datasets", 16), "screen": ("num_screened", 0), "finalists": ("num_finalists", 1)}
    for key, (field, low) in {**numbers, "fresh_datasets": ("num_fresh", 10)}.items():
        if key in table:
            given[field] = table[key].whole_number(low)
    if "racing" in table:
        given["races"] = table["racing"].truth_value()
    with entry.explain():
        return SearchPlan(**given)


def _read_space(entry: Entry, cost: AbstractCost) -> Space:
    parameters = parameters_by_name(cost)
    table = entry.table((*_VARIABLES, "stimuli", "seconds_per_trial", *parameters))
    levels = [name for name in table if name in parameters]
    if len(levels) > 1:
        raise entry.error(f"Levels set one parameter, but {' and '.join(levels)} were given: keep one of them.")
    variables = {name: _read_variable(table[name], name) for name in _VARIABLES if name in table}
    if "stimuli" in table:
        stimuli = table["stimuli"].table(
            _STIMULI, like='a table such as { distribution = "uniform", low = 0.25, high = 5.0 }'
        )
        for name, item in stimuli.items():
            variables[f"stimuli.{name}"] = _read_variable(item, f"stimuli.{name}")
    given: dict[str, Any] = {}
    if levels:
        parameter = parameters[levels[0]]
        given = {"parameter": parameter.name, "level": _read_level(table[parameter.name], parameter)}
    if "seconds_per_trial" in table:
        given["seconds_per_trial"] = table["seconds_per_trial"].positive()
    with entry.explain():
        return Space(variables, **given)


def _read_variable(entry: Entry, name: str) -> Variable:
    variable = _parse_variable(entry)
    with entry.explain():
        check_variable(name, variable)
    return variable


def _read_level(entry: Entry, parameter: Any) -> Variable:
    variable = _parse_variable(entry)
    values = variable.options if isinstance(variable, Choice) else (variable,)
    values = (variable.low, variable.high) if isinstance(variable, Range) else values
    for value in values:
        read_value(Entry(value, entry.path, entry.origin), parameter)
    return variable


def _parse_variable(entry: Entry) -> Variable:
    if isinstance(entry.value, list):
        raise entry.refuse(_LIKE)
    if not isinstance(entry.value, dict):
        return entry.text() if isinstance(entry.value, str) else _parse_number(entry)
    table = entry.table(("range", "step", "choice"), like=_LIKE)
    if ("range" in table) == ("choice" in table):
        raise entry.error(f"This needs either a range or a choice. Write {_LIKE}.")
    with entry.explain():
        if "choice" in table:
            if "step" in table:
                raise table["step"].error("A choice has no step: only a range does.")
            items = table["choice"].items("options")
            return Choice(tuple(item.text() if isinstance(item.value, str) else _parse_number(item) for item in items))
        ends = [item.number() for item in table["range"].items("two numbers, the low and the high end")]
        if len(ends) != 2:
            raise table["range"].error(f"A range has two ends, the low and the high one, but {len(ends)} were given.")
        return Range(ends[0], ends[1], table["step"].positive() if "step" in table else None)


def _parse_number(entry: Entry) -> float | int:
    number = entry.number()
    return int(number) if isinstance(entry.value, int) else number


def _read_objective(entry: Entry, quantities: Collection[str], goals: Sequence[Goal], more: Collection[str]) -> Objective:
    table = entry.table(("score", "of", *more), required=["score"], like='a table such as { score = "rmse", of = ["beta"] }')
    score = table["score"].choose("score", list_objective_names())
    metric = get_metric(score)
    of: tuple[str, ...] = ()
    if "of" in table:
        item = table["of"]
        if metric.scope == GOAL:
            of = (str(_choose_goal(item, goals)),)
        elif metric.scope == QUANTITY or list_parts(metric):
            options = quantities if metric.scope == QUANTITY else list_parts(metric)
            parts = item.items('names in "quotes"') if isinstance(item.value, list) else [item]
            of = tuple(part.choose("quantity" if metric.scope == QUANTITY else "part", options) for part in parts)
        else:
            raise item.error(f"The score {score!r} is of the whole design: leave out of = ....")
    elif metric.scope == GOAL and not goals:
        raise entry.error("The study has no goals, so there is no power to search for: add [[goals]].")
    with entry.explain():
        return Objective(score, of or default_part(score))


def _choose_goal(entry: Entry, goals: Sequence[Goal]) -> int:
    number = entry.whole_number(1)
    if number > len(goals):
        raise entry.error(f"There is no goal number {number}: the study has {len(goals)}.")
    return number


def _read_constraint(entry: Entry, quantities: Collection[str], goals: Sequence[Goal]) -> Constraint:
    objective = _read_objective(entry, quantities, goals, ("at_most", "at_least"))
    table: Mapping[str, Entry] = entry.table(("score", "of", "at_most", "at_least"))
    ends = {key: table[key].number() for key in ("at_most", "at_least") if key in table}
    with entry.explain():
        return Constraint(objective, **ends)
