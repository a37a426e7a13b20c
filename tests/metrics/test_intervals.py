"""The one kind of interval."""

import numpy as np
import pytest
from arviz_stats.base import array_stats

from designstudio.metrics.intervals import compute_interval


@pytest.mark.parametrize("probability", [0.5, 0.94])
def test_intervals_are_the_equal_tailed_ones_of_arviz(probability):
    draws = np.random.default_rng(1).gamma(2.0, size=(5, 3, 4000))
    found = np.stack(compute_interval(draws, probability), axis=-1)
    np.testing.assert_allclose(found, array_stats.eti(draws, prob=probability, axis=-1), rtol=1e-2)


def test_an_interval_is_that_of_the_logarithm():
    draws = np.random.default_rng(0).lognormal(sigma=1.5, size=(1, 20_001))
    (low,), (high,) = compute_interval(draws)
    (log_low,), (log_high,) = compute_interval(np.log(draws))
    np.testing.assert_allclose(np.log([low, high]), [log_low, log_high], atol=1e-3)
    # The shortest interval of so skewed a distribution begins far lower.
    assert array_stats.hdi(draws, prob=0.94, axis=-1)[0, 0] < 0.5 * low
