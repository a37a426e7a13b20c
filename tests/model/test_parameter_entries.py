"""Free numbers of a model, one after the other."""

import numpy as np
import pytest
import xarray as xr

from designstudio.model.actors import ExactActor
from designstudio.model.costs import get_cost
from designstudio.model.likelihood.model import BehaviorModel
from designstudio.model.parameter_entries import ParameterEntry, list_array_entries, list_parameter_entries, split_label

CONDITIONS = ("low", "high")


@pytest.fixture
def model():
    actor = ExactActor(get_cost("quadratic_effort"))
    return BehaviorModel(actor, num_conditions=2, per_condition=("sigma",), fixed=("sigma_r",))


def test_parameters_that_differ_have_an_entry_for_each_condition(model):
    entries = list_parameter_entries(model)
    assert [entry.label() for entry in entries] == ["mu_0", "sigma_0", "sigma[0]", "sigma[1]", "beta"]
    assert [entry.label(CONDITIONS) for entry in entries] == ["mu_0", "sigma_0", "sigma[low]", "sigma[high]", "beta"]
    assert len(entries) == model.num_free


def test_arrays_have_the_entries_of_the_model_that_they_come_from(model):
    shared, own = ("draw", np.arange(3)), (("draw", "condition"), np.arange(6).reshape(3, 2))
    arrays = xr.Dataset({"mu_0": shared, "sigma_0": shared, "sigma": own, "beta": shared})
    assert list_array_entries(arrays) == list_parameter_entries(model)
    np.testing.assert_array_equal(ParameterEntry("sigma", 1).pick(arrays["sigma"]), [1, 3, 5])
    np.testing.assert_array_equal(ParameterEntry("mu_0").pick(arrays["mu_0"]), [0, 1, 2])


@pytest.mark.parametrize("entry", [ParameterEntry("sigma_0"), ParameterEntry("sigma", 1)])
def test_a_label_says_which_parameter_and_which_condition(entry):
    name, condition = split_label(entry.label(CONDITIONS))
    assert name == entry.name
    assert condition == ("" if entry.condition is None else CONDITIONS[entry.condition])
