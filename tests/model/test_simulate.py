"""Simulated experiments: reproducible, refused where impossible, and with the moments that theory gives."""

import jax
import numpy as np
import pytest

from designstudio.errors import StudioError
from designstudio.model.actors import ExactActor
from designstudio.model.costs import get_cost
from designstudio.model.likelihood.model import BehaviorModel
from designstudio.model.priors import PriorSet, Uniform
from designstudio.model.simulate import draw_participants, draw_stimuli, label_participants, simulate_trials

TRUTH = {"mu_0": [1.5, 1.5], "sigma_0": [0.2, 0.3], "sigma": [[0.1, 0.4], [0.3, 0.05]], "sigma_r": [0.15, 0.1]}


@pytest.fixture(scope="module")
def model():
    # Uniform priors compile quickly.
    priors = PriorSet({"mu_0": Uniform(0.1, 5.0), **dict.fromkeys(("sigma_0", "sigma", "sigma_r"), Uniform(0.01, 0.5))})
    return BehaviorModel(ExactActor(get_cost("quadratic")), num_conditions=2, per_condition=["sigma"], priors=priors)


def make_participants(model, **changes):
    values = {name: np.array(value) for name, value in {**TRUTH, **changes}.items() if value is not None}
    return label_participants(model.parameters, values)


def test_adding_data_sets_leaves_the_earlier_ones_unchanged(model):
    keys = jax.random.split(jax.random.key(0), 3)
    few, many = (
        (
            draw_participants(model, num, key=keys[0]),
            draw_stimuli(num, 2, 10, low=0.25, high=5.0, key=keys[1]),
        )
        for num in (2, 5)
    )
    for name in few[0]:
        np.testing.assert_array_equal(few[0][name], many[0][name][:2])
    np.testing.assert_array_equal(few[1], many[1][:2])
    first, second = (simulate_trials(model, *given, key=keys[2]) for given in (few, many))
    np.testing.assert_array_equal(first["response"], second["response"][:2])
    np.testing.assert_array_equal(first["stimulus"], second["stimulus"][:2])


def test_the_same_key_gives_the_same_trials_and_another_gives_others(model):
    participants, stimuli = make_participants(model), np.full((2, 2, 10), 1.0)
    first, again, other = (simulate_trials(model, participants, stimuli, key=jax.random.key(k)) for k in (1, 1, 2))
    np.testing.assert_array_equal(first["response"], again["response"])
    assert (first["response"].values != other["response"].values).all()
    # Nor do two data sets of one experiment share their noise.
    twins = make_participants(model, **{name: [TRUTH[name][0]] * 2 for name in TRUTH})
    one, two = simulate_trials(model, twins, stimuli, key=jax.random.key(1))["response"].values
    assert (one != two).all()


@pytest.mark.parametrize("choice", ["per_condition", "fixed"])
def test_log_responses_have_their_closed_form_moments_in_each_condition(choice):
    num = 4000
    model = BehaviorModel(ExactActor(get_cost("quadratic")), num_conditions=2, **{choice: ["sigma"]})
    stimuli = draw_stimuli(2, 2, num, low=0.25, high=5.0, key=jax.random.key(3))
    trials = simulate_trials(model, make_participants(model), stimuli, key=jax.random.key(4), conditions=["sharp", "dim"])
    assert trials["condition"].values.tolist() == ["sharp", "dim"]
    for i in range(2):
        mu_0, sigma_0, sigma_r = (TRUTH[name][i] for name in ("mu_0", "sigma_0", "sigma_r"))
        for k, sigma in enumerate(TRUTH["sigma"][i]):
            is_here = trials["condition_index"].values[i] == k
            log_stimulus, log_response = (np.log(trials[name].values[i, is_here]) for name in ("stimulus", "response"))
            assert len(log_response) == num
            weight = sigma_0**2 / (sigma_0**2 + sigma**2)
            mean = weight * log_stimulus + (1 - weight) * np.log(mu_0) + (weight * sigma**2 - 3 * sigma_r**2) / 2
            residual = (log_response - mean) / np.sqrt((weight * sigma) ** 2 + sigma_r**2)
            # Five standard errors.
            assert abs(residual.mean()) < 5 / np.sqrt(num)
            assert abs(np.corrcoef(residual, log_stimulus)[0, 1]) < 5 / np.sqrt(num)
            assert abs(residual.std() - 1) < 5 / np.sqrt(2 * num)


def test_participants_come_from_the_given_population_where_there_is_one(model):
    population = PriorSet({"mu_0": Uniform(6.0, 6.5), "sigma": Uniform(0.6, 0.7)})
    drawn = draw_participants(model, 5, key=jax.random.key(6), population=population)
    assert drawn["mu_0"].dims == ("dataset",)
    assert drawn["sigma"].dims == ("dataset", "condition")
    assert ((drawn["mu_0"] >= 6.0) & (drawn["mu_0"] <= 6.5)).all()
    assert ((drawn["sigma"] >= 0.6) & (drawn["sigma"] <= 0.7)).all()
    assert len(np.unique(drawn["sigma"])) == 10


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"sigma_r": None}, "Parameter 'sigma_r' (motor variability) of the participants is missing."),
        ({"sigma_0": [0.2, -0.1]}, "sigma_0 must be a positive number, but -0.1 was given at position 1."),
        ({"sigma_0": [0.0, 0.1]}, "sigma_0 must be a positive number, but 0 was given at position 0."),
        ({"mu_0": [np.nan, 1.0]}, "mu_0 must be a positive number, but nan was given at position 0."),
    ],
)
def test_impossible_participants_are_refused_with_a_sentence(model, changes, words):
    with pytest.raises(StudioError) as caught:
        make_participants(model, **changes)
    assert str(caught.value) == words


def test_participants_without_a_parameter_are_not_simulated(model):
    participants = make_participants(model).drop_vars("sigma_r")
    with pytest.raises(StudioError, match="sigma_r"):
        simulate_trials(model, participants, np.full((2, 2, 10), 1.0), key=jax.random.key(7))


def test_a_shared_parameter_with_a_value_for_each_condition_is_not_simulated():
    shared = BehaviorModel(ExactActor(get_cost("quadratic")), num_conditions=2)
    with pytest.raises(StudioError, match="sigma"):
        simulate_trials(shared, make_participants(shared), np.full((2, 2, 10), 1.0), key=jax.random.key(8))
