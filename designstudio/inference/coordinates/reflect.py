"""Bounds between which a coordinate lies: outside them it is flagged or reflected back."""

import jax.numpy as jnp
from jaxtyping import Array, ArrayLike, Float


def reflect(x: Float[Array, "..."], low: Float[Array, "..."], high: Float[Array, "..."]) -> Float[Array, "..."]:
    """Reflect x into [low, high], as often as needed; an infinite bound reflects nothing."""
    width = high - low
    is_boxed = jnp.isfinite(width)
    safe_low = jnp.where(jnp.isfinite(low), low, 0.0)
    safe_high = jnp.where(jnp.isfinite(high), high, 0.0)
    safe_width = jnp.where(is_boxed, jnp.maximum(width, 1e-6), 1.0)
    turns = (x - safe_low) / (2 * safe_width)
    boxed = safe_low + safe_width - jnp.abs(2 * safe_width * (turns - jnp.floor(turns)) - safe_width)
    above = jnp.where(jnp.isfinite(low), safe_low + jnp.abs(x - safe_low), x)
    below = jnp.where(jnp.isfinite(high), safe_high - jnp.abs(x - safe_high), x)
    reflected = jnp.where(is_boxed, boxed, jnp.where(jnp.isfinite(low), above, below))
    # Between the bounds nothing changes, not even by rounding.
    return jnp.where((x >= low) & (x <= high), x, reflected)


class BoundedReader:
    """Hands out coordinates one after the other, each checked against its bounds or reflected between them."""

    def __init__(self, z: Float[Array, " coordinate"], *, reflects: bool) -> None:
        self._z, self._reflects = z, reflects
        self._taken: list[Float[Array, " num"]] = []
        self._next = 0
        self.is_inside = jnp.ones((), bool)

    def take(self, low: ArrayLike, high: ArrayLike, num: int) -> Float[Array, " num"]:
        x = self._z[self._next : self._next + num]
        self._next += num
        low, high = jnp.broadcast_to(low, (num,)), jnp.broadcast_to(high, (num,))
        self.is_inside &= jnp.all((x >= low) & (x <= high))
        x = reflect(x, low, high) if self._reflects else jnp.clip(x, low, high)
        self._taken.append(x)
        return x

    @property
    def taken(self) -> Float[Array, " coordinate"]:
        return jnp.concatenate(self._taken)
