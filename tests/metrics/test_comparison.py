"""Comparison of costs: leave-one-out against refits and full Pareto smoothing, and tables counted by hand."""

import json
import math

import numpy as np
import pytest
import xarray as xr
from arviz_stats.base import array_stats
from scipy import stats

from designstudio.metrics.comparison import leave_one_out as leave_one_out_of
from designstudio.metrics.comparison import score_model_recovery

NUM_DATASETS, NUM_CHAINS, NUM_DRAWS, NUM_TRIALS = 6, 4, 250, 60
COSTS = ["quadratic", "absolute", "linex"]


@pytest.fixture
def rng():
    return np.random.default_rng(2017)


def leave_one_out(log_likelihood):
    """Of independent draws."""
    num_draws = log_likelihood.shape[1] * log_likelihood.shape[2]
    return leave_one_out_of(log_likelihood, np.full(len(log_likelihood), num_draws))


def draw_regressions(rng, *, num_trials=NUM_TRIALS, outlier=0.0):
    """Data sets of a linear regression with a flat prior on coefficients and log noise, with exact posterior draws.

    Returns:
        Predictors, responses and the log likelihood of all draws, each over data sets.
    """
    predictors, responses, logs = [], [], []
    for _ in range(NUM_DATASETS):
        x = np.stack([np.ones(num_trials), rng.uniform(-1, 1.5, num_trials)], axis=1)
        y = x @ [0.3, 0.6] + 0.25 * rng.normal(size=num_trials)
        y[0] += outlier
        coefficients, (residual,), _, _ = np.linalg.lstsq(x, y)
        variance = residual / rng.chisquare(num_trials - 2, size=(NUM_CHAINS, NUM_DRAWS))
        noise = rng.multivariate_normal([0, 0], np.linalg.inv(x.T @ x), size=(NUM_CHAINS, NUM_DRAWS))
        draws = coefficients + np.sqrt(variance)[..., None] * noise
        predictors.append(x)
        responses.append(y)
        logs.append(stats.norm.logpdf(y, draws @ x.T, np.sqrt(variance)[..., None]))
    return np.array(predictors), np.array(responses), np.array(logs)


def smooth_fully(log_likelihood):
    """PSIS-LOO of every trial, and its k-hat."""
    elpd, khat, _ = array_stats.loo(np.moveaxis(log_likelihood, -1, 1), chain_axis=-2, draw_axis=-1)
    return elpd, khat


def refit_without(x, y, i):
    """Log density of one response given all others: Student's t around the regression without it."""
    others = np.arange(len(y)) != i
    coefficients, (residual,), _, _ = np.linalg.lstsq(x[others], y[others])
    freedom = others.sum() - 2
    spread = residual / freedom * (1 + x[i] @ np.linalg.solve(x[others].T @ x[others], x[i]))
    return stats.t.logpdf(y[i], freedom, x[i] @ coefficients, np.sqrt(spread))


@pytest.mark.parametrize(("num_trials", "outlier"), [(12, 0.0), (60, 0.0), (60, 1.2)])
def test_leave_one_out_agrees_with_smoothing_every_trial(rng, num_trials, outlier):
    _, _, log_likelihood = draw_regressions(rng, num_trials=num_trials, outlier=outlier)
    elpd, _ = smooth_fully(log_likelihood)
    np.testing.assert_allclose(leave_one_out(log_likelihood).elpd, elpd.sum(1), atol=0.02)


@pytest.mark.parametrize("outlier", [0.0, 0.8])
def test_leave_one_out_agrees_with_refits(rng, outlier):
    x, y, log_likelihood = draw_regressions(rng, outlier=outlier)
    expected = [sum(refit_without(x[k], y[k], i) for i in range(NUM_TRIALS)) for k in range(NUM_DATASETS)]
    # A thousand draws leave their own noise, more so for an outlier.
    np.testing.assert_allclose(leave_one_out(log_likelihood).elpd, expected, atol=0.3 if outlier else 0.15)


def test_a_trial_far_off_is_known_by_its_khat(rng):
    _, _, usual = draw_regressions(rng)
    _, _, with_outlier = draw_regressions(rng, outlier=1.5)
    found, smoothed = leave_one_out(with_outlier), smooth_fully(with_outlier)[1]
    np.testing.assert_allclose(found.khat, smoothed.max(1), atol=1e-6)
    assert (found.khat > leave_one_out(usual).khat).all()


def test_constant_likelihoods_need_no_weights():
    log_likelihood = np.broadcast_to(np.array([-1.0, -2.0, -0.5]), (2, 4, 100, 3))
    found = leave_one_out(log_likelihood)
    np.testing.assert_allclose(found.elpd, -3.5)
    np.testing.assert_array_equal(found.khat, 0)


def test_log_likelihoods_far_from_zero_neither_overflow_nor_vanish(rng):
    _, _, log_likelihood = draw_regressions(rng)
    near = leave_one_out(log_likelihood)
    for shift in (-5000.0, 5000.0):
        far = leave_one_out(log_likelihood + shift)
        np.testing.assert_allclose(far.elpd - shift * NUM_TRIALS, near.elpd, atol=1e-5)


def test_trials_that_are_not_present_are_left_out(rng):
    _, _, log_likelihood = draw_regressions(rng, outlier=1.2)
    padded = np.pad(log_likelihood, [(0, 0)] * 3 + [(3, 5)], constant_values=np.nan)
    # Of the second data set one more trial is missing.
    padded[1, ..., 10] = np.nan
    found, without = leave_one_out(padded), leave_one_out(np.delete(log_likelihood, 7, axis=-1))
    np.testing.assert_allclose(np.delete(found.elpd, 1), np.delete(leave_one_out(log_likelihood).elpd, 1))
    np.testing.assert_allclose(found.elpd[1], without.elpd[1])
    assert np.isfinite(found.khat).all()


def test_data_sets_do_not_touch_each_other(rng):
    _, _, log_likelihood = draw_regressions(rng, outlier=1.2)
    together = leave_one_out(log_likelihood)
    for k in range(NUM_DATASETS):
        alone = leave_one_out(log_likelihood[k : k + 1])
        assert (alone.elpd[0], alone.khat[0]) == pytest.approx((together.elpd[k], together.khat[k]))


def label(elpd, costs, mcse=0.0, khat=0.0):
    arrays = {"elpd": elpd, "mcse": np.broadcast_to(mcse, elpd.shape), "khat": np.broadcast_to(khat, elpd.shape)}
    coords = {"simulated": costs, "fitted": costs}
    return xr.Dataset({name: (("simulated", "fitted", "dataset"), array) for name, array in arrays.items()}, coords)


def make_elpd():
    """Ten data sets of three costs: which wins is known."""
    winners = {"quadratic": [0] * 8 + [1] * 2, "absolute": [1] * 5 + [0] * 3 + [2] * 2, "linex": [2] * 9 + [0]}
    elpd = np.full((3, 3, 10), -20.0)
    for i, cost in enumerate(COSTS):
        elpd[i, winners[cost], np.arange(10)] = -19.5
    return elpd


def test_confusion_and_inversion_by_hand():
    found = score_model_recovery(label(make_elpd(), COSTS))
    np.testing.assert_allclose(found.confusion, [[0.8, 0.2, 0], [0.3, 0.5, 0.2], [0.1, 0, 0.9]])
    np.testing.assert_allclose(found.inversion, [[8 / 12, 2 / 7, 0], [3 / 12, 5 / 7, 2 / 11], [1 / 12, 0, 9 / 11]])
    np.testing.assert_array_equal(found.undecided, 0)
    np.testing.assert_array_equal(found.counts.to_dataarray(), 0)
    assert found.confusion.sel(simulated="absolute", fitted="quadratic").item() == pytest.approx(0.3)
    assert found.chance_to_win("linex").value == pytest.approx(0.9)
    assert (found.confusion_mcse > 0).all()


def test_rows_of_the_confusion_and_columns_of_the_inversion_sum_to_one(rng):
    found = score_model_recovery(label(rng.normal(size=(3, 3, 500)), COSTS))
    np.testing.assert_allclose(found.confusion.sum("fitted"), 1)
    np.testing.assert_allclose(found.inversion.sum("simulated"), 1)
    # Chance alone: each wins a third.
    np.testing.assert_allclose(found.confusion, 1 / 3, atol=0.08)


@pytest.mark.parametrize("num_trials", [12, 60])
def test_the_monte_carlo_error_is_the_spread_over_other_draws(rng, num_trials):
    # The same data with thirty sets of draws: what differs is the error.
    x = np.stack([np.ones(num_trials), rng.uniform(-1, 1.5, num_trials)], axis=1)
    y = x @ [0.3, 0.6] + 0.25 * rng.normal(size=num_trials)
    coefficients, (residual,), _, _ = np.linalg.lstsq(x, y)
    size = (30, NUM_CHAINS, NUM_DRAWS)
    variance = residual / rng.chisquare(num_trials - 2, size=size)
    draws = coefficients + np.sqrt(variance)[..., None] * rng.multivariate_normal([0, 0], np.linalg.inv(x.T @ x), size=size)
    found = leave_one_out(stats.norm.logpdf(y, draws @ x.T, np.sqrt(variance)[..., None]))
    assert 0.7 < np.sqrt(np.mean(found.mcse**2)) / found.elpd.std(ddof=1) < 1.4


def test_half_as_many_effective_draws_make_the_error_larger_by_the_root_of_two(rng):
    _, _, log_likelihood = draw_regressions(rng)
    all_of_them, half = (leave_one_out_of(log_likelihood, np.full(NUM_DATASETS, num)) for num in (1000, 500))
    np.testing.assert_allclose(half.mcse, np.sqrt(2) * all_of_them.mcse)


def test_a_lead_within_two_monte_carlo_errors_or_with_a_large_khat_is_undecided():
    # Leads are 0.5: of two costs with an error of 0.2 each, that is 1.8 errors of the difference.
    mcse = np.full((3, 3, 10), 0.1)
    mcse[0, 0, :4], mcse[0, 1, :4], mcse[0, 2, 0] = 0.2, 0.2, 0.0
    khat = np.zeros((3, 3, 10))
    khat[1, 2, :3], khat[2, 0, 5], khat[2, 1, 6] = 0.71, np.nan, 0.69
    found = score_model_recovery(label(make_elpd(), COSTS, mcse, khat))
    np.testing.assert_array_equal(found.counts["num_close"], [4, 0, 0])
    np.testing.assert_array_equal(found.counts["num_bad_khat"], [0, 3, 1])
    np.testing.assert_allclose(found.undecided, [0.4, 0.3, 0.1])
    np.testing.assert_allclose(found.confusion, [[0.4, 0.2, 0], [0.3, 0.2, 0.2], [0.1, 0, 0.8]])
    np.testing.assert_allclose(found.confusion.sum("fitted") + found.undecided, 1)
    assert found.as_dict()["num_close"] == {"quadratic": 4, "absolute": 0, "linex": 0}
    assert found.as_dict()["undecided"]["absolute"]["value"] == pytest.approx(0.3)


def test_costs_that_predict_the_same_are_hardly_ever_decided(rng):
    # Two seeds of the fits differ by their errors alone.
    elpd = np.repeat(rng.normal(size=(3, 1, 2000)), 3, axis=1) + 0.1 * rng.normal(size=(3, 3, 2000))
    assert (score_model_recovery(label(elpd, COSTS, mcse=0.1)).undecided > 0.93).all()


def test_the_inversion_is_bayes_rule_for_equally_likely_costs(rng):
    # Fewer data sets count for some costs, which does not make those costs less likely.
    elpd = rng.normal(size=(3, 3, 400)) + np.eye(3)[:, :, None]
    elpd[2, 0, 100:] = np.nan
    found = score_model_recovery(label(elpd, COSTS))
    np.testing.assert_array_equal(found.counts["num_failed"], [0, 0, 300])
    joint = found.confusion / 3
    np.testing.assert_allclose(found.inversion, joint / joint.sum("simulated"))


def test_a_data_set_that_one_cost_could_not_fit_has_no_winner_and_is_counted():
    elpd = make_elpd()
    # The loser of the first data set of `absolute` failed, and the winner of its last, and two fits of one of `linex`.
    elpd[1, 2, 0] = elpd[1, 2, 9] = np.nan
    elpd[2, :2, 9] = np.nan
    found = score_model_recovery(label(elpd, COSTS))
    np.testing.assert_array_equal(found.counts["num_failed"], [0, 2, 1])
    np.testing.assert_allclose(found.confusion, [[0.8, 0.2, 0], [3 / 8, 4 / 8, 1 / 8], [0, 0, 1]])


def test_costs_may_come_in_any_order(rng):
    elpd = label(rng.normal(size=(3, 3, 50)), COSTS)
    found, turned = score_model_recovery(elpd), score_model_recovery(elpd.transpose("dataset", "fitted", "simulated"))
    xr.testing.assert_equal(found.confusion, turned.confusion)
    shuffled = score_model_recovery(elpd.sel(fitted=COSTS[::-1]))
    for name in ("confusion", "confusion_mcse", "inversion"):
        xr.testing.assert_allclose(getattr(found, name), getattr(shuffled, name).sel(fitted=COSTS))


def test_tables_go_into_json_with_nulls_for_what_is_undefined():
    elpd = make_elpd()
    # `linex` never wins.
    elpd[:, 2] = -30.0
    read = json.loads(json.dumps(score_model_recovery(label(elpd, COSTS)).as_dict(), allow_nan=False))
    assert read["inversion"]["linex"]["linex"] is None
    assert read["confusion"]["quadratic"]["quadratic"]["value"] == pytest.approx(0.8)
    assert read["num_bad_khat"] == read["num_failed"] == dict.fromkeys(COSTS, 0)
    # Where it would have won, the other two are equal.
    assert read["num_close"] == {"quadratic": 0, "absolute": 2, "linex": 9}


def test_without_any_winner_nothing_is_defined():
    found = score_model_recovery(label(np.full((3, 3, 10), np.nan), COSTS))
    np.testing.assert_array_equal(found.counts["num_failed"], 10)
    assert math.isnan(found.chance_to_win("linex").value)
    json.dumps(found.as_dict(), allow_nan=False)
