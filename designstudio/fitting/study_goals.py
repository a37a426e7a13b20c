"""Goals of whole studies judged on data: the groups that a plan compares, or what changes within people.

Decisions are made as in the simulated studies in which power was counted (`designstudio.evaluate.group_decisions`): by the
interval of the middle of each group in the hierarchical analysis, each group by itself, or by that of a t test on posterior
means. Participants without a usable fit, or without trials in a condition, are left out and counted.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from designstudio.core.numbers import format_significant
from designstudio.evaluate.entries import name_entries
from designstudio.evaluate.group_analyses import PLAIN, FittedGroup, GroupAnalysis, Middles, analyse_groups
from designstudio.evaluate.group_decisions import Decisions, decide_by_bayes_factor, decide_by_interval, decide_by_t_test
from designstudio.evaluate.group_studies import Sample
from designstudio.fitting.goal_outcome import (
    NOT_REACHED,
    REACHED,
    GoalOutcome,
    are_good,
    describe_planned,
    find_shared,
    name_unit,
    record_power,
    refuse,
)
from designstudio.fitting.planned import PlannedAnalysis, PlannedGoal
from designstudio.fitting.units import count_trials
from designstudio.inference.hierarchical.many_groups import GroupsSettings
from designstudio.metrics.power import ALPHA
from designstudio.study.groups import FEWEST_MEMBERS, HIERARCHICAL
from designstudio.study.quantities import Quantity

if TYPE_CHECKING:
    from designstudio.fitting.empirical_fit import EmpiricalFit

# One group is worth more draws than each of hundreds: ends of its interval should hardly depend on the seed.
CAREFULLY = GroupsSettings(num_learning_draws=4_000, num_weighted=20_000, num_draws=5_000)
# Nobody asks by how much evidence is more than overwhelming.
LARGEST_FACTOR = 1e6


def judge_study_goal(
    fit: "EmpiricalFit", plan: PlannedAnalysis, goal: PlannedGoal, label: str, draws: Mapping[str, np.ndarray]
) -> GoalOutcome:
    """What data say about a goal of a whole study.

    Args:
        fit: of the data. plan: that the goal is of. goal: which. label: what it is called.
        draws: of the goal's number of each person, over (subject, draw); of those of both conditions, for a change.
    """
    entries = [f"{goal.quantity}[{condition}]" for condition in goal.conditions] or list(draws)
    lacking = [entry for entry in entries if entry not in draws]
    if lacking:
        return refuse(plan, goal, label, f"the fit has no {lacking[0]}")
    problem = _find_problem(plan, goal)
    if problem:
        return refuse(plan, goal, label, problem)
    is_there = (count_trials(fit.trials) > 0).all(axis=1)
    is_there &= np.all([np.isfinite(draws[entry]).all(axis=1) for entry in entries], axis=0)
    is_judged = is_there & are_good(fit, plan.cost)
    groups = _divide(fit, plan, goal)
    for name, is_member in groups.items():
        num = int((is_member & is_judged).sum())
        if num < FEWEST_MEMBERS:
            usable = f"{num or 'no'} usable fit{'' if num == 1 else 's'}"
            return refuse(plan, goal, label, f"{_call(name)} has {usable}, and {FEWEST_MEMBERS} are needed")
    members = [is_member & is_judged for is_member in groups.values()]
    samples = [_sample(fit, plan, goal, entries, draws, is_member) for is_member in members]
    if not all(sample.is_good.all() for sample in samples):
        return refuse(plan, goal, label, "the hierarchical analysis did not reach a result that can be trusted")
    decisions, how = _decide(fit, goal, samples)
    if not decisions.is_made[0]:
        return refuse(plan, goal, label, "people are so much alike that a test of them has no answer")
    status = REACHED if decisions.find_effect(goal.margin)[0] else NOT_REACHED
    estimate, low, high = (float(array[0]) for array in decisions[:3])
    num_failed = int(sum((is_member & ~is_judged).sum() for is_member in groups.values()))
    failed = f"; {num_failed} more without a usable fit or without trials in a condition" if num_failed else ""
    unit = name_unit(fit, plan, goal)
    what = _describe_effect(goal, entries, list(groups), unit)
    between = f"{format_significant(low)} to {format_significant(high)}"
    beyond = f" by more than {goal.margin:g}{unit}" if goal.margin else ""
    counts = zip(groups, members, strict=True)
    people = " and ".join(f"{int(is_member.sum())} {name or 'participants'}" for name, is_member in counts)
    sentence = (
        f"Goal '{label}': {status}: {what} is {format_significant(estimate)}{unit} ({how.format(between=between)}, "
        f"{people}), which {'is clearly' if status == REACHED else 'is not clearly'} away from 0{beyond}{failed}. "
        f"{describe_planned(plan, label)}"
    )
    return GoalOutcome(
        label, goal.kind, status, sentence, num_judged=int(sum(map(np.sum, members))), num_failed=num_failed, low=low,
        high=high, estimate=estimate, power=record_power(plan, goal, label),
    )  # fmt: skip


def _decide(fit: "EmpiricalFit", goal: PlannedGoal, samples: list[Sample]) -> tuple[Decisions, str]:
    """The decision, and how it was made, with a place for the ends of the interval."""
    value = goal.value or 0.0
    if goal.decision == HIERARCHICAL:
        interval = fit.request.interval
        return decide_by_interval(samples, value, interval), f"{interval:.0%} interval {{between}}, hierarchical analysis"
    words = f"{1 - ALPHA:.0%} interval {{between}}, t test on posterior means"
    if goal.least_factor is None:
        return decide_by_t_test(samples, value), words
    decisions = decide_by_bayes_factor(samples, value, goal.least_factor)
    assert decisions.evidence is not None  # noqa: S101  (it decides)
    log_factor = decisions.evidence.weigh(decisions.estimate, goal.margin)[0]
    is_huge = log_factor > np.log(LARGEST_FACTOR)
    factor = f"above {LARGEST_FACTOR:,.0f}" if is_huge else format_significant(float(np.exp(log_factor)))
    return decisions, f"{words}, Bayes factor {factor} where {goal.least_factor:g} is asked for"


def _find_problem(plan: PlannedAnalysis, goal: PlannedGoal) -> str:
    """Why it is not known who is in which group; nothing if it is, or need not be."""
    named = sorted(set(plan.groups.values()))
    lacking = [name for name in goal.groups if name not in named]
    if not lacking:
        return ""
    if not named:
        return "no column says who is in which group: name it by --column group=NAME"
    return f"the data have no group {lacking[0]!r}, only {', '.join(map(repr, named))}"


def _divide(fit: "EmpiricalFit", plan: PlannedAnalysis, goal: PlannedGoal) -> dict[str, np.ndarray]:
    """Whether each participant is a member, by the names of the groups; all are, of a group without a name."""
    if not goal.groups:
        return {"": np.ones(len(fit.subjects), bool)}
    labels = np.array([plan.groups.get(subject, "") for subject in fit.subjects])
    return {name: labels == name for name in goal.groups}


def _call(name: str) -> str:
    return f"group {name!r}" if name else "everybody together"


def _sample(
    fit: "EmpiricalFit",
    plan: PlannedAnalysis,
    goal: PlannedGoal,
    entries: Sequence[str],
    draws: Mapping[str, np.ndarray],
    is_member: np.ndarray,
) -> Sample:
    """One group, in a study that is the only one."""
    nobody = np.full((1, len(is_member)), np.nan)
    means = [np.where(is_member, draws[entry].mean(axis=1), np.nan)[None] for entry in entries]
    mean = means[-1] - means[0] if goal.conditions else means[0]
    if goal.decision != HIERARCHICAL:
        return Sample(nobody, mean, np.zeros((1, 0)), np.ones(1, bool))
    names, found = _analyse(fit, plan, goal, is_member)
    middles = [found.draws[0, names.index(entry)] for entry in entries]
    middle = middles[-1] - middles[0] if goal.conditions else middles[0]
    return Sample(nobody, mean, middle, found.is_good[0])


def _analyse(
    fit: "EmpiricalFit", plan: PlannedAnalysis, goal: PlannedGoal, is_member: np.ndarray
) -> tuple[list[str], Middles]:
    """The names of all that the hierarchical analysis of a group is about, and what it says."""
    model, posterior, scale = fit.models[plan.cost], fit.posteriors[plan.cost], fit.scale
    known = posterior["constant_data"].to_dataset()
    fixed = {name: find_shared(known[f"fixed_{name}"]) for name in model.fixed}
    group = FittedGroup(model, fixed, scale.apply(fit.trials), is_member[None], posterior, scale, fit.request.pooling)
    quantities = [Quantity.from_formula(name, text) for name, text in plan.quantities.items()]
    entries = name_entries(model, fit.conditions, quantities, scale)
    analysis = PLAIN
    if goal.conditions:
        first, second = (fit.conditions.index(condition) for condition in goal.conditions)
        analysis = GroupAnalysis(goal.quantity, (first, second))
    sizes, only = [len(is_member)], np.array([0])
    found = analyse_groups(group, entries, quantities, only, sizes, [analysis], settings=CAREFULLY, seed=fit.request.seed)
    return [entry.name for entry in entries], found[analysis]


def _describe_effect(goal: PlannedGoal, entries: Sequence[str], groups: Sequence[str], unit: str) -> str:
    """The effect, in words."""
    of = f" of {groups[0]}" if groups[0] else ""
    if goal.conditions:
        return f"{entries[1]} minus {entries[0]}{of}"
    if len(groups) > 1:
        return f"{groups[1]} minus {groups[0]} in {entries[0]}"
    middle = "the median" if goal.decision == HIERARCHICAL else "the mean"
    return f"{middle} of {entries[0]}{of} minus {goal.value:g}{unit}"
