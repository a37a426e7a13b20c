"""Random numbers: purposes do not share them, and processes do."""

import itertools

import jax
import numpy as np

from designstudio.core.randomness import make_generator, make_key
from designstudio.evaluate.experiment import PARTICIPANTS, RESPONSES, STIMULI

PURPOSES = (PARTICIPANTS, STIMULI, RESPONSES, "importance: weighted draws, repeat 0", "nuts: chains, repeat 0", "pooling")


def family(key):
    """A key, and what folding in a small number or splitting makes of it."""
    children = [jax.random.fold_in(key, number) for number in range(6)] + list(jax.random.split(key, 6))
    return {tuple(jax.random.key_data(one).tolist()) for one in (key, *children)}


def test_folding_in_and_splitting_make_the_same_keys():
    key = jax.random.key(1)
    assert len(family(key)) == 7


def test_purposes_share_no_keys_with_each_other_nor_with_their_seed():
    families = [family(jax.random.key(1)), *(family(make_key(1, purpose)) for purpose in PURPOSES)]
    for first, second in itertools.combinations(families, 2):
        assert not first & second


def test_generators_differ_by_purpose_seed_and_number():
    given = [(1, "a", 0), (1, "a", 1), (2, "a", 0), (1, "b", 0)]
    numbers = [make_generator(*one).uniform() for one in given]
    assert len(set(numbers)) == len(given)
    assert np.array_equal(numbers, [make_generator(*one).uniform() for one in given])
