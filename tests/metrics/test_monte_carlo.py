"""Monte Carlo errors: those of textbooks where there are some, elsewhere the spread over many repetitions."""

import json
import math

import numpy as np
import pytest

from designstudio.metrics.monte_carlo import (
    UNDEFINED,
    Score,
    estimate_by_jackknife,
    score_jackknife,
    score_mean,
    score_share,
    scores_as_dict,
    weighted_mean,
)
from tests.metrics.make_summaries import score_rmse


@pytest.fixture
def rng():
    return np.random.default_rng(1931)


def test_the_error_of_a_mean_is_the_deviation_over_the_root_of_the_number():
    assert score_mean(np.array([1.0, 2.0, 3.0, 6.0])) == pytest.approx((3.0, math.sqrt(14 / 3 / 4)))


def test_the_jackknife_of_a_mean_is_its_textbook_error(rng):
    values = rng.exponential(size=40)
    jackknifed = score_jackknife(lambda weights: weighted_mean(weights, values), 40)
    assert jackknifed == pytest.approx((values.mean(), values.std(ddof=1) / np.sqrt(40)), rel=1e-10)


def test_the_jackknife_error_of_the_rmse_is_its_spread_over_repetitions(rng):
    repetitions = [score_rmse(rng.normal(0.3, 1.2, size=150)) for _ in range(1000)]
    values, errors = np.array(repetitions).T
    assert values.mean() == pytest.approx(np.hypot(0.3, 1.2), rel=0.01)
    # The spread itself is known to 1 / sqrt(2 * 1000).
    assert errors.mean() == pytest.approx(values.std(), rel=0.08)


def test_the_jackknife_leaves_each_data_set_out_once():
    rows = []
    score_jackknife(lambda weights: rows.extend(weights.tolist()) or weights.sum(1), 4)
    assert rows == [[1, 1, 1, 1], [0, 1, 1, 1], [1, 0, 1, 1], [1, 1, 0, 1], [1, 1, 1, 0]]


@pytest.mark.parametrize("is_true", [False, True])
def test_a_share_of_all_or_none_is_not_certain(is_true):
    share = score_share(np.full(20, is_true))
    assert share.value == float(is_true)
    assert 0.03 < share.mcse < 0.08


@pytest.mark.parametrize("chance", [0.1, 0.5, 0.9])
def test_the_error_of_a_share_is_its_spread_over_repetitions(rng, chance):
    repetitions = [score_share(rng.uniform(size=400) < chance) for _ in range(1000)]
    values, errors = np.array(repetitions).T
    assert values.mean() == pytest.approx(chance, abs=0.003)
    assert errors.mean() == pytest.approx(values.std(), rel=0.08)


@pytest.mark.parametrize(
    "score",
    [
        score_mean(np.array([])),
        score_mean(np.array([2.0])),
        score_mean(np.full(5, np.nan)),
        score_share(np.array([], bool)),
        score_jackknife(lambda weights: weights.sum(1), 2),
    ],
)
def test_too_little_to_score_is_undefined(score):
    assert all(math.isnan(number) for number in score)


def test_undefined_numbers_are_null_in_json():
    assert Score(0.5, 0.1).as_dict() == {"value": 0.5, "mcse": 0.1}
    assert Score(0.5, math.nan).as_dict() == {"value": 0.5, "mcse": None}
    text = json.dumps(scores_as_dict({"bias": UNDEFINED, "rmse": Score(1.0, 0.25)}), allow_nan=False)
    assert json.loads(text) == {"bias": {"value": None, "mcse": None}, "rmse": {"value": 1.0, "mcse": 0.25}}


@pytest.mark.parametrize(
    ("value", "mcse", "text"),
    [
        (0.123456, 0.0234, "0.12 ± 0.02"),
        (0.123456, 0.234, "0.1 ± 0.2"),
        (-1.5049, 0.00123, "-1.505 ± 0.001"),
        (1234.56, 12.3, "1235 ± 12"),
        (3.0, 1.0, "3 ± 1"),
        (0.5, 1e-7, "0.5000 ± 0.0000"),
        (0.123456, 0.0, "0.123"),
        (0.123456, math.nan, "0.123"),
        (math.nan, math.nan, "-"),
    ],
)
def test_a_score_is_written_to_the_digit_of_its_error(value, mcse, text):
    assert str(Score(value, mcse)) == text


def test_the_jackknife_is_the_same_in_parts(monkeypatch):
    values = np.random.default_rng(3).normal(size=50)
    whole = estimate_by_jackknife(lambda weights: weighted_mean(weights, values) ** 2, 50)
    monkeypatch.setattr("designstudio.metrics.monte_carlo.MOST_WEIGHTS", 7 * 50)
    parts = estimate_by_jackknife(lambda weights: weighted_mean(weights, values) ** 2, 50)
    np.testing.assert_allclose(parts.pseudo_values, whole.pseudo_values, rtol=1e-12)
    assert parts.score == pytest.approx(whole.score)


@pytest.mark.parametrize("score", [Score(0.25, 0.01), Score(-3.0, math.nan), UNDEFINED])
def test_a_score_comes_back_from_json_as_it_was(score):
    assert str(Score.from_dict(json.loads(json.dumps(score.as_dict())))) == str(score)
    np.testing.assert_equal(tuple(Score.from_dict(score.as_dict())), tuple(score))


def test_no_record_is_no_score():
    assert str(Score.from_dict(None)) == str(UNDEFINED) == "-"
