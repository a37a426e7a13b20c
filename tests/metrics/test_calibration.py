"""Calibration: the band holds what it promises, and wrong posteriors are found out."""

import numpy as np
import pytest
import xarray as xr
from scipy import stats

from designstudio.errors import StudioError, ValueOutsideSupportError
from designstudio.metrics.calibration import (
    evaluate_ecdf,
    fractional_ranks,
    score_calibration,
    simultaneous_band,
    stay_inside_probability,
)

NUM_DATASETS = 500
NUM_DRAWS = 99


@pytest.fixture
def rng():
    return np.random.default_rng(20220411)


def as_dataset(**ranks):
    return xr.Dataset({name: ("dataset", np.asarray(values, dtype=float)) for name, values in ranks.items()})


def rank_conjugate_normal(rng, *, shift=0.0, scale=1.0):
    """Ranks when truth and data are normal with unit spread, and the posterior is exact but for a shift and a scale."""
    truth = rng.normal(size=NUM_DATASETS)
    data = truth + rng.normal(size=NUM_DATASETS)
    noise = rng.normal(size=(NUM_DATASETS, NUM_DRAWS))
    draws = data[:, None] / 2 + np.sqrt(0.5) * (shift + scale * noise)
    return fractional_ranks(draws, truth, rng=rng)


def test_ranks_count_the_draws_below_the_truth(rng):
    draws = np.arange(9.0)
    ranks = fractional_ranks(np.stack([draws, draws, draws]), np.array([-1.0, 4.5, 100.0]), rng=rng)
    np.testing.assert_array_equal(np.floor(10 * ranks), [0, 5, 9])


def test_ranks_of_ties_spread_over_the_tied_range(rng):
    ranks = fractional_ranks(np.tile([0.0, 1.0, 1.0, 2.0], (2000, 1)), np.ones(2000), rng=rng)
    assert ranks.min() == pytest.approx(0.2, abs=0.01)
    assert ranks.max() == pytest.approx(0.8, abs=0.01)


@pytest.mark.parametrize("num_draws", [1, 4, 99])
def test_ranks_of_a_discrete_quantity_are_uniform(rng, num_draws):
    values = rng.binomial(3, 0.4, size=(20_000, num_draws + 1))
    ranks = fractional_ranks(values[:, 1:], values[:, 0], rng=rng)
    assert stats.kstest(ranks, "uniform").pvalue > 0.01


def test_ranks_of_a_failed_fit_are_missing(rng):
    ranks = fractional_ranks(np.array([[0.0, np.nan], [0.0, 1.0], [0.0, 1.0]]), np.array([0.5, np.nan, 0.5]), rng=rng)
    np.testing.assert_array_equal(np.isnan(ranks), [True, True, False])


def test_ranks_refuse_shapes_that_do_not_belong_together(rng):
    with pytest.raises(StudioError, match=r"need truths of shape \(3,\)"):
        fractional_ranks(np.zeros((3, 10)), np.zeros(4), rng=rng)


def test_ecdf_includes_its_own_points():
    np.testing.assert_array_equal(
        evaluate_ecdf(np.array([0.7, 0.2]), np.array([0.0, 0.2, 0.5, 0.7, 1.0])), [0, 0.5, 0.5, 1, 1]
    )


def test_inside_probability_agrees_with_every_possible_count():
    # Three values fall into three thirds in 27 equally likely ways.
    lower, upper, grid = np.array([0, 1, 1, 3]), np.array([0, 2, 2, 3]), np.linspace(0, 1, 4)
    counts = np.array([np.bincount(np.array(cells), minlength=3) for cells in np.ndindex(3, 3, 3)]).cumsum(axis=1)
    is_inside = ((counts >= lower[1:]) & (counts <= upper[1:])).all(axis=1)
    assert stay_inside_probability(lower, upper, grid) == pytest.approx(is_inside.mean(), rel=1e-12)


@pytest.mark.parametrize(("num_datasets", "num_draws", "prob"), [(20, None, 0.95), (300, None, 0.8), (1000, 30, 0.95)])
def test_band_holds_uniform_ranks_as_often_as_promised(rng, num_datasets, num_draws, prob):
    num_repetitions = 4000
    band = simultaneous_band(num_datasets, num_draws=num_draws, prob=prob)
    ranks = rng.uniform(size=(num_repetitions, num_datasets))
    if num_draws is not None:
        ranks = np.ceil(ranks * (num_draws + 1)) / (num_draws + 1)
    ecdfs = np.stack([evaluate_ecdf(row, band.grid) for row in ranks])
    fraction = ((ecdfs >= band.lower) & (ecdfs <= band.upper)).all(axis=1).mean()
    limits = np.rint(band.lower * num_datasets).astype(int), np.rint(band.upper * num_datasets).astype(int)
    promised = stay_inside_probability(*limits, band.grid)
    assert prob <= promised < prob + 0.02
    assert fraction == pytest.approx(promised, abs=3.5 * np.sqrt(prob * (1 - prob) / num_repetitions))


def test_band_is_tight_for_many_datasets():
    band = simultaneous_band(1000)
    limits = np.rint(band.lower * 1000).astype(int), np.rint(band.upper * 1000).astype(int)
    assert 0.95 <= stay_inside_probability(*limits, band.grid) < 0.951
    # Symmetric; beside Kolmogorov and Smirnov's constant 1.358 / sqrt(n) wider in the middle and narrower at the ends.
    np.testing.assert_allclose(band.lower, 1 - band.upper[::-1], atol=1e-12)
    half_width = band.upper - band.grid
    assert half_width[[0, -1]] == pytest.approx(0, abs=1e-12)
    assert half_width[50] == pytest.approx(1.5 / np.sqrt(1000), rel=0.05)
    assert half_width[5] < 0.7 * 1.358 / np.sqrt(1000)


@pytest.mark.parametrize("num_datasets", [1, 2, 3])
def test_band_exists_for_very_few_datasets(num_datasets):
    band = simultaneous_band(num_datasets)
    assert np.all(band.lower <= band.grid)
    assert np.all(band.upper >= band.grid)


def test_band_refuses_what_makes_no_sense():
    with pytest.raises(ValueOutsideSupportError, match="at least one data set"):
        simultaneous_band(0)
    with pytest.raises(ValueOutsideSupportError, match="between 0 and 1"):
        simultaneous_band(10, prob=95)


def test_uniform_ranks_are_inside_95_percent_of_the_time(rng):
    num_repetitions = 400
    ranks = {f"repetition_{k}": rng.uniform(size=200) for k in range(num_repetitions)}
    scores = score_calibration(as_dataset(**ranks))
    tolerance = 3 * np.sqrt(0.95 * 0.05 / num_repetitions)
    assert float(scores["is_inside"].mean()) == pytest.approx(0.95, abs=tolerance)
    assert stats.kstest(scores["mean_rank_z"], "norm").pvalue > 0.01
    assert stats.kstest(scores["chi_square_p"], "uniform").pvalue > 0.01


def test_an_exact_posterior_is_inside(rng):
    scores = score_calibration(as_dataset(mu=rank_conjugate_normal(rng)))
    assert bool(scores["is_inside"][0])
    assert float(scores["band_used"][0]) < 1


@pytest.mark.parametrize(("shift", "scale"), [(0.3, 1.0), (-0.3, 1.0), (0.0, 0.7), (0.0, 1.4)])
def test_biased_too_narrow_and_too_wide_posteriors_are_outside(rng, shift, scale):
    scores = score_calibration(as_dataset(mu=rank_conjugate_normal(rng, shift=shift, scale=scale))).isel(quantity=0)
    assert not bool(scores["is_inside"])
    assert float(scores["band_used"]) > 1
    assert float(scores["chi_square_p"]) < 0.001
    # A posterior that is too high puts the truth at low ranks; a wrong width leaves their mean alone.
    z = float(scores["mean_rank_z"])
    assert (z * np.sign(shift) < -4) if shift else (abs(z) < 4)


def test_scores_by_value():
    scores = score_calibration(as_dataset(low=[0.1, 0.2, 0.3, 0.4], even=[0.125, 0.375, 0.625, 0.875]))
    np.testing.assert_array_equal(scores["quantity"], ["low", "even"])
    np.testing.assert_allclose(scores["mean_rank"], [0.25, 0.5])
    np.testing.assert_allclose(scores["mean_rank_z"], [-0.25 * np.sqrt(48), 0])
    # On the grid 0, 1/4, ..., 1 the first has ECDF 0, 1/2, 1, 1, 1.
    np.testing.assert_allclose(scores["max_deviation"], [0.5, 0], atol=1e-12)
    np.testing.assert_array_equal(scores["num_datasets"], [4, 4])
    assert float(scores["band_used"].sel(quantity="even")) == 0
    assert scores.attrs["prob"] == 0.95


def test_a_curve_on_the_limit_is_inside():
    band = simultaneous_band(100)
    counts = np.diff(np.rint(100 * band.upper).astype(int))
    on_the_limit = np.repeat(band.grid[1:], counts)
    scores = score_calibration(as_dataset(edge=on_the_limit)).isel(quantity=0)
    assert float(scores["band_used"]) == 1
    assert bool(scores["is_inside"])


def test_failed_fits_are_counted(rng):
    ranks = rng.uniform(size=100)
    with_failures = np.concatenate([ranks, np.full(7, np.nan)])
    scores = score_calibration(as_dataset(some=with_failures, every=np.full(107, np.nan)))
    np.testing.assert_array_equal(scores["num_datasets"], [107, 107])
    np.testing.assert_array_equal(scores["num_failed"], [7, 107])
    without = score_calibration(as_dataset(some=ranks))
    for name in ("max_deviation", "band_used", "mean_rank", "mean_rank_z", "chi_square_p"):
        assert float(scores[name][0]) == float(without[name][0])
        assert np.isnan(scores[name][1])
    assert not bool(scores["is_inside"].sel(quantity="every"))


def test_ranks_outside_0_to_1_are_refused():
    with pytest.raises(ValueOutsideSupportError, match=r"Ranks of 'sigma' must be from 0 to 1, but 37 was given\."):
        score_calibration(as_dataset(sigma=[0.5, 37.0]))
    with pytest.raises(ValueOutsideSupportError, match="must have the dimension 'dataset' only"):
        score_calibration(xr.Dataset({"sigma": (("dataset", "group"), np.zeros((2, 2)))}))
