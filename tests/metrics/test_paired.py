"""Paired comparison of designs: the ratio of their errors, and what is gained by sharing participants and noise."""

import math

import numpy as np
import pytest

from designstudio.metrics.paired import compare_rmse
from tests.metrics.make_summaries import join_quantities, make_summaries, score_rmse

NUM_DATASETS = 80


@pytest.fixture
def rng():
    return np.random.default_rng(1908)


def compare(better, worse, **others):
    """The ratio for one quantity with these errors of the posterior mean."""
    truth = np.linspace(1, 2, len(better))
    return compare_rmse(make_summaries(truth, truth + better, **others), make_summaries(truth, truth + worse))["mu_0"]


def draw_errors(rng, num=NUM_DATASETS):
    """Errors of two designs with correlation 0.9, of which the second is 1.5 times larger."""
    first, second = rng.multivariate_normal([0, 0], [[1, 0.9], [0.9, 1]], size=num).T
    return first, 1.5 * second


def test_proportional_errors_have_a_certain_ratio(rng):
    error = rng.normal(size=NUM_DATASETS)
    ratio = compare(error, -2.5 * error)
    assert ratio.value == pytest.approx(2.5)
    assert ratio.mcse == pytest.approx(0, abs=1e-6)


def test_the_ratio_of_known_errors_is_recovered(rng):
    ratio = compare(*draw_errors(rng, 1000))
    assert ratio.value == pytest.approx(1.5, abs=4 * ratio.mcse)
    assert ratio.mcse < 0.03


def test_the_ratio_of_two_designs_turns_around_with_them(rng):
    better, worse = draw_errors(rng)
    assert compare(worse, better).value == pytest.approx(1 / compare(better, worse).value)


def test_the_paired_error_is_the_spread_over_repetitions_and_smaller_than_the_unpaired_one(rng):
    ratios, errors, unpaired = [], [], []
    for _ in range(200):
        better, worse = draw_errors(rng)
        ratio = compare(better, worse)
        relative = [score.mcse / score.value for score in (score_rmse(better), score_rmse(worse))]
        ratios.append(ratio.value)
        errors.append(ratio.mcse)
        unpaired.append(ratio.value * math.hypot(*relative))
    assert np.mean(errors) == pytest.approx(np.std(ratios), rel=0.12)
    # The squares of errors that correlate by 0.9 correlate by 0.81.
    assert np.mean(errors) / np.mean(unpaired) == pytest.approx(math.sqrt(1 - 0.81), rel=0.1)


def test_only_data_sets_that_both_designs_could_fit_are_compared(rng):
    truth, noise, other = rng.normal(size=(3, 12))
    numbers = np.arange(12)
    first_good, second_good = numbers != 4, numbers % 5 > 0
    # The second design has the numbers 3 to 14, in another order.
    first = make_summaries(truth, np.where(first_good, truth + noise, np.nan), is_good=first_good)
    shuffled = rng.permutation(12)
    second = make_summaries(
        truth[shuffled], np.where(second_good, truth + other, 1e9)[shuffled], is_good=second_good[shuffled]
    ).assign_coords(dataset=3 + shuffled)
    common = [k for k in range(3, 12) if first_good[k] and second_good[k - 3]]
    assert len(common) == 6
    expected = np.sqrt(sum(other[k - 3] ** 2 for k in common) / sum(noise[k] ** 2 for k in common))
    assert compare_rmse(first, second)["mu_0"].value == pytest.approx(expected)


def test_only_quantities_that_both_designs_have_are_compared(rng):
    one, two, three = (make_summaries(*rng.normal(size=(2, 10)), name=name) for name in ("mu_0", "beta", "sigma"))
    assert list(compare_rmse(join_quantities(one, two), join_quantities(two, three))) == ["beta"]


@pytest.mark.parametrize(
    ("better", "is_good"),
    [
        pytest.param([1.0, -1.0, 2.0, 1.0], [True, True, False, False], id="too few in common"),
        pytest.param([1.0, -1.0, np.nan, 1.0], True, id="no truth"),
        pytest.param([0.0, 0.0, 0.0, 0.0], True, id="no error at all"),
        pytest.param([1.0, 2.0, 3.0, 4.0], False, id="nothing fitted"),
    ],
)
def test_a_ratio_of_nothing_is_undefined(better, is_good):
    ratio = compare(np.array(better), np.ones(4), is_good=is_good)
    assert math.isnan(ratio.value)
    assert math.isnan(ratio.mcse)
