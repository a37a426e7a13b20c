"""Goals judged on data: how many participants reach each, or whether groups differ, beside what was planned.

A goal about participants is met by each participant's own posterior. The group's share has an equal-tailed interval
(Jeffreys: binomial with a beta(1/2, 1/2) prior). The group reaches such a goal if that interval lies above the rate of false
positives, the larger of the nominal one and the one that was computed with the plan: more participants than chance explains.
A goal whose rate nobody knows, or that has none (a narrow interval), is only counted. Groups differ if the planned t test on
posterior means says so; other goals of whole studies are those of `study_goals.py`.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from designstudio.core.numbers import format_percent, format_significant
from designstudio.errors import StudioError
from designstudio.fitting.comparison import is_total_decided
from designstudio.fitting.goal_outcome import (
    COUNTED,
    NOT_REACHED,
    REACHED,
    GoalOutcome,
    are_good,
    describe_planned,
    find_draws,
    name_unit,
    record_power,
    refuse,
)
from designstudio.fitting.planned import PlannedAnalysis, PlannedGoal
from designstudio.fitting.study_goals import judge_study_goal
from designstudio.metrics.intervals import compute_interval
from designstudio.metrics.power import Exclusion, Narrowness
from designstudio.metrics.samples import QuantitySample
from designstudio.study.goals import CHANGES, EXCLUDES, GROUPS_DIFFER

if TYPE_CHECKING:
    from designstudio.fitting.empirical_fit import EmpiricalFit

MOST_NAMED = 5


def judge_goals(fit: "EmpiricalFit") -> list[GoalOutcome]:
    """Every goal of the plan, on these data."""
    plan = fit.plan
    if plan is None:
        return []
    outcomes = []
    for goal in plan.goals:
        try:
            draws = find_draws(fit, plan, goal.quantity)
        except StudioError as error:
            outcomes.append(refuse(plan, goal, goal.name, f"its quantity cannot be computed ({error})"))
            continue
        if goal.kind == CHANGES:
            outcomes.append(judge_study_goal(fit, plan, goal, goal.name, draws))
            continue
        for quantity, values in draws.items():
            label = plan.label_goal(goal, quantity)
            if goal.decision:
                outcomes.append(judge_study_goal(fit, plan, goal, label, {quantity: values}))
                continue
            judge = _judge_groups if goal.kind == GROUPS_DIFFER else _judge_participants
            outcomes.append(judge(fit, plan, goal, label, quantity, values))
    return outcomes


def describe_plan(fit: "EmpiricalFit") -> list[str]:
    """What was planned and what became of it, in sentences: the plan, deviations, rules; nothing without a plan."""
    plan = fit.plan
    if plan is None:
        return []
    source = "record" if plan.source == "record" else "study (no record was given)"
    sentences = [f"Analysed as planned for design {plan.design!r}, by the {source} {plan.fingerprint[:16]}."]
    sentences += [f"Deviation: {sentence}" for sentence in plan.deviations]
    sentences += [f"To be applied by hand, as planned: {rule}" for rule in plan.rules]
    sentences += plan.notes
    comparison = fit.comparison
    if comparison is not None and plan.goals and is_total_decided(comparison.total):
        best = str(comparison.total["cost"].values[int(np.nanargmax(comparison.total["elpd"].values))])
        if best != plan.cost:
            sentences.append(f"Goals are judged under the {plan.cost} cost, as planned, although {best} predicts better.")
    return sentences


def compute_share_interval(num: int, total: int, probability: float) -> tuple[float, float]:
    """Equal-tailed interval of a share, of which `num` of `total` were seen, by Jeffreys' prior."""
    tail = (1 - probability) / 2
    low = 0.0 if num == 0 else float(special.betaincinv(num + 0.5, total - num + 0.5, tail))
    high = 1.0 if num == total else float(special.betaincinv(num + 0.5, total - num + 0.5, 1 - tail))
    return low, high


def _judge_participants(
    fit: "EmpiricalFit", plan: PlannedAnalysis, goal: PlannedGoal, label: str, quantity: str, draws: np.ndarray
) -> GoalOutcome:
    """How many participants meet a goal."""
    is_there = np.isfinite(draws).all(axis=1)
    is_judged = is_there & are_good(fit, plan.cost)
    num, num_failed = int(is_judged.sum()), int((is_there & ~is_judged).sum())
    if not num:
        why = "no participant has a usable fit" if is_there.any() else f"no participant has what {quantity} needs"
        return refuse(plan, goal, label, why)
    low, high = compute_interval(draws[is_judged], fit.request.interval)
    nothing = np.full(num, np.nan)
    sample = QuantitySample(nothing, draws[is_judged].mean(axis=1), nothing, low, high, np.nan)
    criterion = Exclusion(goal.value or 0.0, goal.margin) if goal.kind == EXCLUDES else Narrowness(goal.width or 0.0)
    is_met = criterion.is_met(sample)
    num_met, share = int(is_met.sum()), float(is_met.mean())
    ends = compute_share_interval(num_met, num, fit.request.interval)
    rate = _find_rate(plan, goal, label)
    status = COUNTED if rate is None else REACHED if ends[0] > rate else NOT_REACHED
    than = "" if goal.nominal is None else "; how many do so without the effect is not known"
    if rate is not None:
        more = "more than" if status == REACHED else "not clearly more than"
        than = f", {more} the {format_percent(rate)} that false positives explain"
    unit = name_unit(fit, plan, goal)
    between = f"{fit.request.interval:.0%} interval {format_percent(ends[0])} to {format_percent(ends[1])}"
    failed = f"; {num_failed} more without a usable fit" if num_failed else ""
    verdict = f"{status} by the group: " if rate is not None else ""
    sentence = (
        f"Goal '{label}': {verdict}in {num_met} of {num} participants ({format_percent(share)}; {between}) "
        f"{_describe_rule(goal, quantity, fit.request.interval, unit)}{than}{failed}. {describe_planned(plan, label)}"
    )
    names = [subject for subject, judged in zip(fit.subjects, is_judged, strict=True) if judged]
    return GoalOutcome(
        label,
        goal.kind,
        status,
        sentence,
        num_met,
        num,
        num_failed,
        share,
        *ends,
        dict(zip(names, is_met.tolist(), strict=True)),
        None,
        record_power(plan, goal, label),
    )


def _judge_groups(
    fit: "EmpiricalFit", plan: PlannedAnalysis, goal: PlannedGoal, label: str, quantity: str, draws: np.ndarray
) -> GoalOutcome:
    """The planned t test between two groups."""
    from scipy import stats  # noqa: PLC0415  (takes half a second)

    is_there = np.isfinite(draws).all(axis=1)
    is_judged = is_there & are_good(fit, plan.cost)
    groups = sorted(set(plan.groups.values()))
    if len(groups) != 2:
        what = "no column that says who is in which group" if not groups else f"{len(groups)} groups ({_name(groups)})"
        why = f"the data have {what}: name one with two groups by --column group=NAME"
        return refuse(plan, goal, label, why)
    means, labels = draws.mean(axis=1), np.array([plan.groups.get(subject, "") for subject in fit.subjects])
    parts = [means[is_judged & (labels == group)] for group in groups]
    if min(map(len, parts)) < 2:
        fewest = groups[int(np.argmin([*map(len, parts)]))]
        return refuse(plan, goal, label, f"group {fewest!r} has fewer than two usable fits")
    test, unit = stats.ttest_ind(*parts), name_unit(fit, plan, goal)
    p_value, alpha = float(test.pvalue), goal.alpha or 0.0
    status = REACHED if p_value < alpha else NOT_REACHED
    told = " and ".join(
        f"{format_significant(part.mean())}{unit} in {group!r} (n = {len(part)})"
        for group, part in zip(groups, parts, strict=True)
    )
    num_failed = int((is_there & ~is_judged).sum())
    failed = f"; {num_failed} more without a usable fit" if num_failed else ""
    sentence = (
        f"Goal '{label}': {status}: posterior means of {quantity} are {told}, t({test.df:.0f}) = {test.statistic:.2f}, "
        f"p = {p_value:.2g}, at alpha {alpha:g}{failed}. {describe_planned(plan, label)}"
    )
    return GoalOutcome(
        label, goal.kind, status, sentence, num_judged=int(is_judged.sum()), num_failed=num_failed, p_value=p_value,
        power=record_power(plan, goal, label),
    )  # fmt: skip


def _describe_rule(goal: PlannedGoal, quantity: str, interval: float, unit: str) -> str:
    if goal.kind == EXCLUDES:
        beyond = f" by more than {goal.margin:g}{unit}" if goal.margin else ""
        return f"the {interval:.0%} interval of {quantity} stays away from {goal.value:g}{unit}{beyond}"
    return f"the {interval:.0%} interval of {quantity} is narrower than {goal.width:g}{unit}"


def _find_rate(plan: PlannedAnalysis, goal: PlannedGoal, label: str) -> float | None:
    """How many participants would meet a goal without its effect: what is allowed, or more if more was computed.

    None if nobody has computed it: a prior may keep intervals away from a value in everybody.
    """
    found = plan.find_power(label)
    absent = None if found is None else found["when_absent"]
    if goal.nominal is None or absent is None or absent["value"] is None:
        return None
    return max(goal.nominal, float(absent["value"]))


def _name(groups: Sequence[str]) -> str:
    return ", ".join(groups[:MOST_NAMED]) + (", ..." if len(groups) > MOST_NAMED else "")
