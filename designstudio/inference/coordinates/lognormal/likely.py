"""What the level of the responses leaves possible of a cost's parameter.

One level of uncertainty determines how far responses lie above or below the stimuli, and mu_0 and the cost's parameter share
in that. mu_0 has bounds, so only some values of the parameter can explain the level. A coordinate that runs over all of the
parameter's range would end at a cliff wherever that is; so nearly all of it runs over the likely part, and a little at each
end over the rest. Found once for a data set, roughly: that costs efficiency, never correctness.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from designstudio.inference.coordinates.bounds import BoundedReader
from designstudio.inference.coordinates.lognormal.layout import coordinate_bounds, is_logarithmic, log_bounds
from designstudio.model.actors.belief import AbstractBeliefActor
from designstudio.model.likelihood.model import BehaviorModel
from designstudio.model.likelihood.observations import Observations

# Values of the parameter that are tried.
NUM_TRIED = 33
# How many errors the level may be off the regression.
NUM_LEVEL_ERRORS = 2.0
# Which share of the coordinate is left for what is unlikely, at each end.
UNLIKELY_SHARE = 0.02


def find_likely(
    model: BehaviorModel,
    name: str,
    observations: Observations,
    slope: Float[Array, " condition"],
    variance: Float[Array, " condition"],
) -> Float[Array, "entry 2"]:
    """The likely range of a cost parameter's coordinate.

    Args:
        model: the behaviour model. name: of the parameter.
        observations: one data set.
        slope: of its regression. variance: of its residuals.
    """
    low, high = coordinate_bounds(model, name)
    num = model.num_entries(name)
    everything = jnp.broadcast_to(jnp.array([low, high]), (num, 2))
    actor, moments = model.actor, observations.moments
    # With several conditions the data tell the parameter better than their levels, each for itself, could.
    if not isinstance(actor, AbstractBeliefActor) or len(actor.cost.parameters) != 1 or model.num_conditions > 1:
        return everything
    # The residual variance halved between perception and movement: what is known about neither is good enough here.
    noise = jnp.sqrt(variance / 2)
    sigma = observations.fixed.get("sigma", noise / slope)
    rough = {"sigma": sigma, "sigma_r": noise, "sigma_0": sigma * jnp.sqrt(slope / (1 - slope))}
    rough = {**rough, **observations.fixed}
    tried = jnp.linspace(low, high, NUM_TRIED)
    values = jnp.exp(tried) if is_logarithmic(model, name) else tried
    bounds = (jnp.log(rough["mu_0"]),) * 2 if "mu_0" in rough else log_bounds(model, "mu_0")
    ends = [jnp.broadcast_to(bound, slope.shape) for bound in bounds]

    def find_levels(value: Array) -> Float[Array, "end condition"]:
        participants = {**rough, "mu_0": jnp.ones_like(slope), name: jnp.broadcast_to(value, slope.shape)}

        def one(participant: dict[str, Array], log_mu: Array) -> Array:
            return actor.follow(participant)(log_mu)

        return jnp.stack([jax.vmap(one)(participants, slope * moments.mean_x + (1 - slope) * end) for end in ends])

    lowest, highest = jnp.moveaxis(jax.vmap(find_levels)(values), 1, 0)
    margin = NUM_LEVEL_ERRORS * jnp.sqrt(variance / jnp.maximum(moments.count, 1.0)) + variance
    is_possible = (moments.mean_y >= lowest - margin) & (moments.mean_y <= highest + margin)
    # One step farther on each side: ends lie between the values that were tried.
    step = (high - low) / (NUM_TRIED - 1)
    first = jnp.min(jnp.where(is_possible, tried[:, None], np.inf), axis=0) - step
    last = jnp.max(jnp.where(is_possible, tried[:, None], -np.inf), axis=0) + step
    found = jnp.stack([jnp.maximum(first, low), jnp.minimum(last, high)], axis=1)
    return jnp.where(jnp.any(is_possible, axis=0)[:, None], found, everything)


def take_within_likely(model: BehaviorModel, name: str, reader: BoundedReader) -> tuple[Float[Array, " entry"], Array]:
    """A cost parameter's coordinate from the share of its range, and the log determinant."""
    low, high = coordinate_bounds(model, name)
    first, last = reader.expected.likely[name].T
    x = reader.take(0.0, 1.0, model.num_entries(name))
    below, above = jnp.where(first > low, UNLIKELY_SHARE, 0.0), jnp.where(last < high, UNLIKELY_SHARE, 0.0)
    # Three straight pieces.
    shares = jnp.stack([below, 1 - below - above, above])
    starts = jnp.stack([jnp.full_like(first, low), first, last])
    widths = jnp.stack([first - low, last - first, high - last])
    slopes = jnp.where(shares > 0, widths / jnp.where(shares > 0, shares, 1.0), 1.0)
    offsets = x - jnp.stack([jnp.zeros_like(x), below, 1 - above])
    piece = (x >= below).astype(int) + ((x > 1 - above) & (above > 0))
    start, slope, offset = (jnp.take_along_axis(array, piece[None], axis=0)[0] for array in (starts, slopes, offsets))
    return start + slope * offset, jnp.sum(jnp.log(slope))
