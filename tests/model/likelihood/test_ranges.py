"""Regressions of short ranges of stimuli: against the likelihood of all trials."""

import jax
import numpy as np
import pytest

from designstudio.model.actors import ExactActor, load_actor
from designstudio.model.costs import get_cost
from designstudio.model.likelihood.model import BehaviorModel
from designstudio.model.likelihood.observations import observe
from designstudio.model.likelihood.ranges import summarize_ranges

NUM_TRIALS = 90
NUM_RANGES = 8
TRUTH = {"mu_0": 2.0, "sigma_0": 0.25, "sigma_r": 0.12}


@pytest.fixture
def rng():
    return np.random.default_rng(1900)


def simulate(rng, model, cost, sigma=0.25):
    """One data set of one condition."""
    x = np.log(rng.uniform(0.3, 5.0, (1, 1, NUM_TRIALS)))
    participant = {name: np.float32(value) for name, value in {**TRUTH, **cost, "sigma": sigma}.items()}
    measured = x + sigma * rng.normal(size=x.shape)
    act = jax.jit(lambda participant, measured: jax.vmap(model.actor.policy(participant))(measured))
    actions = act(participant, measured.ravel().astype(np.float32))
    y = np.asarray(actions, float).reshape(x.shape) + TRUTH["sigma_r"] * rng.normal(size=x.shape)
    return observe(x, y, np.ones(x.shape, bool), {"sigma": np.full((1, 1), sigma)})


def find_differences(rng, model, cost, num_draws=200):
    """Log likelihood of ranges minus that of all trials, for parameters that the data do not refuse."""
    observations = simulate(rng, model, cost)
    both = (observations, summarize_ranges(observations, NUM_RANGES))
    trials, ranges = (jax.tree.map(lambda a: a[0], one) for one in both)
    drawn = {
        name: (value * np.exp(0.1 * rng.normal(size=num_draws))).astype(np.float32)
        for name, value in {**TRUTH, **cost}.items()
    }
    by_trial, by_range = (
        np.asarray(jax.jit(jax.vmap(model.log_likelihood, in_axes=(0, None)))(drawn, data)) for data in (trials, ranges)
    )
    is_likely = by_trial > by_trial.max() - 10
    assert is_likely.sum() > 20
    return (by_range - by_trial)[is_likely], by_trial[is_likely]


def test_ranges_of_a_bent_policy_tell_parameters_apart_as_all_trials_do(rng):
    model = BehaviorModel(load_actor("inverted_gaussian"), fixed=["sigma"])
    assert not model.is_linear
    difference, log_likelihood = find_differences(rng, model, {"gamma": 1.2})
    assert difference.std() < 0.25
    assert difference.std() < 0.15 * log_likelihood.std()


def test_ranges_of_a_power_law_tell_all_that_trials_do(rng):
    model = BehaviorModel(ExactActor(get_cost("quadratic_effort")), fixed=["sigma"])
    observations = simulate(rng, model, {"beta": 0.8})
    ranges = jax.tree.map(lambda array: array[0], summarize_ranges(observations, NUM_RANGES)).ranges
    values = {name: np.float32(value) for name, value in {**TRUTH, "beta": 0.7}.items()}
    participant = {**values, "sigma": np.float32(0.25)}
    found = jax.jit(model._ranges_log_likelihood)(participant, jax.tree.map(lambda array: array[0], ranges))
    whole = jax.jit(model.log_likelihood)(values, jax.tree.map(lambda array: array[0], observations))
    assert float(np.sum(found)) == pytest.approx(float(whole), rel=1e-4)


def test_ranges_hold_every_trial_once_and_empty_ones_have_no_weight(rng):
    x = np.log(np.array([[[1.0, 1.0, 2.0, 4.0, 4.0, 4.0]]]))
    observations = observe(x, x + 0.1, np.ones(x.shape, bool), {})
    found = summarize_ranges(observations, NUM_RANGES).ranges
    assert found.count.shape == (1, 1, NUM_RANGES)
    assert sorted(found.count[0, 0].tolist()) == [0, 0, 0, 0, 0, 1, 2, 3]
    assert np.isfinite(jax.tree.leaves(found)).all()


def test_equal_stimuli_make_one_range():
    x = np.zeros((1, 1, 5))
    found = summarize_ranges(observe(x, x + 1.0, np.ones(x.shape, bool), {}), NUM_RANGES).ranges
    assert found.count[0, 0].tolist() == [5] + [0] * (NUM_RANGES - 1)
    assert found.mean_y[0, 0, 0] == 1
