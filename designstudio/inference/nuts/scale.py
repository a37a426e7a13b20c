"""The scale on which chains move: their mass matrix.

In units of the posterior's standard deviations a few steps cross it. NUTS with a dense mass matrix is the same as NUTS with
the identity in whitened coordinates u, y = centre + factor u, so the mass is adapted by whitening anew.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

# A window's covariance is drawn towards a small multiple of the identity, by as much as a few draws would: Stan's values.
PRIOR_DRAWS, PRIOR_VARIANCE = 5.0, 1e-3


class Whitening(NamedTuple):
    """Centre and factor of the covariance of each data set's posterior."""

    centre: Float[Array, "*set coordinate"]
    factor: Float[Array, "*set coordinate coordinate"]


class ChainScale(NamedTuple):
    """The same for each chain, and the factor's inverse; chains are the last axis."""

    centre: Float[Array, "coordinate chain"]
    factor: Float[Array, "coordinate coordinate chain"]
    inverse: Float[Array, "coordinate coordinate chain"]

    def to_coordinates(self, u: Float[Array, "*point coordinate chain"]) -> Float[Array, "*point coordinate chain"]:
        """Points in coordinates y."""
        return self.centre + _apply(self.factor, u)

    def to_units(self, y: Float[Array, "*point coordinate chain"]) -> Float[Array, "*point coordinate chain"]:
        """Points in units of the posterior."""
        return _apply(self.inverse, y - self.centre)

    def pull_back(self, gradient: Float[Array, "coordinate chain"]) -> Float[Array, "coordinate chain"]:
        """A gradient by coordinates as one by units."""
        return _apply(jnp.swapaxes(self.factor, 0, 1), gradient)


def _apply(matrix: Float[Array, "i j chain"], vector: Float[Array, "*point j chain"]) -> Float[Array, "*point i chain"]:
    # Not a matrix product: with hundreds of chains its call costs more than its multiplications.
    return jnp.sum(matrix * vector[..., None, :, :], axis=-2)


def spread_scale(whitening: Whitening, dataset: Int[Array, " chain"]) -> ChainScale:
    """Every chain with the scale of its data set."""
    identity = jnp.broadcast_to(jnp.eye(whitening.factor.shape[-1]), whitening.factor.shape)
    inverse = jax.scipy.linalg.solve_triangular(whitening.factor, identity, lower=True)
    return ChainScale(*(jnp.moveaxis(array[dataset], 0, -1) for array in (*whitening, inverse)))


def adapt_scale(
    whitening: Whitening, u: Float[Array, "draw coordinate dataset chain"], num_draws: Int[Array, ""]
) -> Whitening:
    """Centre and covariance of all chains of a data set.

    Args:
        whitening: the scale so far, of each data set.
        u: draws in its units. num_draws: how many of them count.
    """
    length, num, _, num_chains = u.shape

    def one(whitening: Whitening, u: Float[Array, "draw coordinate chain"]) -> Whitening:
        counts = jnp.repeat(jnp.arange(length) < num_draws, num_chains)[:, None]
        points = jnp.moveaxis(u, 1, 2).reshape(-1, num)
        count = num_chains * num_draws
        mean = jnp.sum(jnp.where(counts, points, 0.0), axis=0) / count
        centred = jnp.where(counts, points - mean, 0.0)
        covariance = (centred.T @ centred + PRIOR_DRAWS * PRIOR_VARIANCE * jnp.eye(num)) / (count + PRIOR_DRAWS)
        centre, factor = whitening.centre + whitening.factor @ mean, whitening.factor @ jnp.linalg.cholesky(covariance)
        is_usable = jnp.all(jnp.isfinite(factor)) & jnp.all(jnp.isfinite(centre))
        return Whitening(*(jnp.where(is_usable, *pair) for pair in zip((centre, factor), whitening, strict=True)))

    return jax.vmap(one, in_axes=(0, 2))(whitening, u)
