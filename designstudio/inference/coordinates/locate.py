"""From coordinates to parameters, with the Jacobian."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from designstudio.inference.coordinates.bounds import coordinate_bounds, is_logarithmic, log_bounds
from designstudio.inference.coordinates.depth import locate_by_unit
from designstudio.inference.coordinates.layout import shape_of
from designstudio.inference.coordinates.noise import locate_noise
from designstudio.inference.coordinates.regression import expect_level
from designstudio.inference.coordinates.walls import Walls
from designstudio.model.actors.base import AbstractBeliefActor
from designstudio.model.likelihood.model import BehaviorModel, Values
from designstudio.model.likelihood.observations import Observations
from designstudio.model.perception import posterior_sigma

Scalar = Float[Array, ""]


class Located(NamedTuple):
    """Parameters found from coordinates.

    Attributes:
        values: the free parameters.
        log_jacobian: log of |d values / d coordinates|.
        is_inside: whether all coordinates were between their walls.
        z: the coordinates between their walls.
    """

    values: Values
    log_jacobian: Scalar
    is_inside: Bool[Array, ""]
    z: Float[Array, " coordinate"]


def locate(model: BehaviorModel, z: Float[Array, " coordinate"], observations: Observations, *, folds: bool) -> Located:
    """From coordinates to parameters."""
    walls = Walls(z, folds=folds)
    logs, ratios, depth, log_jacobian = locate_noise(model, walls, observations)
    values: Values = {}
    for name in ("sigma_0", "sigma", "sigma_r"):
        if name in model.free:
            values[name] = jnp.exp(logs[name]).reshape(shape_of(model, name))
            log_jacobian += jnp.sum(logs[name])
    for parameter in model.actor.cost.parameters:
        if parameter.name in model.free and depth is None:
            low, high = coordinate_bounds(model, parameter.name)
            x = walls.take(low, high, model.num_entries(parameter.name))
            if is_logarithmic(model, parameter.name):
                log_jacobian += jnp.sum(x)
                x = jnp.exp(x)
            values[parameter.name] = x.reshape(shape_of(model, parameter.name))
    if depth is not None:
        log_jacobian += locate_by_unit(model, walls, values, ratios[0], depth, observations)
    elif "mu_0" in model.free:
        level, weight = _level_line(model, values, ratios, observations)
        prior_weight = 1 - weight
        lowest, highest = (level + prior_weight * bound for bound in log_bounds(model, "mu_0"))
        centre, scale = expect_level(model, observations, lowest, highest)
        c = centre + scale * walls.take((lowest - centre) / scale, (highest - centre) / scale, model.num_entries("mu_0"))
        log_mu_0 = (c - level) / prior_weight
        log_jacobian += jnp.sum(log_mu_0 - jnp.log(prior_weight) + jnp.log(scale))
        values["mu_0"] = jnp.exp(log_mu_0).reshape(shape_of(model, "mu_0"))
    return Located({name: values[name] for name in model.free}, log_jacobian, walls.is_inside, walls.taken)


def _level_line(model: BehaviorModel, values: Values, ratios: Array, observations: Observations) -> tuple[Array, Array]:
    """c - (1 - w_m) log mu_0, and w_m: for the anchor if mu_0 is shared, else for every condition."""
    moments = observations.moments
    weight = jax.nn.sigmoid(2 * ratios)
    level = weight * moments.mean_x
    actor = model.actor
    if isinstance(actor, AbstractBeliefActor):
        spread = model.spread({**values, "mu_0": jnp.ones(())}, observations.fixed)

        def shift(participant: Values, log_mu: Scalar) -> Scalar:
            sigma_post = posterior_sigma(participant["sigma_0"], participant["sigma"])
            strategy = actor.strategy(sigma_post, participant["sigma_r"], actor.cost_parameters(participant))
            return strategy(log_mu) - log_mu

        level = level + jax.vmap(shift)(spread, moments.mean_y)
    # A weight of 1 would leave mu_0 without any influence, and the map without an inverse.
    weight = jnp.minimum(weight, 1 - 1e-6)
    if model.num_entries("mu_0") == 1:
        return level[0][None], weight[0][None]
    return level, weight
