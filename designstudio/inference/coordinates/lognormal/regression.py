"""What a regression of log response on log stimulus says about the coordinates: where the posterior is expected."""

from typing import cast

import jax.numpy as jnp
from jaxtyping import Array, ArrayLike, Float

from designstudio.inference.coordinates.base import Start
from designstudio.inference.coordinates.lapses import start_lapse_rate
from designstudio.inference.coordinates.lognormal.layout import (
    bends_at_unit,
    num_ratios,
    num_scales,
    trades_noise,
)
from designstudio.inference.coordinates.lognormal.likely import find_likely
from designstudio.model.likelihood.lapses import LAPSE_RATE
from designstudio.model.likelihood.model import BehaviorModel
from designstudio.model.likelihood.observations import Moments, Observations

# Where the response may bend with the stimulus, a regression only describes what is near its mean, and not surely: width of
# the neighbourhood, in standard deviations of the log stimulus, and the smallest error of the level.
NEIGHBOURHOOD = 0.6
SMALLEST_LEVEL_ERROR = 0.03
# Trials that may be lapses are looked at up to this many standard deviations from the regression.
FARTHEST = 4.0
# Slopes are estimated with error, so an estimate may lie outside (0, 1).
SMALLEST_SLOPE = 0.03
# Where the response may bend, the regression is less sure than it says.
SMALLEST_RATIO_ERROR, SMALLEST_VARIANCE_ERROR = 0.8, 0.2


def summarize_near_mean(model: BehaviorModel, observations: Observations) -> Moments:
    """The regression around the mean stimulus: of all trials if the response is nearly straight, else of those near it."""
    moments = observations.moments
    if not model.rule.has_two_sides:
        return moments
    spread = jnp.sqrt(moments.sum_xx / jnp.maximum(moments.count, 1.0))
    stimulus, response, weight = observations.stimulus, observations.response, observations.weight
    if observations.ranges is not None:
        stimulus, response, weight = (getattr(observations.ranges, name) for name in ("mean_x", "mean_y", "count"))
    centred = stimulus - moments.mean_x[:, None]
    near = jnp.exp(-((centred / (NEIGHBOURHOOD * spread + 0.05)[:, None]) ** 2) / 2) * weight
    if model.has_lapses and observations.ranges is None:
        # The regression has left out what lies far from it.
        away = jnp.abs(response - moments.mean_y[:, None] - moments.slope[:, None] * centred)
        near *= away < FARTHEST * jnp.sqrt(residual_variance(moments))[:, None]

    def average(array: Array) -> Array:
        return jnp.sum(near * array, axis=1) / jnp.maximum(jnp.sum(near, axis=1), 1e-6)

    x, y = centred - average(centred)[:, None], response - average(response)[:, None]
    slope = average(x * y) / (average(x**2) + 1e-3)
    level = average(response) - slope * average(centred)
    count = jnp.sum(near, axis=1)
    squares = (y - slope[:, None] * x) ** 2
    if observations.ranges is not None:
        # What stands for many trials is their mean: how these differ among themselves counts, too.
        squares += observations.ranges.sum_rr / jnp.maximum(observations.ranges.count, 1.0)
    return Moments(count, moments.mean_x, level, slope, count * average(x**2), count * average(squares))


def residual_variance(moments: Moments) -> Float[Array, " condition"]:
    """Estimate from the regression of each condition; never quite zero."""
    degrees = jnp.maximum(moments.count - 2, 1.0)
    return jnp.maximum(moments.sum_rr / degrees, 1e-4)


def get_regression(expected: Start) -> Moments:
    """The regression around the mean stimulus, as `start_from_regression` has found it once for all draws."""
    return cast(Moments, expected.regression)


def expect_level(model: BehaviorModel, moments: Moments, low: Array, high: Array) -> tuple[Array, Array]:
    """Where the level is expected, and how surely: by the regression, and between its bounds.

    Where the prior hardly matters the bounds are closer together than the data can resolve, and mu_0 is unidentified;
    elsewhere the data say where the level is. The precision-weighted mean of both is a coordinate of unit scale either way.
    """
    num = model.num_entries("mu_0")
    bends = model.rule.has_two_sides
    error = jnp.sqrt(residual_variance(moments) / jnp.maximum(moments.count, 1.0))
    error, mean = jnp.maximum(error, SMALLEST_LEVEL_ERROR if bends else 0.0)[:num], moments.mean_y[:num]
    half_width = (high - low) / 2
    share = half_width**2 / (half_width**2 + error**2)
    middle = (low + high) / 2
    return middle + share * (mean - middle), error * jnp.sqrt(share)


def start_from_regression(model: BehaviorModel, observations: Observations) -> Start:
    """The regression's estimate of each coordinate, in the order in which `constrain` reads them."""
    moments = summarize_near_mean(model, observations)
    degrees = jnp.maximum(moments.count - 2, 1.0)
    variance = residual_variance(moments)
    slope_error = jnp.sqrt(variance / jnp.maximum(moments.sum_xx, 1e-3))
    slope = jnp.clip(moments.slope, SMALLEST_SLOPE, 1 - SMALLEST_SLOPE)
    steepness = 2 * slope * (1 - slope)
    # Where the response may bend with the stimulus, a straight line is only a rough description of it.
    bends = model.rule.has_two_sides
    rho, rho_error = (
        jnp.log(slope / (1 - slope)) / 2,
        jnp.clip(slope_error / steepness, SMALLEST_RATIO_ERROR if bends else 0.0, 1.5),
    )
    centres, scales, unidentified, likely = [], [], [], {}

    def add(centre: ArrayLike, scale: ArrayLike, num: int, *, is_unidentified: bool = False) -> None:
        centres.append(jnp.broadcast_to(centre, (num,)))
        scales.append(jnp.broadcast_to(scale, (num,)))
        unidentified.extend([is_unidentified] * num)

    def add_range(low: float, high: float, num: int) -> None:
        add((low + high) / 2, (high - low) / 2, num, is_unidentified=True)

    if LAPSE_RATE.name in model.free:
        add(*start_lapse_rate(model, observations), 1)
    ratios, scales_of_noise = num_ratios(model), num_scales(model)
    if ratios:
        one_ratio = ratios == 1
        add(rho[0] if one_ratio else rho, rho_error[0] if one_ratio else rho_error, ratios)
    if bends_at_unit(model):
        add_range(0.0, 1.0, 1)
    log_variance, log_error = (
        jnp.log(variance),
        jnp.maximum(jnp.sqrt(2 / degrees), SMALLEST_VARIANCE_ERROR if bends else 0.0),
    )
    if trades_noise(model):
        add(log_variance[0], log_error[0], 1)
        add_range(0.0, 1.0, 1)
    else:
        if scales_of_noise:
            add(log_variance[0] / 2 - 0.35, 0.7, scales_of_noise)
        if "sigma_r" in model.free:
            estimate, error = _motor_start(model, observations, slope, variance, log_error)
            num = model.num_entries("sigma_r")
            add(estimate[0] if num == 1 else estimate, error[0] if num == 1 else error, num)
    for parameter in model.actor.cost.parameters:
        if parameter.name in model.free and not bends_at_unit(model):
            add_range(0.0, 1.0, model.num_entries(parameter.name))
            likely[parameter.name] = find_likely(model, parameter.name, observations, slope, variance)
    if "mu_0" in model.free:
        add(0.0, 1.0, model.num_entries("mu_0"))
    return Start(jnp.concatenate(centres), jnp.concatenate(scales), tuple(unidentified), likely, moments)


def _motor_start(
    model: BehaviorModel, observations: Observations, slope: Array, variance: Array, log_error: Array
) -> tuple[Array, Array]:
    """log sigma_r from what the perceptual noise, if known, leaves of the residual variance."""
    if "sigma" in model.fixed:
        left = variance - (slope * observations.fixed["sigma"]) ** 2
        motor = jnp.maximum(left, 0.05 * variance)
        return jnp.log(motor) / 2, jnp.clip(variance / motor * log_error / 2, 0.0, 0.8)
    return jnp.log(variance) / 2 - 0.35, jnp.full_like(variance, 0.7)
