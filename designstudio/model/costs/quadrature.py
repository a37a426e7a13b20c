"""Expected costs by numerical integration, for every cost that has no closed form.

Write u = log r - log s. Many costs have a kink at u = 0, where plain Gauss-Hermite quadrature over (r, s) converges slowly
and makes the derivative jump. So the plane of the two noises is rotated: one axis is u itself, split at the kink into two
pieces, with nodes that gather there; the other axis is independent of it and smooth. Then kinked costs are integrated as
accurately as smooth ones, and derivatives with respect to the action are smooth too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from designstudio.model.gauss_hermite import gauss_hermite
from designstudio.model.perception import Belief

if TYPE_CHECKING:
    from designstudio.model.costs.base import AbstractCost, Scalar, Values

REACH = 8.0  # standard deviations to each side; beyond, a normal has 1e-15 of its mass
GATHERED_WIDTH = 0.5  # of the noise, over which nodes gather at the kink; resolves features down to about 1/30 of it
# Enough for actions within 1e-5 of a much finer rule, over the whole training box.
NUM_PIECE_NODES = 28
NUM_SMOOTH_NODES = 8
# Enough to see which valley is the deepest.
NUM_COARSE_PIECE_NODES = 12
NUM_COARSE_SMOOTH_NODES = 5


class NoiseNodes(eqx.Module):
    """Nodes and probabilities of two independent standard normals, the first of which is split at a kink.

    Attributes:
        along: the first noise. distance: from the kink, with all its digits however near it is.
        weight: probability of the first noise.
        across: the second noise. across_weight: its probability.
    """

    along: Float[Array, " along"]
    distance: Float[Array, " along"]
    weight: Float[Array, " along"]
    across: Float[Array, " across"]
    across_weight: Float[Array, " across"]


class Nodes(eqx.Module):
    """Responses and stimuli at the quadrature nodes, with their probabilities."""

    log_response: Float[Array, "piece_node smooth_node"]
    log_stimulus: Float[Array, "piece_node smooth_node"]
    weight: Float[Array, "piece_node smooth_node"]


def expected_cost(cost: AbstractCost, log_action: Scalar, belief: Belief, sigma_r: Scalar, parameters: Values) -> Scalar:
    """E cost(r, s) for the action."""
    return _expected_cost(cost, log_action, belief, sigma_r, parameters, NUM_PIECE_NODES, NUM_SMOOTH_NODES)


def coarse_expected_cost(
    cost: AbstractCost, log_action: Scalar, belief: Belief, sigma_r: Scalar, parameters: Values
) -> Scalar:
    """The same with fewer nodes, for a first look at a wide range of actions."""
    return _expected_cost(cost, log_action, belief, sigma_r, parameters, NUM_COARSE_PIECE_NODES, NUM_COARSE_SMOOTH_NODES)


def _expected_cost(
    cost: AbstractCost,
    log_action: Scalar,
    belief: Belief,
    sigma_r: Scalar,
    parameters: Values,
    num_piece_nodes: int,
    num_smooth_nodes: int,
) -> Scalar:
    nodes = _place_nodes(log_action, belief, sigma_r, num_piece_nodes, num_smooth_nodes)
    values = cost(jnp.exp(nodes.log_response), jnp.exp(nodes.log_stimulus), parameters)
    return jnp.sum(nodes.weight * values)


def expected_slope(cost: AbstractCost, log_action: Scalar, belief: Belief, sigma_r: Scalar, parameters: Values) -> Scalar:
    """d E cost(r, s) / d log a, divided by the action."""
    nodes = _place_nodes(log_action, belief, sigma_r, NUM_PIECE_NODES, NUM_SMOOTH_NODES)
    response, stimulus = jnp.exp(nodes.log_response), jnp.exp(nodes.log_stimulus)
    # One derivative per node: the cost acts on each node alone, so a sum separates them.
    cost_slope = jax.grad(lambda r: jnp.sum(cost(r, stimulus, parameters)))(response)
    return jnp.sum(nodes.weight * cost_slope * jnp.exp(nodes.log_response - log_action))


def _place_nodes(log_action: Scalar, belief: Belief, sigma_r: Scalar, num_piece_nodes: int, num_smooth_nodes: int) -> Nodes:
    noise = jnp.hypot(belief.sigma, sigma_r)
    kink = (belief.log_mu - log_action) / noise
    noises = gather_nodes(kink, GATHERED_WIDTH, num_piece_nodes, num_smooth_nodes)
    cos, sin = belief.sigma / noise, sigma_r / noise
    motor = sin * noises.along[:, None] + cos * noises.across
    perceptual = -cos * noises.along[:, None] + sin * noises.across
    return Nodes(
        log_response=log_action + sigma_r * motor,
        log_stimulus=belief.log_mu + belief.sigma * perceptual,
        weight=noises.weight[:, None] * noises.across_weight,
    )


def gather_nodes(kink: Scalar, width: Scalar | float, num_piece_nodes: int, num_smooth_nodes: int) -> NoiseNodes:
    """Nodes of two noises; those of the first gather around its kink.

    Args:
        kink: where the first noise is split.
        width: of what must be resolved there.
        num_piece_nodes: on each side of the kink.
        num_smooth_nodes: of the second noise.
    """
    given, kink = kink, jnp.clip(kink, -REACH, REACH)
    legendre, weight = np.polynomial.legendre.leggauss(num_piece_nodes)
    (unit, unit_weight), gathering = _as_floats(((legendre + 1) / 2, weight / 2), like=kink), jnp.arcsinh(REACH / width)
    # Stretched by a hyperbolic sine: even near the kink over the width, sparser and sparser beyond.
    stretch = gathering * jnp.cosh(gathering * unit) / jnp.sinh(gathering)
    unit, unit_weight = jnp.sinh(gathering * unit) / jnp.sinh(gathering), unit_weight * stretch
    above, below = REACH - kink, REACH + kink
    distance = jnp.concatenate([-below * unit, above * unit])
    along = kink + distance
    density = jnp.exp(-(along**2) / 2) / jnp.sqrt(2 * jnp.pi)
    along_weight = jnp.concatenate([below * unit_weight, above * unit_weight]) * density
    across, across_weight = _as_floats(gauss_hermite(num_smooth_nodes), like=kink)
    return NoiseNodes(along, distance + (kink - given), along_weight, across, across_weight)


def _as_floats(arrays: tuple[np.ndarray, ...], like: Scalar) -> tuple[Array, ...]:
    return tuple(jnp.asarray(array, like.dtype) for array in arrays)
