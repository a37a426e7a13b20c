"""Where the posterior is expected from regression alone."""

import jax.numpy as jnp
from jaxtyping import Array, ArrayLike

from designstudio.inference.coordinates.base import Start
from designstudio.inference.coordinates.lognormal.bounds import coordinate_bounds
from designstudio.inference.coordinates.lognormal.layout import bends_at_unit, num_ratios, num_scales, trades_noise
from designstudio.inference.coordinates.lognormal.regression import residual_variance, summarize_near_mean
from designstudio.model.likelihood.model import BehaviorModel
from designstudio.model.likelihood.observations import Observations

# Slopes are estimated with error, so an estimate may lie outside (0, 1).
SMALLEST_SLOPE = 0.03
# Where the response may bend, the regression is less sure than it says.
SMALLEST_RATIO_ERROR, SMALLEST_VARIANCE_ERROR = 0.8, 0.2


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
    centres, scales, unidentified = [], [], []

    def add(centre: ArrayLike, scale: ArrayLike, num: int, *, is_unidentified: bool = False) -> None:
        centres.append(jnp.broadcast_to(centre, (num,)))
        scales.append(jnp.broadcast_to(scale, (num,)))
        unidentified.extend([is_unidentified] * num)

    def add_range(low: float, high: float, num: int) -> None:
        add((low + high) / 2, (high - low) / 2, num, is_unidentified=True)

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
            add_range(*coordinate_bounds(model, parameter.name), model.num_entries(parameter.name))
    if "mu_0" in model.free:
        add(0.0, 1.0, model.num_entries("mu_0"))
    return Start(jnp.concatenate(centres), jnp.concatenate(scales), tuple(unidentified))


def _motor_start(
    model: BehaviorModel, observations: Observations, slope: Array, variance: Array, log_error: Array
) -> tuple[Array, Array]:
    """log sigma_r from what the perceptual noise, if known, leaves of the residual variance."""
    if "sigma" in model.fixed:
        left = variance - (slope * observations.fixed["sigma"]) ** 2
        motor = jnp.maximum(left, 0.05 * variance)
        return jnp.log(motor) / 2, jnp.clip(variance / motor * log_error / 2, 0.0, 0.8)
    return jnp.log(variance) / 2 - 0.35, jnp.full_like(variance, 0.7)
