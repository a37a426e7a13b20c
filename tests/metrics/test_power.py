"""Power: textbook values, simulated t tests, and intervals counted by hand."""

import math

import numpy as np
import pytest
from scipy import stats

from designstudio.metrics.power import Exclusion, GroupDifference, Narrowness, power_of_t_test
from designstudio.metrics.samples import keep_good, sample_quantity
from tests.metrics.make_summaries import make_summaries

ALPHA = 0.05


@pytest.fixture
def rng():
    return np.random.default_rng(1908)


def sample(summaries):
    return sample_quantity(keep_good(summaries), "mu_0")


def score_exclusion(summaries, value, margin=0.0):
    return Exclusion(value, margin).score(sample(summaries))


def score_narrowness(summaries, width):
    return Narrowness(width).score(sample(summaries))


def score_group_difference(first, second, num_participants):
    return GroupDifference(sample(second).mean, num_participants).score(sample(first))


def make_group(means, **others):
    return make_summaries(np.nan, np.asarray(means, float), **others)


def make_intervals(low, high, **others):
    return make_summaries(np.nan, np.zeros(len(low)), low=low, high=high, **others)


@pytest.mark.parametrize(("effect", "num_participants"), [(0.2, 394), (0.5, 64), (0.8, 26)])
def test_small_medium_and_large_effects_need_the_participants_that_textbooks_say(effect, num_participants):
    assert power_of_t_test(np.array(effect), num_participants) == pytest.approx(0.8, abs=0.01)
    assert power_of_t_test(np.array(effect), num_participants) >= 0.8
    assert power_of_t_test(np.array(effect), num_participants - 1) < 0.8


@pytest.mark.parametrize(("num_participants", "effect"), [(2, 1.5), (5, 0.6), (12, 0.9), (40, 0.3)])
def test_power_is_the_share_of_simulated_t_tests_that_are_significant(rng, num_participants, effect):
    num = 20_000
    first, second = rng.normal(size=(2, num, num_participants))
    share = np.mean(stats.ttest_ind(first + effect, second, axis=1).pvalue < ALPHA)
    power = power_of_t_test(np.array(effect), num_participants)
    assert power == pytest.approx(share, abs=3.5 * np.sqrt(power * (1 - power) / num))


@pytest.mark.parametrize("num_participants", [2, 10, 1000])
def test_without_an_effect_the_power_is_the_level(num_participants):
    assert power_of_t_test(np.array(0.0), num_participants) == pytest.approx(ALPHA, rel=1e-6)


def test_the_sign_of_an_effect_does_not_matter():
    effects = np.linspace(0, 1.5, 7)
    np.testing.assert_array_equal(power_of_t_test(effects, 15), power_of_t_test(-effects, 15))


@pytest.mark.parametrize("num_participants", [2, 20, 500])
def test_effects_far_out_have_a_power_of_one(num_participants):
    np.testing.assert_array_equal(power_of_t_test(np.array([100.0, -1e6, np.inf]), num_participants), 1)


@pytest.mark.parametrize("num_participants", [5, 20, 64, 500])
def test_power_grows_with_the_effect_up_to_one(num_participants):
    effects = np.linspace(0, 40, 801) / math.sqrt(num_participants / 2)
    power = power_of_t_test(effects, num_participants)
    assert power[-1] == 1
    assert (np.diff(power) > -1e-9).all()


def test_the_power_to_tell_groups_apart_is_that_of_groups_drawn_from_the_pool(rng):
    num, num_participants = 20_000, 15
    pools = rng.gamma(6.0, size=3000), 1.6 + rng.gamma(6.0, size=3000)
    groups = [rng.choice(pool, size=(num, num_participants)) for pool in pools]
    share = np.mean(stats.ttest_ind(*groups, axis=1).pvalue < ALPHA)
    power = score_group_difference(*(make_group(pool) for pool in pools), num_participants)
    assert 0.3 < share < 0.7
    # The pools are a little skewed, the formula is for normal ones.
    assert power.value == pytest.approx(share, abs=0.015)


def test_groups_of_different_spread_are_told_apart_as_often_as_t_tests_do(rng):
    num, num_participants = 20_000, 20
    pools = rng.normal(0.0, 0.5, size=3000), rng.normal(0.8, 1.3, size=3000)
    share = np.mean(stats.ttest_ind(*(rng.choice(p, size=(num, num_participants)) for p in pools), axis=1).pvalue < ALPHA)
    power = score_group_difference(*(make_group(pool) for pool in pools), num_participants)
    assert power.value == pytest.approx(share, abs=0.015)


def test_the_error_of_a_group_difference_is_its_spread_over_repetitions(rng):
    scores = [
        score_group_difference(make_group(rng.normal(size=150)), make_group(rng.normal(0.5, size=150)), 40)
        for _ in range(200)
    ]
    values, errors = np.array(scores).T
    assert np.mean(values) == pytest.approx(power_of_t_test(np.array(0.5), 40), abs=0.03)
    assert np.mean(errors) == pytest.approx(np.std(values), rel=0.15)


def test_groups_without_failed_fits_are_compared(rng):
    first, second = rng.normal(size=(2, 60))
    is_good = np.arange(60) % 4 > 0
    kept = score_group_difference(make_group(first[is_good]), make_group(second[is_good]), 50)
    broken = [make_group(np.where(is_good, values, np.nan), is_good=is_good) for values in (first, second)]
    assert score_group_difference(*broken, 50) == kept


@pytest.mark.parametrize(("num", "num_participants"), [(2, 20), (50, 1), (0, 20)])
def test_too_few_to_compare_have_no_power(rng, num, num_participants):
    score = score_group_difference(
        make_group(rng.normal(size=50)),
        make_group(rng.normal(size=50), is_good=np.arange(50) < num),
        num_participants,
    )
    assert math.isnan(score.value)


LOW = np.array([0.8, 1.2, -1.0, 0.5, 1.04])
HIGH = np.array([1.2, 1.4, 0.7, 0.97, 1.3])


@pytest.mark.parametrize(("margin", "share"), [(0.0, 0.8), (0.035, 0.6), (0.05, 0.4), (0.25, 0.2), (0.5, 0.0)])
def test_intervals_exclude_a_value_from_above_and_below(margin, share):
    assert score_exclusion(make_intervals(LOW, HIGH), 1.0, margin).value == share


def test_an_interval_that_ends_on_the_value_does_not_exclude_it():
    assert score_exclusion(make_intervals([1.0, 0.5], [2.0, 1.0]), 1.0).value == 0


@pytest.mark.parametrize(("width", "share"), [(0.1, 0.0), (0.25, 0.2), (0.3, 0.4), (0.45, 0.6), (0.5, 0.8), (10, 1.0)])
def test_intervals_narrower_than_a_width_are_counted(width, share):
    # Widths: 0.4, 0.2, 1.7, 0.47, 0.26.
    assert score_narrowness(make_intervals(LOW, HIGH), width).value == pytest.approx(share)


def test_failed_fits_do_not_count():
    intervals = make_intervals(LOW, HIGH, is_good=[True, True, False, False, True])
    assert score_exclusion(intervals, 1.0).value == pytest.approx(2 / 3)
    assert score_narrowness(intervals, 0.3).value == pytest.approx(2 / 3)
    assert math.isnan(score_exclusion(make_intervals(LOW, HIGH, is_good=False), 1.0).value)
