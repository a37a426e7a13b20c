"""The zoo's actors: accurate, differentiable, and honest about where they were trained."""

import functools
import itertools
import warnings

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from designstudio.errors import OutsideTrainingBoxWarning, StudioError
from designstudio.model.actors import ExactActor, PaperActor, choose_actions, load_actor, measure_accuracy
from designstudio.model.actors.accuracy import (
    Decisions,
    draw_decisions,
    relative_errors,
    solve_decisions,
    summarize_errors,
)
from designstudio.model.actors.amortized import evaluate_chebyshev
from designstudio.model.parameters import spread_evenly
from designstudio.model.priors import Interval, PriorSet
from tests.helpers.quick_compilation import ONCE

PARTICIPANT = {"mu_0": 1.5, "sigma_0": 0.2, "sigma": 0.15, "sigma_r": 0.1}


def participant_of(cost):
    return {**PARTICIPANT, **{p.name: 0.5 * (p.box.low + p.box.high) for p in cost.parameters}}


def test_errors_over_the_training_box_are_as_promised(cost):
    accuracy = measure_accuracy(load_actor(cost.name), 5_000, key=jax.random.key(123))
    assert accuracy.num_actions == 5_000
    assert accuracy.median <= 1e-4
    assert accuracy.p99 <= 1e-3


def test_errors_are_as_promised_where_little_noise_is_as_frequent_as_much(cost):
    actor = load_actor(cost.name)
    evenly = PriorSet({parameter.name: spread_evenly(parameter.box) for parameter in actor.parameters})
    decisions = draw_decisions(cost, 5_000, priors=evenly, key=jax.random.key(124))
    accuracy = summarize_errors(relative_errors(actor, decisions, solve_decisions(cost, decisions)))
    assert accuracy.median <= 1e-4
    assert accuracy.p99 <= 1e-3


def test_errors_are_small_at_every_corner_of_the_box(cost):
    actor = load_actor(cost.name)
    ends = [(parameter.box.low, parameter.box.high) for parameter in actor.parameters]
    corners = np.array(list(itertools.product(*ends, (0.02, 20.0)))).T
    names = [parameter.name for parameter in actor.parameters]
    participants = {name: jnp.asarray(values) for name, values in zip(names, corners[:-1], strict=True)}
    decisions = Decisions(participants, jnp.log(jnp.asarray(corners[-1])))
    assert relative_errors(actor, decisions, solve_decisions(cost, decisions)).max() < 1e-2


def test_gradients_agree_with_the_exact_actor_and_with_finite_differences(cost):
    decisions = draw_decisions(cost, 200, key=jax.random.key(5))

    def log_action(actor, participant, log_measurement):
        return actor.policy(participant)(log_measurement)

    def differentiate(actor):
        gradient = jax.vmap(jax.grad(functools.partial(log_action, actor), argnums=(0, 1)))
        return jax.jit(gradient, compiler_options=ONCE)(decisions.participants, decisions.log_measurements)

    amortized, exact = differentiate(load_actor(cost.name)), differentiate(ExactActor(cost))
    for one, other in zip(jax.tree.leaves(amortized), jax.tree.leaves(exact), strict=True):
        error = np.abs(np.asarray(one) - np.asarray(other)) / (1 + np.abs(np.asarray(other)))
        assert np.quantile(error, 0.9) < 1e-2
        assert np.median(error) < 1e-3
    check_derivatives(load_actor(cost.name), participant_of(cost))


def check_derivatives(actor, participant):
    """First and second derivatives by differences along every coordinate, in 64 bits; compiled as one."""
    step = 1e-5
    names = list(participant)

    def log_action(x):
        return widened.policy(dict(zip(names, x[:-1], strict=True)))(x[-1])

    def differentiate(x, neighbours):
        return jax.jacrev(jax.grad(log_action))(x), *jax.vmap(jax.value_and_grad(log_action))(neighbours)

    with jax.enable_x64(True):
        widened = jax.tree.map(lambda x: np.asarray(x, np.float64) if eqx.is_inexact_array(x) else x, actor)
        point = np.array([*participant.values(), 0.3], np.float64)
        steps = step * np.eye(len(point))
        neighbours = np.concatenate([point[None], point + steps, point - steps])
        hessian, values, gradients = map(np.asarray, jax.jit(differentiate, compiler_options=ONCE)(point, neighbours))
    gradient, (forward, backward) = gradients[0], np.split(gradients[1:], 2)
    above, below = np.split(values[1:], 2)
    np.testing.assert_allclose(gradient, (above - below) / (2 * step), rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(hessian, (forward - backward) / (2 * step), rtol=1e-4, atol=1e-4)


def test_actions_outside_the_box_are_flagged_and_warned_about(cost):
    actor = load_actor(cost.name)
    with pytest.warns(OutsideTrainingBoxWarning, match="1 of 3 actions lie outside the box"):
        actions = choose_actions(actor, np.array([1.0, 2.0, 1e4]), participant_of(cost))
    np.testing.assert_array_equal(actions.is_inside, [True, True, False])
    for parameter in cost.parameters:
        beyond = parameter.box.high * 1.01 if parameter.box.high < parameter.support.high else parameter.box.low * 0.99
        with pytest.warns(OutsideTrainingBoxWarning):
            actions = choose_actions(actor, 1.0, {**participant_of(cost), parameter.name: beyond})
        assert not actions.is_inside


def test_inside_the_box_nothing_is_warned_about(cost):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert choose_actions(load_actor(cost.name), np.array([0.5, 5.0]), participant_of(cost)).is_inside.all()


def test_exact_actors_are_trusted_everywhere(cost):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert choose_actions(ExactActor(cost), np.array([1e-3, 1.0, 1e3]), participant_of(cost)).is_inside.all()


def test_a_wide_prior_outside_the_paper_is_inside_the_belief_box():
    # The actor sees only the belief: sigma_0 = 2 with sigma = 0.2 is a belief like many others.
    actor = load_actor("quadratic")
    actions = choose_actions(actor, 2.0, {**PARTICIPANT, "sigma_0": 2.0})
    assert actions.is_inside


@pytest.mark.parametrize(
    ("measurements", "change", "sentence"),
    [
        (0.0, {}, r"^A measurement must be a positive number, but 0 was given\.$"),
        (-1.0, {}, r"^A measurement must be a positive number, but -1 was given\.$"),
        (np.array([1.0, np.nan]), {}, r"^A measurement must be a positive number, but nan was given at position 1\.$"),
        (1.0, {"beta": 1.2}, r"^beta must be above 0 and at most 1, but 1\.2 was given\.$"),
        (1.0, {"sigma_r": np.nan}, r"^sigma_r must be a positive number, but nan was given\.$"),
        (np.ones(3), {"mu_0": np.ones(2)}, r"must broadcast together, but their shapes are measurement \(3,\), mu_0 \(2,\)"),
    ],
)
def test_bad_input_gives_one_sentence(measurements, change, sentence):
    with pytest.raises(StudioError, match=sentence):
        choose_actions(load_actor("quadratic_effort"), measurements, {**PARTICIPANT, "beta": 0.8, **change})


def test_arrays_broadcast_like_numpy():
    measurements, betas = np.linspace(0.5, 4, 5)[:, None], np.array([0.6, 0.8, 1.0])
    actions = choose_actions(load_actor("quadratic_effort"), measurements, {**PARTICIPANT, "beta": betas})
    assert actions.action.shape == actions.is_inside.shape == (5, 3)
    np.testing.assert_allclose(actions.action[:, 0] / actions.action[:, 2], 0.6, rtol=1e-4)


def test_chebyshev_sums_agree_with_numpy():
    coefficients = np.array([0.3, -1.2, 0.5, 2.0, -0.7])
    x = np.linspace(-1, 1, 7)
    expected = np.polynomial.chebyshev.chebval(x, coefficients)
    np.testing.assert_allclose(jax.jit(evaluate_chebyshev)(coefficients, x), expected, atol=1e-6)


def test_the_papers_architecture_has_the_papers_size():
    actor = PaperActor(load_actor("quadratic_effort").cost, key=jax.random.key(0))
    assert [layer.weight.shape for layer in actor.layers] == [(16, 5), (64, 16), (16, 64), (8, 16), (3, 8)]
    participant = {**PARTICIPANT, "beta": 0.8}

    @jax.jit
    def act(participant, log_measurement):
        policy = actor.policy(participant)
        return policy.coefficients, policy(log_measurement), actor.is_inside(participant, log_measurement)

    (factor, exponent, shift), log_action, is_inside = jax.tree.map(np.asarray, act(participant, np.log(1.7)))
    expected = np.log(np.log1p(np.exp(factor * 1.7**exponent + shift)))
    np.testing.assert_allclose(log_action, expected, rtol=1e-5)
    assert is_inside
    assert not act(participant, np.log(1e4))[2]
    assert not act({**participant, "sigma": 0.6}, np.log(1.7))[2]


def test_the_papers_architecture_is_trained_on_the_papers_box():
    priors = PaperActor(load_actor("quadratic_effort").cost, key=jax.random.key(0)).training_priors
    assert priors["mu_0"].support == Interval(0.1, 7.0)
    assert all(priors[name].support == Interval(0.01, 0.5) for name in ("sigma_0", "sigma", "sigma_r"))
    assert priors["beta"].support == Interval(0.5, 1.0)
