"""Summaries of draws, against NumPy on the same draws."""

import numpy as np
import pytest
from scipy import stats

from designstudio.metrics.summaries import summarize_draws
from tests.metrics.make_summaries import draw_exact_posteriors

NUM_DATASETS, NUM_CHAINS, NUM_DRAWS = 5, 4, 300


@pytest.fixture
def rng():
    return np.random.default_rng(777)


@pytest.fixture
def draws(rng):
    logs = rng.multivariate_normal([0, 1], [[0.2, 0.1], [0.1, 0.3]], size=(NUM_DATASETS, NUM_CHAINS, NUM_DRAWS))
    mu_0, sigma = np.exp(logs[..., 0]), np.exp(logs[..., 1])
    # A quantity may be negative: only parameters have logarithms.
    return {"mu_0": mu_0, "difference": mu_0 - sigma, "sigma": sigma}


def summarize(draws, truth=1.0, parameters=("mu_0", "sigma"), interval=0.9):
    num = len(next(iter(draws.values())))
    return summarize_draws(draws, {name: np.full(num, truth) for name in draws}, list(parameters), interval)


def test_moments_and_interval_are_those_of_all_draws(draws):
    summaries = summarize(draws)
    assert summaries["quantity"].values.tolist() == ["mu_0", "difference", "sigma"]
    for name, values in draws.items():
        flat = values.reshape(NUM_DATASETS, -1)
        found = summaries.sel(quantity=name)
        np.testing.assert_allclose(found["mean"], flat.mean(1), rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(found["sd"], flat.std(1, ddof=1), rtol=1e-5)
        np.testing.assert_allclose(found["low"], np.quantile(flat, 0.05, axis=1), rtol=1e-5)
        np.testing.assert_allclose(found["high"], np.quantile(flat, 0.95, axis=1), rtol=1e-5)


def test_the_interval_leaves_the_same_share_on_either_side(draws):
    found = summarize(draws, interval=0.5).sel(quantity="sigma")
    flat = draws["sigma"].reshape(NUM_DATASETS, -1)
    np.testing.assert_allclose((flat < found["low"].values[:, None]).mean(1), 0.25, atol=2e-3)
    np.testing.assert_allclose((flat > found["high"].values[:, None]).mean(1), 0.25, atol=2e-3)


@pytest.mark.parametrize("parameters", [("mu_0", "sigma"), ("sigma", "mu_0"), ("sigma",)])
def test_the_covariance_is_that_of_the_logarithms_of_the_parameters(draws, parameters):
    summaries = summarize(draws, parameters=parameters)
    assert summaries["parameter"].values.tolist() == list(parameters)
    for i in range(NUM_DATASETS):
        expected = np.cov([np.log(draws[name][i]).ravel() for name in parameters])
        np.testing.assert_allclose(summaries["log_covariance"][i], np.atleast_2d(expected), rtol=1e-5, atol=1e-7)


def test_the_rank_of_a_truth_is_the_share_of_draws_below_it():
    draws = np.arange(1.0, 101.0).reshape(1, 4, 25)
    ranks = [summarize({"mu_0": draws}, truth, ["mu_0"])["rank"].item() for truth in (0.5, 25.5, 90.5, 1000.0)]
    # Chance decides within a step of 1 / (number of draws + 1).
    assert np.floor(np.multiply(101, ranks)).tolist() == [0, 25, 90, 100]


def test_a_quantity_without_a_truth_has_no_rank(draws):
    assert np.isnan(summarize(draws, np.nan)["rank"]).all()


def test_ranks_in_exact_posteriors_are_uniform(rng):
    ranks = draw_exact_posteriors(rng, 1000)["rank"].values.ravel()
    assert stats.kstest(ranks, "uniform").pvalue > 0.01


@pytest.mark.parametrize(
    "num_draws",
    [
        25,
        250,
        500,
        1000,
    ],
)
def test_all_chains_have_their_say_in_a_rank(num_draws):
    # Two chains are below the truth and two above it, in either order.
    for signs in ([-1, -1, 1, 1], [-1, 1, -1, 1], [-1, 1, 1, -1]):
        draws = np.broadcast_to(2.0 + np.array(signs)[None, :, None], (1, 4, num_draws))
        assert summarize({"mu_0": draws}, 2.0, ["mu_0"])["rank"].item() == pytest.approx(0.5, abs=0.01)


def test_adding_data_sets_leaves_the_earlier_ones_unchanged(draws):
    few = summarize({name: values[:3] for name, values in draws.items()})
    many = summarize(draws).isel(dataset=slice(3))
    for name in few:
        np.testing.assert_array_equal(few[name], many[name])


def test_a_failed_fit_does_not_disturb_the_others(draws):
    broken = {name: np.where(np.arange(NUM_DATASETS)[:, None, None] == 2, np.nan, values) for name, values in draws.items()}
    found, expected = summarize(broken), summarize(draws)
    others = [0, 1, 3, 4]
    for name in expected:
        np.testing.assert_array_equal(found[name][others], expected[name][others])
    for name in ("mean", "sd", "low", "high", "rank", "log_covariance"):
        assert np.isnan(found[name][2]).all()
