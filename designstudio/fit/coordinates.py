"""Observable coordinates: what the data determine, and the slack that they leave.

In the usual coordinates (logarithms of the parameters) the posterior of a confounded design is a thin bent ridge. A
regression of log response on log stimulus determines, in each condition, a level, a slope and a residual variance; so these
are the coordinates, and what they leave open is slack with a bounded range:

    rho = log(sigma_0 / sigma)     the slope of the belief is sigmoid(2 rho); one for each condition that differs
    log v                          residual variance at the anchor, v = (w_m sigma)² + sigma_r²
    q = sigma_r / sqrt(v)          the motor share of the residual, as a fraction of what is possible               (slack)
    cost parameters                as they are, or their logarithms                                                   (slack)
    c                              level: the log action for the mean stimulus, in place of log mu_0, in standard units

The *anchor* is the first condition; `sort_by_noise` puts the noisiest there. Parameters that are fixed drop out; where
sigma_r or the noise scale has nothing to be traded against, its logarithm is the coordinate. For costs that are not power
laws the action is taken at the mean response, which makes the level approximate; that costs efficiency, never correctness,
because the map and its Jacobian are exact.

Every parameter has bounds, so every coordinate has walls, which depend on the coordinates before it. The map is triangular:
each wall is explicit and so is the Jacobian. Outside its walls a coordinate is either *flagged* (importance sampling gives
it no weight) or *folded* back, as if the wall were a mirror: the density is then continuous everywhere, and a Hamiltonian
sampler bounces off the wall instead of stopping there.
"""

from typing import NamedTuple, cast

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, ArrayLike, Bool, Float

from designstudio.actors.base import AbstractBeliefActor
from designstudio.behavior.model import BehaviorModel, Values
from designstudio.behavior.observations import Moments, Observations
from designstudio.perception import posterior_sigma
from designstudio.priors import LogNormal

Scalar = Float[Array, ""]
FREE, SHARED, PER_CONDITION, FIXED = "free", "shared", "per condition", "fixed"
# Slopes are estimated with error, so an estimate may lie outside (0, 1).
SMALLEST_SLOPE = 0.03
# Where an unbounded prior ends.
NEGLIGIBLE_MASS = 1e-5
FARTHEST_LOG = 20.0
# Where a policy bends at a unit: over which depth its slope vanishes, roughly, and what is left of it.
GAIN_WIDTH = 0.15
# Where the response may bend with the stimulus, a regression only describes what is near its mean, and not surely: width of
# the neighbourhood, in standard deviations of the log stimulus, and smallest errors of rho, log v and the level.
NEIGHBOURHOOD = 0.6
SMALLEST_RATIO_ERROR, SMALLEST_VARIANCE_ERROR, SMALLEST_LEVEL_ERROR = 0.8, 0.2, 0.03
SMALLEST_GAIN = 0.1
# How many errors the level may be off the regression, and how much of the depth's range is kept for what is farther off.
NUM_LEVEL_ERRORS = 1.0
UNLIKELY_SHARE = 0.02


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


class Guess(eqx.Module):
    """Where the posterior is expected from regression alone.

    Attributes:
        centre: estimate of each coordinate.
        scale: its standard error; for slack, half of the allowed range.
        is_slack: which coordinates the regression says nothing about.
    """

    centre: Float[Array, " coordinate"]
    scale: Float[Array, " coordinate"]
    is_slack: tuple[bool, ...] = eqx.field(static=True)


def locate(model: BehaviorModel, z: Float[Array, " coordinate"], observations: Observations, *, folds: bool) -> Located:
    """From coordinates to parameters."""
    walls = _Walls(z, folds=folds)
    logs, ratios, depth, log_jacobian = _locate_noise(model, walls, observations)
    values: Values = {}
    for name in ("sigma_0", "sigma", "sigma_r"):
        if name in model.free:
            values[name] = jnp.exp(logs[name])
            log_jacobian += jnp.sum(logs[name])
    for parameter in model.actor.cost.parameters:
        if parameter.name in model.free and depth is None:
            low, high = _coordinate_bounds(model, parameter.name)
            x = walls.take(low, high, model.num_entries(parameter.name))
            values[parameter.name] = jnp.exp(x) if _is_logarithmic(model, parameter.name) else x
            log_jacobian += jnp.sum(x) if _is_logarithmic(model, parameter.name) else 0.0
            values[parameter.name] = values[parameter.name].reshape(_shape(model, parameter.name))
    for name in ("sigma_0", "sigma", "sigma_r"):
        if name in values:
            values[name] = values[name].reshape(_shape(model, name))
    if depth is not None:
        log_jacobian += _locate_by_unit(model, walls, values, ratios[0], depth, observations)
    elif "mu_0" in model.free:
        level, weight = _level_line(model, values, ratios, observations)
        prior_weight = 1 - weight
        lowest, highest = (level + prior_weight * bound for bound in _log_bounds(model, "mu_0"))
        centre, scale = _expect_level(model, observations, lowest, highest)
        c = centre + scale * walls.take((lowest - centre) / scale, (highest - centre) / scale, model.num_entries("mu_0"))
        log_mu_0 = (c - level) / prior_weight
        log_jacobian += jnp.sum(log_mu_0 - jnp.log(prior_weight) + jnp.log(scale))
        values["mu_0"] = jnp.exp(log_mu_0).reshape(_shape(model, "mu_0"))
    return Located({name: values[name] for name in model.free}, log_jacobian, walls.is_inside, walls.taken)


def guess(model: BehaviorModel, observations: Observations) -> Guess:
    """The regression's estimate of each coordinate, in the order in which `locate` reads them."""
    moments = _summarize(model, observations)
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
    centres, scales, slack = [], [], []

    def add(centre: ArrayLike, scale: ArrayLike, num: int, *, is_slack: bool = False) -> None:
        centres.append(jnp.broadcast_to(centre, (num,)))
        scales.append(jnp.broadcast_to(scale, (num,)))
        slack.extend([is_slack] * num)

    def add_range(low: float, high: float, num: int) -> None:
        add((low + high) / 2, (high - low) / 2, num, is_slack=True)

    num_ratios, num_scales = _num_ratios(model), _num_scales(model)
    if num_ratios:
        one_ratio = num_ratios == 1
        add(rho[0] if one_ratio else rho, rho_error[0] if one_ratio else rho_error, num_ratios)
    if _bends_at_unit(model):
        add_range(0.0, 1.0, 1)
    log_variance, log_error = (
        jnp.log(variance),
        jnp.maximum(jnp.sqrt(2 / degrees), SMALLEST_VARIANCE_ERROR if bends else 0.0),
    )
    if _trades_noise(model):
        add(log_variance[0], log_error[0], 1)
        add_range(0.0, 1.0, 1)
    else:
        if num_scales:
            add(log_variance[0] / 2 - 0.35, 0.7, num_scales)
        if "sigma_r" in model.free:
            estimate, error = _motor_guess(model, observations, slope, variance, log_error)
            num = model.num_entries("sigma_r")
            add(estimate[0] if num == 1 else estimate, error[0] if num == 1 else error, num)
    for parameter in model.actor.cost.parameters:
        if parameter.name in model.free and not _bends_at_unit(model):
            add_range(*_coordinate_bounds(model, parameter.name), model.num_entries(parameter.name))
    if "mu_0" in model.free:
        add(0.0, 1.0, model.num_entries("mu_0"))
    return Guess(jnp.concatenate(centres), jnp.concatenate(scales), tuple(slack))


def fold(x: Float[Array, "..."], low: Float[Array, "..."], high: Float[Array, "..."]) -> Float[Array, "..."]:
    """Reflect x into [low, high], as often as needed; an infinite wall reflects nothing."""
    width = high - low
    is_boxed = jnp.isfinite(width)
    safe_low = jnp.where(jnp.isfinite(low), low, 0.0)
    safe_high = jnp.where(jnp.isfinite(high), high, 0.0)
    safe_width = jnp.where(is_boxed, jnp.maximum(width, 1e-6), 1.0)
    turns = (x - safe_low) / (2 * safe_width)
    boxed = safe_low + safe_width - jnp.abs(2 * safe_width * (turns - jnp.floor(turns)) - safe_width)
    above = jnp.where(jnp.isfinite(low), safe_low + jnp.abs(x - safe_low), x)
    below = jnp.where(jnp.isfinite(high), safe_high - jnp.abs(x - safe_high), x)
    folded = jnp.where(is_boxed, boxed, jnp.where(jnp.isfinite(low), above, below))
    # Between the walls nothing changes, not even by rounding.
    return jnp.where((x >= low) & (x <= high), x, folded)


class _Walls:
    """Hands out coordinates one after the other, each checked or folded between its walls."""

    def __init__(self, z: Float[Array, " coordinate"], *, folds: bool) -> None:
        self._z, self._folds = z, folds
        self._taken: list[Float[Array, " num"]] = []
        self._next = 0
        self.is_inside = jnp.ones((), bool)

    def take(self, low: ArrayLike, high: ArrayLike, num: int) -> Float[Array, " num"]:
        x = self._z[self._next : self._next + num]
        self._next += num
        low, high = jnp.broadcast_to(low, (num,)), jnp.broadcast_to(high, (num,))
        self.is_inside &= self._folds | jnp.all((x >= low) & (x <= high))
        x = fold(x, low, high) if self._folds else jnp.clip(x, low, high)
        self._taken.append(x)
        return x

    @property
    def taken(self) -> Float[Array, " coordinate"]:
        return jnp.concatenate(self._taken)


def _locate_noise(
    model: BehaviorModel, walls: _Walls, observations: Observations
) -> tuple[Values, Array, Scalar | None, Scalar]:
    """Logarithms of the three noises, rho in each condition, the depth if there is one, and the Jacobian."""
    log_fixed = {name: jnp.log(value) for name, value in observations.fixed.items()}
    state_0, state = _state(model, "sigma_0"), _state(model, "sigma")
    logs: Values = {name: value for name, value in log_fixed.items() if name in ("sigma_0", "sigma", "sigma_r")}
    jacobian = jnp.zeros(())
    if FIXED not in (state, state_0):
        depth, jacobian = _locate_scale(model, walls, logs, observations)
        return logs, _ratios(model, logs), depth, jacobian
    if (state_0, state) != (FIXED, FIXED):
        free, known, sign = ("sigma_0", "sigma", 1.0) if state == FIXED else ("sigma", "sigma_0", -1.0)
        num = model.num_entries(free)
        reference = log_fixed[known][0] if num == 1 else log_fixed[known]
        low, high = _log_bounds(model, free)
        ends = sign * (low - reference), sign * (high - reference)
        rho = walls.take(jnp.minimum(*ends), jnp.maximum(*ends), num)
        logs[free] = reference + sign * rho
    ratios = _ratios(model, logs)
    depth, jacobian = _take_depth(model, walls, ratios[0], observations)
    if "sigma_r" in model.free:
        logs["sigma_r"] = walls.take(*_log_bounds(model, "sigma_r"), model.num_entries("sigma_r"))
    return logs, ratios, depth, jacobian


def _locate_scale(
    model: BehaviorModel, walls: _Walls, logs: Values, observations: Observations
) -> tuple[Scalar | None, Scalar]:
    """Both sigma_0 and sigma are free: ratios first, then the scale, traded against sigma_r where that is shared."""
    bounds_0, bounds = _log_bounds(model, "sigma_0"), _log_bounds(model, "sigma")
    num = _num_ratios(model)
    if _num_scales(model) > 1:
        rho = walls.take(bounds_0[0] - bounds[1], bounds_0[1] - bounds[0], num)
        depth, jacobian = _take_depth(model, walls, rho[0], observations)
        low, high = jnp.maximum(bounds[0], bounds_0[0] - rho), jnp.minimum(bounds[1], bounds_0[1] - rho)
        log_sigma = walls.take(low, high, num)
        logs["sigma"], logs["sigma_0"] = log_sigma, log_sigma + rho
        if "sigma_r" in model.free:
            logs["sigma_r"] = walls.take(*_log_bounds(model, "sigma_r"), model.num_entries("sigma_r"))
        return depth, jacobian
    # The hub is the noise that all conditions share; each ratio narrows the range that is left for it.
    hub_is_prior = _state(model, "sigma_0") == SHARED
    hub_bounds, leaf = (bounds_0, bounds) if hub_is_prior else (bounds, bounds_0)
    low, high = (jnp.asarray(bound) for bound in hub_bounds)
    sign = -1.0 if hub_is_prior else 1.0
    rhos = []
    for _ in range(num):
        ends = sign * (leaf[0] - high), sign * (leaf[1] - low)
        rho = walls.take(jnp.minimum(*ends), jnp.maximum(*ends), 1)[0]
        low, high = jnp.maximum(low, leaf[0] - sign * rho), jnp.minimum(high, leaf[1] - sign * rho)
        rhos.append(rho)
    rho = jnp.stack(rhos)
    rho_anchor = rho[0]
    depth, jacobian = _take_depth(model, walls, rho_anchor, observations)
    # Perceptual part of the residual at the anchor: log(w_m sigma) = hub + offset.
    offset = jax.nn.log_sigmoid(2 * rho_anchor) - (rho_anchor if hub_is_prior else 0.0)
    if depth is not None:
        offset += jnp.log(SMALLEST_GAIN + (1 - SMALLEST_GAIN) * jax.nn.sigmoid(-depth / GAIN_WIDTH))
    if _trades_noise(model):
        log_perceptual, logs["sigma_r"], log_share = _share_variance(model, walls, low + offset, high + offset)
        hub = log_perceptual - offset
        jacobian += log_share
    else:
        hub = walls.take(low + offset, high + offset, 1)[0] - offset
        if "sigma_r" in model.free:
            logs["sigma_r"] = walls.take(*_log_bounds(model, "sigma_r"), model.num_entries("sigma_r"))
    hub_name, leaf_name = ("sigma_0", "sigma") if hub_is_prior else ("sigma", "sigma_0")
    logs[hub_name], logs[leaf_name] = hub[None], hub + sign * rho
    return depth, jacobian


def _take_depth(
    model: BehaviorModel, walls: _Walls, rho: Scalar, observations: Observations
) -> tuple[Scalar | None, Scalar]:
    """How far the belief at the mean stimulus lies beyond the unit at which the policy bends, and the Jacobian.

    Well below the unit only exp(depth) matters, well above it the depth itself: softplus(depth) is both.
    """
    if not _bends_at_unit(model):
        return None, jnp.zeros(())
    lowest, low, high, highest = (jax.nn.softplus(end) for end in _depth_ends(model, rho, observations))
    shares = jnp.stack([UNLIKELY_SHARE * (low > lowest), jnp.ones(()), UNLIKELY_SHARE * (highest > high)])
    ends = jnp.concatenate([jnp.zeros(1), jnp.cumsum(shares) / jnp.sum(shares)])
    x = walls.take(0.0, 1.0, 1)[0]
    steps = jnp.stack([low - lowest, high - low, highest - high]) / jnp.where(shares > 0, jnp.diff(ends), 1.0)
    # A point between two pieces belongs to the lower one.
    piece = jnp.sum(x > ends[1:3])
    depth = _inverse_softplus(jnp.stack([lowest, low, high])[piece] + steps[piece] * (x - ends[piece]))
    return depth, jnp.log(steps[piece]) - jax.nn.log_sigmoid(depth)


def _depth_ends(model: BehaviorModel, rho: Scalar, observations: Observations) -> tuple[Scalar, Scalar, Scalar, Scalar]:
    """Between which depths some mu_0 and some unit lie (outer ends), and can explain the level of the data (inner ends)."""
    weight = jax.nn.sigmoid(2 * rho)
    moments = _summarize(model, observations)
    belief_low, belief_high = (weight * moments.mean_x[0] + (1 - weight) * bound for bound in _log_bounds(model, "mu_0"))
    unit_low, unit_high = _unit_bounds(model)
    lowest, highest = belief_low - unit_high, belief_high - unit_low
    # Beyond the unit the action is the unit, before it the belief.
    margin = NUM_LEVEL_ERRORS * jnp.sqrt(residual_variance(moments) / jnp.maximum(moments.count, 1.0))[0]
    low, high = belief_low - moments.mean_y[0] - margin, belief_high - moments.mean_y[0] + margin
    low = jnp.where(low > 0, jnp.clip(low, lowest, highest - 0.1), lowest)
    return lowest, low, jnp.clip(high, low + 0.1, highest), highest


def _locate_by_unit(
    model: BehaviorModel, walls: _Walls, values: Values, rho: Scalar, depth: Scalar, observations: Observations
) -> Scalar:
    """The cost's parameter and mu_0 from the level and the depth; returns the Jacobian.

    In units of the unit the action depends on the depth alone. So the level gives the unit, the unit and the depth give the
    belief, and the belief gives mu_0; of the determinant only the prior's weight remains.
    """
    actor = cast(AbstractBeliefActor, model.actor)
    weight = jnp.minimum(jax.nn.sigmoid(2 * rho), 1 - 1e-6)
    spread = model.spread({**values, "mu_0": jnp.ones(()), **actor.cost.parameters_at(jnp.zeros(()))}, observations.fixed)
    noise = {name: value[0] for name, value in spread.items()}
    sigma_post = posterior_sigma(noise["sigma_0"], noise["sigma"])
    action = actor.strategy(sigma_post, noise["sigma_r"], actor.cost_parameters(noise))(depth)
    mean_x = observations.moments.mean_x[0]
    belief_low, belief_high = (weight * mean_x + (1 - weight) * bound for bound in _log_bounds(model, "mu_0"))
    unit_low, unit_high = _unit_bounds(model)
    lowest = action + jnp.maximum(unit_low, belief_low - depth)
    highest = action + jnp.minimum(unit_high, belief_high - depth)
    centre, scale = (
        entry[0] for entry in _expect_level(model, observations, lowest[None], jnp.maximum(highest, lowest)[None])
    )
    c = centre + scale * walls.take((lowest - centre) / scale, (highest - centre) / scale, 1)[0]
    log_unit = c - action
    log_mu_0 = (log_unit + depth - weight * mean_x) / (1 - weight)
    own, slope = jax.jvp(actor.cost.parameters_at, (log_unit,), (jnp.ones_like(log_unit),))
    values.update(own)
    values["mu_0"] = jnp.exp(log_mu_0)
    (derivative,) = slope.values()
    return log_mu_0 - jnp.log(1 - weight) + jnp.log(scale) + jnp.log(derivative)


def _share_variance(model: BehaviorModel, walls: _Walls, low: Scalar, high: Scalar) -> tuple[Scalar, Array, Scalar]:
    """Residual variance and its shares: log(w_m sigma), log sigma_r (as a vector of one), and the Jacobian.

    With flat priors on the three noises the share q is uniform, given v and rho: slack in its purest form.
    """
    motor_low, motor_high = _log_bounds(model, "sigma_r")
    least, most = jnp.exp(2 * low) + np.exp(2 * motor_low), jnp.exp(2 * high) + np.exp(2 * motor_high)
    log_v = walls.take(jnp.log(least), jnp.log(most), 1)[0]
    # By the smaller part, 1 - q: near q = 1 its digits are all there is to tell a small perceptual noise from none.
    least_share = jnp.maximum(jnp.exp(2 * low - log_v), 1 - jnp.exp(2 * motor_high - log_v))
    most_share = jnp.minimum(jnp.exp(2 * high - log_v), 1 - jnp.exp(2 * motor_low - log_v))
    smallest, largest = _complement(least_share), _complement(most_share)
    # As a fraction of what is possible: the possible range may be narrow, and then slack would hardly ever be in it.
    width = jnp.maximum(largest - smallest, 1e-6 * largest)
    rest = smallest + width * (1 - walls.take(0.0, 1.0, 1)[0])
    log_motor, log_perceptual = jnp.log1p(-rest), jnp.log(rest * (2 - rest)) / 2
    jacobian = jnp.log(width) - log_motor - 2 * log_perceptual - np.log(2)
    return log_v / 2 + log_perceptual, (log_v / 2 + log_motor)[None], jacobian


def _complement(share: Scalar) -> Scalar:
    """1 - sqrt(1 - share), without cancellation."""
    share = jnp.clip(share, 1e-12, 1 - 1e-6)
    return share / (1 + jnp.sqrt(1 - share))


def _ratios(model: BehaviorModel, logs: Values) -> Float[Array, " condition"]:
    """rho in each condition."""
    return jnp.broadcast_to(logs["sigma_0"] - logs["sigma"], (model.num_conditions,))


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


def _expect_level(model: BehaviorModel, observations: Observations, low: Array, high: Array) -> tuple[Array, Array]:
    """Where the level is expected, and how surely: by the regression, and between its walls.

    Where the prior hardly matters the walls are closer together than the data can resolve, and mu_0 is slack; elsewhere the
    data say where the level is. The precision-weighted mean of both is a coordinate of unit scale in either case.
    """
    num = model.num_entries("mu_0")
    moments = _summarize(model, observations)
    bends = model.rule.has_two_sides
    error = jnp.sqrt(residual_variance(moments) / jnp.maximum(moments.count, 1.0))
    error, mean = jnp.maximum(error, SMALLEST_LEVEL_ERROR if bends else 0.0)[:num], moments.mean_y[:num]
    half_width = (high - low) / 2
    share = half_width**2 / (half_width**2 + error**2)
    middle = (low + high) / 2
    return middle + share * (mean - middle), error * jnp.sqrt(share)


def residual_variance(moments: Moments) -> Float[Array, " condition"]:
    """Estimate from the regression of each condition; never quite zero."""
    degrees = jnp.maximum(moments.count - 2, 1.0)
    return jnp.maximum(moments.sum_rr / degrees, 1e-4)


def _summarize(model: BehaviorModel, observations: Observations) -> Moments:
    """The regression around the mean stimulus: of all trials if the response is nearly straight, else of those near it."""
    moments = observations.moments
    if not model.rule.has_two_sides:
        return moments
    spread = jnp.sqrt(moments.sum_xx / jnp.maximum(moments.count, 1.0))
    centred = observations.log_stimulus - moments.mean_x[:, None]
    near = jnp.exp(-((centred / (NEIGHBOURHOOD * spread + 0.05)[:, None]) ** 2) / 2) * observations.is_present

    def average(array: Array) -> Array:
        return jnp.sum(near * array, axis=1) / jnp.maximum(jnp.sum(near, axis=1), 1e-6)

    x, y = centred - average(centred)[:, None], observations.log_response - average(observations.log_response)[:, None]
    slope = average(x * y) / (average(x**2) + 1e-3)
    level = average(observations.log_response) - slope * average(centred)
    count = jnp.sum(near, axis=1)
    residual = y - slope[:, None] * x
    return Moments(count, moments.mean_x, level, slope, count * average(x**2), count * average(residual**2))


def _motor_guess(
    model: BehaviorModel, observations: Observations, slope: Array, variance: Array, log_error: Array
) -> tuple[Array, Array]:
    """log sigma_r from what the perceptual noise, if known, leaves of the residual variance."""
    if "sigma" in model.fixed:
        left = variance - (slope * observations.fixed["sigma"]) ** 2
        motor = jnp.maximum(left, 0.05 * variance)
        return jnp.log(motor) / 2, jnp.clip(variance / motor * log_error / 2, 0.0, 0.8)
    return jnp.log(variance) / 2 - 0.35, jnp.full_like(variance, 0.7)


def _state(model: BehaviorModel, name: str) -> str:
    if name in model.fixed:
        return FIXED
    return PER_CONDITION if name in model.per_condition else SHARED


def _bends_at_unit(model: BehaviorModel) -> bool:
    """Whether depth and level take the places of the cost's parameter and mu_0."""
    cost = model.actor.cost
    if not (cost.bends_at_unit and isinstance(model.actor, AbstractBeliefActor)):
        return False
    names = ("mu_0", cost.parameters[0].name)
    return all(name in model.free and model.num_entries(name) == 1 for name in names)


def _unit_bounds(model: BehaviorModel) -> tuple[float, float]:
    """Logarithms of the least and the greatest unit, kept finite."""
    cost = model.actor.cost
    name = cost.parameters[0].name
    support = model.priors[name].support
    with jax.ensure_compile_time_eval():
        ends = np.sort([float(cost.log_unit({name: jnp.asarray(end)})) for end in (support.low, support.high)])
    low, high = np.clip(ends, -FARTHEST_LOG / 2, FARTHEST_LOG / 2)
    return float(low), float(high)


def _inverse_softplus(x: Scalar) -> Scalar:
    """log(exp(x) - 1), for small and large x."""
    return x + jnp.log(-jnp.expm1(-x))


def _num_ratios(model: BehaviorModel) -> int:
    """How many coordinates are ratios of sigma_0 to sigma."""
    free = [name for name in ("sigma_0", "sigma") if name in model.free]
    return max((model.num_entries(name) for name in free), default=0)


def _num_scales(model: BehaviorModel) -> int:
    """How many coordinates are scales of sigma_0 and sigma."""
    if "sigma_0" in model.fixed or "sigma" in model.fixed:
        return 0
    return min(model.num_entries("sigma_0"), model.num_entries("sigma"))


def _trades_noise(model: BehaviorModel) -> bool:
    """Whether one residual variance is shared between perception and movement."""
    return _num_scales(model) == 1 and "sigma_r" in model.free and model.num_entries("sigma_r") == 1


def _is_logarithmic(model: BehaviorModel, name: str) -> bool:
    return isinstance(model.priors[name], LogNormal)


def _coordinate_bounds(model: BehaviorModel, name: str) -> tuple[float, float]:
    """Bounds of a cost parameter's coordinate; an unbounded prior ends where it has hardly any mass left."""
    prior = model.priors[name]
    low, high = prior.support.low, prior.support.high
    if not (np.isfinite(high) and (low > 0 or not _is_logarithmic(model, name))):
        with jax.ensure_compile_time_eval():
            ends = np.asarray(prior.distribution().icdf(jnp.array([NEGLIGIBLE_MASS, 1 - NEGLIGIBLE_MASS])), float)
        low, high = max(low, ends[0]), min(high, ends[1])
    return (float(np.log(low)), float(np.log(high))) if _is_logarithmic(model, name) else (low, high)


def _log_bounds(model: BehaviorModel, name: str) -> tuple[float, float]:
    """Logarithms of a prior's bounds, kept finite: derivatives of infinite walls are not numbers."""
    support = model.priors[name].support
    with np.errstate(divide="ignore"):
        low, high = np.clip(np.log([support.low, support.high]), -FARTHEST_LOG, FARTHEST_LOG)
    return float(low), float(high)


def _shape(model: BehaviorModel, name: str) -> tuple[int, ...]:
    return (model.num_conditions,) if name in model.per_condition else ()
