"""Blocks are counterbalanced; trials come in random order within the limits on repeats."""

import itertools
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from designstudio.lab.orders import Kind, OrderError, find_smallest_limit, order_blocks, order_trials
from tests.lab.make_lists import find_longest_run

kinds = st.builds(Kind, st.sampled_from([None, 0, 1, 2]), st.sampled_from([None, 1.0, 2.0]))


def find_longest(sequence):
    """Most trials in a row that are alike; None is like nothing."""
    numbered = [[label if label is not None else f"none {i}" for label in kind] for i, kind in enumerate(sequence)]
    return max(find_longest_run([labels[place] for labels in numbered]) for place in range(2))


@given(num_conditions=st.integers(1, 9), num_participants=st.integers(1, 40))
def test_each_condition_stands_in_each_place_equally_often_up_to_one(num_conditions, num_participants):
    orders = [order_blocks(num_conditions, participant) for participant in range(num_participants)]
    assert all(sorted(order) == list(range(num_conditions)) for order in orders)
    for place in range(num_conditions):
        counts = [[order[place] for order in orders].count(condition) for condition in range(num_conditions)]
        assert max(counts) - min(counts) <= 1


@pytest.mark.parametrize("num_conditions", range(2, 9))
def test_over_a_cycle_each_condition_follows_each_other_equally_often(num_conditions):
    cycle = num_conditions if num_conditions % 2 == 0 else 2 * num_conditions
    pairs = Counter(
        pair for participant in range(cycle) for pair in itertools.pairwise(order_blocks(num_conditions, participant))
    )
    assert len(pairs) == num_conditions * (num_conditions - 1)
    assert len(set(pairs.values())) == 1


@settings(deadline=None, max_examples=60)
@given(
    blocks=st.lists(st.lists(kinds, min_size=1, max_size=12), min_size=1, max_size=3),
    limit=st.sampled_from([None, 1, 2, 3]),
    seed=st.integers(0, 2**32),
)
def test_every_order_keeps_the_trials_of_each_block_and_the_limit(blocks, limit, seed):
    try:
        ordered = order_trials(blocks, max_repeats=limit, rng=np.random.default_rng(seed))
    except OrderError:
        assert limit is not None
        return
    assert [Counter(block) for block in ordered] == [Counter(block) for block in blocks]
    if limit is not None:
        assert find_longest([kind for block in ordered for kind in block]) <= limit


@settings(deadline=None, max_examples=60)
@given(
    blocks=st.lists(st.lists(kinds, min_size=1, max_size=4), min_size=1, max_size=2),
    limit=st.integers(1, 2),
)
def test_an_order_is_found_exactly_if_there_is_one(blocks, limit):
    """Against all permutations."""
    exists = any(
        find_longest([kind for block in chosen for kind in block]) <= limit
        for chosen in itertools.product(*(set(itertools.permutations(block)) for block in blocks))
    )
    try:
        order_trials(blocks, max_repeats=limit, rng=np.random.default_rng(0))
        is_found = True
    except OrderError:
        is_found = False
    assert is_found == exists


@given(st.lists(st.builds(Kind, st.sampled_from([0, 1, 2]), st.none()), min_size=1, max_size=7))
def test_the_smallest_limit_by_counting_is_the_true_one_for_conditions_alone(block):
    smallest = min(find_longest(order) for order in set(itertools.permutations(block)))
    assert find_smallest_limit(block)[0] == smallest


def test_tight_limits_are_met_in_long_lists():
    """Strict alternation of two conditions, and five values of which none repeats."""
    block = [Kind(k, float(v)) for k in range(2) for v in range(5) for _ in range(20)]
    for seed in range(10):
        (ordered,) = order_trials([block], max_repeats=1, rng=np.random.default_rng(seed))
        assert find_longest(ordered) == 1


def test_without_a_limit_every_order_is_equally_likely():
    block = [Kind(0, None), Kind(0, None), Kind(1, None), Kind(2, None)]
    rng = np.random.default_rng(1)
    counts = Counter(tuple(order_trials([block], max_repeats=None, rng=rng)[0]) for _ in range(6000))
    assert len(counts) == 12
    # Each is expected 500 times; five standard deviations.
    assert all(abs(count - 500) < 5 * np.sqrt(500) for count in counts.values())


def test_repeats_are_counted_across_blocks():
    blocks = [[Kind(None, 1.0), Kind(None, 2.0)], [Kind(None, 1.0), Kind(None, 2.0)]]
    orders = [
        tuple(kind.value for block in order_trials(blocks, max_repeats=1, rng=np.random.default_rng(seed)) for kind in block)
        for seed in range(30)
    ]
    assert set(orders) == {(1.0, 2.0, 1.0, 2.0), (2.0, 1.0, 2.0, 1.0)}
