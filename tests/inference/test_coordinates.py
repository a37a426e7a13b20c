"""Observable coordinates: a map with an exact Jacobian, between walls that no draw gets through."""

import functools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from designstudio.inference.coordinates import constrain, find_start
from designstudio.inference.coordinates.reflect import reflect
from designstudio.inference.target import log_posterior
from designstudio.model.actors import ExactActor, load_actor
from designstudio.model.costs import get_cost
from designstudio.model.likelihood.model import BehaviorModel
from designstudio.model.likelihood.observations import observe
from designstudio.model.parameters import analysis_priors
from designstudio.model.priors import HalfNormal, LogNormal, PriorSet

FIXED_VALUES = {"mu_0": (1.5, 1.2), "sigma_0": (0.2, 0.25), "sigma": (0.15, 0.3), "sigma_r": (0.1, 0.12), "beta": (0.9, 0.8)}


def build(cost="quadratic_effort", num_conditions=2, per_condition=(), fixed=(), priors=None):
    choices = {"num_conditions": num_conditions, "per_condition": per_condition, "fixed": fixed}
    return BehaviorModel(ExactActor(get_cost(cost)), priors=priors, **choices)


def unbounded():
    """Priors that reach from zero to infinity, under an actor that is right everywhere."""
    cost = get_cost("quadratic")
    noise = dict.fromkeys(("sigma_0", "sigma", "sigma_r"), HalfNormal(0.25))
    return PriorSet({**analysis_priors(cost.all_parameters), "mu_0": LogNormal(1.0, 1.0), **noise})


MODELS = {
    "one condition, all free": lambda: build(num_conditions=1),
    "one condition, sigma fixed": lambda: build(num_conditions=1, fixed=["sigma"]),
    "one condition, sigma_0 fixed": lambda: build(num_conditions=1, fixed=["sigma_0"]),
    "one condition, only mu_0 and sigma_r free": lambda: build("quadratic", 1, fixed=["sigma_0", "sigma"]),
    "one condition, sigma_r fixed": lambda: build(num_conditions=1, fixed=["sigma_r"]),
    "one condition, only the cost free": lambda: build(num_conditions=1, fixed=["mu_0", "sigma_0", "sigma", "sigma_r"]),
    "all shared": build,
    "two known levels": lambda: build(fixed=["sigma"]),
    "two levels": lambda: build(per_condition=["sigma"]),
    "two levels, mu_0 fixed": lambda: build(per_condition=["sigma"], fixed=["mu_0"]),
    "two levels, cost fixed": lambda: build(per_condition=["sigma"], fixed=["beta"]),
    "two levels, sigma_r fixed": lambda: build(per_condition=["sigma"], fixed=["sigma_r"]),
    "two levels, sigma_0 fixed": lambda: build(per_condition=["sigma"], fixed=["sigma_0"]),
    "prior per condition": lambda: build(per_condition=["mu_0", "sigma_0"]),
    "prior per condition, two known levels": lambda: build(per_condition=["mu_0", "sigma_0"], fixed=["sigma"]),
    "cost per condition": lambda: build(per_condition=["beta"]),
    "sigma_r per condition": lambda: build(per_condition=["sigma_r"]),
    "everything per condition": lambda: build(per_condition=["mu_0", "sigma_0", "sigma", "sigma_r", "beta"]),
    "unbounded priors": lambda: build("quadratic", per_condition=["sigma"], priors=unbounded()),
    "a cost that is no power law": lambda: BehaviorModel(
        load_actor("inverted_gaussian"), num_conditions=2, per_condition=["sigma"]
    ),
}
# One residual variance is shared between perception and movement.
TRADING = (
    "one condition, all free",
    "all shared",
    "two levels",
    "two levels, mu_0 fixed",
    "two levels, cost fixed",
    "prior per condition",
    "cost per condition",
    "a cost that is no power law",
)
NUM_POINTS = 2000
every_model = pytest.mark.parametrize("name", MODELS)


@functools.cache
def setting(name):
    """The model, and a data set for it."""
    model = MODELS[name]()
    rng = np.random.default_rng(5)
    shape = (model.num_conditions, 20)
    log_stimulus = np.log(rng.uniform(0.25, 5.0, shape))
    slopes = np.array([0.5, 0.7])[: model.num_conditions, None]
    log_response = 0.15 + slopes * log_stimulus + 0.2 * rng.normal(size=shape)
    fixed = {key: np.array(FIXED_VALUES[key][: model.num_conditions]) for key in model.fixed}
    return model, observe(log_stimulus, log_response, np.ones(shape, bool), fixed)


def compile_quickly(function):
    """Compiled for a few thousand points: optimising it would take longer than running it."""
    options = {"xla_backend_optimization_level": 0, "xla_llvm_disable_expensive_passes": True}
    return jax.jit(jax.vmap(function), compiler_options=options)


@functools.cache
def constrained(name):
    """Coordinates flagged and reflected: the first half far from everything, the second around the guess."""
    model, observations = setting(name)
    expected = find_start(model, observations)
    noise = np.random.default_rng(6).normal(size=(2, NUM_POINTS, model.num_free)).astype(np.float32)
    points = np.concatenate([5 * noise[0], expected.centre + 0.3 * expected.scale * noise[1]])
    both = compile_quickly(
        lambda z: tuple(constrain(model, z, observations, reflects=reflects) for reflects in (False, True))
    )
    return jax.tree.map(np.asarray, both(points))


def widen(tree):
    """The same in 64 bits."""
    return jax.tree.map(lambda x: jnp.asarray(np.asarray(x, np.float64)) if eqx.is_inexact_array_like(x) else x, tree)


@every_model
def test_the_jacobian_is_that_of_the_map(name):
    flagged, _ = constrained(name)
    z = np.asarray(flagged.z, float)[NUM_POINTS:][flagged.is_inside[NUM_POINTS:]][:10]
    assert len(z) > 5
    step = 1e-5
    steps = step * np.eye(z.shape[1])
    with jax.enable_x64(True):
        model, observations = widen(setting(name))

        def place(z):
            found = constrain(model, z, observations, reflects=False)
            return jnp.concatenate([jnp.ravel(found.values[key]) for key in model.free]), found.log_det

        # The points themselves, and their neighbours on both sides along every coordinate.
        neighbours = z[:, None] + np.concatenate([np.zeros((1, z.shape[1])), steps, -steps])
        values, claimed = compile_quickly(place)(neighbours.reshape(-1, z.shape[1]))
    values = np.asarray(values).reshape(neighbours.shape)
    forward, backward = np.split(values[:, 1:], 2, axis=1)
    computed = np.linalg.slogdet((forward - backward) / (2 * step))[1]
    np.testing.assert_allclose(np.asarray(claimed).reshape(neighbours.shape[:2])[:, 0], computed, atol=1e-5)


@pytest.mark.parametrize("name", MODELS)
def test_wild_coordinates_are_folded_into_the_priors(name):
    reflected = jax.tree.map(lambda array: array[:NUM_POINTS], constrained(name)[1])
    assert not reflected.is_inside.all()
    assert find_breaches(setting(name)[0], reflected) == []


@every_model
def test_coordinates_around_the_guess_are_folded_into_the_priors(name):
    reflected = jax.tree.map(lambda array: array[NUM_POINTS:], constrained(name)[1])
    assert find_breaches(setting(name)[0], reflected) == []


def find_breaches(model, reflected):
    """What is not a number, or outside the priors."""
    breaches = ["log_det"] if np.isnan(reflected.log_det).any() else []
    for key, values in reflected.values.items():
        support = model.priors[key].support
        # mu_0 is found from the small part of the level that it explains, hence with a large part of its rounding.
        room = 3e-3 if key == "mu_0" else 1e-5
        if not ((values >= support.low * (1 - room)) & (values <= support.high * (1 + room))).all():
            breaches.append(key)
    return breaches


@every_model
def test_between_the_walls_folding_changes_nothing(name):
    flagged, reflected = constrained(name)
    is_inside = flagged.is_inside
    assert is_inside.sum() > 10
    np.testing.assert_allclose(flagged.z[is_inside], reflected.z[is_inside], rtol=1e-5, atol=2e-5)
    for key, values in flagged.values.items():
        np.testing.assert_allclose(values[is_inside], reflected.values[key][is_inside], rtol=1e-2)


@every_model
def test_outside_the_walls_coordinates_are_flagged(name):
    flagged, reflected = constrained(name)
    moved = np.abs(flagged.z - reflected.z).max(1) > 1e-3
    assert not flagged.is_inside[moved].any()


def test_unbounded_priors_have_derivatives():
    model, observations = setting("unbounded priors")
    expected = find_start(model, observations)
    slope = compile_quickly(jax.grad(lambda z: log_posterior(model, z, observations, reflects=True)))(expected.centre[None])
    assert np.isfinite(slope).all()


@every_model
def test_the_guess_is_one_finite_number_for_each_coordinate(name):
    model, observations = setting(name)
    expected = find_start(model, observations)
    assert expected.centre.shape == expected.scale.shape == (model.num_free,)
    assert len(expected.is_unidentified) == model.num_free
    assert np.isfinite(expected.centre).all()
    assert (np.asarray(expected.scale) > 0).all()
    assert np.isfinite(expected.scale).all()


def test_folding_leaves_the_inside_alone():
    x = np.linspace(-1.0, 2.0, 31)
    np.testing.assert_allclose(reflect(x, -1.0, 2.0), x, atol=1e-6)


@pytest.mark.parametrize("distance", [0.1, 1.0, 2.9])
def test_a_wall_is_a_mirror(distance):
    np.testing.assert_allclose(reflect(jnp.array(2.0 + distance), -1.0, 2.0), 2.0 - distance, atol=1e-6)
    np.testing.assert_allclose(reflect(jnp.array(-1.0 - distance), -1.0, 2.0), -1.0 + distance, atol=1e-6)


def test_two_mirrors_repeat_themselves():
    x = np.linspace(-1.0, 2.0, 13)
    for turns in (-4, -1, 1, 10):
        np.testing.assert_allclose(reflect(x + 6.0 * turns, -1.0, 2.0), x, atol=1e-5)


def test_an_infinite_wall_reflects_nothing():
    x = jnp.array([-30.0, -1.0, 0.5, 30.0])
    np.testing.assert_allclose(reflect(x, -jnp.inf, jnp.inf), x)
    np.testing.assert_allclose(reflect(x, 0.0, jnp.inf), [30.0, 1.0, 0.5, 30.0])
    np.testing.assert_allclose(reflect(x, -jnp.inf, 0.0), [-30.0, -1.0, -0.5, -30.0])
