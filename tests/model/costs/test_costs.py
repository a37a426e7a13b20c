"""Every cost, by every method it has."""

import functools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from designstudio.errors import UnknownNameError
from designstudio.model.actors import load_actor
from designstudio.model.actors.accuracy import draw_decisions
from designstudio.model.actors.exact import ExactActor
from designstudio.model.costs import PAPER_COST_NAMES, get_cost, quadrature
from designstudio.model.costs.base import total_noise
from designstudio.model.perception import Belief, LogNormalPerception
from tests.oracles import brute_force

NUM_DECISIONS = 64
# Linex truncates the noise and plain quadrature does not; brute force covers it, in tests/model/actors/test_exact.py.
UNTRUNCATED = [name for name in PAPER_COST_NAMES if name != "linex"]


def beliefs_of(cost, key):
    """Random beliefs, motor noises and cost parameters from the training box."""
    decisions = draw_decisions(cost, NUM_DECISIONS, key=key)
    values = decisions.participants
    belief = LogNormalPerception().believe(decisions.log_measurements, values)
    return belief, values["sigma_r"], {p.name: values[p.name] for p in cost.parameters}


def at_offset(method, offset):
    """Evaluate a method of a cost at so many noise units from the belief's median, for a batch."""

    def evaluate(belief, sigma_r, parameters):
        return method(belief.log_mu + offset * total_noise(belief, sigma_r), belief, sigma_r, parameters)

    return eqx.filter_jit(jax.vmap(evaluate))


@functools.cache
def slopes_of(name):
    """The cost's own slope and the integrated one, compiled once for every offset."""
    cost = get_cost(name)

    def both(offset, *batch):
        return (
            at_offset(cost.slope, offset)(*batch),
            at_offset(lambda *args: quadrature.expected_slope(cost, *args), offset)(*batch),
        )

    return jax.jit(both)


def test_the_costs_are_the_seven_of_the_paper():
    assert set(PAPER_COST_NAMES) == set(brute_force.COSTS)


def test_values_agree_with_the_formulas(cost):
    responses, stimuli = np.array([0.5, 1.0, 2.0, 3.0]), np.array([1.0, 1.0, 1.5, 4.0])
    parameters = {p.name: 0.3 * p.box.low + 0.7 * p.box.high for p in cost.parameters}
    expected = brute_force.COSTS[cost.name](responses, stimuli, parameters)
    np.testing.assert_allclose(cost(responses, stimuli, parameters), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("offset", [-2.0, -0.3, 0.0, 0.5, 2.0])
@pytest.mark.parametrize("name", UNTRUNCATED)
def test_the_slope_has_the_sign_of_the_integrated_slope(name, key, offset):
    closed, integrated = map(np.asarray, slopes_of(name)(offset, *beliefs_of(get_cost(name), key)))
    is_clear = np.abs(integrated) > 1e-4 * np.abs(integrated).max()
    assert is_clear.mean() > 0.3
    np.testing.assert_array_equal(np.sign(closed)[is_clear], np.sign(integrated)[is_clear])


@pytest.mark.parametrize("name", ["absolute", "quadratic", "absolute_effort", "quadratic_effort"])
def test_closed_slopes_are_the_integrated_ones_up_to_the_promised_factor(name, key):
    belief, sigma_r, parameters = beliefs_of(get_cost(name), key)
    closed, integrated = map(np.asarray, slopes_of(name)(0.4, belief, sigma_r, parameters))
    # The closed slopes are divided by E[r] = a exp(sigma_r² / 2), the integrated ones by a.
    np.testing.assert_allclose(closed * np.exp(np.asarray(sigma_r) ** 2 / 2), integrated, rtol=2e-4, atol=1e-5)


@pytest.mark.parametrize("name", UNTRUNCATED)
def test_the_integrated_slope_is_the_derivative_of_the_expected_cost(name, key):
    cost = get_cost(name)
    with jax.enable_x64(True):
        batch = jax.tree.map(lambda x: np.asarray(x, np.float64), beliefs_of(cost, key))
        derivative = jax.grad(lambda x, *rest: quadrature.expected_cost(cost, x, *rest))
        slopes = np.asarray(at_offset(lambda *args: quadrature.expected_slope(cost, *args), 0.4)(*batch))
        belief, sigma_r, _ = batch
        actions = np.exp(belief.log_mu + 0.4 * np.hypot(belief.sigma, sigma_r))
        expected = np.asarray(at_offset(derivative, 0.4)(*batch)) / actions
        # The general rule is less exact where an inverted Gaussian is narrower than the noise: it has a rule of its own.
        is_resolved = relative_width(cost, *batch) > 4
        assert is_resolved.mean() > 0.3
        np.testing.assert_allclose(slopes[is_resolved], expected[is_resolved], rtol=1e-6, atol=1e-9)


def relative_width(cost, belief, sigma_r, parameters):
    """The cost's own length in units of the noise; costs without one are as wide as anything."""
    return parameters.get("gamma", np.inf) / (np.exp(belief.log_mu) * np.hypot(belief.sigma, sigma_r))


def test_the_slope_of_the_inverted_gaussian_is_the_derivative_of_its_expected_cost_however_narrow_it_is(key):
    cost = get_cost("inverted_gaussian")
    with jax.enable_x64(True):
        batch = jax.tree.map(lambda x: np.asarray(x, np.float64), beliefs_of(cost, key))
        belief, sigma_r, parameters = batch
        # Down to what beliefs at the end of the training box have.
        batch = (belief, sigma_r, {"gamma": parameters["gamma"] * np.geomspace(0.01, 1, NUM_DECISIONS)})
        width = relative_width(cost, *batch)
        assert width.min() < 0.01
        factor = (width**2 + 1 / width) * np.hypot(belief.sigma, sigma_r)
        derivative = np.asarray(at_offset(jax.grad(cost.expected), 0.4)(*batch))
        np.testing.assert_allclose(at_offset(cost.slope, 0.4)(*batch), factor * derivative, rtol=1e-4, atol=1e-6)


def test_positions_stay_in_the_range_of_the_polynomials(cost, key):
    actor = load_actor(cost.name)

    def locate(belief, sigma_r, parameters):
        return actor.strategy(belief.sigma, sigma_r, parameters).position(belief)

    positions = np.asarray(jax.jit(jax.vmap(locate))(*beliefs_of(cost, key)))
    assert positions.min() >= -1.0001
    assert positions.max() <= 1.0001


def test_the_anchor_is_optimal_when_noise_vanishes(cost):
    @jax.jit
    def act(nothing, parameters):
        anchor = cost.log_anchor(Belief(jnp.log(2.0), nothing), nothing, parameters)
        return anchor, ExactActor(cost).strategy(nothing, nothing, parameters)(jnp.log(2.0))

    for corner in ("low", "high"):
        anchor, exact = act(1e-4, {p.name: getattr(p.box, corner) for p in cost.parameters})
        assert abs(float(anchor) - float(exact)) < 1e-3


def test_an_unknown_cost_names_the_known_ones():
    with pytest.raises(UnknownNameError, match=r"Unknown cost 'quadratc'\. Available: absolute, quadratic, "):
        get_cost("quadratc")


def test_belief_and_action_in_the_costs_own_unit_do_not_depend_on_it():
    actor = load_actor("absolute_effort")
    cost = actor.cost

    @jax.jit
    def relative_action(log_unit, depth):
        parameters = cost.parameters_at(log_unit)
        action = actor.strategy(jnp.asarray(0.2), jnp.asarray(0.1), parameters)(log_unit + depth)
        return cost.log_unit(parameters), action - log_unit

    for depth in (-2.0, -0.1, 0.5):
        units = np.array([-0.5, 0.0, 1.5])
        found, actions = zip(*(relative_action(log_unit, depth) for log_unit in units), strict=True)
        np.testing.assert_allclose(found, units, atol=1e-5)
        np.testing.assert_allclose(actions, actions[0], atol=1e-5)
