"""Trials become observations and numbers find their way back."""

import numpy as np
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st

from designstudio.errors import OutsideTrainingBoxWarning, StudioError, UnknownNameError, ValueOutsideSupportError
from designstudio.model.actors import ExactActor, load_actor
from designstudio.model.costs import get_cost
from designstudio.model.likelihood.model import BehaviorModel
from designstudio.model.likelihood.observations import observe
from designstudio.model.likelihood.packing import pack_trials, unpack_pointwise
from designstudio.model.trials import TrialsError, make_trials

EXACT = ExactActor(get_cost("quadratic_effort"))


def build_model(fixed=("sigma",), num_conditions=2, actor=EXACT):
    return BehaviorModel(actor, num_conditions=num_conditions, fixed=fixed)


@pytest.fixture
def trials():
    return make_trials(
        [[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]],
        [[1.5, 2.5, 3.5, 4.5], [5.5, 6.5, 7.5, 8.5]],
        condition_index=[[1, 0, 1, 1], [0, 0, 0, 1]],
        is_present=[[True, True, True, True], [True, False, True, True]],
        conditions=["low", "high"],
    )


def test_trials_are_sorted_by_condition_and_keep_their_order(trials):
    observations = pack_trials(trials, build_model(fixed=()))
    assert observations.is_present.shape == (2, 2, 16)
    assert observations.is_present.sum(-1).tolist() == [[1, 3], [2, 1]]
    stimulus = np.where(observations.is_present, np.exp(observations.stimulus), 0)[..., :3]
    response = np.where(observations.is_present, np.exp(observations.response), 0)[..., :3]
    np.testing.assert_allclose(stimulus, [[[2, 0, 0], [1, 3, 4]], [[5, 7, 0], [8, 0, 0]]], rtol=1e-6)
    np.testing.assert_allclose(response, [[[2.5, 0, 0], [1.5, 3.5, 4.5]], [[5.5, 7.5, 0], [8.5, 0, 0]]], rtol=1e-6)
    assert observations.fixed == {}


def test_packing_agrees_with_sorting_by_hand(trials):
    observations = pack_trials(trials, build_model(fixed=()))
    x, y, present = np.zeros((3, 2, 2, 3))
    for dataset in range(2):
        used = [0, 0]
        for trial in range(4):
            if trials["is_present"].values[dataset, trial]:
                condition = int(trials["condition_index"].values[dataset, trial])
                place = dataset, condition, used[condition]
                x[place] = np.log(trials["stimulus"].values[dataset, trial])
                y[place] = np.log(trials["response"].values[dataset, trial])
                present[place] = 1
                used[condition] += 1
    expected = observe(x, y, present.astype(bool), {})
    np.testing.assert_array_equal(observations.stimulus, expected.stimulus)
    np.testing.assert_array_equal(observations.response, expected.response)
    np.testing.assert_array_equal(observations.moments.slope, expected.moments.slope)


@st.composite
def experiments(draw):
    """Trials of any size with any order of conditions, gaps anywhere, and every data set with at least one trial."""
    num_datasets, num_trials, num_conditions = draw(st.tuples(*(st.integers(1, high) for high in (4, 20, 3))))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    shape = num_datasets, num_trials
    is_present = rng.random(shape) < draw(st.floats(0.2, 1.0))
    is_present[:, draw(st.integers(0, num_trials - 1))] = True
    return make_trials(
        rng.uniform(0.1, 7, shape),
        rng.uniform(0.1, 7, shape),
        condition_index=rng.integers(num_conditions, size=shape),
        is_present=is_present,
        conditions=[f"c{number}" for number in range(num_conditions)],
    )


@settings(max_examples=50, deadline=None)
@given(experiments())
def test_unpacking_undoes_packing(trials):
    observations = pack_trials(trials, build_model(fixed=(), num_conditions=trials.sizes["condition"]))
    response = np.exp(unpack_pointwise(observations.response, trials))
    np.testing.assert_allclose(response, trials["response"], rtol=1e-5)
    assert observations.is_present.sum() == trials["is_present"].values.sum()
    draws = np.stack([observations.stimulus, observations.response, -observations.response], axis=1)
    unpacked = unpack_pointwise(draws, trials)
    assert unpacked.shape == (trials.sizes["dataset"], 3, trials.sizes["trial"])
    np.testing.assert_array_equal(np.isnan(unpacked[:, 0]), ~trials["is_present"].values)
    np.testing.assert_array_equal(unpacked[:, 1], unpack_pointwise(observations.response, trials))


def test_numbers_of_other_trials_are_refused(trials):
    for shape in [(2, 2), (3, 2, 16), (2, 3, 16), (2, 2, 2)]:
        with pytest.raises(TrialsError, match="2 data sets, 2 conditions and at least 3 trials"):
            unpack_pointwise(np.zeros(shape), trials)


PER_DATASET = [[0.1, 0.1], [0.2, 0.2]]
PER_CONDITION = [[0.1, 0.2], [0.1, 0.2]]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0.1, [[0.1, 0.1], [0.1, 0.1]]),
        (np.float32(0.1), [[0.1, 0.1], [0.1, 0.1]]),
        (xr.DataArray(0.1), [[0.1, 0.1], [0.1, 0.1]]),
        ([0.1, 0.2], PER_CONDITION),
        (np.array([0.1, 0.2]), PER_CONDITION),
        (xr.DataArray([0.1, 0.2], dims="condition"), PER_CONDITION),
        (xr.DataArray([0.2, 0.1], coords={"condition": ["high", "low"]}), PER_CONDITION),
        (xr.DataArray([0.1, 0.2], dims="dataset"), PER_DATASET),
        (xr.DataArray([0.2, 0.1], coords={"dataset": [1, 0]}), PER_DATASET),
        (xr.DataArray([[0.1, 0.3], [0.2, 0.4]], dims=["condition", "dataset"]), [[0.1, 0.2], [0.3, 0.4]]),
    ],
)
def test_fixed_values_reach_every_data_set_and_condition(trials, value, expected):
    observations = pack_trials(trials, build_model(), {"sigma": value})
    np.testing.assert_allclose(observations.fixed["sigma"], expected, rtol=1e-6)


def test_missing_fixed_values_are_refused(trials):
    with pytest.raises(StudioError, match="model fixes 'sigma', but no value was given"):
        pack_trials(trials, build_model())


def test_values_for_free_or_unknown_parameters_are_refused(trials):
    with pytest.raises(StudioError, match="fixed value was given for 'mu_0', but the model fits it"):
        pack_trials(trials, build_model(), {"sigma": 0.1, "mu_0": 2.0})
    with pytest.raises(UnknownNameError, match="Unknown parameter 'sgima'"):
        pack_trials(trials, build_model(), {"sgima": 0.1})


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        (0.0, "fixed value of sigma must be a positive number, but 0 was given"),
        ([0.1, np.nan], "must be a positive number, but nan was given at position 1"),
        (np.inf, "but inf was given"),
        ("loud", "must be a number, but 'loud' was given"),
        (xr.DataArray([0.1, -1.0], dims="dataset"), "but -1 was given at position 1"),
    ],
)
def test_impossible_fixed_values_are_refused(trials, value, sentence):
    with pytest.raises(ValueOutsideSupportError, match=sentence):
        pack_trials(trials, build_model(), {"sigma": value})


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ([0.1, 0.2, 0.3], "has 3 entries along condition, but the trials have 2"),
        (xr.DataArray([0.1, 0.2, 0.3], dims="dataset"), "has 3 entries along dataset, but the trials have 2"),
        (xr.DataArray([0.1, 0.2], coords={"condition": ["low", "loud"]}), "labelled 'loud' along condition"),
        (xr.DataArray([0.1, 0.2], dims="subject"), "has dimension 'subject', but only dataset and condition are allowed"),
        (np.full((2, 2), 0.1), r"has shape \(2, 2\).*as a DataArray"),
        (1e-50, "1e-50 of 'sigma' is not a 32-bit number"),
    ],
)
def test_fixed_values_of_another_shape_are_refused(trials, value, sentence):
    with pytest.raises(StudioError, match=sentence):
        pack_trials(trials, build_model(), {"sigma": value})


def test_a_model_with_other_conditions_is_refused(trials):
    with pytest.raises(TrialsError, match=r"2 conditions \(low, high\), but the model has 3: build the model with num_cond"):
        pack_trials(trials, build_model(num_conditions=3), {"sigma": 0.1})


def test_fixed_values_outside_the_training_box_are_warned_about_unless_the_actor_is_exact(trials):
    amortized = load_actor("quadratic_effort")
    with pytest.warns(OutsideTrainingBoxWarning, match="fixed value 1.2 of 'sigma' lies outside 0.005 to 1") as caught:
        pack_trials(trials, build_model(actor=amortized), {"sigma": [0.1, 1.2]})
    assert caught[0].filename == __file__
    pack_trials(trials, build_model(), {"sigma": 1.2})
    pack_trials(trials, build_model(actor=amortized), {"sigma": [np.float32(0.005), np.float32(1.0)]})


def test_a_condition_without_trials_is_packed_as_absent(trials):
    lacking = trials.assign(condition_index=trials["condition_index"] * 0)
    assert pack_trials(lacking, build_model(fixed=())).is_present[:, 1].sum() == 0


def test_a_thousand_data_sets_survive_packing_and_unpacking():
    rng = np.random.default_rng(0)
    shape = 1000, 120
    trials = make_trials(
        rng.uniform(1, 5, shape),
        rng.uniform(1, 5, shape),
        condition_index=rng.integers(2, size=shape),
        conditions=["a", "b"],
    )
    model = build_model()
    observations = pack_trials(trials, model, {"sigma": 0.1})
    unpacked = unpack_pointwise(observations.response, trials)
    np.testing.assert_allclose(unpacked, np.log(trials["response"]), rtol=1e-5, atol=1e-6)
