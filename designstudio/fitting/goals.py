"""Goals judged on data: how many participants reach each, or whether groups differ, beside what was planned.

A goal about participants is met by each participant's own posterior. The group's share has an equal-tailed interval
(Jeffreys: binomial with a beta(1/2, 1/2) prior). The group reaches such a goal if that interval lies above the rate of false
positives, the larger of the nominal one and the one that was computed with the plan: more participants than chance explains.
A goal whose rate nobody knows, or that has none (a narrow interval), is only counted. Groups differ if the planned t test on
posterior means says so.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import xarray as xr
from scipy import stats

from designstudio.core.numbers import format_percent, format_significant
from designstudio.errors import StudioError
from designstudio.evaluate.entries import split_draws, take_draws
from designstudio.fitting.comparison import is_total_decided
from designstudio.fitting.planned import PlannedAnalysis, PlannedGoal
from designstudio.fitting.units import count_trials
from designstudio.metrics.intervals import compute_interval
from designstudio.metrics.monte_carlo import Score
from designstudio.metrics.power import Exclusion, Narrowness
from designstudio.metrics.samples import QuantitySample
from designstudio.model.parameter_entries import list_parameter_entries
from designstudio.study.goals import EXCLUDES, GROUPS_DIFFER
from designstudio.study.quantities import Quantity

if TYPE_CHECKING:
    from designstudio.fitting.empirical_fit import EmpiricalFit

REACHED, NOT_REACHED, COUNTED, NOT_JUDGED = "reached", "not reached", "counted", "not judged"
MOST_NAMED = 5


class GoalOutcome(NamedTuple):
    """What the data say about a goal.

    Attributes:
        goal: its label. kind: of the goal.
        status: `reached` or `not reached` by the group, `counted` (there is no rate of false positives), or `not judged`.
        sentence: the same for people, with what was planned.
        num_reached: participants who meet it. num_judged: of so many. num_failed: further ones without a usable fit.
        share, low, high: of those who were judged, with the ends of its interval.
        participants: whether each meets it.
        p_value: of the t test between groups.
        power: what was planned: chance, rate without the effect, and the nominal one.
    """

    goal: str
    kind: str
    status: str
    sentence: str
    num_reached: int | None = None
    num_judged: int | None = None
    num_failed: int | None = None
    share: float | None = None
    low: float | None = None
    high: float | None = None
    participants: Mapping[str, bool] = {}
    p_value: float | None = None
    power: Mapping[str, Any] | None = None

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {**self._asdict(), "participants": dict(self.participants)}


def judge_goals(fit: "EmpiricalFit") -> list[GoalOutcome]:
    """Every goal of the plan, on these data."""
    plan = fit.plan
    if plan is None:
        return []
    outcomes = []
    for goal in plan.goals:
        try:
            draws = _find_draws(fit, plan, goal.quantity)
        except StudioError as error:
            outcomes.append(_refuse(plan, goal, goal.name, f"its quantity cannot be computed ({error})"))
            continue
        for quantity, values in draws.items():
            label = plan.label_goal(goal, quantity)
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
    low = 0.0 if num == 0 else float(stats.beta.ppf(tail, num + 0.5, total - num + 0.5))
    high = 1.0 if num == total else float(stats.beta.ppf(1 - tail, num + 0.5, total - num + 0.5))
    return low, high


def _find_draws(fit: "EmpiricalFit", plan: PlannedAnalysis, quantity: str) -> dict[str, np.ndarray]:
    """Draws of a quantity over (subject, draw), in the unit of a study of these data; one for each condition if they differ.

    NaN where a subject has no trials of the condition.
    """
    model, tree = fit.models[plan.cost], fit.posteriors[plan.cost]
    parameters = {parameter.name: parameter for parameter in model.parameters}
    draws = tree["posterior"].to_dataset()
    known = tree["constant_data"].to_dataset()
    fixed = {name: known[f"fixed_{name}"] for name in model.fixed}
    both = {**{str(name): array for name, array in draws.data_vars.items()}, **fixed}
    restored = {name: array.astype(float) * fit.scale.size_of(parameters[name]) for name, array in both.items()}
    if quantity not in plan.quantities:
        found = {}
        for entry in list_parameter_entries(model):
            if entry.name == quantity:
                values = entry.pick(restored[quantity]).transpose("dataset", "chain", "draw").values
                values = values.reshape(len(values), -1).copy()
                if entry.condition is not None:
                    values[count_trials(fit.trials)[:, entry.condition] == 0] = np.nan
                found[entry.label(fit.conditions)] = values
        if not found:
            raise StudioError(f"{quantity!r} is no free parameter of the {plan.cost} cost")
        return found
    function = Quantity.from_formula(quantity, plan.quantities[quantity]).function
    free = xr.Dataset({name: restored[name] for name in model.free})
    numbers = split_draws(take_draws(free), {name: _unify(restored[name]) for name in fixed})
    computed = np.asarray(function(numbers), np.float64)
    num_chains, num_draws = draws.sizes["chain"], draws.sizes["draw"]
    computed = np.broadcast_to(computed, (len(fit.subjects), num_chains, num_draws)).reshape(len(fit.subjects), -1).copy()
    computed[(count_trials(fit.trials) == 0).any(axis=1)] = np.nan
    return {quantity: computed}


def _unify(known: xr.DataArray) -> xr.DataArray:
    """What is known and the same in all conditions, without them: formulas may name it so."""
    is_same = bool((known.isnull() | (known == known.max("condition"))).all())
    return known.max("condition") if is_same else known


def _judge_participants(
    fit: "EmpiricalFit", plan: PlannedAnalysis, goal: PlannedGoal, label: str, quantity: str, draws: np.ndarray
) -> GoalOutcome:
    """How many participants meet a goal."""
    is_there = np.isfinite(draws).all(axis=1)
    is_judged = is_there & _are_good(fit, plan.cost)
    num, num_failed = int(is_judged.sum()), int((is_there & ~is_judged).sum())
    if not num:
        why = "no participant has a usable fit" if is_there.any() else f"no participant has what {quantity} needs"
        return _refuse(plan, goal, label, why)
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
    unit = _name_unit(fit, plan, goal)
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
        _record_power(plan, goal, label),
    )


def _judge_groups(
    fit: "EmpiricalFit", plan: PlannedAnalysis, goal: PlannedGoal, label: str, quantity: str, draws: np.ndarray
) -> GoalOutcome:
    """The planned t test between two groups."""
    is_there = np.isfinite(draws).all(axis=1)
    is_judged = is_there & _are_good(fit, plan.cost)
    groups = sorted(set(plan.groups.values()))
    if len(groups) != 2:
        what = "no column that says who is in which group" if not groups else f"{len(groups)} groups ({_name(groups)})"
        why = f"the data have {what}: name one with two groups by --column group=NAME"
        return _refuse(plan, goal, label, why)
    means, labels = draws.mean(axis=1), np.array([plan.groups.get(subject, "") for subject in fit.subjects])
    parts = [means[is_judged & (labels == group)] for group in groups]
    if min(map(len, parts)) < 2:
        fewest = groups[int(np.argmin([*map(len, parts)]))]
        return _refuse(plan, goal, label, f"group {fewest!r} has fewer than two usable fits")
    test, unit = stats.ttest_ind(*parts), _name_unit(fit, plan, goal)
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
        power=_record_power(plan, goal, label),
    )  # fmt: skip


def describe_planned(plan: PlannedAnalysis, label: str) -> str:
    """What was computed about a goal before the data, in a sentence."""
    found = plan.find_power(label)
    if found is None:
        return f"No power was computed for it{_why_not(plan)}."
    chance, rate = (Score.from_dict(found[name]).chance for name in ("power", "when_absent"))
    without = f"{rate} without the effect" if found["when_absent"] is not None else f"no such rate ({found['absent']})"
    how = f"{plan.power['datasets']} simulated participants by {plan.power['fidelity']}"
    return f"Planned: power {chance}, {without} ({how})."


def _why_not(plan: PlannedAnalysis) -> str:
    reason = plan.power.get("reason", "")
    return f" ({reason})" if reason else ""


def _describe_rule(goal: PlannedGoal, quantity: str, interval: float, unit: str) -> str:
    if goal.kind == EXCLUDES:
        beyond = f" by more than {goal.margin:g}{unit}" if goal.margin else ""
        return f"the {interval:.0%} interval of {quantity} stays away from {goal.value:g}{unit}{beyond}"
    return f"the {interval:.0%} interval of {quantity} is narrower than {goal.width:g}{unit}"


def _name_unit(fit: "EmpiricalFit", plan: PlannedAnalysis, goal: PlannedGoal) -> str:
    """The unit of a goal's numbers, as it follows them; a formula has none."""
    parameters = {parameter.name: parameter for parameter in fit.models[plan.cost].parameters}
    return fit.scale.unit_suffix(parameters[goal.quantity]) if goal.quantity in parameters else ""


def _find_rate(plan: PlannedAnalysis, goal: PlannedGoal, label: str) -> float | None:
    """How many participants would meet a goal without its effect: what is allowed, or more if more was computed.

    None if nobody has computed it: a prior may keep intervals away from a value in everybody.
    """
    found = plan.find_power(label)
    absent = None if found is None else found["when_absent"]
    if goal.nominal is None or absent is None or absent["value"] is None:
        return None
    return max(goal.nominal, float(absent["value"]))


def _record_power(plan: PlannedAnalysis, goal: PlannedGoal, label: str) -> dict[str, Any] | None:
    found = plan.find_power(label)
    if found is None:
        return None
    return {**{name: found[name] for name in ("power", "when_absent", "absent")}, "nominal": goal.nominal}


def _refuse(plan: PlannedAnalysis, goal: PlannedGoal, label: str, why: str) -> GoalOutcome:
    sentence = f"Goal '{label}': not judged, because {why}. {describe_planned(plan, label)}"
    return GoalOutcome(label, goal.kind, NOT_JUDGED, sentence, power=_record_power(plan, goal, label))


def _are_good(fit: "EmpiricalFit", cost: str) -> np.ndarray:
    good: np.ndarray = fit.posteriors[cost]["diagnostics"].to_dataset()["is_good"].values.astype(bool)
    return good


def _name(groups: Sequence[str]) -> str:
    return ", ".join(groups[:MOST_NAMED]) + (", ..." if len(groups) > MOST_NAMED else "")
