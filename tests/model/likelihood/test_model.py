"""The behaviour model of one data set: its likelihood, its priors, and what it refuses."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from designstudio.errors import StudioError, UnknownNameError
from designstudio.model.actors import ExactActor, load_actor
from designstudio.model.costs import get_cost
from designstudio.model.likelihood.model import BehaviorModel
from designstudio.model.likelihood.observations import observe
from designstudio.model.parameters import analysis_priors
from designstudio.model.priors import HalfNormal, Interval, LogNormal, PriorSet, Uniform

NUM_TRIALS = (20, 13)
NUM_PARTICIPANTS = 50
ACTORS = {
    "quadratic, exact": lambda: ExactActor(get_cost("quadratic")),
    "quadratic_effort, exact": lambda: ExactActor(get_cost("quadratic_effort")),
    "asymmetric_quadratic, amortized": lambda: load_actor("asymmetric_quadratic"),
}


def make_trials(num_padding=0, padding=0.0):
    """Two conditions with unequal numbers of trials, as (condition, trial) arrays with padding."""
    rng = np.random.default_rng(3)
    shape = (2, max(NUM_TRIALS) + num_padding)
    is_present = np.arange(shape[1]) < np.array(NUM_TRIALS)[:, None]
    log_stimulus, log_response = np.full(shape, padding), np.full(shape, padding)
    log_stimulus[is_present] = rng.uniform(-1.0, 1.5, sum(NUM_TRIALS))
    log_response[is_present] = 0.3 + 0.6 * log_stimulus[is_present] + 0.25 * rng.normal(size=sum(NUM_TRIALS))
    return log_stimulus, log_response, is_present


def draw_values(model, num=NUM_PARTICIPANTS):
    return jax.jit(jax.vmap(lambda key: model.sample_prior(key=key)))(jax.random.split(jax.random.key(1), num))


def exact(name="quadratic", **choices):
    return BehaviorModel(ExactActor(get_cost(name)), **choices)


@pytest.mark.parametrize("name", ACTORS)
def test_the_regression_stands_for_all_trials_of_a_power_law(name):
    model = BehaviorModel(ACTORS[name](), num_conditions=2, per_condition=["sigma", "mu_0"])
    assert model.is_linear
    observations, values = observe(*make_trials(), {}), draw_values(model)
    summarised = jax.jit(jax.vmap(lambda v: model.log_likelihood(v, observations)))(values)
    pointwise = jax.jit(jax.vmap(lambda v: model.pointwise_log_likelihood(v, observations)))(values)
    summed = np.sum(np.asarray(pointwise, float), axis=(1, 2), where=observations.is_present)
    np.testing.assert_allclose(summarised, summed, rtol=2e-5, atol=2e-3)


def test_the_quadratic_cost_has_its_closed_form_likelihood():
    model = exact(num_conditions=2, per_condition=["sigma"])
    log_stimulus, log_response, is_present = make_trials()
    values = draw_values(model)
    observations = observe(log_stimulus, log_response, is_present, {})
    likelihood = jax.jit(jax.vmap(lambda v: model.log_likelihood(v, observations)))(values)
    v = {name: np.asarray(value, float).reshape(NUM_PARTICIPANTS, -1, 1) for name, value in values.items()}
    weight = v["sigma_0"] ** 2 / (v["sigma_0"] ** 2 + v["sigma"] ** 2)
    shift = (weight * v["sigma"] ** 2 - 3 * v["sigma_r"] ** 2) / 2
    mean = weight * log_stimulus + (1 - weight) * np.log(v["mu_0"]) + shift
    expected = stats.norm.logpdf(log_response, mean, np.sqrt((weight * v["sigma"]) ** 2 + v["sigma_r"] ** 2))
    np.testing.assert_allclose(likelihood, expected.sum((1, 2), where=is_present), rtol=1e-4, atol=2e-3)


@pytest.mark.parametrize("name", ["quadratic", "inverted_gaussian"])
def test_padding_does_not_change_the_likelihood(name):
    model = BehaviorModel(load_actor(name), num_conditions=2, per_condition=["sigma"])
    values = draw_values(model, 4)
    evaluate = jax.jit(lambda v, o: jax.vmap(lambda one: model.log_likelihood(one, o))(v))
    bare = evaluate(values, observe(*make_trials(), {}))
    for num_padding, padding in ((12, 0.0), (12, 50.0), (12, np.nan)):
        np.testing.assert_allclose(evaluate(values, observe(*make_trials(num_padding, padding), {})), bare, rtol=1e-5)


def test_a_condition_without_trials_says_nothing():
    model = exact(num_conditions=2, per_condition=["sigma"])
    log_stimulus, log_response, is_present = make_trials()
    is_present[1] = False
    observations = observe(log_stimulus, log_response, is_present, {})
    values = {"mu_0": jnp.array(1.2), "sigma_0": jnp.array(0.2), "sigma_r": jnp.array(0.1)}
    evaluate = jax.jit(lambda sigma: model.log_likelihood({**values, "sigma": sigma}, observations))
    likelihoods = [evaluate(np.array([0.2, other], np.float32)) for other in (0.05, 0.4)]
    assert np.isfinite(likelihoods[0])
    np.testing.assert_array_equal(likelihoods[0], likelihoods[1])


def test_every_parameter_is_spread_over_the_conditions():
    model = exact("quadratic_effort", num_conditions=2, per_condition=["sigma"], fixed=["sigma_0", "sigma_r"])
    assert model.free == ("mu_0", "sigma", "beta")
    assert model.num_free == 4
    fixed = {"sigma_0": jnp.array([0.2, 0.3]), "sigma_r": jnp.array([0.1, 0.1])}
    spread = model.broadcast_to_conditions(
        {"mu_0": jnp.array(1.5), "sigma": jnp.array([0.1, 0.2]), "beta": jnp.array(0.9)}, fixed
    )
    expected = {"mu_0": [1.5, 1.5], "sigma_0": [0.2, 0.3], "sigma": [0.1, 0.2], "sigma_r": [0.1, 0.1], "beta": [0.9, 0.9]}
    assert {name: np.asarray(value, float).round(6).tolist() for name, value in spread.items()} == expected


def test_with_one_condition_per_condition_means_shared():
    model = exact(num_conditions=1, per_condition=["sigma"])
    assert model.per_condition == ()
    assert model.num_free == 4
    assert {value.shape for value in jax.eval_shape(lambda: model.sample_prior(key=jax.random.key(0))).values()} == {()}


def test_the_prior_density_is_that_of_every_entry():
    model = exact(num_conditions=2, per_condition=["sigma"], fixed=["sigma_0"])
    values = {"mu_0": jnp.array(1.5), "sigma": jnp.array([0.1, 0.3]), "sigma_r": jnp.array(0.2)}
    noise = stats.truncnorm(0.01 / 0.25, 0.5 / 0.25, scale=0.25)
    expected = -np.log(4.9) + noise.logpdf([0.1, 0.3, 0.2]).sum()
    np.testing.assert_allclose(jax.jit(model.log_prior)(values), expected, rtol=1e-5)


@pytest.mark.parametrize(
    ("choices", "error", "words"),
    [
        ({"fixed": ["sgma"]}, UnknownNameError, ["'sgma'", "sigma_r"]),
        ({"per_condition": ["beta"]}, UnknownNameError, ["'beta'", "mu_0"]),
        ({"fixed": ["sigma"], "per_condition": ["sigma"]}, StudioError, ["'sigma'", "both fixed and per condition"]),
        ({"fixed": ["mu_0", "sigma_0", "sigma", "sigma_r"]}, StudioError, ["fixed", "leave at least one parameter free"]),
        ({"priors": PriorSet({"mu_0": Uniform(0.1, 5.0)})}, StudioError, ["'sigma_0'", "needs"]),
        ({"num_conditions": 0}, StudioError, ["at least 1 condition", "0"]),
    ],
)
def test_an_impossible_model_is_refused_with_a_sentence(choices, error, words):
    with pytest.raises(error) as caught:
        exact(**{"num_conditions": 2, **choices})
    message = str(caught.value)
    assert message.endswith(".")
    assert "\n" not in message
    assert all(word in message for word in words)


WIDE = {"mu_0": LogNormal(1.0, 1.0), "sigma": HalfNormal(0.25), "sigma_r": Uniform(0.001, 2.0)}


def test_the_priors_of_an_amortized_actor_end_where_it_was_trained():
    actor = load_actor("quadratic")
    model = BehaviorModel(actor, priors=analysis_priors(actor.cost.all_parameters).replace(**WIDE))
    boxes = {parameter.name: parameter.box for parameter in actor.cost.all_parameters}
    supports = {name: prior.support for name, prior in model.priors.items()}
    # Nothing was said about sigma_0, so it keeps the paper's prior, which ends earlier.
    assert supports == boxes | {"mu_0": Interval(0.02, 20.0), "sigma_0": Interval(0.01, 0.5)}


def test_the_priors_of_an_exact_actor_are_left_as_they_are():
    actor = ExactActor(get_cost("quadratic"))
    priors = analysis_priors(actor.cost.all_parameters).replace(**WIDE)
    model = BehaviorModel(actor, priors=priors, fixed=["sigma_0"])
    assert dict(model.priors) == {name: priors[name] for name in ("mu_0", "sigma", "sigma_r")}
