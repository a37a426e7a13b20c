"""Inverted Gaussian cost: a miss is a miss; beyond a few gamma it no longer matters by how much.

Its expectation is integrated numerically, over u = log r - log s and the noise that is independent of it. Under a belief far
wider than gamma only a sliver around u = 0 matters, so the nodes gather there as narrowly as the sliver is.
"""

import dataclasses
import math

import jax.numpy as jnp
from jaxtyping import Array, Float

from designstudio.model.costs import quadrature
from designstudio.model.costs.base import SYMMETRIC, AbstractCost, Scalar, Values, saturate, total_noise
from designstudio.model.parameters import STIMULUS_UNIT, cost_parameter
from designstudio.model.perception import Belief
from designstudio.model.priors import Interval, LogNormal

# Nodes on each side of r = s, and of the other noise.
NUM_PIECE_NODES = 36
NUM_ACROSS_NODES = 12
# Nodes gather at least over this part of the noise, and exponents stop here.
WIDEST = 1.0
LARGEST = 80.0


@dataclasses.dataclass(frozen=True)
class InvertedGaussian(AbstractCost):
    """1 - exp(-q) with q = (r - s)² / (2 gamma²). Integrated numerically.

    Far from the optimum the expected cost is not convex, but it still falls towards it.
    """

    name = "inverted_gaussian"
    formula = "1 - exp(-(r - s)² / 2γ²)"
    meaning = "beyond about γ, a miss is a miss"
    kind = SYMMETRIC
    parameters = (
        cost_parameter(
            "gamma",
            LogNormal(2.5, 0.5),
            symbol="γ",
            meaning="tolerance: errors beyond it count alike",
            unit=STIMULUS_UNIT,
            support=Interval(0.0, math.inf),
            box=Interval(0.5, 12.0),
        ),
    )
    num_terms = 12
    has_single_root = True
    has_smooth_policy = True

    def __call__(self, response: Scalar, stimulus: Scalar, parameters: Values) -> Scalar:
        return -jnp.expm1(-(((response - stimulus) / parameters["gamma"]) ** 2) / 2)

    def expected(self, log_action: Scalar, belief: Belief, sigma_r: Scalar, parameters: Values) -> Scalar:
        nodes, q = _integrate(log_action, belief, sigma_r, parameters)
        return jnp.sum(nodes.weight[:, None] * nodes.across_weight * -jnp.expm1(-q))

    def slope(self, log_action: Scalar, belief: Belief, sigma_r: Scalar, parameters: Values) -> Scalar:
        """Derivative of the expected cost, times a factor that keeps it near 1 for every gamma.

        The derivative is taken of the density of u and of the stimulus given u, not of the cost: where the cost is a
        sliver, its own derivative is the difference of two large numbers.
        """
        nodes, q = _integrate(log_action, belief, sigma_r, parameters)
        width = _relative_width(belief, sigma_r, parameters)
        # E[along] is zero, so exp(-q) - 1 may stand for exp(-q): it keeps the digits where nearly all q are tiny.
        sliver = jnp.where(width < 1, jnp.exp(-q), jnp.expm1(-q))
        pull = belief.sigma**2 / total_noise(belief, sigma_r)
        slopes = 2 * q * jnp.exp(-q) * pull - sliver * nodes.along[:, None]
        return (width**2 + 1 / width) * jnp.sum(nodes.weight[:, None] * nodes.across_weight * slopes)

    def position(self, belief: Belief, sigma_r: Scalar, parameters: Values) -> Scalar:
        """The noise in units of gamma: small is a quadratic cost, large is all or nothing."""
        noise = jnp.exp(belief.log_mu) * total_noise(belief, sigma_r)
        return saturate(noise / parameters["gamma"], middle=2.0)

    def shape_inputs(self, parameters: Values) -> Float[Array, " input"]:
        # Only the stimulus in units of gamma matters, and that is the position.
        return jnp.zeros(0)


def _relative_width(belief: Belief, sigma_r: Scalar, parameters: Values) -> Scalar:
    """The tolerance in units of the noise."""
    return parameters["gamma"] / (jnp.exp(belief.log_mu) * total_noise(belief, sigma_r))


def _integrate(
    log_action: Scalar, belief: Belief, sigma_r: Scalar, parameters: Values
) -> tuple[quadrature.NoiseNodes, Float[Array, "along across"]]:
    """The nodes of the two noises, and q at each of them."""
    noise = total_noise(belief, sigma_r)
    width = jnp.minimum(_relative_width(belief, sigma_r, parameters), WIDEST)
    nodes = quadrature.gather_nodes((belief.log_mu - log_action) / noise, width, NUM_PIECE_NODES, NUM_ACROSS_NODES)
    perceptual = sigma_r / noise * nodes.across - belief.sigma / noise * nodes.along[:, None]
    # r - s = s (exp(u) - 1); far out the square would be infinite, and exp(-q) is zero long before.
    miss = jnp.exp(belief.log_mu + belief.sigma * perceptual) * jnp.expm1(noise * nodes.distance)[:, None]
    return nodes, jnp.minimum((miss / parameters["gamma"]) ** 2 / 2, LARGEST)
