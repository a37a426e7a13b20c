"""One-dimensional roots that can be differentiated.

The root itself is found by Newton steps kept inside a bracket. Its derivatives come from the implicit function theorem, in a
form that costs two lines: two more Newton steps from the (constant) root, through which autodiff flows. Each Newton step
doubles the number of correct derivatives, so values, first, second and third derivatives are right.
"""

from collections.abc import Callable
from typing import TypeVar

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

Scalar = Float[Array, ""]
Arguments = TypeVar("Arguments")

MAX_STEPS = 80

_State = tuple[Scalar, Scalar, Scalar, Scalar, Array]


def find_root(
    function: Callable[[Scalar, Arguments], Scalar], arguments: Arguments, low: Scalar, high: Scalar, guess: Scalar
) -> Scalar:
    """The root in x of function(x, arguments) between low and high, where the function goes from below zero to above."""
    root = _solve(function, *jax.lax.stop_gradient((arguments, low, high, guess)))
    for _ in range(2):
        value, slope = _value_and_slope(function, root, arguments)
        root = root - value / slope
    return root


def _value_and_slope(
    function: Callable[[Scalar, Arguments], Scalar], x: Scalar, arguments: Arguments
) -> tuple[Scalar, Scalar]:
    return jax.jvp(lambda x: function(x, arguments), (x,), (jnp.ones_like(x),))


def _solve(
    function: Callable[[Scalar, Arguments], Scalar], arguments: Arguments, low: Scalar, high: Scalar, guess: Scalar
) -> Scalar:
    low, high, guess = jnp.broadcast_arrays(low, high, guess)
    # Two Newton steps follow, each of which doubles the digits.
    tolerance = jnp.finfo(guess.dtype).eps ** (2 / 3)

    def is_unfinished(state: _State) -> Array:
        low, high, x, last_step, num_steps = state
        is_moving = (jnp.abs(last_step) > tolerance * (1 + jnp.abs(x))) & (high - low > tolerance)
        return is_moving & (num_steps < MAX_STEPS)

    def step(state: _State) -> _State:
        low, high, x, last_step, num_steps = state
        value, slope = _value_and_slope(function, x, arguments)
        low, high = jnp.where(value < 0, x, low), jnp.where(value < 0, high, x)
        newton = x - value / slope
        # A Newton step that leaves the bracket, or does not halve the last step, would cycle or crawl: bisect instead. But
        # at the root, an end of the bracket by now, rounding may point outwards: that is no reason to leave.
        size = jnp.abs(newton - x)
        is_good = (newton > low) & (newton < high) & (size < jnp.abs(last_step) / 2)
        is_good = is_good | (size <= tolerance * (1 + jnp.abs(x)))
        following = jnp.where(is_good, newton, (low + high) / 2)
        following = jnp.where(value == 0, x, following)
        return low, high, following, following - x, num_steps + 1

    state = (low, high, guess, high - low, jnp.zeros((), int))
    return jax.lax.while_loop(is_unfinished, step, state)[2]
