"""The scale on which chains move: their mass matrix, and a straightening of each coordinate.

In units of the posterior's standard deviations a few steps cross it. NUTS with a dense mass matrix is the same as NUTS with
the identity in whitened coordinates u, x = centre + factor u, so the mass is adapted by whitening anew.

One step size must do for both sides of a coordinate. Where a posterior ends at a wall on one side and trails off on the
other, the wall would dictate steps that are too small for the rest. So each coordinate y has a width of its own on either
side, and x is what is left,

    y = location + width (cosh(s) x + sinh(s) sqrt(1 + x²)),

which is a straight line far out on each side, smooth in between, and explicit in both directions.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

# A window's covariance is drawn towards a small multiple of the identity, by as much as a few draws would: Stan's values.
PRIOR_DRAWS, PRIOR_VARIANCE = 5.0, 1e-3
# Quantiles that tell location, width and skewness, and where a standard normal number has the last.
SHARES, OUTER = np.array([0.1, 0.5, 0.9]), 1.2816
# The wide side is at most e to the power of twice this as wide as the other.
MOST_SKEW = 1.25
# By as many draws as these, skewness is drawn towards none: quantiles of few draws are skewed by chance.
SYMMETRIC_DRAWS = 40.0
# A side is at least this share of what was a standard deviation before: draws may not have moved.
NARROWEST = 0.01


class Skew(NamedTuple):
    """The straightening of each coordinate; sinh and cosh are those of s."""

    location: Float[Array, "*set coordinate"]
    width: Float[Array, "*set coordinate"]
    sinh: Float[Array, "*set coordinate"]
    cosh: Float[Array, "*set coordinate"]

    def bend(self, x: Float[Array, "*set coordinate"]) -> Float[Array, "*set coordinate"]:
        """From straightened coordinates x to y."""
        return self.location + self.width * (self.cosh * x + self.sinh * jnp.sqrt(1 + x**2))

    def straighten(self, y: Float[Array, "*set coordinate"]) -> Float[Array, "*set coordinate"]:
        """From coordinates y to x."""
        v = (y - self.location) / self.width
        return self.cosh * v - self.sinh * jnp.sqrt(1 + v**2)

    def slope(self, x: Float[Array, "*set coordinate"]) -> Float[Array, "*set coordinate"]:
        """dy/dx over the width."""
        return self.cosh + self.sinh * x / jnp.sqrt(1 + x**2)


class Whitening(NamedTuple):
    """Centre and factor of the covariance of each data set's posterior, in coordinates that are straightened first."""

    centre: Float[Array, "*set coordinate"]
    factor: Float[Array, "*set coordinate coordinate"]
    skew: Skew


class ChainScale(NamedTuple):
    """The same for each chain, and the factor's inverse; chains are the last axis."""

    centre: Float[Array, "coordinate chain"]
    factor: Float[Array, "coordinate coordinate chain"]
    inverse: Float[Array, "coordinate coordinate chain"]
    skew: Skew

    def to_coordinates(
        self, u: Float[Array, "*point coordinate chain"]
    ) -> tuple[Float[Array, "*point coordinate chain"], Float[Array, "*point chain"]]:
        """Points in coordinates y, and log |dy/du| up to a constant."""
        x = self.centre + _apply(self.factor, u)
        return self.skew.bend(x), jnp.sum(jnp.log(self.skew.slope(x)), axis=-2)

    def to_units(self, y: Float[Array, "*point coordinate chain"]) -> Float[Array, "*point coordinate chain"]:
        """Points in units of the posterior."""
        return _apply(self.inverse, self.skew.straighten(y) - self.centre)


def _apply(matrix: Float[Array, "i j chain"], vector: Float[Array, "*point j chain"]) -> Float[Array, "*point i chain"]:
    # Not a matrix product: with hundreds of chains its call costs more than its multiplications.
    return jnp.sum(matrix * vector[..., None, :, :], axis=-2)


def start_whitening(centre: Float[Array, " coordinate"], covariance: Float[Array, "coordinate coordinate"]) -> Whitening:
    """A first scale, straight."""
    nothing = jnp.zeros_like(centre)
    return Whitening(centre, jnp.linalg.cholesky(covariance), Skew(nothing, nothing + 1, nothing, nothing + 1))


def spread_scale(whitening: Whitening, dataset: Int[Array, " chain"]) -> ChainScale:
    """Every chain with the scale of its data set."""
    identity = jnp.broadcast_to(jnp.eye(whitening.factor.shape[-1]), whitening.factor.shape)
    inverse = jax.scipy.linalg.solve_triangular(whitening.factor, identity, lower=True)
    scale = ChainScale(whitening.centre, whitening.factor, inverse, whitening.skew)
    return jax.tree.map(lambda array: jnp.moveaxis(array[dataset], 0, -1), scale)


def adapt_scale(
    whitening: Whitening, y: Float[Array, "draw coordinate dataset chain"], num_draws: Int[Array, ""]
) -> Whitening:
    """Skewness, then centre and covariance, of all chains of a data set.

    Args:
        whitening: the scale so far, of each data set.
        y: draws. num_draws: how many of them count.
    """
    length, num, _, num_chains = y.shape
    counts, count = jnp.repeat(jnp.arange(length) < num_draws, num_chains)[:, None], num_chains * num_draws

    def one(whitening: Whitening, y: Float[Array, "draw coordinate chain"]) -> Whitening:
        points = jnp.moveaxis(y, 1, 2).reshape(-1, num)
        skew = _fit_skew(whitening, points, counts, count)
        points = jnp.where(counts, skew.straighten(points), 0.0)
        mean = jnp.sum(points, axis=0) / count
        centred = jnp.where(counts, points - mean, 0.0)
        covariance = (centred.T @ centred + PRIOR_DRAWS * PRIOR_VARIANCE * jnp.eye(num)) / (count + PRIOR_DRAWS)
        adapted = Whitening(mean, jnp.linalg.cholesky(covariance), skew)
        is_usable = jnp.all(jnp.stack([jnp.all(jnp.isfinite(array)) for array in jax.tree.leaves(adapted)]))
        return jax.tree.map(lambda new, old: jnp.where(is_usable, new, old), adapted, whitening)

    return jax.vmap(one, in_axes=(0, 2))(whitening, y)


def _fit_skew(
    whitening: Whitening,
    points: Float[Array, "point coordinate"],
    counts: Bool[Array, "point 1"],
    count: Int[Array, ""],
) -> Skew:
    """The straightening that gives a coordinate's quantiles those of a normal distribution."""
    ordered = jnp.sort(jnp.where(counts, points, jnp.inf), axis=0)
    low, middle, high = ordered[jnp.round(SHARES * (count - 1)).astype(int)]
    narrowest = NARROWEST * whitening.skew.width * jnp.linalg.norm(whitening.factor, axis=-1)
    below, above = jnp.maximum(middle - low, narrowest), jnp.maximum(high - middle, narrowest)
    # Between normal quantiles at -OUTER, 0 and OUTER this is tanh(s) tanh(asinh(OUTER) / 2).
    tilt = (above - below) / (above + below) / np.tanh(np.arcsinh(OUTER) / 2) * count / (count + SYMMETRIC_DRAWS)
    s = jnp.arctanh(jnp.clip(tilt, -np.tanh(MOST_SKEW), np.tanh(MOST_SKEW)))
    sinh, cosh = jnp.sinh(s), jnp.cosh(s)
    width = (above + below) / (2 * OUTER * cosh)
    return Skew(middle - width * sinh, width, sinh, cosh)
