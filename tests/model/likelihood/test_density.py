"""The likelihood of one response, against a dense reference and closed forms."""

import functools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import special, stats

from designstudio.model.actors import ExactActor, PaperActor, load_actor
from designstudio.model.actors.accuracy import draw_decisions
from designstudio.model.costs import get_cost
from designstudio.model.gauss_hermite import half_gauss_hermite
from designstudio.model.likelihood.density import CORNERED, response_log_density
from tests.helpers.quick_compilation import ONCE

NUM_TRIALS = 2000


# How far, in nats, densities may be off: over the paper's box, and where noises are twice as large.
TOLERANCES = {"paper": 1e-3, "whole": 2e-3}


def draw_trials(actor, key, box="whole"):
    """Random participants over a training box with one stimulus and response each."""
    # Its weights are not needed.
    paper = eqx.filter_eval_shape(PaperActor, actor.cost, key=key)
    decisions = draw_decisions(actor.cost, NUM_TRIALS, priors=paper.training_priors if box == "paper" else None, key=key)
    noise_key, sign_key = jax.random.split(jax.random.fold_in(key, 1))
    participants, log_measurements = jax.tree.map(np.asarray, (decisions.participants, decisions.log_measurements))
    log_actions = np.asarray(act(actor, participants, log_measurements))
    log_responses = log_actions + participants["sigma_r"] * np.asarray(jax.random.normal(noise_key, (NUM_TRIALS,)))
    perceptual = participants["sigma"] * np.asarray(jax.random.normal(sign_key, (NUM_TRIALS,)))
    return participants, log_measurements - perceptual, log_responses


@eqx.filter_jit
def act(actor, participants, log_measurements):
    return jax.vmap(lambda participant, measurement: actor.policy(participant)(measurement))(participants, log_measurements)


def reference_log_density(actor, participant, log_stimulus, log_response):
    """A dense sum over the perceptual noise, around where the integrand lives: 400 nodes."""
    policy = actor.policy(participant)
    coarse = jnp.linspace(-8.0, 8.0, 4001)

    def log_integrand(noise):
        action = policy(log_stimulus + participant["sigma"] * noise)
        error = (log_response - action) / participant["sigma_r"]
        return -(noise**2) / 2 - error**2 / 2

    values = jax.vmap(log_integrand)(coarse)
    weights = jax.nn.softmax(values)
    centre = jnp.sum(weights * coarse)
    spread = jnp.maximum(jnp.sqrt(jnp.sum(weights * (coarse - centre) ** 2)), coarse[1] - coarse[0])
    fine = centre + spread * jnp.linspace(-10.0, 10.0, 400)
    log_sum = jax.nn.logsumexp(jax.vmap(log_integrand)(fine)) + jnp.log(fine[1] - fine[0])
    return log_sum - jnp.log(2 * jnp.pi) - jnp.log(participant["sigma_r"])


def density(actor, rule=None):
    def evaluate(participant, log_stimulus, log_response):
        policy = actor.policy(participant)

        def act(noise):
            return policy(log_stimulus + participant["sigma"] * noise)

        return response_log_density(act, log_response, participant["sigma_r"], rule=rule or actor.rule)

    return evaluate


@functools.cache
def load_with_density(name):
    """An amortized actor, and its density compiled for as many trials as `draw_trials` makes."""
    actor = load_actor(name)
    return actor, jax.jit(jax.vmap(density(actor)))


@functools.cache
def dense_reference(name):
    """The same by the reference, for as many trials; called with 64 bits."""
    actor = load_actor(name)
    return jax.jit(jax.vmap(lambda *trial: reference_log_density(actor, *trial)))


def widen(tree):
    return jax.tree.map(lambda x: np.asarray(x, np.float64), tree)


@pytest.mark.parametrize("box", TOLERANCES)
def test_the_density_is_within_a_thousandth_of_a_nat_of_a_dense_reference(cost, box):
    actor, evaluate = load_with_density(cost.name)
    trials = draw_trials(actor, jax.random.key(7), box)
    fast = evaluate(*trials)
    with jax.enable_x64(True):
        reference = dense_reference(cost.name)(*widen(trials))
    assert np.isfinite(fast).all()
    errors = np.abs(np.asarray(fast) - np.asarray(reference))
    assert errors.max() < TOLERANCES[box]
    assert np.quantile(errors, 0.999) < 1e-3


def test_the_careful_rule_agrees_with_the_fast_ones(cost):
    actor, evaluate = load_with_density(cost.name)
    careful = jax.jit(jax.vmap(density(actor, CORNERED)), compiler_options=ONCE)
    for box, tolerance in TOLERANCES.items():
        trials = draw_trials(actor, jax.random.key(11), box)
        np.testing.assert_allclose(careful(*trials), evaluate(*trials), atol=tolerance)


def test_half_a_gauss_hermite_rule_integrates_polynomials_exactly():
    nodes, weights = half_gauss_hermite(8)
    for power in range(16):
        expected = 2 ** ((power - 1) / 2) * special.gamma((power + 1) / 2)
        np.testing.assert_allclose(np.sum(weights * nodes**power), expected, rtol=1e-9)


@pytest.mark.parametrize("name", ["quadratic", "absolute", "quadratic_effort", "asymmetric_quadratic"])
def test_a_power_law_gives_a_gaussian_in_logarithms(name):
    actor = ExactActor(get_cost(name))
    participants, log_stimuli, log_responses = draw_trials(actor, jax.random.key(8))
    fast = jax.jit(jax.vmap(density(actor)), compiler_options=ONCE)(participants, log_stimuli, log_responses)
    sigma_0, sigma, sigma_r = (np.asarray(participants[key], float) for key in ("sigma_0", "sigma", "sigma_r"))
    weight = sigma_0**2 / (sigma_0**2 + sigma**2)
    means = np.asarray(act(actor, participants, log_stimuli))
    expected = stats.norm.logpdf(log_responses, means, np.sqrt((weight * sigma) ** 2 + sigma_r**2))
    np.testing.assert_allclose(fast, expected, atol=2e-3)


def test_the_density_integrates_to_one(cost):
    actor, evaluate = load_with_density(cost.name)
    one, log_stimulus, _ = jax.tree.map(lambda x: np.full_like(x, x[0]), draw_trials(actor, jax.random.key(9)))
    grid = np.linspace(-6.0, 6.0, 3 * NUM_TRIALS, dtype=np.float32) + log_stimulus[0]
    values = np.concatenate([evaluate(one, log_stimulus, part) for part in np.split(grid, 3)])
    assert abs(np.trapezoid(np.exp(values), grid) - 1) < 1e-3


def test_gradients_agree_with_those_of_the_dense_reference(cost):
    actor = load_actor(cost.name)
    participants, log_stimuli, log_responses = jax.tree.map(lambda x: x[:400], draw_trials(actor, jax.random.key(10)))
    # Sixteen unrolled nodes are a long program, which runs once: LLVM would spend 14 s on it at its usual level.
    differentiate = jax.jit(jax.vmap(jax.grad(density(actor))), compiler_options=ONCE)
    gradient = differentiate(participants, log_stimuli, log_responses)
    with jax.enable_x64(True):
        wide = widen((participants, log_stimuli, log_responses))
        reference = jax.jit(jax.vmap(jax.grad(lambda *trial: reference_log_density(actor, *trial))))(*wide)
    for name, expected in reference.items():
        # On the scale on which a sampler moves: relative changes of the parameter.
        scale = np.asarray(participants[name], float)
        error = np.abs(np.asarray(gradient[name]) - np.asarray(expected)) * scale
        assert np.quantile(error / (1 + np.abs(np.asarray(expected)) * scale), 0.99) < 1e-2
