"""Racing: the chance to overtake is what it says, so giving up is right as often as it should be."""

import numpy as np
import pytest

from designstudio.search.race import PartialResult
from designstudio.search.race import chance_to_overtake as chance_of
from designstudio.search.race import is_beaten as is_beaten_by
from tests.search.make_search import PLAN

RNG = np.random.default_rng(3)


def chance_to_overtake(*values):
    return chance_of(*values, fewest_pairs=PLAN.fewest_pairs)


def is_beaten(*values):
    return is_beaten_by(*values, small_chance=PLAN.small_chance, fewest_pairs=PLAN.fewest_pairs)


def test_the_chance_to_overtake_is_right_on_average():
    # Differences with a flat prior on their mean: what is ahead in the end, among designs with the same chance?
    num, wanted, repeats = 16, 64, 4000
    chances, is_ahead = [], []
    for mean in RNG.uniform(-1.5, 1.5, repeats):
        difference = RNG.normal(mean, 1.0, wanted)
        chances.append(chance_to_overtake(difference[:num], np.zeros(num), wanted))
        is_ahead.append(difference.mean() < 0)
    chances, is_ahead = np.array(chances), np.array(is_ahead)
    for low, high in ((0.02, 0.2), (0.2, 0.5), (0.5, 0.8), (0.8, 0.98)):
        inside = (chances >= low) & (chances < high)
        error = 3 * np.sqrt(0.25 / inside.sum())
        assert is_ahead[inside].mean() == pytest.approx(chances[inside].mean(), abs=error)


def test_a_design_that_is_clearly_worse_is_given_up_and_one_that_is_as_good_seldom():
    best = RNG.normal(0, 1, 16)
    assert is_beaten(PartialResult((best + 1 + RNG.normal(0, 0.3, 16),)), {7: PartialResult((best,))}, 64) == 7
    given_up = [
        is_beaten(PartialResult((RNG.normal(0, 1, 16),)), {7: PartialResult((RNG.normal(0, 1, 16),))}, 64) is not None
        for _ in range(400)
    ]
    assert np.mean(given_up) < 0.2


def test_nothing_is_given_up_on_too_few_pairs_or_failed_fits():
    nan = np.full(16, np.nan)
    assert chance_to_overtake(np.ones(5), np.zeros(5), 64) == 1.0
    assert chance_to_overtake(nan, np.zeros(16), 64) == 1.0
    assert chance_to_overtake(np.ones(64), np.zeros(64), 64) == 1.0


def test_constant_differences_are_certain():
    assert chance_to_overtake(np.ones(16), np.zeros(16), 64) == 0.0
    assert chance_to_overtake(np.zeros(16), np.ones(16), 64) == 1.0


def test_with_several_aims_a_design_must_be_beaten_in_all_of_them():
    worse, best = np.arange(16) % 3 + 5.0, np.arange(16) % 2 + 0.0
    assert is_beaten(PartialResult((worse,), (7.5,)), {3: PartialResult((best,), (7.5,))}, 64) == 3
    assert is_beaten(PartialResult((worse,), (5.0,)), {3: PartialResult((best,), (7.5,))}, 64) is None
    assert is_beaten(PartialResult((worse, best)), {3: PartialResult((best, worse))}, 64) is None
    assert PLAN.small_chance < 0.5
