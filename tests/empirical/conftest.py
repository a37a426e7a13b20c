"""Fits of the example data, shared by all tests: two costs, sigma in each condition; one of them pooled."""

import dataclasses

import numpy as np
import pytest

from designstudio.data import example_path, read_data
from designstudio.empirical.request import FitRequest
from designstudio.empirical.run import fit_subjects
from designstudio.fit.pooling import focus, pool
from designstudio.fit.settings import FitSettings

COSTS = ("quadratic", "quadratic_effort")


@pytest.fixture(scope="session")
def loaded():
    """The example data."""
    return read_data(example_path())


@pytest.fixture(scope="session")
def request_of_two():
    return FitRequest(costs=COSTS, per_condition=("sigma",), settings=FitSettings(num_draws=500))


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """Where the shared fit keeps its costs."""
    return tmp_path_factory.mktemp("fit")


@pytest.fixture(scope="session")
def fit(loaded, request_of_two, folder):
    return fit_subjects(loaded, request_of_two, name="example", folder=folder)


@pytest.fixture(scope="session")
def pooled_fit(loaded, request_of_two, folder, fit):
    """The simulated cost, pooled; its separate fits are found in the folder."""
    request = dataclasses.replace(request_of_two, costs=("quadratic_effort",), pools=True)
    with pytest.MonkeyPatch.context() as patch:
        # How well pooling works is tested where it is made; here it may be short.
        patch.setattr(pool, "MOST_REPEATS", 1)
        patch.setattr(focus, "ENOUGH_SUPPORTING", 0)
        return fit_subjects(loaded, request, name="example", folder=folder)


@pytest.fixture(scope="session")
def truth():
    """The parameters of the simulated subjects, in newtons."""
    path = example_path().parent / "truth.csv"
    return np.genfromtxt(path, delimiter=",", names=True, dtype=None, encoding="utf-8")


def take_subjects(loaded, num):
    """The same data with the first subjects only."""
    trials = loaded.trials.isel(dataset=slice(num))
    return dataclasses.replace(loaded, trials=trials)
