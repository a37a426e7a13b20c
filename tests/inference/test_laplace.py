"""Mode and Laplace approximation against importance sampling and a brute-force search."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from designstudio.inference.batches import run_importance
from designstudio.inference.coordinates import find_start
from designstudio.inference.diagnostics import check_weights
from designstudio.inference.settings import ImportanceSettings
from designstudio.inference.target import evaluate_posterior
from designstudio.model.actors import ExactActor
from designstudio.model.costs import get_cost
from designstudio.model.likelihood.model import BehaviorModel
from designstudio.model.likelihood.observations import sort_by_noise
from designstudio.model.likelihood.packing import pack_trials
from designstudio.model.simulate import draw_stimuli, label_participants, simulate_trials
from tests.helpers.quick_compilation import ONCE
from tests.oracles.laplace import find_mode

NUM_DATASETS = 8


@pytest.fixture(scope="module")
def fitted():
    """An easy design: quadratic cost, sigma known, many trials."""
    model = BehaviorModel(ExactActor(get_cost("quadratic")), fixed=("sigma",))
    truth = {"mu_0": 2.5, "sigma_0": 0.2, "sigma": 0.2, "sigma_r": 0.15}
    people = label_participants(model.parameters, {name: np.full(NUM_DATASETS, value) for name, value in truth.items()})
    stimuli = draw_stimuli(NUM_DATASETS, 1, 200, low=0.5, high=5.0, key=jax.random.key(0))
    trials = simulate_trials(model, people, stimuli, key=jax.random.key(1))
    observations, _ = sort_by_noise(pack_trials(trials, model, {"sigma": 0.2}))
    observations = jax.tree.map(jnp.asarray, observations)
    return model, observations, jax.jit(jax.vmap(lambda o: find_mode(model, o)), compiler_options=ONCE)(observations)


def test_every_mode_of_an_easy_design_is_found(fitted):
    assert np.asarray(fitted[2].is_found).all()


def test_no_point_nearby_is_higher_than_the_mode(fitted):
    model, observations, laplace = fitted

    @jax.jit
    @jax.vmap
    def height(y, data):
        return evaluate_posterior(model, y, data, find_start(model, data), is_unbounded=True).log_density

    best = np.asarray(height(laplace.y, observations))
    factor = np.linalg.cholesky(np.asarray(laplace.covariance, float))
    rng = np.random.default_rng(0)
    for size in (0.05, 0.3, 1.0):
        for _ in range(20):
            offset = np.einsum("bij,bj->bi", factor, rng.normal(size=laplace.y.shape)) * size
            assert (np.asarray(height(laplace.y + jnp.asarray(offset, jnp.float32), observations)) < best + 1e-2).all()


def test_the_gaussian_agrees_with_the_posterior_of_an_easy_design(fitted):
    model, observations, laplace = fitted
    keys = jax.random.split(jax.random.key(2), NUM_DATASETS)
    batch = run_importance(model, observations, keys, ImportanceSettings())
    check = check_weights(np.asarray(batch.draws.log_weight))
    np.testing.assert_allclose(laplace.log_evidence, check.log_evidence, atol=0.15)
    weights = np.exp(check.log_weight)
    for name in model.free:
        draws = np.asarray(batch.draws.found.values[name], float)
        mean = (weights * draws).sum((1, 2))
        sd = np.sqrt((weights * (draws - mean[:, None, None]) ** 2).sum((1, 2)))
        assert (np.abs(np.asarray(laplace.values[name]) - mean) < 0.5 * sd).all()
