"""Diagnostics of many data sets at once are those of ArviZ, one by one."""

import numpy as np
import pytest
from arviz_stats.base import array_stats
from scipy import stats

from designstudio.inference.convergence import (
    compute_ess,
    compute_rhat,
    compute_weighted_tail_ess,
    fit_pareto,
    smooth_weights,
)


def make_chains(correlation, num_draws=301, shift=0.0):
    """Autoregressive chains of a few data sets and parameters; the first chain is shifted."""
    rng = np.random.default_rng(3)
    chains = rng.normal(size=(5, 2, 4, num_draws))
    for t in range(1, num_draws):
        chains[..., t] = correlation * chains[..., t - 1] + np.sqrt(1 - correlation**2) * chains[..., t]
    chains[:, :, 0] += shift
    return np.exp(chains)


@pytest.mark.parametrize(("correlation", "shift"), [(0.0, 0.0), (0.9, 0.0), (-0.5, 0.0), (0.5, 1.0)])
@pytest.mark.parametrize("num_draws", [200, 301])
def test_rhat_and_effective_draws_are_those_of_arviz(correlation, shift, num_draws):
    chains = make_chains(correlation, num_draws, shift)
    np.testing.assert_allclose(compute_rhat(chains), array_stats.rhat(chains, chain_axis=-2, draw_axis=-1), rtol=1e-8)
    np.testing.assert_allclose(compute_ess(chains), array_stats.ess(chains, chain_axis=-2, draw_axis=-1), rtol=2e-3)


@pytest.mark.parametrize("shape", [0.1, 0.4, 0.9])
@pytest.mark.parametrize("num_draws", [200, 4000])
def test_smoothed_weights_and_khat_are_those_of_arviz(shape, num_draws):
    rng = np.random.default_rng(4)
    log_weight = np.log(stats.genpareto(shape).rvs(size=(6, num_draws), random_state=rng))
    smoothed = smooth_weights(log_weight)
    for row, weights, khat in zip(log_weight, *smoothed, strict=True):
        expected, expected_khat = array_stats.psislw(-row)
        assert khat == pytest.approx(float(expected_khat), abs=1e-6)
        np.testing.assert_allclose(weights, expected, atol=1e-6)


def test_the_shape_of_a_pareto_tail_is_found():
    rng = np.random.default_rng(5)
    excess = np.sort(stats.genpareto(0.5, scale=2.0).rvs(size=(50, 2000), random_state=rng), axis=1)
    shape, scale = fit_pareto(excess)
    assert shape.mean() == pytest.approx(0.5, abs=0.02)
    assert scale.mean() == pytest.approx(2.0, abs=0.05)


def test_weights_without_a_tail_are_left_alone():
    smoothed = smooth_weights(np.zeros((2, 400)))
    assert np.isnan(smoothed.khat).all()
    np.testing.assert_allclose(np.exp(smoothed.log_weight), 1 / 400)


@pytest.mark.parametrize("scale", [0.9, 1.0, 2.0])
def test_effective_draws_of_weighted_tails_tell_how_much_a_share_varies(scale):
    """Normal draws from a narrower and a wider proposal, many times: the spread of the share beyond a quantile."""
    num_sets, num_draws, rng = 2000, 1000, np.random.default_rng(6)
    draws = scale * rng.normal(size=(num_sets, num_draws))
    log_weight = stats.norm.logpdf(draws) - stats.norm.logpdf(draws, scale=scale)
    log_weight -= np.log(np.exp(log_weight).sum(1, keepdims=True))
    ends = np.full((2, num_sets, 1), stats.norm.ppf(0.05))
    said = compute_weighted_tail_ess(draws[..., None], log_weight, ends)
    share = (np.exp(log_weight) * (draws <= ends[0])).sum(1)
    assert np.median(said) == pytest.approx(0.05 * 0.95 / share.var(), rel=0.1)
    if scale == 1.0:
        np.testing.assert_allclose(said, num_draws, rtol=1e-9)


def test_weights_that_are_all_impossible_tell_nothing_of_tails():
    ends = np.zeros((2, 1, 1))
    assert compute_weighted_tail_ess(np.ones((1, 10, 1)), np.full((1, 10), -np.inf), ends).tolist() == [0.0]
    assert compute_weighted_tail_ess(np.ones((1, 10, 1)), np.full((1, 10), -np.log(10)), ends).tolist() == [0.0]
