"""What a participant's responses tell: the likelihood of one response, with the measurement integrated out.

The researcher sees stimulus s and response r, never the measurement m = s exp(sigma e). With h(e) the logarithm of the
action for that measurement,

    p(log r | s) = integral over e of Normal(e; 0, 1) Normal(log r; h(e), sigma_r).

Plain Gauss-Hermite quadrature fails when the motor noise is much smaller than what the perceptual noise does to the action:
the integrand is then a spike between the nodes. So the nodes are centred and scaled on the integrand itself, by linearising
h. Three rules, from fast to careful, are chosen by what is known about the cost:

- *power law*: h is linear, the integrand Gaussian, and one node is exact;
- *smooth*: h is nearly linear over the integrand; three nodes around its centre are within 1e-3 nats;
- *cornered*: h may bend, so that the integrand is narrow on one side of its centre and wide on the other; each side gets its
  own scale and eight nodes of half a Gauss-Hermite rule.

All densities are of log r, in natural logarithms.
"""

import dataclasses
import functools
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from designstudio.model.actors.base import AbstractPolicy
from designstudio.model.costs.base import AbstractBentCost, AbstractCost
from designstudio.model.costs.quadrature import gauss_hermite

Scalar = Float[Array, ""]

# The measurement noise is practically never further out than this many standard deviations.
FARTHEST_CENTRE = 7.0
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


POWER_LAW = QuadratureRule(num_centring_steps=1, num_nodes=1, is_exact=True)
SMOOTH = QuadratureRule(num_centring_steps=1, num_nodes=3)
CORNERED = QuadratureRule(num_centring_steps=3, num_nodes=8, has_two_sides=True)
# For gentle bends: within 1e-5 nats for nearly all trials, but off by hundredths where a bend meets a narrow integrand.
BENT = QuadratureRule(num_centring_steps=2, num_nodes=3)


def choose_rule(cost: AbstractCost) -> QuadratureRule:
    """The fastest rule that is accurate for every participant under this cost."""
    if cost.num_terms == 1:
        return POWER_LAW
    return SMOOTH if cost.has_smooth_policy else CORNERED


def choose_fast_rule(cost: AbstractCost) -> QuadratureRule:
    """The rule with which posteriors are explored; where it is not that of `choose_rule`, results are corrected."""
    return BENT if isinstance(cost, AbstractBentCost) else choose_rule(cost)


def response_log_density(
    policy: AbstractPolicy,
    log_stimulus: Scalar,
    log_response: Scalar,
    sigma: Scalar,
    sigma_r: Scalar,
    *,
    rule: QuadratureRule,
) -> Scalar:
    """Log density of log r given the stimulus, for one trial.

    Args:
        policy: what the participant does with a measurement.
        log_stimulus: log s.
        log_response: log r.
        sigma: perceptual noise.
        sigma_r: motor noise.
        rule: how to integrate; see `choose_rule`.
    """

    def act(noise: Scalar) -> Scalar:
        return policy(log_stimulus + sigma * noise)

    def log_integrand(noise: Scalar) -> Scalar:
        return -(noise**2 + ((log_response - act(noise)) / sigma_r) ** 2) / 2

    centre, below, above = _place(act, log_response, sigma_r, rule)
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
    return largest + jnp.log(total) - jnp.log(sigma_r) - LOG_TWO_PI


def _place(
    act: Callable[[Scalar], Scalar], log_response: Scalar, sigma_r: Scalar, rule: QuadratureRule
) -> tuple[Scalar, Scalar, Scalar]:
    """Centre of the integrand over the perceptual noise, and its scales below and above."""

    def linearise(noise: Scalar) -> tuple[Scalar, Scalar]:
        return jax.jvp(act, (noise,), (jnp.ones_like(noise),))

    def scale_at(noise: Scalar) -> Scalar:
        return jax.lax.rsqrt(1 + (linearise(noise)[1] / sigma_r) ** 2)

    def log_integrand(noise: Scalar, log_action: Scalar) -> Scalar:
        return -(noise**2 + ((log_response - log_action) / sigma_r) ** 2) / 2

    centre, scale = jnp.zeros_like(log_response), jnp.ones_like(log_response)
    for step in range(rule.num_centring_steps):
        log_action, gain = linearise(centre)
        scale = jax.lax.rsqrt(1 + (gain / sigma_r) ** 2)
        proposed = gain * (log_response - log_action + gain * centre) * (scale / sigma_r) ** 2
        if not rule.is_exact:
            proposed = jnp.clip(proposed, -FARTHEST_CENTRE, FARTHEST_CENTRE)
        if step > 0 and rule.has_two_sides:
            # Beyond a corner the linearisation points too far: go half the way where the whole way is uphill.
            is_worse = log_integrand(proposed, act(proposed)) < log_integrand(centre, log_action)
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


@functools.cache
def half_gauss_hermite(num_nodes: int) -> tuple[np.ndarray, np.ndarray]:
    """Gauss nodes and weights for the integral of exp(-x²/2) f(x) from 0 to infinity.

    From the recurrence of the orthogonal polynomials (Stieltjes' procedure on a fine grid) and its matrix's eigenvalues.
    """
    grid, mass = np.polynomial.legendre.leggauss(400)
    grid = 5 * (grid + 1)  # to 10, beyond which the weight is below 1e-21
    mass = 5 * mass * np.exp(-(grid**2) / 2)
    diagonal, squares = np.zeros(num_nodes), np.zeros(num_nodes)
    previous, current, last_norm = np.zeros_like(grid), np.ones_like(grid), 1.0
    for k in range(num_nodes):
        norm = np.sum(mass * current**2)
        diagonal[k] = np.sum(mass * grid * current**2) / norm
        squares[k] = norm / last_norm
        previous, current = current, (grid - diagonal[k]) * current - (squares[k] if k else 0.0) * previous
        last_norm = norm
    off_diagonal = np.sqrt(squares[1:])
    matrix = np.diag(diagonal) + np.diag(off_diagonal, 1) + np.diag(off_diagonal, -1)
    nodes, vectors = np.linalg.eigh(matrix)
    return nodes, squares[0] * vectors[0] ** 2
