"""Expected information: against the scores of simulated responses."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from designstudio.metrics.information import expected_information, unpack
from designstudio.model.actors import ExactActor, load_actor
from designstudio.model.costs import get_cost
from designstudio.model.likelihood.model import BehaviorModel
from designstudio.model.likelihood.observations import observe

NUM_TRIALS = 14
NUM_REPETITIONS = 10_000
EFFORT = {"mu_0": [2.5], "sigma_0": [0.2], "sigma_r": [0.12], "beta": [0.8]}
TOLERANT = {"mu_0": [2.5], "sigma_0": [0.2], "sigma_r": [0.12], "gamma": [1.5]}


@pytest.fixture
def rng():
    return np.random.default_rng(1922)


def build(actor, num_conditions=1, per_condition=()):
    return BehaviorModel(actor, num_conditions=num_conditions, per_condition=per_condition, fixed=["sigma"])


def draw_log_stimuli(rng, num_conditions):
    return rng.uniform(0, 1.6, size=(num_conditions, NUM_TRIALS))


def inform(model, values, sigma, log_stimulus, is_present=None):
    """Expected information of one data set."""
    logs = np.log(np.concatenate([values[name] for name in model.free]))
    present = np.ones(log_stimulus.shape, bool) if is_present is None else is_present
    fixed = {"sigma": jnp.asarray(sigma, jnp.float32)[None]}
    log_values, stimuli = (jnp.asarray(array, jnp.float32)[None] for array in (logs, log_stimulus))
    return np.asarray(expected_information(model, log_values, fixed, stimuli, jnp.asarray(present))[0], float)


def repeat_measurements(rng, sigma, log_stimulus):
    """Noisy measurements of the stimuli, and the motor noise of responses to them, many times."""
    measured, motor = rng.normal(size=(2, NUM_REPETITIONS, *log_stimulus.shape))
    return log_stimulus + np.asarray(sigma)[:, None] * measured, motor


def respond_with_effort(rng, values, sigma, log_stimulus):
    """Log responses of participants with quadratic costs and effort, in closed form."""
    measurements, motor = repeat_measurements(rng, sigma, log_stimulus)
    mu_0, sigma_0, sigma_r, beta = (np.array(values[name])[:, None] for name in ("mu_0", "sigma_0", "sigma_r", "beta"))
    sigma = np.array(sigma)[:, None]
    weight = sigma_0**2 / (sigma_0**2 + sigma**2)
    belief = weight * measurements + (1 - weight) * np.log(mu_0)
    return belief + (weight * sigma**2 - 3 * sigma_r**2) / 2 + np.log(beta) + sigma_r * motor


def respond(rng, model, values, sigma, log_stimulus):
    """Log responses of any participant in one condition, by the policy of their actor."""
    measurements, motor = repeat_measurements(rng, sigma, log_stimulus)
    participant = {name: jnp.float32(value[0]) for name, value in {**values, "sigma": sigma}.items()}
    actions = jax.jit(jax.vmap(model.actor.policy(participant)))(jnp.asarray(measurements.ravel(), jnp.float32))
    return np.asarray(actions, float).reshape(measurements.shape) + values["sigma_r"][0] * motor


def unpack_by_hand(model, values):
    """Scalars for shared parameters, vectors for the others."""
    return {
        name: jnp.asarray(values[name], jnp.float32) if name in model.per_condition else jnp.float32(values[name][0])
        for name in model.free
    }


def measure_scores(model, values, sigma, log_stimulus, log_responses):
    """Gradients of the log likelihood by the logarithms of the free parameters, one row for each repetition."""
    num = len(log_responses)
    stimuli = np.broadcast_to(log_stimulus, log_responses.shape)
    fixed = {"sigma": np.broadcast_to(sigma, (num, len(sigma)))}
    observations = observe(stimuli, log_responses, np.ones(stimuli.shape, bool), fixed)

    def log_likelihood(logs, data):
        return model.log_likelihood({name: jnp.exp(value) for name, value in logs.items()}, data)

    logs = {name: jnp.log(value) for name, value in unpack_by_hand(model, values).items()}
    gradients = jax.jit(jax.vmap(jax.grad(log_likelihood), in_axes=(None, 0)))(logs, observations)
    return np.concatenate([np.asarray(gradients[name], float).reshape(num, -1) for name in model.free], axis=1)


def average_outer_products(scores):
    """Their mean and its Monte Carlo error."""
    products = scores[:, :, None] * scores[:, None, :]
    return products.mean(0), products.std(0, ddof=1) / np.sqrt(len(scores))


@pytest.mark.parametrize(
    ("sigma", "changes", "per_condition"),
    [
        pytest.param([0.25], {}, [], id="one condition"),
        pytest.param([0.08, 0.35], {}, [], id="two conditions"),
        pytest.param([0.08, 0.35], {"mu_0": [2.0, 3.0]}, ["mu_0"], id="two conditions with their own mu_0"),
    ],
)
def test_information_about_a_power_law_is_the_average_outer_product_of_scores(rng, sigma, changes, per_condition):
    model, values = build(ExactActor(get_cost("quadratic_effort")), len(sigma), per_condition), {**EFFORT, **changes}
    log_stimulus = draw_log_stimuli(rng, len(sigma))
    log_responses = respond_with_effort(rng, values, sigma, log_stimulus)
    scores = measure_scores(model, values, sigma, log_stimulus, log_responses)
    found = inform(model, values, sigma, log_stimulus)
    expected, error = average_outer_products(scores)
    # At the truth the scores vanish on average: simulation and likelihood are of the same model.
    assert (np.abs(scores.mean(0)) < 4 * scores.std(0) / np.sqrt(NUM_REPETITIONS)).all()
    assert (np.abs(found - expected) < 4 * error + 1e-4).all()


def test_information_about_a_bent_policy_is_right_within_five_percent(rng):
    model, sigma = build(load_actor("inverted_gaussian")), [0.3]
    assert not model.is_linear
    log_stimulus = draw_log_stimuli(rng, 1)
    log_responses = respond(rng, model, TOLERANT, sigma, log_stimulus)
    expected, error = average_outer_products(measure_scores(model, TOLERANT, sigma, log_stimulus, log_responses))
    scale = np.sqrt(np.outer(np.diag(expected), np.diag(expected)))
    found = inform(model, TOLERANT, sigma, log_stimulus)
    assert (error < 0.02 * scale).all()
    assert (np.abs(found - expected) < 0.05 * scale + 2 * error).all()


def test_one_condition_cannot_tell_prior_mean_and_effort_apart_and_two_can(rng):
    stimuli = draw_log_stimuli(rng, 2)
    actor = ExactActor(get_cost("quadratic_effort"))
    one = inform(build(actor), EFFORT, [0.2], stimuli[:1])
    two = inform(build(actor, 2), EFFORT, [0.08, 0.35], stimuli)
    # mu_0 up by a factor, beta down by a power of it that the weight of the prior sets: nothing changes.
    weight = 0.2**2 / (0.2**2 + 0.2**2)
    trade_off = np.array([1.0, 0, 0, -(1 - weight)])
    assert trade_off @ one @ trade_off == pytest.approx(0, abs=1e-5 * np.trace(one))
    for mixed in np.linspace(0, 1, 11):
        trade_off = np.array([1.0, 0, 0, -mixed])
        assert trade_off @ two @ trade_off > 0.01 * one[0, 0]


def test_trials_add_up(rng):
    model, log_stimulus = build(ExactActor(get_cost("quadratic_effort"))), draw_log_stimuli(rng, 1)
    is_present = np.arange(NUM_TRIALS)[None] < 5
    some = inform(model, EFFORT, [0.2], log_stimulus, is_present)
    others = inform(model, EFFORT, [0.2], log_stimulus, ~is_present)
    np.testing.assert_allclose(some + others, inform(model, EFFORT, [0.2], log_stimulus), rtol=1e-4, atol=1e-3)
    # What is not present may be anything.
    padded = np.where(is_present, log_stimulus, 50.0)
    np.testing.assert_allclose(inform(model, EFFORT, [0.2], padded, is_present), some, rtol=1e-5, atol=1e-4)


def test_conditions_say_nothing_about_the_parameters_of_others(rng):
    values = {**EFFORT, "mu_0": [2.0, 3.0]}
    log_stimulus = draw_log_stimuli(rng, 2)
    both = build(ExactActor(get_cost("quadratic_effort")), 2, ["mu_0"])
    found = inform(both, values, [0.1, 0.3], log_stimulus)
    assert found.shape == (5, 5)
    assert found[0, 1] == 0
    # The second mu_0 is informed by the second condition alone.
    alone = build(ExactActor(get_cost("quadratic_effort")))
    second = inform(alone, {**EFFORT, "mu_0": [3.0]}, [0.3], log_stimulus[1:])
    assert found[1, 1] == pytest.approx(second[0, 0], rel=1e-4)


def test_parameters_are_unpacked_in_the_order_of_the_model():
    model = build(ExactActor(get_cost("quadratic_effort")), 2, ["sigma_0"])
    values = unpack(model, jnp.log(jnp.array([2.0, 0.1, 0.3, 0.2, 0.9])))
    assert {name: np.asarray(value, float).round(6).tolist() for name, value in values.items()} == {
        "mu_0": 2.0,
        "sigma_0": [0.1, 0.3],
        "sigma_r": 0.2,
        "beta": 0.9,
    }
