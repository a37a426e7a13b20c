"""Arrays for JAX from those of NumPy."""

import jax
import numpy as np
from jaxtyping import Array
from numpy.typing import ArrayLike, DTypeLike


def put(values: ArrayLike, dtype: DTypeLike = np.float32) -> Array:
    """Values where JAX computes. `jnp.asarray` would do, but it compiles a program for every shape."""
    return jax.device_put(np.asarray(values, dtype))
