"""The trial schema: what is made, what is refused, what is pointed out."""

import jax.numpy as jnp
import numpy as np
import pytest
import xarray as xr

from designstudio.errors import StudioError
from designstudio.model.trials import TrialsError, check_trials, find_weaknesses, make_trials, trials_from_rows

STIMULUS = np.array([[1.0, 2.0, 3.0, 4.0], [2.0, 3.0, 5.0, 7.0]])
RESPONSE = np.array([[1.1, 1.9, 3.2, 3.8], [2.3, 2.7, 5.2, 6.5]])


def make_two(**settings):
    """Two data sets, two conditions."""
    chosen = {"condition_index": [[0, 1, 0, 1], [1, 0, 1, 0]], "conditions": ["low", "high"], "subjects": ["anna", "ben"]}
    return make_trials(STIMULUS, RESPONSE, **{**chosen, **settings})


def test_trials_carry_labels_units_and_the_schema():
    trials = make_two(unit="cm")
    assert dict(trials.sizes) == {"dataset": 2, "trial": 4, "condition": 2}
    assert trials["dataset"].values.tolist() == [0, 1]
    assert trials["subject"].values.tolist() == ["anna", "ben"]
    assert trials["condition"].values.tolist() == ["low", "high"]
    assert trials["stimulus"].attrs == {"units": "cm", "long_name": "stimulus"}
    assert trials["response"].attrs["units"] == "cm"
    assert trials.attrs["schema"] == "designstudio trials 1"
    assert trials["is_present"].values.all()


def test_one_data_set_may_be_given_without_its_axis():
    trials = make_trials([1.0, 2.0], [1.5, 2.5])
    assert trials["stimulus"].shape == (1, 2)
    assert trials["subject"].values.tolist() == ["0"]
    assert trials["condition"].values.tolist() == ["all"]
    assert trials["stimulus"].attrs["units"] == "stimulus unit"


def test_single_precision_and_jax_arrays_become_float64():
    trials = make_trials(jnp.asarray([1.0, 2.0]), np.asarray([1.0, 2.0], np.float32))
    assert trials["stimulus"].dtype == trials["response"].dtype == np.float64


def test_conditions_without_names_are_numbered():
    assert make_two(conditions=None)["condition"].values.tolist() == ["0", "1"]


def test_padding_is_cleared_whatever_it_held():
    trials = make_two(is_present=[[True] * 4, [True, True, False, False]], condition_index=[[0, 1, 0, 1], [1, 0, 9, 9]])
    assert np.isnan(trials["stimulus"].values[1, 2:]).all()
    assert np.isnan(trials["response"].values[1, 2:]).all()
    assert trials["condition_index"].values[1, 2:].tolist() == [0, 0]


def test_the_arrays_given_are_not_shared():
    is_present = np.ones(2, bool)
    trials = make_trials([1.0, 2.0], [1.0, 2.0], is_present=is_present)
    is_present[:] = False
    assert trials["is_present"].values.all()


def test_rows_become_data_sets_in_order_of_first_appearance():
    trials = trials_from_rows(
        ["zoe", "al", "zoe", "zoe", "al"], [1, 2, 3, 4, 5], [6, 7, 8, 9, 10], ["late", "late", "early", "late", "early"]
    )
    assert trials["subject"].values.tolist() == ["zoe", "al"]
    assert trials["condition"].values.tolist() == ["late", "early"]
    assert trials["is_present"].values.tolist() == [[True, True, True], [True, True, False]]
    np.testing.assert_array_equal(trials["stimulus"], [[1, 3, 4], [2, 5, np.nan]])
    np.testing.assert_array_equal(trials["response"], [[6, 8, 9], [7, 10, np.nan]])
    assert trials["condition_index"].values.tolist() == [[0, 1, 0], [0, 1, 0]]


def test_rows_may_number_their_subjects_and_leave_conditions_out():
    trials = trials_from_rows(np.array([7, 7, 3]), [1, 2, 3], [1, 2, 3], unit="s")
    assert trials["subject"].values.tolist() == ["7", "3"]
    assert trials["condition"].values.tolist() == ["all"]
    assert trials["response"].attrs["units"] == "s"


@pytest.mark.parametrize(
    ("columns", "sentence"),
    [
        ((["a", "b"], [1.0], [1.0, 2.0]), r"Column 'stimulus' has shape \(1,\), but subject has 2 rows"),
        (([], [], []), "no rows"),
        ((["a", None], [1.0, 2.0], [1.0, 2.0]), "subject label at position 1 is missing"),
        (([1.0, np.nan], [1.0, 2.0], [1.0, 2.0]), "subject label at position 1 is missing"),
        ((["a", "a"], ["x", "y"], [1.0, 2.0]), "stimulus must be an array of numbers"),
        ((["a", "b", "b"], [1.0, 2.0, np.nan], [1.0, 2.0, 3.0]), r"Data set 1 \(subject 'b'\) has stimulus nan in trial 1"),
    ],
)
def test_unusable_rows_are_refused(columns, sentence):
    with pytest.raises(TrialsError, match=sentence):
        trials_from_rows(*columns)


@pytest.mark.parametrize(("name", "other"), [("stimulus", RESPONSE), ("response", STIMULUS)])
@pytest.mark.parametrize("value", [0.0, -2.5, np.nan, np.inf])
def test_impossible_numbers_are_refused_with_subject_trial_and_value(name, other, value):
    numbers = np.array(STIMULUS if name == "stimulus" else RESPONSE)
    numbers[1, 2] = value
    tables = {name: numbers, "response" if name == "stimulus" else "stimulus": other}
    with pytest.raises(TrialsError, match=rf"Data set 1 \(subject '1'\) has {name} {value:g} in trial 2, but only positive"):
        make_trials(**tables)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        (
            {"condition_index": [[0, 1, 0, 1], [1, 0, 2, 0]]},
            r"Data set 1 \(subject 'ben'\) has condition_index 2 in trial 2",
        ),
        (
            {"condition_index": [[0, -1, 0, 1], [1, 0, 1, 0]]},
            "condition_index -1 in trial 1, but only 0 to 1 are conditions",
        ),
        ({"condition_index": np.zeros((2, 4))}, "'condition_index' holds float64, but integer is needed"),
        ({"condition_index": [0, 1, 0, 1]}, r"condition_index has shape \(4,\)"),
        ({"condition_index": [[0], [0, 1]]}, "condition_index must be an array of numbers"),
        (
            {"condition_index": np.full((2, 4), 10**12), "conditions": None},
            "reaches 1000000000000, but there are only 8 trials",
        ),
        ({"condition_index": None}, "2 conditions were named: give condition_index"),
        ({"conditions": ["low", "low"]}, "give each a name of its own"),
        ({"conditions": "low"}, "must be a list of text, but 'low' was given"),
        ({"subjects": ["anna"]}, "1 subjects were named for 2 data sets"),
        ({"is_present": [[True] * 4, [False] * 4]}, r"Data set 1 \(subject 'ben'\) has no trials"),
        ({"is_present": np.ones((2, 4), int)}, "'is_present' holds int64, but bool is needed"),
        ({"unit": ""}, "unit of the stimulus is ''"),
    ],
)
def test_unusable_arrays_are_refused(settings, sentence):
    with pytest.raises(TrialsError, match=sentence):
        make_two(**settings)


def test_stimulus_and_response_need_the_same_shape():
    with pytest.raises(TrialsError, match="response has shape"):
        make_trials([1.0, 2.0], [1.0, 2.0, 3.0])
    with pytest.raises(TrialsError, match="shape"):
        make_trials(np.ones((1, 1, 2)), np.ones((1, 1, 2)))
    with pytest.raises(TrialsError, match="no data sets"):
        make_trials(np.ones((0, 3)), np.ones((0, 3)))


def replace_units(trials):
    trials["response"].attrs["units"] = "mm"
    return trials


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda t: t.drop_vars("response"), "have no 'response'"),
        (lambda t: t.drop_vars("subject"), "have no 'subject'"),
        (lambda t: t.drop_vars("condition"), "have no 'condition'"),
        (lambda t: t.isel(dataset=0), r"has dimensions \('trial',\).*select with lists"),
        (lambda t: t.transpose("trial", "dataset", "condition"), "use transpose"),
        (lambda t: t.assign(stimulus=t["stimulus"].astype(np.float32)), "'stimulus' holds float32, but float64 is needed"),
        (lambda t: t.assign_coords(dataset=[0.5, 1.5]), "numbered by integers"),
        (lambda t: t.assign_coords(subject=("dataset", [1, 2])), "'subject' must be text, but int64"),
        (lambda t: t.drop_attrs(deep=False), "schema None, but 'designstudio trials 1' is needed"),
        (replace_units, "stimulus is in 'stimulus unit' and the response in 'mm': convert them"),
        (lambda t: t["stimulus"], "an xarray.Dataset, but a DataArray was given"),
    ],
)
def test_data_of_another_shape_are_refused(change, sentence):
    with pytest.raises(TrialsError, match=sentence) as refusal:
        check_trials(change(make_two()))
    assert isinstance(refusal.value, StudioError)


def test_selected_data_sets_and_further_variables_are_still_trials():
    trials = make_two().assign(reaction_time=(("dataset", "trial"), np.ones((2, 4))))
    assert check_trials(trials.isel(dataset=[1])) is None
    assert check_trials(xr.concat([trials.isel(dataset=[1]), trials.isel(dataset=[0])], dim="dataset")) is None


def draw_responses(stimulus):
    return stimulus * np.exp(0.1 * np.random.default_rng(0).normal(size=np.shape(stimulus)))


def test_ordinary_data_have_no_weaknesses():
    stimulus = np.random.default_rng(1).uniform(1, 5, (3, 20))
    trials = make_trials(stimulus, draw_responses(stimulus), condition_index=np.tile([0, 1], (3, 10)))
    assert find_weaknesses(trials) == [[], [], []]


def test_every_weakness_is_pointed_out_in_its_data_set_only():
    stimulus = np.tile([1.0, 2.0, 3.0, 1.5, 2.5, 3.5], (7, 1))
    stimulus[1, 3:] = 2.0
    response = draw_responses(stimulus)
    response[2, 3:] = 1.7
    response[3] = 0.9 * stimulus[3] ** 0.8
    response[4] *= 5000.0
    index = np.tile([0, 0, 0, 1, 1, 1], (7, 1))
    index[5] = 0
    is_present = np.ones(index.shape, bool)
    is_present[6, 4:] = False
    trials = make_trials(stimulus, response, condition_index=index, conditions=["a", "b"], is_present=is_present, unit="cm")
    found = find_weaknesses(trials)
    assert [len(sentences) for sentences in found] == [0, 1, 1, 2, 1, 1, 1]
    assert "Condition 'b' always shows the same stimulus" in found[1][0]
    assert "Condition 'b' has the same response in every trial" in found[2][0]
    assert all("without any noise" in sentence for sentence in found[3])
    assert "check that both are in 'cm'" in found[4][0]
    assert "Condition 'b' has no trials" in found[5][0]
    assert "Condition 'b' has 1 of the 3 trials" in found[6][0]
