"""From coordinates to parameters, with the log determinant."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from designstudio.inference.coordinates.base import Constrained
from designstudio.inference.coordinates.lognormal.bounds import coordinate_bounds, is_logarithmic, log_bounds
from designstudio.inference.coordinates.lognormal.layout import shape_of
from designstudio.inference.coordinates.lognormal.noise import constrain_noise
from designstudio.inference.coordinates.lognormal.regression import expect_level
from designstudio.inference.coordinates.lognormal.saturation import constrain_by_unit
from designstudio.inference.coordinates.reflect import BoundedReader
from designstudio.model.actors.belief import AbstractBeliefActor
from designstudio.model.likelihood.model import BehaviorModel, Values
from designstudio.model.likelihood.observations import Observations

Scalar = Float[Array, ""]


def constrain(
    model: BehaviorModel, z: Float[Array, " coordinate"], observations: Observations, *, reflects: bool
) -> Constrained:
    """From coordinates to parameters."""
    reader = BoundedReader(z, reflects=reflects)
    logs, ratios, log_saturation, log_det = constrain_noise(model, reader, observations)
    values: Values = {}
    for name in ("sigma_0", "sigma", "sigma_r"):
        if name in model.free:
            values[name] = jnp.exp(logs[name]).reshape(shape_of(model, name))
            log_det += jnp.sum(logs[name])
    for parameter in model.actor.cost.parameters:
        if parameter.name in model.free and log_saturation is None:
            low, high = coordinate_bounds(model, parameter.name)
            x = reader.take(low, high, model.num_entries(parameter.name))
            if is_logarithmic(model, parameter.name):
                log_det += jnp.sum(x)
                x = jnp.exp(x)
            values[parameter.name] = x.reshape(shape_of(model, parameter.name))
    if log_saturation is not None:
        log_det += constrain_by_unit(model, reader, values, ratios[0], log_saturation, observations)
    elif "mu_0" in model.free:
        level, weight = _level_line(model, values, ratios, observations)
        prior_weight = 1 - weight
        lowest, highest = (level + prior_weight * bound for bound in log_bounds(model, "mu_0"))
        centre, scale = expect_level(model, observations, lowest, highest)
        c = centre + scale * reader.take((lowest - centre) / scale, (highest - centre) / scale, model.num_entries("mu_0"))
        log_mu_0 = (c - level) / prior_weight
        log_det += jnp.sum(log_mu_0 - jnp.log(prior_weight) + jnp.log(scale))
        values["mu_0"] = jnp.exp(log_mu_0).reshape(shape_of(model, "mu_0"))
    return Constrained({name: values[name] for name in model.free}, log_det, reader.is_inside, reader.taken)


def _level_line(model: BehaviorModel, values: Values, ratios: Array, observations: Observations) -> tuple[Array, Array]:
    """c - (1 - w_m) log mu_0, and w_m: for the anchor if mu_0 is shared, else for every condition."""
    moments = observations.moments
    weight = jax.nn.sigmoid(2 * ratios)
    level = weight * moments.mean_x
    actor = model.actor
    if isinstance(actor, AbstractBeliefActor):
        spread = model.broadcast_to_conditions({**values, "mu_0": jnp.ones(())}, observations.fixed)

        def shift(participant: Values, log_mu: Scalar) -> Scalar:
            return actor.follow(participant)(log_mu) - log_mu

        level = level + jax.vmap(shift)(spread, moments.mean_y)
    # A weight of 1 would leave mu_0 without any influence, and the map without an inverse.
    weight = jnp.minimum(weight, 1 - 1e-6)
    if model.num_entries("mu_0") == 1:
        return level[0][None], weight[0][None]
    return level, weight
