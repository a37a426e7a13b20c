"""What data say about a planned goal, and what every kind of goal needs for that."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import xarray as xr

from designstudio.errors import StudioError
from designstudio.evaluate.entries import split_draws, take_draws
from designstudio.fitting.planned import PlannedAnalysis, PlannedGoal
from designstudio.fitting.units import count_trials
from designstudio.metrics.monte_carlo import Score
from designstudio.model.parameter_entries import list_parameter_entries
from designstudio.study.quantities import Quantity

if TYPE_CHECKING:
    from designstudio.fitting.empirical_fit import EmpiricalFit

REACHED, NOT_REACHED, COUNTED, NOT_JUDGED = "reached", "not reached", "counted", "not judged"


class GoalOutcome(NamedTuple):
    """What the data say about a goal.

    Attributes:
        goal: its label. kind: of the goal.
        status: `reached` or `not reached` by the group, `counted` (there is no rate of false positives), or `not judged`.
        sentence: the same for people, with what was planned.
        num_reached: participants who meet it. num_judged: of so many. num_failed: further ones without a usable fit.
        share, low, high: of those who were judged, with the ends of its interval.
        participants: whether each meets it.
        p_value: of the t test between groups, in a study without groups of its own.
        power: what was planned: chance, rate without the effect, and the nominal one.
        estimate: of the effect, for other goals of whole studies; `low` and `high` are the ends of its interval then.
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
    estimate: float | None = None

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {**self._asdict(), "participants": dict(self.participants)}


def find_draws(fit: "EmpiricalFit", plan: PlannedAnalysis, quantity: str) -> dict[str, np.ndarray]:
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
    numbers = split_draws(take_draws(free), {name: find_shared(restored[name]) for name in fixed})
    computed = np.asarray(function(numbers), np.float64)
    num_chains, num_draws = draws.sizes["chain"], draws.sizes["draw"]
    computed = np.broadcast_to(computed, (len(fit.subjects), num_chains, num_draws)).reshape(len(fit.subjects), -1).copy()
    computed[(count_trials(fit.trials) == 0).any(axis=1)] = np.nan
    return {quantity: computed}


def find_shared(known: xr.DataArray) -> xr.DataArray:
    """What is known and the same in all conditions, without them: formulas may name it so."""
    is_same = bool((known.isnull() | (known == known.max("condition"))).all())
    return known.max("condition") if is_same else known


def describe_planned(plan: PlannedAnalysis, label: str) -> str:
    """What was computed about a goal before the data, in a sentence."""
    found = plan.find_power(label)
    if found is None:
        return f"No power was computed for it{_why_not(plan)}."
    chance, rate = (Score.from_dict(found[name]).chance for name in ("power", "when_absent"))
    without = f"{rate} without the effect" if found["when_absent"] is not None else f"no such rate ({found['absent']})"
    num = found.get("studies")
    what = f"{num} simulated studies" if num else f"{plan.power['datasets']} simulated participants"
    how = f"{what} by {plan.power['fidelity']}"
    return f"Planned: power {chance}, {without} ({how})."


def _why_not(plan: PlannedAnalysis) -> str:
    reason = plan.power.get("reason", "")
    return f" ({reason})" if reason else ""


def name_unit(fit: "EmpiricalFit", plan: PlannedAnalysis, goal: PlannedGoal) -> str:
    """The unit of a goal's numbers, as it follows them; a formula has none."""
    parameters = {parameter.name: parameter for parameter in fit.models[plan.cost].parameters}
    return fit.scale.unit_suffix(parameters[goal.quantity]) if goal.quantity in parameters else ""


def record_power(plan: PlannedAnalysis, goal: PlannedGoal, label: str) -> dict[str, Any] | None:
    """What was planned about a goal, for JSON; None if nothing was computed."""
    found = plan.find_power(label)
    if found is None:
        return None
    return {**{name: found[name] for name in ("power", "when_absent", "absent")}, "nominal": goal.nominal}


def refuse(plan: PlannedAnalysis, goal: PlannedGoal, label: str, why: str) -> GoalOutcome:
    """A goal about which these data say nothing, and why."""
    sentence = f"Goal '{label}': not judged, because {why}. {describe_planned(plan, label)}"
    return GoalOutcome(label, goal.kind, NOT_JUDGED, sentence, power=record_power(plan, goal, label))


def are_good(fit: "EmpiricalFit", cost: str) -> np.ndarray:
    """Whose fit under a cost may be used."""
    good: np.ndarray = fit.posteriors[cost]["diagnostics"].to_dataset()["is_good"].values.astype(bool)
    return good
