"""Stimuli: what they promise, for every distribution."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from designstudio.errors import StudioError, UnknownNameError
from designstudio.study.stimuli import DISTRIBUTIONS, Stimuli

EVERY_KIND = {
    "uniform": Stimuli("uniform", low=0.25, high=5.0),
    "log-uniform": Stimuli("log-uniform", low=0.25, high=5.0),
    "grid": Stimuli("grid", low=0.25, high=5.0, num_values=6),
    "list": Stimuli("list", values=(0.9, 3.4, 2.0)),
}


def test_every_distribution_is_tested_here():
    assert set(EVERY_KIND) == set(DISTRIBUTIONS)


@pytest.mark.parametrize("kind", EVERY_KIND)
def test_stimuli_lie_in_their_support_and_reach_its_ends(kind):
    stimuli = EVERY_KIND[kind]
    placed = stimuli.place(np.random.default_rng(0).uniform(size=(3, 500)))
    low, high = stimuli.support
    assert placed.shape == (3, 500)
    assert (placed >= low).all()
    assert (placed <= high).all()
    assert placed.min() < low + 0.02 * (high - low)
    assert placed.max() > high - 0.02 * (high - low)


@given(num_trials=st.integers(1, 60), seed=st.integers(0, 100))
@pytest.mark.parametrize("kind", ["grid", "list"])
def test_values_are_shown_equally_often_up_to_one(kind, num_trials, seed):
    stimuli = EVERY_KIND[kind]
    placed = stimuli.place(np.random.default_rng(seed).uniform(size=num_trials))
    counts = [int((placed == value).sum()) for value in stimuli.shown_values]
    assert sum(counts) == num_trials
    assert max(counts) - min(counts) <= 1


def test_log_uniform_stimuli_are_even_in_logarithms():
    logs = np.log(EVERY_KIND["log-uniform"].place(np.linspace(0, 1, 11)))
    np.testing.assert_allclose(np.diff(logs), np.diff(logs)[0])


@pytest.mark.parametrize(
    ("given_", "sentence"),
    [
        ({"low": 5.0, "high": 1.0}, "low is 5 and high is 1"),
        ({"low": 0.0, "high": 1.0}, "low is 0 and high is 1"),
        ({"low": 1.0}, "need low and high"),
        ({"low": 1.0, "high": 2.0, "num_values": 3}, "takes no num_values"),
        ({"distribution": "grid", "low": 1.0, "high": 2.0}, "needs num_values"),
        ({"distribution": "grid", "low": 1.0, "high": 2.0, "num_values": 1}, "at least 2 values"),
        ({"distribution": "list"}, "at least one value"),
        ({"distribution": "list", "values": (1.0, -2.0)}, "-2 was given"),
        ({"distribution": "list", "values": (1.0,), "low": 1.0}, "takes values only"),
        ({"low": 1.0, "high": 2.0, "values": (1.0,)}, "not a list of values"),
    ],
)
def test_impossible_stimuli_are_refused_with_a_sentence(given_, sentence):
    with pytest.raises(StudioError, match=sentence):
        Stimuli(**given_)


def test_an_unknown_distribution_names_the_known_ones():
    with pytest.raises(UnknownNameError, match="Available: uniform, log-uniform, grid, list"):
        Stimuli("unifrom", low=1.0, high=2.0)
