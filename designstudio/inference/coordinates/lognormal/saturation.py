"""Log saturation: how far a belief lies beyond the length at which a policy bends, in place of the cost's parameter.

A saturating cost leaves an L-shaped posterior: either the ceiling is at the level of the responses and the belief anywhere
above it, or the belief is at that level and the ceiling anywhere above. The level is what the data determine; the log
saturation, log belief minus log ceiling at the mean stimulus, is unidentified.
"""

from typing import cast

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from designstudio.inference.coordinates.bounds import BoundedReader
from designstudio.inference.coordinates.lognormal.layout import bends_at_unit, log_bounds, unit_bounds
from designstudio.inference.coordinates.lognormal.likely import spread_over_likely
from designstudio.inference.coordinates.lognormal.regression import (
    NEIGHBOURHOOD,
    expect_level,
    get_regression,
    residual_variance,
)
from designstudio.model.actors.belief import AbstractBeliefActor
from designstudio.model.costs.base import AbstractBentCost
from designstudio.model.gauss_hermite import gauss_hermite
from designstudio.model.likelihood.model import BehaviorModel, Values
from designstudio.model.likelihood.observations import Moments, Observations

Scalar = Float[Array, ""]
# Over which share of its range the coordinate falls off at least, beyond what explains the level.
SMALLEST_REACH = 1 / 40
# Bounds of the level are at least so far apart, which 32 bits can tell.
NARROWEST = 1e-5
# Over measurements near the mean stimulus.
NUM_LEVEL_NODES = 3


def take_log_saturation(model: BehaviorModel, reader: BoundedReader, rho: Scalar) -> tuple[Scalar | None, Scalar]:
    """How far the belief at the mean stimulus lies beyond the unit at which the policy bends, and the log determinant.

    Well below the unit only its exponential matters, well above it the log saturation itself: its softplus is both.
    """
    if not bends_at_unit(model):
        return None, jnp.zeros(())
    lowest, highest, likely, error = _log_saturation_ends(model, rho, get_regression(reader.expected))
    low, high, last = (jax.nn.softplus(end) for end in (lowest, highest, likely))
    # Where the level says that mu_0 ends, the posterior falls off over the level's error.
    reach = jnp.maximum(error, SMALLEST_REACH * (high - low))
    x, log_slope = spread_over_likely(reader.take(0.0, 1.0, 1)[0], (low, high), (low, last), reach)
    log_saturation = _inverse_softplus(x)
    return log_saturation, log_slope - jax.nn.log_sigmoid(log_saturation)


def _log_saturation_ends(model: BehaviorModel, rho: Scalar, moments: Moments) -> tuple[Scalar, Scalar, Scalar, Scalar]:
    """The least and the greatest that some mu_0 and some unit allow, the greatest that explains the level, and its error."""
    weight = jax.nn.sigmoid(2 * rho)
    belief_low, belief_high = (weight * moments.mean_x[0] + (1 - weight) * bound for bound in log_bounds(model, "mu_0"))
    unit_low, unit_high = unit_bounds(model)
    lowest, highest = belief_low - unit_high, belief_high - unit_low
    # An action is at most the unit, so the log saturation is at most what the greatest belief leaves above the level.
    error = jnp.sqrt(residual_variance(moments) / jnp.maximum(moments.count, 1.0))[0]
    return lowest, highest, jnp.clip(belief_high - moments.mean_y[0], lowest + 0.1, highest), error


def constrain_by_unit(
    model: BehaviorModel,
    reader: BoundedReader,
    values: Values,
    rho: Scalar,
    log_saturation: Scalar,
    observations: Observations,
) -> Scalar:
    """The cost's parameter and mu_0 from the level and the log saturation; returns the log determinant.

    In units of the unit the action depends on the log saturation alone. So the level gives the unit, the unit and the log
    saturation give the belief, and the belief gives mu_0; of the determinant only the prior's weight remains.
    """
    cost = cast(AbstractBentCost, model.actor.cost)
    weight = jnp.minimum(jax.nn.sigmoid(2 * rho), 1 - 1e-6)
    action = _act_near_mean(model, values, weight, log_saturation, observations)
    mean_x = observations.moments.mean_x[0]
    belief_low, belief_high = (weight * mean_x + (1 - weight) * bound for bound in log_bounds(model, "mu_0"))
    unit_low, unit_high = unit_bounds(model)
    lowest = action + jnp.maximum(unit_low, belief_low - log_saturation)
    highest = action + jnp.minimum(unit_high, belief_high - log_saturation)
    # At the ends of the log saturation both bounds are the same, and rounding may exchange them.
    highest = jnp.maximum(highest, lowest + NARROWEST)
    centre, scale = (entry[0] for entry in expect_level(model, get_regression(reader.expected), lowest[None], highest[None]))
    c = centre + scale * reader.take((lowest - centre) / scale, (highest - centre) / scale, 1)[0]
    log_unit = c - action
    log_mu_0 = (log_unit + log_saturation - weight * mean_x) / (1 - weight)
    own, slope = jax.jvp(cost.parameters_at, (log_unit,), (jnp.ones_like(log_unit),))
    values.update(own)
    values["mu_0"] = jnp.exp(log_mu_0)
    (derivative,) = slope.values()
    return log_mu_0 - jnp.log(1 - weight) + jnp.log(scale) + jnp.log(derivative)


def _act_near_mean(
    model: BehaviorModel, values: Values, weight: Scalar, log_saturation: Scalar, observations: Observations
) -> Scalar:
    """Mean log action near the first condition's mean stimulus, in units of the unit: what a regression says of the level.

    Where the policy bends it is below the action at the mean, by more than the level's error.
    """
    actor, cost = cast(AbstractBeliefActor, model.actor), cast(AbstractBentCost, model.actor.cost)
    everywhere = model.broadcast_to_conditions(
        {**values, "mu_0": jnp.ones(()), **cost.parameters_at(jnp.zeros(()))}, observations.fixed
    )
    participant = {name: value[0] for name, value in everywhere.items()}
    moments = observations.moments
    variance = NEIGHBOURHOOD**2 * moments.sum_xx[0] / jnp.maximum(moments.count[0], 1.0)
    scale = weight * jnp.sqrt(participant["sigma"] ** 2 + variance)
    nodes, shares = (jnp.asarray(array, jnp.float32) for array in gauss_hermite(NUM_LEVEL_NODES))
    return shares @ jax.vmap(actor.follow(participant))(log_saturation + scale * nodes)


def _inverse_softplus(x: Scalar) -> Scalar:
    """log(exp(x) - 1), for small and large x."""
    return x + jnp.log(-jnp.expm1(-x))
