"""The numpyro model: what it simulates, and that its two likelihoods are one."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numpyro.handlers import seed, substitute
from numpyro.infer import MCMC, NUTS
from numpyro.infer.util import log_density

from designstudio.errors import UnknownNameError
from designstudio.inference.fit_datasets import fit_datasets
from designstudio.inference.settings import FitSettings
from designstudio.model.actors import ExactActor
from designstudio.model.costs import get_cost
from designstudio.model.likelihood.generative import behave
from designstudio.model.likelihood.model import BehaviorModel
from designstudio.model.likelihood.observations import observe
from designstudio.model.likelihood.packing import pack_trials
from designstudio.model.simulate import label_participants, simulate_trials

ACTOR = ExactActor(get_cost("quadratic"))


def predict_quadratic(log_stimulus, mu_0, sigma_0, sigma, sigma_r):
    """Mean and standard deviation of log r in closed form."""
    weight = sigma_0**2 / (sigma_0**2 + sigma**2)
    mean = weight * log_stimulus + (1 - weight) * np.log(mu_0) + (weight * sigma**2 - 3 * sigma_r**2) / 2
    return mean, np.sqrt((weight * sigma) ** 2 + sigma_r**2)


def test_simulated_responses_have_their_closed_form_moments():
    num = 4096
    model = BehaviorModel(ACTOR, num_conditions=2, per_condition=["sigma"])
    log_stimulus = np.log(np.random.default_rng(0).uniform(0.25, 5.0, (2, num)))
    observations = observe(log_stimulus, np.zeros((2, num)), np.ones((2, num), bool), {})
    values = {"mu_0": 1.5, "sigma_0": 0.25, "sigma": jnp.array([0.1, 0.4]), "sigma_r": 0.2}
    simulator = substitute(seed(behave, jax.random.key(2)), data=values)
    simulate = jax.jit(lambda: simulator(model, observations, likelihood="latent", is_observed=False))
    log_response = np.asarray(simulate(), float)
    for k, sigma in enumerate((0.1, 0.4)):
        mean, sd = predict_quadratic(log_stimulus[k], 1.5, 0.25, sigma, 0.2)
        residual = (log_response[k] - mean) / sd
        # Five standard errors of the mean, the correlation and the standard deviation.
        assert abs(residual.mean()) < 5 / np.sqrt(num)
        assert abs(np.corrcoef(residual, log_stimulus[k])[0, 1]) < 5 / np.sqrt(num)
        assert abs(residual.std() - 1) < 5 / np.sqrt(2 * num)


def test_the_marginal_density_is_prior_times_likelihood():
    model = BehaviorModel(ACTOR, num_conditions=2, per_condition=["sigma"], fixed=["sigma_0"])
    rng = np.random.default_rng(1)
    shape = (2, 10)
    fixed = {"sigma_0": np.array([0.2, 0.2])}
    observations = observe(rng.normal(size=shape), rng.normal(size=shape) / 2, np.ones(shape, bool), fixed)

    @jax.jit
    @jax.vmap
    def evaluate(key):
        values = model.sample_prior(key=key)
        expected = model.log_prior(values) + model.log_likelihood(values, observations)
        return log_density(behave, (model, observations), {}, values)[0], expected

    np.testing.assert_allclose(*evaluate(jax.random.split(jax.random.key(3), 10)), rtol=1e-5)


def test_an_unknown_likelihood_is_refused():
    model = BehaviorModel(ACTOR)
    observations = observe(np.zeros((1, 3)), np.zeros((1, 3)), np.ones((1, 3), bool), {})
    with pytest.raises(UnknownNameError, match=r"Unknown likelihood 'exact'\. Available: marginal, latent\."):
        behave(model, observations, likelihood="exact")


def test_integrating_measurements_out_leaves_the_posterior_of_the_latent_model():
    model = BehaviorModel(ACTOR, fixed=["sigma"])
    truth = {"mu_0": [1.5], "sigma_0": [0.2], "sigma": [0.15], "sigma_r": [0.2]}
    participants = label_participants(model.parameters, {name: np.array(value) for name, value in truth.items()})
    stimuli = np.random.default_rng(4).uniform(0.25, 5.0, (1, 1, 20))
    trials = simulate_trials(model, participants, stimuli, key=jax.random.key(4))

    observations = jax.tree.map(lambda array: array[0], pack_trials(trials, model, {"sigma": 0.15}))
    kernel = NUTS(behave)
    sampler = MCMC(kernel, num_warmup=300, num_samples=1000, num_chains=4, chain_method="vectorized", progress_bar=False)
    sampler.run(jax.random.key(5), model, observations, likelihood="latent")
    latent = sampler.get_samples()

    settings = FitSettings(method="importance", batch_size=1, keeps_log_likelihood=False)
    fit = fit_datasets(model, trials, fixed={"sigma": 0.15}, settings=settings, seed=6)
    assert fit["diagnostics"]["is_good"].all()
    for name in model.free:
        marginal, expected = fit["posterior"][name].values.ravel(), np.asarray(latent[name], float)
        # Both have more than 1500 effective draws: three standard errors of the difference are 0.11 sd and 8 %.
        assert abs(marginal.mean() - expected.mean()) < 0.12 * expected.std()
        assert abs(marginal.std() / expected.std() - 1) < 0.1
