"""Walls between which a coordinate lies: left, it is flagged or folded back."""

import jax.numpy as jnp
from jaxtyping import Array, ArrayLike, Float


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


class Walls:
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
        self.is_inside &= jnp.all((x >= low) & (x <= high))
        x = fold(x, low, high) if self._folds else jnp.clip(x, low, high)
        self._taken.append(x)
        return x

    @property
    def taken(self) -> Float[Array, " coordinate"]:
        return jnp.concatenate(self._taken)
