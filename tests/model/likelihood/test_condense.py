"""A few weighted nodes in place of many trials with the same stimulus."""

import jax
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from designstudio.model.actors import load_actor
from designstudio.model.costs import PAPER_COST_NAMES, get_cost
from designstudio.model.likelihood.condense import NUM_NODES, condense, summarize_groups
from designstudio.model.likelihood.model import BehaviorModel
from designstudio.model.likelihood.observations import observe

DURATIONS = np.array([0.6, 0.8, 1.0, 1.3, 1.6])


def make_observations(num_trials=400, num_datasets=2, jitter=0.002):
    """Two conditions, five stimuli that a screen shows a little too long or too short."""
    rng = np.random.default_rng(5)
    shape = (num_datasets, 2, num_trials)
    x = np.log(rng.choice(DURATIONS, shape)) + jitter * rng.uniform(-1, 1, shape)
    y = 0.1 + 0.6 * x + 0.15 * rng.normal(size=shape)
    return observe(x, y, np.ones(shape, bool), {})


@given(
    st.lists(st.lists(st.floats(-3, 3), min_size=1, max_size=40), min_size=1, max_size=4), st.integers(0, 2 * NUM_NODES - 1)
)
@settings(deadline=None, max_examples=60)
def test_nodes_have_the_moments_of_their_group(groups, power):
    values, group = np.concatenate(groups), np.repeat(np.arange(len(groups)), [len(one) for one in groups])
    nodes, weights = summarize_groups(values, group)
    assert (weights >= 0).all()
    for one, points, shares in zip(groups, nodes, weights, strict=True):
        expected = np.sum(np.array(one) ** power)
        assert np.sum(shares * points**power) == pytest.approx(expected, rel=1e-6, abs=1e-5 * len(one) * 3.0**power)


def test_a_group_with_few_values_has_just_these():
    nodes, weights = summarize_groups(np.array([2.0, 5.0, 2.0, 2.0]), np.zeros(4, int))
    real = weights[0] > 0
    np.testing.assert_allclose(nodes[0, real], [2.0, 5.0], rtol=1e-6)
    np.testing.assert_allclose(weights[0, real], [3.0, 1.0], rtol=1e-6)


@pytest.mark.parametrize("name", [name for name in PAPER_COST_NAMES if get_cost(name).num_terms > 1])
def test_the_likelihood_of_nodes_is_that_of_all_trials(name):
    model = BehaviorModel(load_actor(name), num_conditions=2, per_condition=["sigma"])
    every = make_observations()
    few = condense(every)
    assert few.weight.shape[-1] <= every.weight.shape[-1] / 4
    np.testing.assert_allclose(few.weight.sum(-1), every.weight.sum(-1), rtol=1e-6)
    # People near those who would respond like this: a posterior is explored, not the whole prior.
    rng = np.random.default_rng(2)
    centre = {"mu_0": 1.1, "sigma_0": 0.2, "sigma": np.array([0.15, 0.17]), "sigma_r": 0.12}
    centre |= {
        parameter.name: float(parameter.analysis.quantile(np.array(0.5))) for parameter in model.actor.cost.parameters
    }
    values = {n: v * np.exp(0.15 * rng.normal(size=(40, *np.shape(v)))) for n, v in centre.items()}
    if "beta" in values:
        values["beta"] = np.clip(values["beta"], 0.55, 0.99)
    first = [jax.tree.map(lambda array: array[0], o) for o in (every, few)]
    evaluate = jax.jit(jax.vmap(model.log_likelihood, in_axes=(0, None)))
    all_trials, nodes = (np.asarray(evaluate(values, o), float) for o in first)
    assert np.std(all_trials) > 10
    assert np.std(nodes - all_trials) < 0.05


def test_each_data_set_decides_for_itself_and_others_change_nothing():
    repeated, other = make_observations(num_datasets=1), make_observations(num_datasets=1, jitter=1.0)
    both = condense(jax.tree.map(lambda *arrays: np.concatenate(arrays), repeated, other))
    alone = condense(repeated)
    num = alone.weight.shape[-1]
    for name in ("stimulus", "response", "weight"):
        np.testing.assert_array_equal(getattr(both, name)[:1, :, :num], getattr(alone, name))
    assert (both.weight[0, :, num:] == 0).all()


def test_stimuli_that_all_differ_are_left_as_they_are():
    observations = make_observations(num_trials=60, jitter=1.0)
    assert condense(observations) is observations
