"""Shared by all tests. The compilation cache is on, as it is for users.

The fits of the example data are made once: two costs, sigma in each condition; one of them pooled.
"""

import dataclasses
import gc
import os
import shutil
import sys
import warnings

import jax
import numpy as np
import pytest
from filelock import FileLock

from designstudio.cli import main
from designstudio.core.configuration import configure
from designstudio.core.garbage import look_for_garbage_less_often
from designstudio.fitting.fit_subjects import fit_subjects
from designstudio.fitting.reading import example_path, read_data
from designstudio.fitting.request import FitRequest
from designstudio.inference.hierarchical import PoolingSettings
from designstudio.inference.settings import FitSettings
from designstudio.model.costs import COSTS, PAPER_COST_NAMES, get_cost
from tests.helpers.quick_compilation import compile_quickly

# XLA reads its flags when it is first used.
compile_quickly()
configure()
look_for_garbage_less_often()

EXAMPLE_COSTS = ("quadratic", "quadratic_effort")


# Minutes in one test, or in what a module shares: whoever gets it last keeps the other worker waiting.
LONG = ("test_docs.py", "test_studies.py", "test_postgres.py", "test_pooling.py")


def pytest_collection_modifyitems(items):
    """Long tests come first; in the middle, where the second of two workers starts, those that need a studio."""
    items.sort(key=lambda item: item.path.name not in LONG)
    # Together, so that one worker runs them all, with one studio.
    served = [item for item in items if "studio" in item.fixturenames]
    others = [item for item in items if "studio" not in item.fixturenames]
    middle = len(items) // 2
    items[:] = [*others[:middle], *served, *others[middle:]]


def pytest_collection_finish():
    """All modules stay: no look for garbage goes through them again."""
    gc.collect()
    gc.freeze()


@pytest.fixture(params=PAPER_COST_NAMES)
def cost(request):
    """Each of the paper's seven costs."""
    return get_cost(request.param)


@pytest.fixture
def key():
    return jax.random.key(0)


@pytest.fixture
def no_user_costs(monkeypatch):
    """Costs registered in a test are forgotten after it."""
    monkeypatch.setattr(COSTS, "_users", {})


@pytest.fixture
def quick_pictures(monkeypatch):
    """Files of figures are there, with nothing on them."""
    # Imports the plotting stack.
    from tests.helpers.pictures import draw_quickly

    draw_quickly(monkeypatch)


@pytest.fixture
def call(monkeypatch, capsys, tmp_path):
    """The `designstudio` command in this process: exit code, output, errors."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "140")
    # Set by `main`, and set back here.
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["designstudio", *arguments])
        with pytest.raises(SystemExit) as stopped:
            main()
        output = capsys.readouterr()
        return stopped.value.code, output.out, output.err

    return call


@pytest.fixture(scope="session")
def loaded():
    """The example data."""
    return read_data(example_path())


@pytest.fixture(scope="session")
def request_of_two():
    return FitRequest(costs=EXAMPLE_COSTS, per_condition=("sigma",), settings=FitSettings(num_draws=500))


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """Where the shared fit keeps its costs."""
    return tmp_path_factory.mktemp("fit")


@pytest.fixture(scope="session")
def fit_once(loaded, folder, tmp_path_factory):
    """Fits the example data; what another worker of pytest has fitted is taken from there."""
    base = tmp_path_factory.getbasetemp()
    shared = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "fit-of-all-workers"

    def fit_once(request):
        with FileLock(f"{shared}.lock"):
            fit = fit_subjects(loaded, request, name="example", folder=shared)
            shutil.copytree(shared, folder, dirs_exist_ok=True)
        return fit

    return fit_once


@pytest.fixture(scope="session")
def fit(fit_once, request_of_two):
    return fit_once(request_of_two)


@pytest.fixture(scope="session")
def pooled_fit(fit_once, request_of_two, fit):
    """The simulated cost, pooled; its separate fits are found in the folder."""
    # How well pooling works is tested where it is made; here it may be short.
    hasty = PoolingSettings(max_turns=1, num_particles=2000)
    return fit_once(dataclasses.replace(request_of_two, costs=("quadratic_effort",), pools=True, pooling=hasty))


@pytest.fixture(scope="session")
def truth():
    """The parameters of the simulated subjects, in newtons."""
    path = example_path().parent / "truth.csv"
    return np.genfromtxt(path, delimiter=",", names=True, dtype=None, encoding="utf-8")
