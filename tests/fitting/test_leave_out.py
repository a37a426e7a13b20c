"""Trials of great influence are left out for real, and predicted as a fit without them predicts them."""

import jax
import numpy as np
import pytest
import xarray as xr
from scipy.special import logsumexp

from designstudio.fitting.fit_condition_groups import fit_condition_groups
from designstudio.inference.batches import compute_pointwise
from designstudio.inference.fit_datasets import fit_datasets
from designstudio.inference.settings import FitSettings
from designstudio.model.actors import ExactActor
from designstudio.model.costs import get_cost
from designstudio.model.likelihood.model import BehaviorModel
from designstudio.model.likelihood.packing import pack_trials, unpack_pointwise
from designstudio.model.simulate import draw_stimuli, label_participants, simulate_trials

SETTINGS = FitSettings(method="importance", num_draws=500, batch_size=4)
WILD = 5


@pytest.fixture(scope="module")
def model():
    return BehaviorModel(ExactActor(get_cost("quadratic")), fixed=["sigma"])


@pytest.fixture(scope="module")
def trials(model):
    """Two subjects; one response of the first is six times too large."""
    values = {"mu_0": [1.5, 2.0], "sigma_0": [0.2, 0.2], "sigma": [0.1, 0.1], "sigma_r": [0.1, 0.15]}
    people = label_participants(model.parameters, {name: np.array(value) for name, value in values.items()})
    stimuli = draw_stimuli(2, 1, 30, low=0.25, high=5.0, key=jax.random.key(2))
    simulated = simulate_trials(model, people, stimuli, key=jax.random.key(3))
    simulated["response"][0, WILD] *= 6
    return simulated


@pytest.fixture(scope="module")
def fixed():
    return {"sigma": xr.DataArray(np.full((2, 1), 0.1), dims=("dataset", "condition"))}


@pytest.fixture(scope="module")
def loo(model, trials, fixed):
    return fit_condition_groups(model, trials, fixed=fixed, settings=SETTINGS, seed=1)["loo"].to_dataset()


def test_only_what_has_much_influence_is_left_out(loo):
    is_left_out = loo["is_left_out"].values
    assert is_left_out[0, WILD]
    assert is_left_out.sum() <= 3
    assert (loo["khat"].values <= 0.7).all()


def test_its_density_is_that_of_a_fit_without_it(model, trials, fixed, loo):
    without = trials.isel(dataset=[0, 1]).copy(deep=True)
    for name in ("stimulus", "response"):
        without[name][0, WILD] = np.nan
    without["is_present"][0, WILD] = False
    posterior = fit_datasets(model, without, fixed=fixed, settings=SETTINGS, seed=7)["posterior"].to_dataset()
    draws = {str(name): array.values for name, array in posterior.data_vars.items()}
    pointwise = compute_pointwise(model, pack_trials(trials, model, fixed), draws, chunk_size=10)
    density = unpack_pointwise(np.asarray(pointwise), trials)[0, ..., WILD].ravel()
    expected = logsumexp(density) - np.log(len(density))
    spread = np.exp(density - expected).std() / np.sqrt(len(density))
    # A trial that is so unlikely is predicted by the draws in the tail: hence with their noise.
    assert float(loo["elpd"][0, WILD]) == pytest.approx(expected, abs=5 * spread + 0.5)


def test_with_lapses_it_is_the_same_model_that_has_not_seen_the_trial(trials, fixed, monkeypatch):
    """Importance weights and a real fit tell the same density of a lapse: its range is that of all responses in both."""
    model = BehaviorModel(ExactActor(get_cost("quadratic")), fixed=["sigma"], has_lapses=True)
    trials, found = trials.copy(deep=True), []
    # Alone in its place: without it all other responses have a narrow range.
    trials["response"][0, WILD] *= 200
    for largest in (0.7, 0.0):
        monkeypatch.setattr("designstudio.fitting.leave_out.LARGEST_KHAT", largest)
        tree = fit_condition_groups(model, trials, fixed=fixed, settings=SETTINGS, seed=1)["loo"].to_dataset()
        found.append(float(tree["elpd"][0, WILD]))
        assert bool(tree["is_left_out"][0, WILD]) == (largest == 0.0)
    assert found[0] == pytest.approx(found[1], abs=0.1)


def test_the_error_of_a_subject_with_such_a_trial_is_larger(loo):
    assert loo["mcse"].values[0] > loo["mcse"].values[1] > 0
