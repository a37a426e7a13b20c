"""Numbers are rounded in one way, wherever they stand."""

import math

import numpy as np
import pytest

from designstudio.core.numbers import format_fixed, format_percent, format_significant
from designstudio.evaluate.power_words import format_chance, warn_of_power
from designstudio.metrics.monte_carlo import Score
from designstudio.metrics.power import PowerScore


@pytest.mark.parametrize("num", [8, 40, 200, 1000])
def test_a_share_is_the_same_number_in_percent_and_behind_the_point(num):
    for share in np.arange(num + 1) / num:
        assert format_percent(share).removesuffix("%") == str(round(100 * float(format_fixed(share, 2))))


def test_halves_go_away_from_zero_as_the_number_is_written():
    assert [format_fixed(value, 2) for value in (0.405, 0.415, 0.125, 2.675, -0.405)] == [
        "0.41", "0.42", "0.13", "2.68", "-0.41",
    ]  # fmt: skip
    assert [format_percent(value) for value in (0.405, 0.005, 1.0)] == ["41%", "1%", "100%"]
    assert format_percent(0.0125, 1) == "1.3%"
    assert format_fixed(-0.001, 2) == "0.00"
    assert format_fixed(1e-9, 2) == "0.00"
    assert math.isnan(float(format_fixed(math.nan, 2)))


def test_milliseconds_have_no_exponent():
    numbers = (1234.5, 999.6, 12.345, 0.10004, 0.00012, -56789.0, 3e7)
    assert [format_significant(number) for number in numbers] == [
        "1230", "1000", "12.3", "0.1", "0.00012", "-56800", "3e+07",
    ]  # fmt: skip
    assert [format_significant(number, keeps_zeros=True) for number in (0.1, 1234.5, 123.4)] == ["0.100", "1230", "123"]
    assert format_significant(math.nan) == "nan"


def test_a_table_and_a_sentence_say_the_same_of_one_chance():
    power = PowerScore(0.405, 0.035, Score(0.405, 0.035), "beta is 1 for everybody", 0.06, "excludes", "a rule")
    assert format_chance(power.present) == str(power.present) == "0.41 ± 0.04"
    (sentence,) = warn_of_power("one-level", {"effort": power})
    assert "41% (± 4%) with the effect, 41% (± 4%) without it" in sentence


@pytest.mark.parametrize(
    ("score", "cell", "words"),
    [
        (Score(0.45, 0.112), "0.45 ± 0.11", "45% (± 11%)"),
        (Score(0.405, 0.035), "0.41 ± 0.04", "41% (± 4%)"),
        (Score(0.4055, 0.0051), "0.406 ± 0.005", "40.6% (± 0.5%)"),
        (Score(1.0, 0.0), "1.00 ± 0.00", "100% (± 0%)"),
    ],
)
def test_a_chance_has_the_same_digits_in_cells_and_sentences_and_never_fewer_than_a_percent(score, cell, words):
    assert (score.chance, score.chance_in_words) == (cell, words)
