"""The section [search] of a study file, written: the counterpart of `designstudio.study.search_entries`."""

import dataclasses
from typing import Any

from designstudio.metrics.base import GOAL, QUANTITY
from designstudio.study.objectives import Constraint, Objective
from designstudio.study.search_plan import SearchPlan
from designstudio.study.space import DEFAULTS, WHOLE, Choice, Range, Space, Variable
from designstudio.study.toml_text import write_comment, write_list, write_pairs

_STIMULI = "stimuli."


def write_search(plan: SearchPlan) -> list[list[str]]:
    """The sections that describe a search, as lines."""
    lines = [*write_comment("Which other designs may be tried, and for what."), "[search]"]
    if plan.objectives:
        lines += write_list("objectives", [_describe_objective(objective) for objective in plan.objectives])
    if plan.constraints:
        lines += write_list("constraints", [_describe_constraint(constraint) for constraint in plan.constraints])
    settings = {
        "sampler": plan.sampler,
        "fidelity": plan.fidelity,
        "datasets": plan.num_datasets,
        "racing": plan.races,
        "screen": plan.num_screened,
        "finalists": plan.num_finalists,
        "verify_fidelity": plan.verify_fidelity,
        "fresh_datasets": plan.num_fresh,
    }
    comment = write_comment("For each variable a value, a range or a choice.")
    return [[*lines, *write_pairs(settings)], [*comment, "[search.space]", *write_pairs(_describe_space(plan.space))]]


def complete_objectives(plan: SearchPlan) -> SearchPlan:
    """The plan with every objective saying what it is of, where that is understood."""
    constraints = tuple(dataclasses.replace(c, objective=c.objective.complete()) for c in plan.constraints)
    return dataclasses.replace(plan, objectives=tuple(o.complete() for o in plan.objectives), constraints=constraints)


def _describe_objective(objective: Objective) -> dict[str, Any]:
    scope, of = objective.metric.scope, objective.complete().of
    if not of:
        return {"score": objective.score}
    return {"score": objective.score, "of": of if scope == QUANTITY else int(of[0]) if scope == GOAL else of[0]}


def _describe_constraint(constraint: Constraint) -> dict[str, Any]:
    ends = {name: getattr(constraint, name) for name in ("at_most", "at_least") if getattr(constraint, name) is not None}
    return {**_describe_objective(constraint.objective), **ends}


def _describe_space(space: Space) -> dict[str, Any]:
    names = [name for name in DEFAULTS if name in space.variables]
    described = {name: _describe_variable(space.variables[name], is_whole=name in WHOLE) for name in names}
    table = {name: value for name, value in described.items() if not name.startswith(_STIMULI)}
    if space.parameter is not None and space.level is not None:
        table[space.parameter] = _describe_variable(space.level)
    table["seconds_per_trial"] = space.seconds_per_trial
    stimuli = {name: value for name, value in described.items() if name.startswith(_STIMULI)}
    return {**table, "stimuli": {name.removeprefix(_STIMULI): value for name, value in stimuli.items()}}


def _describe_variable(variable: Variable, *, is_whole: bool = False) -> Any:
    if isinstance(variable, Choice):
        return {"choice": variable.options}
    if not isinstance(variable, Range):
        return variable
    kind = int if is_whole else float
    step = {} if variable.step is None else {"step": kind(variable.step)}
    return {"range": [kind(variable.low), kind(variable.high)], **step}
