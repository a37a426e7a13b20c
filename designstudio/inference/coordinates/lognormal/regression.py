"""What a regression of log response on log stimulus says about the coordinates."""

import jax.numpy as jnp
from jaxtyping import Array, Float

from designstudio.model.likelihood.model import BehaviorModel
from designstudio.model.likelihood.observations import Moments, Observations

# Where the response may bend with the stimulus, a regression only describes what is near its mean, and not surely: width of
# the neighbourhood, in standard deviations of the log stimulus, and the smallest error of the level.
NEIGHBOURHOOD = 0.6
SMALLEST_LEVEL_ERROR = 0.03


def summarize_near_mean(model: BehaviorModel, observations: Observations) -> Moments:
    """The regression around the mean stimulus: of all trials if the response is nearly straight, else of those near it."""
    moments = observations.moments
    if not model.rule.has_two_sides:
        return moments
    spread = jnp.sqrt(moments.sum_xx / jnp.maximum(moments.count, 1.0))
    centred = observations.stimulus - moments.mean_x[:, None]
    near = jnp.exp(-((centred / (NEIGHBOURHOOD * spread + 0.05)[:, None]) ** 2) / 2) * observations.weight

    def average(array: Array) -> Array:
        return jnp.sum(near * array, axis=1) / jnp.maximum(jnp.sum(near, axis=1), 1e-6)

    x, y = centred - average(centred)[:, None], observations.response - average(observations.response)[:, None]
    slope = average(x * y) / (average(x**2) + 1e-3)
    level = average(observations.response) - slope * average(centred)
    count = jnp.sum(near, axis=1)
    residual = y - slope[:, None] * x
    return Moments(count, moments.mean_x, level, slope, count * average(x**2), count * average(residual**2))


def residual_variance(moments: Moments) -> Float[Array, " condition"]:
    """Estimate from the regression of each condition; never quite zero."""
    degrees = jnp.maximum(moments.count - 2, 1.0)
    return jnp.maximum(moments.sum_rr / degrees, 1e-4)


def expect_level(model: BehaviorModel, observations: Observations, low: Array, high: Array) -> tuple[Array, Array]:
    """Where the level is expected, and how surely: by the regression, and between its bounds.

    Where the prior hardly matters the bounds are closer together than the data can resolve, and mu_0 is unidentified;
    elsewhere the data say where the level is. The precision-weighted mean of both is a coordinate of unit scale either way.
    """
    num = model.num_entries("mu_0")
    moments = summarize_near_mean(model, observations)
    bends = model.rule.has_two_sides
    error = jnp.sqrt(residual_variance(moments) / jnp.maximum(moments.count, 1.0))
    error, mean = jnp.maximum(error, SMALLEST_LEVEL_ERROR if bends else 0.0)[:num], moments.mean_y[:num]
    half_width = (high - low) / 2
    share = half_width**2 / (half_width**2 + error**2)
    middle = (low + high) / 2
    return middle + share * (mean - middle), error * jnp.sqrt(share)
