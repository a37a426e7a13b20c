"""From coordinates to parameters, with the log determinant: first the three noises, then the cost's parameters and mu_0.

Of the noises the ratios come first, then the scale, traded against the motor noise.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from designstudio.inference.coordinates.base import Constrained
from designstudio.inference.coordinates.bounds import BoundedReader
from designstudio.inference.coordinates.lapses import take_lapse_rate
from designstudio.inference.coordinates.lognormal.layout import (
    FIXED,
    SHARED,
    is_logarithmic,
    log_bounds,
    num_ratios,
    num_scales,
    shape_of,
    state_of,
    trades_noise,
)
from designstudio.inference.coordinates.lognormal.likely import take_within_likely
from designstudio.inference.coordinates.lognormal.regression import expect_level, get_regression
from designstudio.inference.coordinates.lognormal.saturation import constrain_by_unit, take_log_saturation
from designstudio.model.actors.belief import AbstractBeliefActor
from designstudio.model.likelihood.lapses import LAPSE_RATE
from designstudio.model.likelihood.model import BehaviorModel, Values
from designstudio.model.likelihood.observations import Observations

Scalar = Float[Array, ""]
# Where a policy bends at a unit: over which log saturation its slope vanishes, roughly, and what is left of it.
GAIN_WIDTH = 0.15
SMALLEST_GAIN = 0.1


def constrain(model: BehaviorModel, reader: BoundedReader, observations: Observations) -> Constrained:
    """From the coordinates that the reader hands out to parameters."""
    values: Values = {}
    log_root = jnp.zeros(())
    if LAPSE_RATE.name in model.free:
        values[LAPSE_RATE.name], log_root = take_lapse_rate(model, reader)
    logs, ratios, log_saturation, log_det = _constrain_noise(model, reader, observations)
    log_det += log_root
    for name in ("sigma_0", "sigma", "sigma_r"):
        if name in model.free:
            values[name] = jnp.exp(logs[name]).reshape(shape_of(model, name))
            log_det += jnp.sum(logs[name])
    for parameter in model.actor.cost.parameters:
        if parameter.name in model.free and log_saturation is None:
            x, log_width = take_within_likely(model, parameter.name, reader)
            log_det += log_width
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
        centre, scale = expect_level(model, get_regression(reader.expected), lowest, highest)
        c = centre + scale * reader.take((lowest - centre) / scale, (highest - centre) / scale, model.num_entries("mu_0"))
        log_mu_0 = (c - level) / prior_weight
        log_det += jnp.sum(log_mu_0 - jnp.log(prior_weight) + jnp.log(scale))
        values["mu_0"] = jnp.exp(log_mu_0).reshape(shape_of(model, "mu_0"))
    values = {name: values[name] for name in model.free}
    return Constrained(values, log_det, reader.is_inside, reader.bounded, reader.unbounded, reader.log_slope)


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


def _constrain_noise(
    model: BehaviorModel, reader: BoundedReader, observations: Observations
) -> tuple[Values, Array, Scalar | None, Scalar]:
    """Logarithms of the three noises, rho in each condition, the log saturation if there is one, and the log determinant."""
    log_fixed = {name: jnp.log(value) for name, value in observations.fixed.items()}
    state_0, state = state_of(model, "sigma_0"), state_of(model, "sigma")
    logs: Values = {name: value for name, value in log_fixed.items() if name in ("sigma_0", "sigma", "sigma_r")}
    log_det = jnp.zeros(())
    if FIXED not in (state, state_0):
        log_saturation, log_det = _constrain_scale(model, reader, logs)
        return logs, _ratios(model, logs), log_saturation, log_det
    if (state_0, state) != (FIXED, FIXED):
        free, known, sign = ("sigma_0", "sigma", 1.0) if state == FIXED else ("sigma", "sigma_0", -1.0)
        num = model.num_entries(free)
        reference = log_fixed[known][0] if num == 1 else log_fixed[known]
        low, high = log_bounds(model, free)
        ends = sign * (low - reference), sign * (high - reference)
        rho = reader.take(jnp.minimum(*ends), jnp.maximum(*ends), num)
        logs[free] = reference + sign * rho
    ratios = _ratios(model, logs)
    log_saturation, log_det = take_log_saturation(model, reader, ratios[0])
    if "sigma_r" in model.free:
        logs["sigma_r"] = reader.take(*log_bounds(model, "sigma_r"), model.num_entries("sigma_r"))
    return logs, ratios, log_saturation, log_det


def _constrain_scale(model: BehaviorModel, reader: BoundedReader, logs: Values) -> tuple[Scalar | None, Scalar]:
    """Both sigma_0 and sigma are free: ratios first, then the scale, traded against sigma_r where that is shared."""
    bounds_0, bounds = log_bounds(model, "sigma_0"), log_bounds(model, "sigma")
    num = num_ratios(model)
    if num_scales(model) > 1:
        rho = reader.take(bounds_0[0] - bounds[1], bounds_0[1] - bounds[0], num)
        log_saturation, log_det = take_log_saturation(model, reader, rho[0])
        low, high = jnp.maximum(bounds[0], bounds_0[0] - rho), jnp.minimum(bounds[1], bounds_0[1] - rho)
        log_sigma = reader.take(low, high, num)
        logs["sigma"], logs["sigma_0"] = log_sigma, log_sigma + rho
        if "sigma_r" in model.free:
            logs["sigma_r"] = reader.take(*log_bounds(model, "sigma_r"), model.num_entries("sigma_r"))
        return log_saturation, log_det
    # The hub is the noise that all conditions share; each ratio narrows the range that is left for it.
    hub_is_prior = state_of(model, "sigma_0") == SHARED
    hub_bounds, leaf = (bounds_0, bounds) if hub_is_prior else (bounds, bounds_0)
    low, high = (jnp.asarray(bound) for bound in hub_bounds)
    sign = -1.0 if hub_is_prior else 1.0
    rhos = []
    for _ in range(num):
        ends = sign * (leaf[0] - high), sign * (leaf[1] - low)
        rho = reader.take(jnp.minimum(*ends), jnp.maximum(*ends), 1)[0]
        low, high = jnp.maximum(low, leaf[0] - sign * rho), jnp.minimum(high, leaf[1] - sign * rho)
        rhos.append(rho)
    rho = jnp.stack(rhos)
    rho_anchor = rho[0]
    log_saturation, log_det = take_log_saturation(model, reader, rho_anchor)
    # Perceptual part of the residual at the anchor: log(w_m sigma) = hub + offset.
    offset = jax.nn.log_sigmoid(2 * rho_anchor) - (rho_anchor if hub_is_prior else 0.0)
    if log_saturation is not None:
        offset += jnp.log(SMALLEST_GAIN + (1 - SMALLEST_GAIN) * jax.nn.sigmoid(-log_saturation / GAIN_WIDTH))
    if trades_noise(model):
        log_perceptual, logs["sigma_r"], log_share = _share_variance(model, reader, low + offset, high + offset)
        # Beside the largest motor noise rounding would hide how small the perceptual one is.
        hub = jnp.clip(log_perceptual - offset, low, high)
        log_det += log_share
    else:
        hub = reader.take(low + offset, high + offset, 1)[0] - offset
        if "sigma_r" in model.free:
            logs["sigma_r"] = reader.take(*log_bounds(model, "sigma_r"), model.num_entries("sigma_r"))
    hub_name, leaf_name = ("sigma_0", "sigma") if hub_is_prior else ("sigma", "sigma_0")
    logs[hub_name], logs[leaf_name] = hub[None], hub + sign * rho
    return log_saturation, log_det


def _share_variance(model: BehaviorModel, reader: BoundedReader, low: Scalar, high: Scalar) -> tuple[Scalar, Array, Scalar]:
    """Residual variance and its shares: log(w_m sigma), log sigma_r (as a vector of one), and the log determinant.

    With flat priors on the three noises the share q is uniform, given v and rho: nothing could be less identified.
    """
    motor_low, motor_high = log_bounds(model, "sigma_r")
    least, most = jnp.exp(2 * low) + np.exp(2 * motor_low), jnp.exp(2 * high) + np.exp(2 * motor_high)
    log_v = reader.take(jnp.log(least), jnp.log(most), 1)[0]
    # By the smaller part, 1 - q: near q = 1 its digits are all there is to tell a small perceptual noise from none.
    least_share = jnp.maximum(jnp.exp(2 * low - log_v), 1 - jnp.exp(2 * motor_high - log_v))
    most_share = jnp.minimum(jnp.exp(2 * high - log_v), 1 - jnp.exp(2 * motor_low - log_v))
    smallest, largest = _complement(least_share), _complement(most_share)
    # As a fraction of what is possible: the possible range may be narrow, and a draw would hardly ever be in it.
    width = jnp.maximum(largest - smallest, 1e-6 * largest)
    rest = smallest + width * (1 - reader.take(0.0, 1.0, 1)[0])
    log_motor, log_perceptual = jnp.log1p(-rest), jnp.log(rest * (2 - rest)) / 2
    log_det = jnp.log(width) - log_motor - 2 * log_perceptual - np.log(2)
    return log_v / 2 + log_perceptual, (log_v / 2 + log_motor)[None], log_det


def _complement(share: Scalar) -> Scalar:
    """1 - sqrt(1 - share), without cancellation."""
    share = jnp.clip(share, 1e-12, 1 - 1e-6)
    return share / (1 + jnp.sqrt(1 - share))


def _ratios(model: BehaviorModel, logs: Values) -> Float[Array, " condition"]:
    """rho in each condition."""
    return jnp.broadcast_to(logs["sigma_0"] - logs["sigma"], (model.num_conditions,))
