"""Bayes factors are those of SciPy's noncentral t distribution, and mislead as seldom as they promise."""

import dataclasses

import numpy as np
import pytest
from scipy import integrate, stats

from designstudio.evaluate.bayes_factor import SCALE, compute_log_bayes_factor
from designstudio.evaluate.group_decisions import decide_by_bayes_factor, decide_by_t_test
from tests.evaluate.test_group_goals import make_sample


def integrate_effects(t, size, freedom):
    """The likelihood of t under each standardised effect, weighted by the effects' density."""

    def weigh(effect):
        return stats.nct.pdf(t, freedom, effect * np.sqrt(size)) * stats.cauchy.pdf(effect, scale=SCALE)

    with_effect = sum(integrate.quad(weigh, *ends, limit=200)[0] for ends in ((-40, -3), (-3, 0), (0, 3), (3, 40)))
    return np.log(with_effect / stats.t.pdf(t, freedom))


@pytest.mark.parametrize(
    ("t", "size", "freedom"), [(0.0, 10, 18), (2.0, 10, 18), (-2.5, 20, 19), (4.0, 60, 118), (1.0, 2, 3)]
)
def test_it_is_the_ratio_of_marginal_likelihoods(t, size, freedom):
    found = compute_log_bayes_factor(np.array([t]), np.array([size]), np.array([freedom]))[0]
    assert found == pytest.approx(integrate_effects(t, size, freedom), abs=2e-4)


@pytest.mark.parametrize("size", [10, 40])
def test_without_an_effect_a_factor_of_three_comes_up_in_less_than_a_third_of_studies(size):
    rng = np.random.default_rng(0)
    samples = [make_sample(rng, 0.0, 4000, size) for _ in range(2)]
    found = decide_by_bayes_factor(samples, 0.0, 3.0)
    rate = found.find_effect(0.0)[found.is_made].mean()
    assert 0.0 < rate < 1 / 3
    # A region of practical equivalence makes it rarer still.
    assert found.find_effect(0.5)[found.is_made].mean() < rate


def test_it_decides_for_effects_that_are_there_and_shows_the_interval_of_a_t_test():
    rng = np.random.default_rng(1)
    samples = [make_sample(rng, 0.0, 200, 30) for _ in range(2)]
    samples[1] = dataclasses.replace(samples[1], mean=samples[1].mean + 1.5)
    found = decide_by_bayes_factor(samples, 0.0, 10.0)
    assert found.find_effect(0.0)[found.is_made].mean() > 0.9
    for shown, expected in zip(found[:3], decide_by_t_test(samples, 0.0)[:3], strict=True):
        np.testing.assert_array_equal(shown, expected)
