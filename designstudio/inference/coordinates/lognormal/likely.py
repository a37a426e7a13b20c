"""What the level of the responses leaves possible of a cost's parameter.

One level of uncertainty determines how far responses lie above or below the stimuli, and mu_0 and the cost's parameter share
in that. mu_0 has bounds, so only some values of the parameter can explain the level. A coordinate that runs over all of the
parameter's range would end at a cliff wherever that is; so most of it runs over the likely part, and a little at each end
over the rest. Found once for a data set, roughly: that costs efficiency, never correctness.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, ArrayLike, Float

from designstudio.inference.coordinates.bounds import BoundedReader
from designstudio.inference.coordinates.lognormal.layout import coordinate_bounds, is_logarithmic, log_bounds
from designstudio.model.actors.belief import AbstractBeliefActor
from designstudio.model.likelihood.model import BehaviorModel
from designstudio.model.likelihood.observations import Observations

# Values of the parameter that are tried.
NUM_TRIED = 33
# How many errors the level may be off the regression.
NUM_LEVEL_ERRORS = 2.0
# Over which share of the whole range a coordinate falls off beyond a likely end, and how many times that is out of reach.
TAIL_SHARE = 1 / 12
NO_TAIL = 5.0


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
    share = reader.take(0.0, 1.0, model.num_entries(name))
    x, log_slope = spread_over_likely(share, (low, high), (first, last), (high - low) * TAIL_SHARE)
    return x, jnp.sum(log_slope)


def spread_over_likely(
    share: Array, ends: tuple[ArrayLike, ArrayLike], likely: tuple[Array, Array], reach: ArrayLike
) -> tuple[Array, Float[Array, "..."]]:
    """From a share between 0 and 1 to a range, most of it to the likely part, and the log of the slope.

    A uniform share is spread evenly between the likely ends, and falls off exponentially beyond them. It does so smoothly:
    a slope that jumped would be a step in the density along which NUTS moves, and no step size is small enough for a step.

    Args:
        share: of the range. ends: of the range. likely: ends of the likely part.
        reach: over which it falls off.
    """
    (low, high), (first, last) = ends, likely
    # An end that leaves nothing out has no tail.
    first, last = jnp.where(first > low, first, low - NO_TAIL * reach), jnp.where(last < high, last, high + NO_TAIL * reach)
    width = (last - first) / reach

    def above(x: ArrayLike) -> Array:
        return jax.nn.softplus((x - first) / reach) - jax.nn.softplus((x - last) / reach)

    def below(x: ArrayLike) -> Array:
        # The same from the other end, which keeps its digits there.
        return jax.nn.softplus((last - x) / reach) - jax.nn.softplus((first - x) / reach)

    everything = above(high) - above(low)
    up, down = above(low) + everything * share, below(high) + everything * (1 - share)
    log_up, log_down = jnp.log(-jnp.expm1(-up)), jnp.log(-jnp.expm1(-down))
    x = first + reach * (jnp.where(up < width / 2, up, width - down) + log_up - log_down)
    log_slope = jnp.log(reach * everything) + jnp.log(jnp.exp(-log_up) + jnp.exp(-log_down) - 1)
    return jnp.clip(x, low, high), log_slope
