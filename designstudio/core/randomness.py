"""Random numbers by seed and purpose.

Numbers under one key are told apart by folding in counts (of data sets, trials, rounds) and by splitting, and both make the
same keys: `fold_in(key, 1)` is `split(key, 3)[1]`. So two purposes must never share a key. Here each gets its own, by name.
"""

import functools
import zlib

import jax
import numpy as np
from jaxtyping import Array, Key


@functools.lru_cache(maxsize=1024)
def make_key(seed: int, purpose: str) -> Key[Array, ""]:
    """The key of a purpose under a seed. Names stand far from the small numbers that are folded in below it."""
    return jax.random.fold_in(jax.random.key(seed), hash_name(purpose))


def make_generator(seed: int, purpose: str, *numbers: int) -> np.random.Generator:
    """The same on the host, with numbers to tell, for instance, data sets apart."""
    return np.random.default_rng((hash_name(purpose), seed, *numbers))


def hash_name(name: str) -> int:
    """A number from 0 to 2^31 - 1 for a name, the same in every process."""
    return zlib.crc32(name.encode()) & 0x7FFFFFFF
