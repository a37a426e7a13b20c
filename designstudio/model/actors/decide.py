"""The door to the actors: checked numbers in, actions with their flags out."""

import warnings
from collections.abc import Mapping

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, ArrayLike, Bool, Float

from designstudio.core.arrays import put
from designstudio.errors import OutsideTrainingBoxWarning, StudioError
from designstudio.model.actors.base import AbstractActor
from designstudio.model.parameters import LARGEST, SMALLEST, check_parameters, check_within
from designstudio.model.priors import Interval


class Actions(eqx.Module):
    """Actions, and for each whether it lies where the actor can be trusted."""

    action: Float[Array, "..."]
    is_inside: Bool[Array, "..."]


def choose_actions(actor: AbstractActor, measurements: ArrayLike, participant: Mapping[str, ArrayLike]) -> Actions:
    """What participants do with their measurements.

    Args:
        actor: exact or amortized.
        measurements: in the stimulus unit; any shape.
        participant: parameter values, each a number or an array that broadcasts with the measurements.

    Raises:
        StudioError: for values that the model does not allow.

    Warns:
        OutsideTrainingBoxWarning: if some actions lie outside the actor's training box; see `Actions.is_inside`.
    """
    check_within("A measurement", measurements, Interval(0.0, float("inf")), excludes_zero=True)
    check_within("A measurement", measurements, Interval(SMALLEST, LARGEST))
    check_parameters(participant, actor.parameters)
    values = {"measurement": measurements, **participant}
    try:
        shape = np.broadcast_shapes(*(np.shape(value) for value in values.values()))
    except ValueError:
        shapes = ", ".join(f"{name} {np.shape(value)}" for name, value in values.items())
        raise StudioError(f"Measurements and parameters must broadcast together, but their shapes are {shapes}.") from None
    spread = {name: put(np.broadcast_to(value, shape), float) for name, value in values.items()}
    actions = _act(actor, spread)
    num_actions, num_inside = actions.is_inside.size, np.count_nonzero(actions.is_inside)
    if num_inside < num_actions:
        warnings.warn(
            f"{num_actions - num_inside} of {num_actions} actions lie outside the box on which the {actor.cost.name} actor "
            f"was trained ({describe_box(actor)}); they are extrapolated: use an exact actor there.",
            OutsideTrainingBoxWarning,
            stacklevel=2,
        )
    return actions


def describe_box(actor: AbstractActor) -> str:
    """The training box in words."""
    return ", ".join(f"{name} {interval.low:.3g} to {interval.high:.3g}" for name, interval in actor.box) or "everywhere"


@eqx.filter_jit
def _act(actor: AbstractActor, values: dict[str, Float[Array, "..."]]) -> Actions:
    def act(participant: dict[str, Array], log_measurement: Array) -> tuple[Array, Array]:
        return actor.policy(participant)(log_measurement), actor.is_inside(participant, log_measurement)

    shape = values["measurement"].shape
    flat = {name: value.ravel() for name, value in values.items()}
    log_measurements = jnp.log(flat.pop("measurement"))
    log_actions, is_inside = jax.vmap(act)(flat, log_measurements)
    return Actions(jnp.exp(log_actions).reshape(shape), is_inside.reshape(shape))
