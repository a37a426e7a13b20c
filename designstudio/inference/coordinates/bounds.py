"""Bounds between which a coordinate lies, and the same coordinate without them.

Importance sampling proposes coordinates z between bounds, and flags what is outside. Samplers that move along gradients want
no bounds: they see y, anywhere on the real line. Of a direction that the data leave open, y is the logit of where z stands
between its bounds, so that a uniform distribution becomes a logistic one. Of a coordinate that the data determine, y is z
itself as long as both bounds are many standard errors away,

    z = low + softplus(y - low) - softplus(y - high)        (all in units of the standard error),

because its bounds move with the coordinates before it: a logit between them would bend what the data make straight. Either
way the map between z and y is triangular, like that from z to the parameters, and explicit in both directions.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, ArrayLike, Float

from designstudio.inference.coordinates.base import Start

# Shares of a range, or of a standard error, that 32 bits can tell apart from its ends.
CLOSEST = 1e-6


class BoundedReader:
    """Hands out coordinates one after the other, with the bounds of each.

    Attributes:
        is_inside: whether all coordinates so far were between their bounds.
        log_slope: log |dz / dy| of those so far.
    """

    def __init__(self, given: Float[Array, " coordinate"], expected: Start, *, is_unbounded: bool) -> None:
        self._given, self._expected, self._is_unbounded = given, expected, is_unbounded
        self._bounded: list[Float[Array, " num"]] = []
        self._unbounded: list[Float[Array, " num"]] = []
        self._next = 0
        self.is_inside = jnp.ones((), bool)
        self.log_slope = jnp.zeros(())

    def take(self, low: ArrayLike, high: ArrayLike, num: int) -> Float[Array, " num"]:
        """The next coordinates, between their bounds; what was given outside is moved to the nearest bound."""
        part = slice(self._next, self._next + num)
        self._next += num
        given = self._given[part]
        low, high = jnp.broadcast_to(low, (num,)), jnp.broadcast_to(high, (num,))
        if not self._is_unbounded:
            self.is_inside &= jnp.all((given >= low) & (given <= high))
            given = jnp.clip(given, low, high)
        is_open = self._expected.is_unidentified[part.start]
        width = jnp.maximum(high - low, CLOSEST)
        scale = width if is_open else self._expected.scale[part]
        to_z = _Squash(low / scale, width / scale) if is_open else _SoftClip(low / scale, width / scale)
        y = given if self._is_unbounded else to_z.invert((given - low) / scale)
        z = scale * to_z(y) if self._is_unbounded else given
        self.log_slope += jnp.sum(jnp.log(scale) + to_z.log_slope(y))
        self._bounded.append(z)
        self._unbounded.append(y)
        return z

    @property
    def expected(self) -> Start:
        """What is expected of the data set."""
        return self._expected

    @property
    def bounded(self) -> Float[Array, " coordinate"]:
        """All coordinates so far, between their bounds."""
        return jnp.concatenate(self._bounded)

    @property
    def unbounded(self) -> Float[Array, " coordinate"]:
        """The same on the real line."""
        return jnp.concatenate(self._unbounded)


class _Squash(NamedTuple):
    """From the real line to between two ends, by the logistic function."""

    low: Array
    width: Array

    def __call__(self, y: Array) -> Array:
        return self.low + self.width * jax.nn.sigmoid(y)

    def invert(self, above: Array) -> Array:
        """From the distance above the lower end."""
        return jnp.log(jnp.maximum(above, CLOSEST)) - jnp.log(jnp.maximum(self.width - above, CLOSEST))

    def log_slope(self, y: Array) -> Array:
        """Logarithm of the derivative."""
        return jnp.log(self.width) + jax.nn.log_sigmoid(y) + jax.nn.log_sigmoid(-y)


class _SoftClip(NamedTuple):
    """The same, leaving alone what is far from both ends."""

    low: Array
    width: Array

    def __call__(self, y: Array) -> Array:
        above = y - self.low
        wide = jax.nn.softplus(above) - jax.nn.softplus(above - self.width)
        # The same without cancellation, where the ends are close together.
        narrow = -jnp.log1p(jax.nn.sigmoid(above) * jnp.expm1(-jnp.minimum(self.width, 1.0)))
        return self.low + jnp.where(self.width < 1.0, narrow, wide)

    def invert(self, above: Array) -> Array:
        """From the distance above the lower end."""
        # Rounding may put a coordinate on an end, which would be infinitely far away.
        above, below = jnp.maximum(above, CLOSEST), jnp.maximum(self.width - above, CLOSEST)
        return self.low + above + _log1mexp(above) - _log1mexp(below)

    def log_slope(self, y: Array) -> Array:
        """Logarithm of the derivative."""
        above = y - self.low
        return jax.nn.log_sigmoid(above) + jax.nn.log_sigmoid(self.width - above) + _log1mexp(self.width)


def _log1mexp(x: Array) -> Array:
    """log(1 - exp(-x)), for positive x."""
    return jnp.log(-jnp.expm1(-x))
