"""Exact actors against brute force, finite differences and the symmetries of the model."""

import math

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from designstudio.model.actors import ExactActor
from designstudio.model.actors.accuracy import draw_decisions, solve_decisions
from designstudio.model.costs import PAPER_COST_NAMES, get_cost
from designstudio.model.perception import LogNormalPerception
from tests.helpers.quick_compilation import ONCE
from tests.oracles import brute_force

NUM_CHECKED = 40


@eqx.filter_jit
def act(actor, log_mu, sigma_post, sigma_r, parameters):
    """One action; jitted once per cost and reused by all tests."""
    return actor.strategy(sigma_post, sigma_r, parameters)(log_mu)


def test_actions_agree_with_brute_force_over_the_training_box(cost):
    decisions = draw_decisions(cost, NUM_CHECKED, key=jax.random.key(3))
    exact = solve_decisions(cost, decisions)
    values = {name: np.asarray(value, float) for name, value in decisions.participants.items()}
    with jax.enable_x64(True):
        belief = LogNormalPerception().believe(jnp.asarray(np.asarray(decisions.log_measurements, float)), values)
    for i in range(NUM_CHECKED):
        parameters = {p.name: values[p.name][i] for p in cost.parameters}
        expected = brute_force.optimal_log_action(
            cost.name, float(belief.log_mu[i]), float(belief.sigma[i]), values["sigma_r"][i], parameters
        )
        assert abs(math.expm1(exact[i] - expected)) < 1e-5, (i, parameters)


@pytest.mark.parametrize("noises", [(0.0036, 0.005), (0.7, 0.005), (0.0036, 1.0), (0.7, 1.0)])
def test_actions_agree_with_brute_force_at_the_corners_of_the_box_in_32_bits(cost, noises):
    sigma_post, sigma_r = noises
    for median in (0.004, 100.0):
        for corner in ("low", "high"):
            parameters = {p.name: getattr(p.box, corner) for p in cost.parameters}
            expected = brute_force.optimal_log_action(cost.name, math.log(median), sigma_post, sigma_r, parameters)
            arguments = jax.tree.map(jnp.asarray, (math.log(median), sigma_post, sigma_r, parameters))
            action = act(ExactActor(cost), *arguments)
            assert abs(math.expm1(float(action) - expected)) < 2e-5, (median, corner)


def test_gradients_agree_with_finite_differences(cost):
    names, step = [p.name for p in cost.parameters], 1e-5
    point = np.array([math.log(1.8), 0.15, 0.2, *(0.4 * p.box.low + 0.6 * p.box.high for p in cost.parameters)])
    steps = step * np.eye(len(point))

    def log_action(x):
        return ExactActor(cost).strategy(x[1], x[2], dict(zip(names, x[3:], strict=True)))(x[0])

    def differentiate(x, neighbours):
        return jax.jacfwd(log_action)(x), jax.jacrev(log_action)(x), jax.vmap(log_action)(neighbours)

    with jax.enable_x64(True):
        both_sides = np.concatenate([point + steps, point - steps])
        found = jax.jit(differentiate, compiler_options=ONCE)(point, both_sides)
    forward, reverse, values = map(np.asarray, found)
    above, below = np.split(values, 2)
    # Along every coordinate. Second derivatives of the implicit root have a test of their own.
    for gradient in (forward, reverse):
        np.testing.assert_allclose(gradient, (above - below) / (2 * step), rtol=1e-5, atol=1e-6)


LENGTHS = {"gamma": 1.0, "alpha": -1.0}  # how parameters of a cost with a length change with the unit
noise = st.floats(0.02, 0.45)


@settings(max_examples=25, deadline=None)
@given(st.sampled_from(PAPER_COST_NAMES), st.floats(0.2, 5.0), noise, noise, st.floats(0.0, 1.0), st.floats(0.3, 3.0))
def test_actions_do_not_depend_on_the_unit(name, median, sigma_post, sigma_r, where, factor):
    cost = get_cost(name)
    parameters = {p.name: p.box.low + where * (p.box.high - p.box.low) for p in cost.parameters}
    scaled = dict(parameters)
    if name in ("inverted_gaussian", "linex"):
        scaled = {key: value * factor ** LENGTHS[key] for key, value in parameters.items()}
    if name == "absolute_effort":
        odds = parameters["beta"] / max(1 - parameters["beta"], 1e-9) * factor
        scaled = {"beta": odds / (1 + odds)}
    one = act(ExactActor(cost), *jax.tree.map(jnp.asarray, (math.log(median), sigma_post, sigma_r, parameters)))
    other = act(ExactActor(cost), *jax.tree.map(jnp.asarray, (math.log(median * factor), sigma_post, sigma_r, scaled)))
    np.testing.assert_allclose(other - one, math.log(factor), atol=2e-4)


@settings(max_examples=25, deadline=None)
@given(st.sampled_from(PAPER_COST_NAMES), st.floats(0.1, 10.0), noise, noise, st.floats(0.0, 1.0))
def test_a_larger_belief_never_leads_to_a_smaller_action(name, median, sigma_post, sigma_r, where):
    cost = get_cost(name)
    parameters = {p.name: p.box.low + where * (p.box.high - p.box.low) for p in cost.parameters}
    rest = jax.tree.map(jnp.asarray, (sigma_post, sigma_r, parameters))
    actor = ExactActor(cost)
    smaller = act(actor, jnp.asarray(math.log(median)), *rest)
    assert act(actor, jnp.asarray(math.log(median * 1.3)), *rest) >= smaller - 1e-5


def test_more_effort_cost_means_a_smaller_action():
    for name in ("absolute_effort", "quadratic_effort"):
        actions = [
            act(ExactActor(get_cost(name)), *jax.tree.map(jnp.asarray, (1.0, 0.2, 0.2, {"beta": beta})))
            for beta in (1.0, 0.9, 0.7, 0.5)
        ]
        assert np.all(np.diff(actions) < 0)


def test_symmetric_asymmetry_is_the_quadratic_cost():
    point = jax.tree.map(jnp.asarray, (0.5, 0.3, 0.2))
    asymmetric = act(ExactActor(get_cost("asymmetric_quadratic")), *point, {"alpha": jnp.asarray(0.5)})
    quadratic = act(ExactActor(get_cost("quadratic")), *point, {})
    np.testing.assert_allclose(asymmetric, quadratic, atol=1e-6)


def test_no_effort_is_the_cost_without_it():
    point = jax.tree.map(jnp.asarray, (0.5, 0.3, 0.2))
    for name in ("absolute", "quadratic"):
        plain = act(ExactActor(get_cost(name)), *point, {})
        with_effort = act(ExactActor(get_cost(f"{name}_effort")), *point, {"beta": jnp.asarray(1.0)})
        np.testing.assert_allclose(with_effort, plain, atol=1e-6)
