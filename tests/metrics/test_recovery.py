"""Recovery: closed forms, SciPy, and the promise that an interval keeps if the posterior is exact."""

import math

import numpy as np
import pytest
from scipy import stats

from designstudio.metrics.registry import score_recovery
from tests.metrics.make_summaries import draw_exact_posteriors, join_quantities, make_summaries

NUM_DATASETS = 60
# In the order of tables.
RECOVERY_SCORES = ("bias", "rmse", "mse", "pearson", "concordance", "coverage", "width", "contraction", "z_score")
NEED_A_TRUTH = {"bias", "rmse", "mse", "pearson", "concordance", "coverage", "z_score"}


@pytest.fixture
def rng():
    return np.random.default_rng(1989)


def score(truth, mean, **others):
    return score_recovery(make_summaries(np.asarray(truth, float), np.asarray(mean, float), **others))["mu_0"]


def undefined(scores):
    return {name for name, score in scores.items() if math.isnan(score.value)}


def concord(x, y):
    """Lin's concordance as he wrote it, with sums over data sets."""
    num = len(x)
    mean_x, mean_y = sum(x) / num, sum(y) / num
    covariance = sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True)) / num
    spread = sum((a - mean_x) ** 2 for a in x) / num + sum((b - mean_y) ** 2 for b in y) / num
    return 2 * covariance / (spread + (mean_x - mean_y) ** 2)


def test_scores_by_hand():
    scores = score([1, 2, 3, 4], [2, 2, 3, 2], sd=[0.5, 1, 1, 2], low=[1, 1.5, 3.5, 0], high=[3, 2.5, 4.5, 3], prior_sd=4)
    values = {name: score.value for name, score in scores.items()}
    assert tuple(values) == RECOVERY_SCORES
    expected = {
        "bias": -0.25,
        "mse": 1.25,
        "rmse": math.sqrt(1.25),
        # The third interval lies above the truth, the fourth below it; the first ends on it.
        "coverage": 0.5,
        "width": 1.75,
        "contraction": 1 - (0.25 + 1 + 1 + 4) / 4 / 16,
        "z_score": 0.25,
        "pearson": 0.5 / math.sqrt(5 * 0.75),
        "concordance": 2 * 0.125 / (1.25 + 0.1875 + 0.0625),
    }
    assert values == pytest.approx(expected)


def test_the_mean_squared_error_is_that_of_the_rmse(rng):
    scores = score(rng.normal(size=NUM_DATASETS), rng.normal(size=NUM_DATASETS))
    assert scores["rmse"].value ** 2 == pytest.approx(scores["mse"].value)
    # By the chain rule, up to what the jackknife adds for the bend of the root.
    assert 2 * scores["rmse"].value * scores["rmse"].mcse == pytest.approx(scores["mse"].mcse, rel=0.02)


@pytest.mark.parametrize(("shift", "scale"), [(0, 1), (5, 1), (-300, 0.01), (0, -2), (1, 0.3)])
def test_correlations_agree_with_scipy_and_lin(rng, shift, scale):
    truth = rng.gamma(3.0, size=NUM_DATASETS)
    mean = shift + scale * (truth + rng.normal(size=NUM_DATASETS))
    scores = score(truth, mean)
    assert scores["pearson"].value == pytest.approx(stats.pearsonr(truth, mean).statistic, rel=1e-6)
    assert scores["concordance"].value == pytest.approx(concord(truth.tolist(), mean.tolist()), rel=1e-6)


def test_concordance_counts_bias_and_scale_and_correlation_does_not():
    truth = np.arange(10.0)
    for mean, concordance in (
        (truth, 1.0),
        (9 - truth, -1.0),
        (truth + 3, 16.5 / (16.5 + 9)),
        (4.5 + 3 * (truth - 4.5), 0.6),
    ):
        scores = score(truth, mean)
        assert scores["concordance"].value == pytest.approx(concordance)
        assert abs(scores["pearson"].value) == pytest.approx(1)


def test_the_error_of_a_correlation_is_its_spread_over_repetitions(rng):
    values, errors = [], []
    for _ in range(250):
        truth = rng.normal(size=NUM_DATASETS)
        pearson = score(truth, 0.6 * truth + 0.8 * rng.normal(size=NUM_DATASETS))["pearson"]
        values.append(pearson.value)
        errors.append(pearson.mcse)
    assert np.mean(values) == pytest.approx(0.6, abs=0.02)
    assert np.mean(errors) == pytest.approx(np.std(values), rel=0.12)
    # Fisher's large-sample error.
    assert np.mean(errors) == pytest.approx((1 - 0.6**2) / np.sqrt(NUM_DATASETS), rel=0.12)


@pytest.mark.parametrize("interval", [0.5, 0.95])
def test_coverage_is_nominal_for_an_exact_posterior(rng, interval):
    num = 2000
    coverage = score_recovery(draw_exact_posteriors(rng, num, interval=interval))["mu_0"]["coverage"]
    # The ends of an interval from 1000 draws are noisy too, which is worth little beside 2000 data sets.
    assert coverage.value == pytest.approx(interval, abs=3.5 * np.sqrt(interval * (1 - interval) / num))
    assert coverage.mcse == pytest.approx(np.sqrt(interval * (1 - interval) / num), rel=0.1)


@pytest.mark.parametrize("scale", [0.5, 2.0])
def test_coverage_tells_posteriors_of_the_wrong_width(rng, scale):
    coverage = score_recovery(draw_exact_posteriors(rng, 2000, scale=scale))["mu_0"]["coverage"]
    # A central interval on the scale of logarithms stays one, so the chance is that of a normal variable.
    expected = 2 * stats.norm.cdf(1.96 * scale) - 1
    assert coverage.value == pytest.approx(expected, abs=0.025)


def test_an_exact_posterior_is_unbiased_and_as_wrong_as_it_says(rng):
    summaries = draw_exact_posteriors(rng, 2000)
    scores = score_recovery(summaries)["mu_0"]
    assert abs(scores["bias"].value) < 4 * scores["bias"].mcse
    assert scores["mse"].value == pytest.approx(float((summaries["sd"] ** 2).mean()), abs=4 * scores["mse"].mcse)
    assert scores["contraction"].value == pytest.approx(1 - scores["mse"].value / (np.e * (np.e - 1)), abs=0.05)


def test_failed_fits_do_not_enter(rng):
    truth, mean = rng.normal(size=(2, NUM_DATASETS))
    is_good = np.arange(NUM_DATASETS) % 3 > 0
    broken = make_summaries(truth, np.where(is_good, mean, np.nan), sd=np.where(is_good, 0.4, 1e9), is_good=is_good)
    kept = make_summaries(truth[is_good], mean[is_good], sd=0.4)
    assert score_recovery(broken) == score_recovery(kept)
    assert undefined(score(truth, mean, is_good=False)) == set(RECOVERY_SCORES)


@pytest.mark.parametrize("value", [0.0, 0.1, 1e6])
def test_equal_truths_leave_correlations_undefined(rng, value):
    scores = score(np.full(NUM_DATASETS, value), value + rng.normal(size=NUM_DATASETS))
    assert undefined(scores) == {"pearson", "concordance"}


def test_without_a_truth_only_the_posterior_is_scored(rng):
    mean = rng.normal(size=NUM_DATASETS)
    assert undefined(score(np.full(NUM_DATASETS, np.nan), mean)) == NEED_A_TRUTH


@pytest.mark.parametrize("constant", [0.1, 0.3, 1.7])
def test_posteriors_that_do_not_follow_the_truth_at_all_have_no_wild_correlation(rng, constant):
    scores = score(1 + rng.normal(size=20), np.full(20, constant))
    assert not abs(scores["pearson"].value) > 1e-6


def test_every_quantity_is_scored_by_itself(rng):
    first, second = (make_summaries(*rng.normal(size=(2, NUM_DATASETS)), name=name) for name in ("mu_0", "sigma[low]"))
    together = score_recovery(join_quantities(first, second))
    assert together == {**score_recovery(first), **score_recovery(second)}
