"""Curves of power against the ones that decisions were drawn from."""

import numpy as np
import pytest
from scipy import stats

from designstudio.evaluate.curve_fit import Decided, find_crossing

SLOPE, THRESHOLD, SIZES, NUM = 0.5, 1.96, (10, 16, 25, 40), 300
TRUE = ((stats.norm.ppf(0.8) + THRESHOLD) / SLOPE) ** 2


def decide(rng, num=NUM, slope=SLOPE):
    """Studies whose people come one after the other: an estimate is their mean, and each size has the first of them."""
    sums = np.cumsum(slope + rng.normal(size=(num, max(SIZES))), axis=1)
    return [Decided(n, np.arange(num), sums[:, n - 1] / np.sqrt(n) > THRESHOLD) for n in SIZES]


def test_a_crossing_is_where_the_true_curve_reaches_the_target_within_its_stated_errors():
    rng = np.random.default_rng(1)
    found = [find_crossing(decide(rng), 0.8, 0.9, most=100, seed=1) for _ in range(40)]
    sizes = np.array([one.size for one in found])
    assert sizes.mean() == pytest.approx(TRUE, rel=0.03)
    covered = np.mean([one.low <= TRUE <= one.high for one in found])
    assert covered >= stats.binom.ppf(1e-3, 40, 0.9) / 40
    # The stated error of power is how much the true power at the answer differs from the target.
    power = stats.norm.cdf(SLOPE * np.sqrt(sizes) - THRESHOLD)
    stated = np.mean([one.power.mcse for one in found])
    assert (power - 0.8).std() == pytest.approx(stated, rel=0.35)


def test_without_an_effect_a_target_is_out_of_reach():
    found = find_crossing(decide(np.random.default_rng(2), slope=0.0), 0.8, 0.94, most=100, seed=1)
    assert found.size > 100
    assert found.power.value + 3 * found.power.mcse < 0.8


def test_where_everybody_decides_alike_there_is_an_answer():
    decided = [Decided(n, np.arange(50), np.ones(50, bool)) for n in SIZES]
    found = find_crossing(decided, 0.8, 0.94, most=100, seed=1)
    assert found.size <= min(SIZES)
    assert found.power.value > 0.8
