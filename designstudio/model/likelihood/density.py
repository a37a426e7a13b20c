"""What a participant's responses tell: the density of one response, with the measurement integrated out.

The researcher sees stimulus and response, never the measurement. With e the measurement's noise, a standard normal number,
h(e) the action for that measurement and y the response, both on the response's scale,

    p(y | stimulus) = integral over e of Normal(e; 0, 1) Normal(y; h(e), motor noise).

Plain Gauss-Hermite quadrature fails when the motor noise is much smaller than what the perceptual noise does to the action:
the integrand is then a spike between the nodes. So the nodes are centred and scaled on the integrand itself, by linearising
h. Three rules, from fast to careful, are chosen by what is known about the policy:

- *linear*: h is linear (in logarithms: a power law), the integrand Gaussian, and one node is exact;
- *smooth*: h is nearly linear over the integrand; three nodes around its centre are within 1e-3 nats (2e-3 for one trial in
  thousands where perception and prior are as uncertain as the training box allows);
- *cornered*: h may bend, so that the integrand is narrow on one side of its centre and wide on the other; each side gets its
  own scale and eight nodes of half a Gauss-Hermite rule.

All densities are of y, in natural logarithms.
"""

import dataclasses
import functools
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from designstudio.model.gauss_hermite import gauss_hermite, half_gauss_hermite

Scalar = Float[Array, ""]
Policy = Callable[[Scalar], Scalar]

# Newton steps end within this many standard deviations of the measurement noise: far beyond any response that is not a slip,
# and near enough for 32-bit numbers.
FARTHEST_CENTRE = 40.0
# Where a side's scale is taken, in units of that scale.
SIDE_REACH = 2.0
# How often the scales of the sides are improved.
NUM_SIDE_STEPS = 2
LOG_TWO_PI = float(np.log(2 * np.pi))


@dataclasses.dataclass(frozen=True)
class QuadratureRule:
    """How the measurement is integrated out.

    Attributes:
        num_centring_steps: Newton steps to the centre of the integrand.
        num_nodes: nodes in all, or on each side if the sides have their own scales.
        has_two_sides: whether each side of the centre has its own scale.
        is_exact: whether the sum is exact, so that derivatives may and must flow through the placing of the nodes.
    """

    num_centring_steps: int
    num_nodes: int
    has_two_sides: bool = False
    is_exact: bool = False


LINEAR = QuadratureRule(num_centring_steps=1, num_nodes=1, is_exact=True)
# Also for gentle bends: within 1e-5 nats for nearly all trials, but off by hundredths where a bend meets a narrow integrand.
SMOOTH = QuadratureRule(num_centring_steps=2, num_nodes=3)
CORNERED = QuadratureRule(num_centring_steps=3, num_nodes=8, has_two_sides=True)


def response_log_density(act: Policy, response: Scalar, motor_scale: Scalar, *, rule: QuadratureRule) -> Scalar:
    """Log density of one response, with the measurement integrated out.

    Args:
        act: the action for a measurement whose noise is this standard normal number, on the scale of the response.
        response: on its scale.
        motor_scale: standard deviation of the response around the action.
        rule: how to integrate.
    """

    def log_integrand(noise: Scalar) -> Scalar:
        return -(noise**2 + ((response - act(noise)) / motor_scale) ** 2) / 2

    centre, below, above = _place(act, response, motor_scale, rule)
    if not rule.is_exact:
        # Where the nodes stand hardly changes the sum, so derivatives need not flow through their placing.
        centre, below, above = jax.lax.stop_gradient((centre, below, above))
    # Nodes are unrolled: all trials then run in one fused loop.
    terms = [
        log_integrand(centre + (below if offset < 0 else above) * offset)
        + jnp.log(below if offset < 0 else above)
        + (log_weight + offset**2 / 2)
        for offset, log_weight in zip(*_standard_nodes(rule), strict=True)
    ]
    # Relative to the largest term nothing overflows, even where the centre has missed the peak.
    largest = jax.lax.stop_gradient(functools.reduce(jnp.maximum, terms))
    total = functools.reduce(jnp.add, [jnp.exp(term - largest) for term in terms])
    return largest + jnp.log(total) - jnp.log(motor_scale) - LOG_TWO_PI


def _place(act: Policy, response: Scalar, motor_scale: Scalar, rule: QuadratureRule) -> tuple[Scalar, Scalar, Scalar]:
    """Centre of the integrand over the perceptual noise, and its scales below and above."""

    def linearise(noise: Scalar) -> tuple[Scalar, Scalar]:
        return jax.jvp(act, (noise,), (jnp.ones_like(noise),))

    def scale_at(noise: Scalar) -> Scalar:
        return jax.lax.rsqrt(1 + (linearise(noise)[1] / motor_scale) ** 2)

    def log_integrand(noise: Scalar, action: Scalar) -> Scalar:
        return -(noise**2 + ((response - action) / motor_scale) ** 2) / 2

    centre, scale = jnp.zeros_like(response), jnp.ones_like(response)
    for step in range(rule.num_centring_steps):
        action, gain = linearise(centre)
        scale = jax.lax.rsqrt(1 + (gain / motor_scale) ** 2)
        proposed = gain * (response - action + gain * centre) * (scale / motor_scale) ** 2
        if not rule.is_exact:
            proposed = jnp.clip(proposed, -FARTHEST_CENTRE, FARTHEST_CENTRE)
        if step > 0 and rule.has_two_sides:
            # Beyond a corner the linearisation points too far: go half the way where the whole way is uphill.
            is_worse = log_integrand(proposed, act(proposed)) < log_integrand(centre, action)
            proposed = jnp.where(is_worse, (centre + proposed) / 2, proposed)
        centre = proposed
    if not rule.has_two_sides:
        return centre, scale, scale
    below = above = scale_at(centre)
    for _ in range(NUM_SIDE_STEPS):
        below, above = scale_at(centre - SIDE_REACH * below), scale_at(centre + SIDE_REACH * above)
    return centre, below, above


@functools.cache
def _standard_nodes(rule: QuadratureRule) -> tuple[np.ndarray, np.ndarray]:
    """Nodes x and logarithms of weights for the integral of exp(-x²/2) f(x)."""
    if rule.has_two_sides:
        nodes, weights = half_gauss_hermite(rule.num_nodes)
        return np.concatenate([-nodes[::-1], nodes]), np.log(np.concatenate([weights[::-1], weights]))
    nodes, weights = gauss_hermite(rule.num_nodes)
    return nodes, np.log(weights) + LOG_TWO_PI / 2
