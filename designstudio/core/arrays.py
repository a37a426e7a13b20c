"""Arrays for JAX from those of NumPy."""

from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from jaxtyping import Array
from numpy.typing import ArrayLike, DTypeLike

# Data sets that go through a program together: as many as a slider waits for.
BATCH_SIZE = 20


def put(values: ArrayLike, dtype: DTypeLike = np.float32) -> Array:
    """Values where JAX computes. `jnp.asarray` would do, but it compiles a program for every shape."""
    return jax.device_put(np.asarray(values, dtype))


def map_batches(function: Callable[..., Any], *arrays: Any) -> Any:
    """What a function finds for each data set, batch by batch.

    Batches have one size, and the last is filled up with copies: whatever the number of data sets, nothing new is compiled.

    Args:
        function: takes and returns arrays, or trees of them, whose first axis is for data sets.
        *arrays: what it takes, of at least one data set.
    """
    arrays = jax.tree.map(np.asarray, arrays)
    num = len(jax.tree.leaves(arrays)[0])
    parts = []
    for first in range(0, num, BATCH_SIZE):
        chosen = np.minimum(np.arange(first, first + BATCH_SIZE), num - 1)
        # Nobody waits for one batch before the next begins.
        parts.append(function(*jax.tree.map(lambda array, chosen=chosen: array[chosen], arrays)))
    return jax.tree.map(lambda *pieces: np.concatenate(pieces)[:num], *parts)
