"""A change of unit brings data into the actor's range and parameters back, and changes nothing else."""

import dataclasses
import math

import jax
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from designstudio.errors import DataError
from designstudio.fitting.reading import choose_scale
from designstudio.model.actors import ExactActor
from designstudio.model.actors.decide import choose_actions
from designstudio.model.costs import PAPER_COST_NAMES, get_cost
from designstudio.model.perception.lognormal import MU_0, SIGMA
from designstudio.model.scale import Scale
from designstudio.model.trials import check_trials, make_trials


def make(stimulus, response=None, unit="mm"):
    stimulus = np.asarray(stimulus, float)
    return make_trials(stimulus, stimulus if response is None else response, unit=unit)


@pytest.mark.parametrize("stimuli", [[0.5, 1.5, 3.0], [0.1, 1.0, 5.0], [2.9, 3.0]])
def test_data_in_the_actors_range_stay_as_they_are(stimuli):
    trials = make(stimuli)
    scale = choose_scale(trials)
    assert scale == Scale(1.0, "mm")
    assert scale.apply(trials).identical(trials)


@pytest.mark.parametrize(
    ("stimuli", "factor"),
    [
        ([800, 1200, 1600], 1000),
        ([8, 16, 32], 10),
        ([5, 7, 9, 11], 5),
        ([0.012, 0.02], 0.01),
        ([0.4, 0.4, 0.05], 0.1),
        ([3e-8, 4e-8], 2e-8),
        ([2.5e12, 3.5e12], 2e12),
        # On average in range, but one sticks out.
        ([1, 1, 1, 1, 6], 2),
    ],
)
def test_other_data_are_divided_by_a_round_number(stimuli, factor):
    assert choose_scale(make(stimuli)).factor == factor


@settings(max_examples=200, deadline=None)
@given(st.floats(1e-9, 1e9), st.floats(1.0, 3.0))
def test_the_mean_stimulus_always_becomes_about_one(mean, spread):
    trials = make([mean / spread, mean, mean * spread])
    scale = choose_scale(trials)
    digits = scale.factor / 10 ** math.floor(math.log10(scale.factor) + 1e-9)
    assert min(abs(digits - number) for number in (1, 2, 5)) < 1e-9
    assert scale.factor == float(f"{scale.factor:.1g}")
    assert 0.5 <= mean / scale.factor <= 3
    assert not scale.note


def test_responses_out_of_range_change_the_unit_too():
    assert choose_scale(make([2.5, 2.9], response=[5.0, 6.0])).factor == 2


def test_a_range_that_no_unit_fits_is_noted():
    scale = choose_scale(make([0.01, 1.0, 100.0]))
    assert scale.note == (
        "The stimuli reach from 0.01 to 100 in the actor's unit, but prior means only from 0.1 to 5: "
        "2 of 3 lie outside, where a fit knows less."
    )


def test_padding_does_not_count():
    trials = make_trials(
        [[1000.0, 1500.0], [1200.0, 1.0]], [[1000.0, 1500.0], [1200.0, 1.0]], is_present=[[True, True], [True, False]]
    )
    assert choose_scale(trials).factor == 1000


def test_applying_a_scale_divides_and_says_so():
    trials = make([8.0, 16.0, 32.0], unit="N")
    before = trials.copy(deep=True)
    scaled = choose_scale(trials).apply(trials)
    check_trials(scaled)
    np.testing.assert_allclose(scaled["stimulus"].values, [[0.8, 1.6, 3.2]])
    assert scaled["response"].attrs == {"units": "10 N", "long_name": "response"}
    assert trials.identical(before)


def test_a_scale_is_applied_once_and_to_its_own_unit():
    trials = make([8.0, 16.0], unit="N")
    scale = choose_scale(trials)
    with pytest.raises(DataError, match=r"^The scale is for trials in 'N', but these are in '10 N': choose one for them\.$"):
        scale.apply(scale.apply(trials))


@pytest.mark.parametrize("factor", [0.0, -1.0, math.inf, math.nan])
def test_impossible_factors_are_refused(factor):
    with pytest.raises(DataError, match="factor of a scale must be a positive number"):
        Scale(factor, "s")


def test_parameters_come_back_in_the_unit_of_the_data():
    scale = Scale(10.0, "N")
    assert scale.restore(2.0, MU_0) == 20.0
    assert scale.restore(0.2, SIGMA) == 0.2
    gamma, alpha = get_cost("inverted_gaussian").parameters[0], get_cost("linex").parameters[0]
    np.testing.assert_allclose(scale.restore(np.array([1.0, 2.0]), gamma), [10.0, 20.0])
    np.testing.assert_allclose(scale.restore(1.0, alpha), 0.1)
    assert scale.restore(0.3, get_cost("asymmetric_quadratic").parameters[0]) == 0.3
    assert scale.restore(0.9, get_cost("quadratic_effort").parameters[0]) == 0.9
    # Odds of 9 become odds of 90.
    beta = get_cost("absolute_effort").parameters[0]
    np.testing.assert_allclose(scale.restore(np.array([0.9, 1.0, 0.0]), beta), [90 / 91, 1.0, 0.0])


@pytest.mark.parametrize("name", PAPER_COST_NAMES)
def test_converting_undoes_restoring(name):
    scale = Scale(0.02, "m")
    for parameter in get_cost(name).all_parameters:
        values = np.linspace(parameter.box.low, parameter.box.high, 7)
        np.testing.assert_allclose(scale.convert(scale.restore(values, parameter), parameter), values, rtol=1e-10)


def test_a_parameter_in_an_unknown_unit_is_refused():
    with pytest.raises(
        ValueError, match=r"^Parameter 'mu_0' is in 'newtons', but to change the unit of the stimulus it must be in one of "
    ):
        Scale(2.0, "N").restore(1.0, dataclasses.replace(MU_0, unit="newtons"))


@pytest.mark.parametrize("name", PAPER_COST_NAMES)
@pytest.mark.parametrize("factor", [10.0, 0.05])
def test_optimal_actions_of_restored_participants_are_the_scaled_actions(name, factor):
    """action(a s, a mu_0, rescaled cost) == a action(s, mu_0, cost): the meaning of 'restored'."""
    actor, scale = ExactActor(get_cost(name)), Scale(factor, "N")
    rng = np.random.default_rng(0)
    num = 40
    participants = {p.name: rng.uniform(p.box.low, p.box.high, num) for p in actor.cost.all_parameters}
    measurements = rng.uniform(0.2, 5.0, num)
    restored = {p.name: scale.restore(participants[p.name], p) for p in actor.cost.all_parameters}
    with jax.enable_x64(True):
        actions = np.asarray(choose_actions(actor, measurements, participants).action)
        restored_actions = np.asarray(choose_actions(actor, measurements * factor, restored).action)
    np.testing.assert_allclose(restored_actions, factor * actions, rtol=1e-6)
