"""Observable coordinates: a map with an exact Jacobian, between walls that no draw gets through."""

import functools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from designstudio.inference.coordinates import Start, constrain, find_start
from designstudio.inference.coordinates.bounds import BoundedReader
from designstudio.inference.coordinates.lognormal.likely import spread_over_likely
from designstudio.inference.target import evaluate_posterior
from designstudio.model.actors import ExactActor, load_actor
from designstudio.model.costs import get_cost
from designstudio.model.likelihood.model import BehaviorModel
from designstudio.model.likelihood.observations import observe
from designstudio.model.parameters import analysis_priors
from designstudio.model.priors import HalfNormal, LogNormal, PriorSet
from tests.helpers.quick_compilation import ONCE

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
    "a cost that bends": lambda: BehaviorModel(load_actor("absolute_effort"), num_conditions=2, per_condition=["sigma"]),
    "a cost that bends, sigma fixed": lambda: BehaviorModel(load_actor("absolute_effort"), fixed=["sigma"]),
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


def compile_once(function):
    """Compiled for a few thousand points: optimising it would take longer than running it."""
    return jax.jit(function, compiler_options=ONCE)


def place(model, points, observations, expected, *, is_unbounded):
    return jax.vmap(lambda point: constrain(model, point, observations, expected, is_unbounded=is_unbounded))(points)


@functools.cache
def constrained(name):
    """The guess; coordinates between bounds around it, and without bounds anywhere: the first half far from everything."""
    model, observations = setting(name)
    noise = np.random.default_rng(6).normal(size=(2, NUM_POINTS, model.num_free)).astype(np.float32)

    def both(observations, noise):
        expected = find_start(model, observations)
        around = jnp.concatenate([5 * noise[0], expected.centre + 0.3 * expected.scale * noise[1]])
        bounded = place(model, around, observations, expected, is_unbounded=False)
        # And back: the same points by their coordinates without bounds.
        anywhere = jnp.concatenate([6 * noise[0], 2 * noise[1], bounded.y])
        return expected, bounded, place(model, anywhere, observations, expected, is_unbounded=True)

    expected, bounded, unbounded = jax.tree.map(np.asarray, compile_once(both)(observations, noise))
    wild, again = (jax.tree.map(lambda x, part=part: np.split(x, 2)[part], unbounded) for part in (0, 1))
    return expected, bounded, wild, again


def widen(tree):
    """The same in 64 bits."""
    return jax.tree.map(lambda x: np.asarray(x, np.float64) if eqx.is_inexact_array_like(x) else x, tree)


@every_model
def test_the_jacobian_is_that_of_the_map(name):
    (claimed, computed), _ = differentiated(name)
    assert len(claimed) > 5
    np.testing.assert_allclose(claimed, computed, atol=1e-5)


@every_model
def test_the_jacobian_without_bounds_is_that_of_both_maps(name):
    _, (claimed, computed) = differentiated(name)
    np.testing.assert_allclose(claimed, computed, atol=2e-4)


@functools.cache
def differentiated(name):
    """Log determinants, claimed and by differences, in 64 bits: of coordinates with bounds, and without."""
    _, bounded, _, _ = constrained(name)
    chosen = np.flatnonzero(bounded.is_inside[NUM_POINTS:])[:10] + NUM_POINTS
    step = 1e-5

    def surround(points):
        """The points themselves, and their neighbours on both sides along every coordinate."""
        steps = step * np.eye(points.shape[1])
        return np.asarray(points, float)[:, None] + np.concatenate([np.zeros((1, points.shape[1])), steps, -steps])

    def differences(values, claimed, shape):
        forward, backward = np.split(np.asarray(values).reshape(shape)[:, 1:], 2, axis=1)
        computed = np.linalg.slogdet((forward - backward) / (2 * step))[1]
        return np.asarray(claimed).reshape(shape[:2])[:, 0], computed

    with jax.enable_x64(True):
        model, observations = widen(setting(name))

        def both(observations, z, y):
            expected = find_start(model, observations)
            by_z = place(model, z, observations, expected, is_unbounded=False)
            by_y = place(model, y, observations, expected, is_unbounded=True)
            return (list_values(model, by_z), by_z.log_det), (list_values(model, by_y), by_y.log_det + by_y.log_slope)

        neighbours = surround(bounded.z[chosen]), surround(bounded.y[chosen])
        found = compile_once(both)(observations, *(points.reshape(-1, points.shape[-1]) for points in neighbours))
    return [differences(*one, points.shape) for one, points in zip(found, neighbours, strict=True)]


def list_values(model, found):
    """The free parameters of each point, one after the other."""
    return jnp.concatenate([found.values[key].reshape(len(found.log_det), -1) for key in model.free], axis=1)


@every_model
def test_without_bounds_every_point_lies_within_the_priors(name):
    model, (_, _, wild, _) = setting(name)[0], constrained(name)
    assert not np.isnan(wild.log_det).any()
    assert not np.isnan(wild.log_slope).any()
    for key, values in wild.values.items():
        support = model.priors[key].support
        # mu_0 is found from the small part of the level that it explains, sigma in a corner from the small part of the
        # variance: hence with a large part of their rounding.
        room = 3e-3 if key == "mu_0" else 1e-3
        assert ((values >= support.low * (1 - room)) & (values <= support.high * (1 + room))).all(), key


@every_model
def test_with_and_without_bounds_coordinates_are_the_same_points(name):
    _, bounded, _, again = constrained(name)
    is_inside = bounded.is_inside
    assert is_inside.sum() > 10
    assert again.is_inside[is_inside].all()
    np.testing.assert_allclose(bounded.z[is_inside], again.z[is_inside], rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(bounded.log_slope[is_inside], again.log_slope[is_inside], rtol=1e-2, atol=1e-2)


@every_model
def test_outside_their_bounds_coordinates_are_flagged(name):
    _, bounded, _, _ = constrained(name)
    assert not bounded.is_inside[:NUM_POINTS].all()


def test_unbounded_priors_have_derivatives():
    model, observations = setting("unbounded priors")

    def differentiate(observations):
        expected = find_start(model, observations)
        start = constrain(model, expected.centre, observations, expected).y
        return jax.grad(lambda y: evaluate_posterior(model, y, observations, expected, is_unbounded=True).log_density)(start)

    assert np.isfinite(compile_once(differentiate)(observations)).all()


@every_model
def test_the_guess_is_one_finite_number_for_each_coordinate(name):
    model, expected = setting(name)[0], constrained(name)[0]
    assert expected.centre.shape == expected.scale.shape == (model.num_free,)
    assert len(expected.is_unidentified) == model.num_free
    assert np.isfinite(expected.centre).all()
    assert (np.asarray(expected.scale) > 0).all()
    assert np.isfinite(expected.scale).all()


@pytest.mark.parametrize("is_open", [False, True])
@pytest.mark.parametrize(("low", "high"), [(-1.0, 2.0), (-300.0, 400.0), (0.0, 1e-4), (-3.0, 5000.0)])
def test_bounds_can_be_taken_away_and_put_back(low, high, is_open):
    expected = Start(np.zeros(1, np.float32), np.full(1, 0.5, np.float32), (is_open,))
    inside = np.linspace(low, high, 41)[1:-1].astype(np.float32)

    def read(given, *, is_unbounded):
        reader = BoundedReader(given[None], expected, is_unbounded=is_unbounded)
        return reader.take(low, high, 1)[0], reader.unbounded[0], reader.log_slope, reader.is_inside

    @jax.jit
    @jax.vmap
    def there_and_back(given):
        found = read(given, is_unbounded=False)
        back, _, same_slope, _ = read(found[1], is_unbounded=True)
        return *found, back, same_slope, jax.grad(lambda y: read(y, is_unbounded=True)[0])(found[1])

    z, _, log_slope, is_inside, back, same_slope, slope = there_and_back(inside)
    assert np.asarray(is_inside).all()
    np.testing.assert_allclose(back, z, rtol=1e-4, atol=1e-4 * min(high - low, 1))
    np.testing.assert_allclose(same_slope, log_slope, atol=1e-4)
    np.testing.assert_allclose(np.log(slope), log_slope, atol=1e-3)


def test_far_from_its_bounds_a_determined_coordinate_is_left_alone():
    expected = Start(np.zeros(1, np.float32), np.full(1, 0.1, np.float32), (False,))
    z = np.linspace(-3.0, 3.0, 7)
    y = jax.jit(jax.vmap(lambda z: take_one(z, expected)))(z)
    # In units of its standard error.
    np.testing.assert_allclose(y, z / 0.1, rtol=1e-5)


def take_one(z, expected):
    reader = BoundedReader(z[None], expected, is_unbounded=False)
    reader.take(-5.0, 5.0, 1)
    return reader.unbounded[0]


def test_nothing_jumps_where_a_cost_parameter_becomes_unlikely():
    # A step in the density would make trajectories fail however small their steps are.
    model, observations = setting("one condition, all free")
    expected = find_start(model, observations)
    expected = eqx.tree_at(lambda start: start.likely["beta"], expected, jnp.array([[0.7, 0.8]]))
    index = expected.is_unidentified.index(True, 3)
    y = np.repeat(np.asarray(expected.centre)[None], 4001, axis=0)
    y[:, index] = np.linspace(-12, 12, len(y))
    found = compile_once(jax.vmap(lambda y: constrain(model, y, observations, expected, is_unbounded=True)))(y)
    beta = np.asarray(found.values["beta"], float)
    # Nearly half of the coordinate is for what is likely, and all of the rest is there.
    share = 1 / (1 + np.exp(-y[:, index]))
    assert np.interp(0.8, beta, share) - np.interp(0.7, beta, share) > 0.45
    np.testing.assert_allclose(beta[[0, -1]], [0.5, 1.0], atol=2e-3)
    assert (np.diff(beta) >= 0).all()
    assert np.abs(np.diff(found.log_det + found.log_slope)).max() < 0.05


def test_shares_are_spread_smoothly_over_all_of_a_range():
    share = jnp.linspace(0.0, 1.0, 10001)
    for first, last in ((0.0, 10.0), (0.0, 6.0), (3.0, 6.0), (8.0, 10.0), (4.9, 5.0)):
        ends, likely = (0.0, 10.0), (jnp.asarray(first), jnp.asarray(last))
        spread = functools.partial(spread_over_likely, ends=ends, likely=likely, reach=0.8)
        x, slope = jax.vmap(jax.value_and_grad(lambda share, spread=spread: spread(share)[0]))(share)
        log_slope = spread(share)[1]
        np.testing.assert_allclose(x[jnp.array([0, -1])], ends, atol=1e-4)
        np.testing.assert_allclose(np.log(slope[1:-1]), log_slope[1:-1], atol=1e-2)
        # What the range leaves out of neither end is spread evenly.
        if (first, last) == ends:
            np.testing.assert_allclose(x, 10 * share, atol=0.05)
