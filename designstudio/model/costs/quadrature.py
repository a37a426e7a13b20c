"""Expected costs by numerical integration, for every cost that has no closed form.

Write u = log r - log s. Many costs have a kink at u = 0, where plain Gauss-Hermite quadrature over (r, s) converges slowly
and makes the derivative jump. So the plane of the two noises is rotated: one axis is u itself, split at the kink into two
pieces, with nodes that gather there; the other axis is independent of it and smooth. Then kinked costs are integrated as
accurately as smooth ones, and derivatives with respect to the action are smooth too.
"""

from __future__ import annotations

import functools
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
GATHERING = 3.5  # how strongly nodes gather at the kink; resolves features down to about 1/30 of the noise
# Enough for actions within 1e-6 of a much finer rule, over the whole training box.
NUM_PIECE_NODES = 28
NUM_SMOOTH_NODES = 8
# Enough to see which valley is the deepest.
NUM_COARSE_PIECE_NODES = 12
NUM_COARSE_SMOOTH_NODES = 5


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
    kink = jnp.clip((belief.log_mu - log_action) / noise, -REACH, REACH)
    unit, unit_weight = _as_floats(_gathered_nodes(num_piece_nodes), like=kink)
    above, below = REACH - kink, REACH + kink
    along = jnp.concatenate([kink - below * unit, kink + above * unit])
    density = jnp.exp(-(along**2) / 2) / jnp.sqrt(2 * jnp.pi)
    along_weight = jnp.concatenate([below * unit_weight, above * unit_weight]) * density
    across, across_weight = _as_floats(gauss_hermite(num_smooth_nodes), like=kink)
    cos, sin = belief.sigma / noise, sigma_r / noise
    motor = sin * along[:, None] + cos * across
    perceptual = -cos * along[:, None] + sin * across
    return Nodes(
        log_response=log_action + sigma_r * motor,
        log_stimulus=belief.log_mu + belief.sigma * perceptual,
        weight=along_weight[:, None] * across_weight,
    )


def _as_floats(arrays: tuple[np.ndarray, ...], like: Scalar) -> tuple[Array, ...]:
    return tuple(jnp.asarray(array, like.dtype) for array in arrays)


@functools.cache
def _gathered_nodes(num_nodes: int) -> tuple[np.ndarray, np.ndarray]:
    """Nodes on [0, 1] that gather at 0 (Gauss-Legendre, stretched by a hyperbolic sine)."""
    legendre, weight = np.polynomial.legendre.leggauss(num_nodes)
    y, weight = (legendre + 1) / 2, weight / 2
    stretch = GATHERING * np.cosh(GATHERING * y) / np.sinh(GATHERING)
    return np.sinh(GATHERING * y) / np.sinh(GATHERING), weight * stretch
