"""Posteriors in a few numbers."""

import numpy as np
import pytest
from arviz_stats.base import array_stats

from designstudio.fitting.posterior_summaries import compute_hdi


def test_an_hdi_is_the_shortest_interval():
    draws = np.random.default_rng(0).exponential(size=(1, 20_000))
    (low,), (high,) = compute_hdi(draws, 0.94)
    assert low < 0.002
    assert high == pytest.approx(-np.log(0.06), rel=0.05)


@pytest.mark.parametrize("num_draws", [500, 999, 1000, 4000])
@pytest.mark.parametrize("probability", [0.5, 0.94])
def test_intervals_are_those_of_arviz(num_draws, probability):
    draws = np.random.default_rng(1).gamma(2.0, size=(5, 3, num_draws))
    expected = array_stats.hdi(draws, prob=probability, axis=-1)
    np.testing.assert_array_equal(np.stack(compute_hdi(draws, probability), axis=-1), expected)
