"""`act`: what a participant does with a measurement."""

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from designstudio.errors import StudioError
from designstudio.model.actors import ExactActor, choose_actions, load_actor
from designstudio.model.costs import AbstractCost, get_cost
from designstudio.runs.folder import use_cost_file

# The participant of the paper's disentangling experiment; cost parameters start at the median of their prior.
EXAMPLE = {"mu_0": 1.5, "sigma_0": 0.2, "sigma": 0.2, "sigma_r": 0.15}
NUM_DIGITS = 6


@dataclasses.dataclass(frozen=True)
class ActRequest:
    """Who perceives what.

    Attributes:
        cost: by its name.
        values: of parameters; those that are left out are an example participant's.
        measurements: what was perceived, in the stimulus unit.
        actor: an actor file; by default the package's own for the cost.
        cost_file: a user's file of costs, which is executed.
    """

    cost: str
    values: Mapping[str, float] = dataclasses.field(default_factory=dict)
    measurements: Sequence[float] = (0.5, 1, 1.5, 2, 3, 4, 5)
    actor: Path | None = None
    cost_file: Path | None = None


class Action(NamedTuple):
    """The optimal response to a measurement, exact and amortized; whether the actor was trained there."""

    measurement: float
    exact: float
    amortized: float
    is_inside: bool


@dataclasses.dataclass(frozen=True)
class ActResult:
    """What a participant does.

    Attributes:
        cost: that the participant minimises.
        participant: all parameters.
        actions: one for each measurement.
    """

    cost: AbstractCost
    participant: dict[str, float]
    actions: tuple[Action, ...]

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        actions = [action._asdict() for action in self.actions]
        return {"cost": self.cost.name, "participant": self.participant, "actions": actions}


def run_act(request: ActRequest) -> ActResult:
    """The optimal action for each measurement.

    Raises:
        StudioError: if the actor was trained for another cost, or a value is not allowed.
    """
    use_cost_file(request.cost_file)
    cost = get_cost(request.cost)
    medians = {p.name: round(float(p.analysis.distribution().icdf(0.5)), 4) for p in cost.parameters}
    participant = {**EXAMPLE, **medians, **request.values}
    actor = load_actor(request.cost if request.actor is None else request.actor)
    if actor.cost != cost:
        raise StudioError(f"The actor {str(request.actor)!r} was trained for {actor.cost.name!r}, not for {cost.name!r}.")
    perceived = np.array(request.measurements)
    exact = choose_actions(ExactActor(cost), perceived, participant)
    amortized = choose_actions(actor, perceived, participant)
    columns = (request.measurements, _round(exact.action), _round(amortized.action), map(bool, amortized.is_inside))
    return ActResult(cost, participant, tuple(Action(*row) for row in zip(*columns, strict=True)))


def _round(actions: Any) -> list[float]:
    return [float(f"{action:.{NUM_DIGITS}g}") for action in np.asarray(actions)]
