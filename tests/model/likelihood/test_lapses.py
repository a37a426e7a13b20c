"""Lapses: a mixture that is the density it says, seen by samplers as it is, and fits that wild trials do not move."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from designstudio.errors import StudioError
from designstudio.inference.coordinates import constrain, find_start
from designstudio.inference.fit_datasets import fit_datasets
from designstudio.inference.settings import FitSettings
from designstudio.model.actors import ExactActor, load_actor
from designstudio.model.costs import get_cost
from designstudio.model.likelihood.lapses import (
    MOST_TRIALS,
    find_suspects,
    fit_robust_line,
    lay_out_ranges,
    prepare_lapses,
)
from designstudio.model.likelihood.model import BehaviorModel
from designstudio.model.likelihood.observations import observe
from designstudio.model.simulate import Contamination, draw_stimuli, label_participants, simulate_trials

PARTICIPANT = {"mu_0": 1.5, "sigma_0": 0.2, "sigma": 0.15, "sigma_r": 0.1, "beta": 0.9, "lapse_rate": 0.03}
SETTINGS = FitSettings(method="importance", num_draws=500, batch_size=40, keeps_log_likelihood=False)
SIGMA = [0.1, 0.25]
WILD = 2.3


def build(actor=None, **options):
    return BehaviorModel(actor or ExactActor(get_cost("quadratic_effort")), has_lapses=True, **options)


def observe_wild(num_trials, num_wild, seed=0):
    """One condition in which some responses are ten times too large."""
    rng = np.random.default_rng(seed)
    x = np.log(rng.uniform(0.25, 5.0, (1, num_trials)))
    y = 0.1 + 0.6 * x + 0.15 * rng.normal(size=x.shape)
    y[0, :num_wild] += WILD
    return observe(x, y, np.ones(x.shape, bool), {})


def test_a_response_is_the_actors_or_anywhere_in_the_range_of_responses():
    model, data = build(), prepare_lapses(observe_wild(40, 2))
    values = {name: jnp.asarray(value) for name, value in PARTICIPANT.items()}
    found = np.asarray(jax.jit(model.pointwise_log_likelihood)(values, data))[data.is_present]
    x, y = (np.asarray(array)[data.is_present] for array in (data.stimulus, data.response))
    weight = 0.2**2 / (0.2**2 + 0.15**2)
    # The quadratic cost with effort: the posterior mean, times beta, times what the noises add.
    policy = model.actor.policy(values)
    mean = np.asarray(jax.vmap(policy)(jnp.asarray(x)))
    usual = stats.norm.pdf(y, mean, np.hypot(weight * 0.15, 0.1))
    expected = np.log(0.97 * usual + 0.03 / (y.max() - y.min()))
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("num_trials", [40, MOST_TRIALS + 144])
def test_what_samplers_see_is_the_likelihood_of_all_trials(num_trials):
    model, data = build(), prepare_lapses(observe_wild(num_trials, 3))
    seen = lay_out_ranges(jax.tree.map(lambda array: array[None], data), 1 if num_trials <= MOST_TRIALS else 16)
    assert np.asarray(seen.weight).sum() == pytest.approx(num_trials)
    assert num_trials <= MOST_TRIALS or seen.weight.shape[-1] < num_trials
    seen = jax.tree.map(lambda array: array[0], seen)
    rng = np.random.default_rng(1)

    def both(values):
        return model.log_likelihood(values, seen), model.log_likelihood(values, data)

    draws = {name: np.float32(value * np.exp(0.01 * rng.normal(size=20))) for name, value in PARTICIPANT.items()}
    fast, careful = (np.asarray(array, float) for array in jax.jit(jax.vmap(both))(draws))
    if num_trials <= MOST_TRIALS:
        np.testing.assert_allclose(fast, careful, atol=2e-3)
    else:
        assert (careful - fast).std() < 0.1


def test_a_line_is_not_moved_by_wild_trials():
    clean, wild = observe_wild(60, 0), observe_wild(60, 9)
    lines = [
        fit_robust_line(*(np.asarray(array, float) for array in (one.stimulus, one.response)), one.is_present)
        for one in (clean, wild)
    ]
    for one, other in zip(*lines, strict=True):
        np.testing.assert_allclose(one, other, atol=0.06)
    suspects = find_suspects(wild)[0, :60]
    assert suspects[:9].all()
    assert not suspects[9:].any()


def test_the_coordinates_have_the_jacobian_of_their_map():
    with jax.enable_x64(True):
        model = build()
        data = prepare_lapses(observe_wild(40, 2))
        data = jax.tree.map(lambda x: jnp.asarray(np.asarray(x, np.float64)) if eqx.is_inexact_array_like(x) else x, data)
        expected = find_start(model, data)

        def place(y):
            found = constrain(model, y, data, expected, is_unbounded=True)
            return jnp.stack([found.values[name] for name in model.free]), found.log_det + found.log_slope

        def claim(y):
            return jnp.linalg.slogdet(jax.jacfwd(lambda y: place(y)[0])(y))[1], place(y)[1]

        points = 0.5 * np.random.default_rng(0).normal(size=(10, model.num_free))
        computed, claimed = jax.jit(jax.vmap(claim))(points)
    assert model.free[-1] == "lapse_rate"
    np.testing.assert_allclose(claimed, computed, atol=1e-6)


@pytest.fixture(scope="module")
def people():
    model = BehaviorModel(ExactActor(get_cost("quadratic_effort")), num_conditions=2, per_condition=["sigma"])
    rng = np.random.default_rng(3)
    values = {"mu_0": rng.uniform(1, 2.5, 40), "sigma_0": rng.uniform(0.15, 0.25, 40), "sigma_r": rng.uniform(0.1, 0.2, 40)}
    values |= {"beta": rng.uniform(0.7, 0.95, 40), "sigma": np.tile(SIGMA, (40, 1))}
    return model, label_participants(model.parameters, values)


@pytest.fixture(scope="module")
def fits(people):
    """With 5 % lapses, fitted with and without room for them."""
    model, participants = people
    stimuli = draw_stimuli(40, 2, 60, low=0.25, high=5.0, key=jax.random.key(2))
    contamination = Contamination(lapse_rate=0.05)
    trials = simulate_trials(model, participants, stimuli, key=jax.random.key(3), contamination=contamination)
    options = {"fixed": {"sigma": SIGMA}, "settings": SETTINGS, "seed": 1}
    models = [build(num_conditions=2, fixed=["sigma"]), BehaviorModel(model.actor, num_conditions=2, fixed=["sigma"])]
    return [fit_datasets(model, trials, **options) for model in models]


def cover(posterior, participants, name):
    draws = posterior["posterior"][name].values.reshape(40, -1)
    low, high = np.quantile(draws, [0.03, 0.97], axis=1)
    return np.mean((low <= participants[name].values) & (participants[name].values <= high))


def test_intervals_cover_the_truth_in_spite_of_lapses(people, fits):
    contaminated, plain = fits
    assert contaminated["diagnostics"]["is_good"].values.all()
    for name in ("mu_0", "sigma_0", "sigma_r", "beta"):
        assert cover(contaminated, people[1], name) >= stats.binom.ppf(1e-3, 40, 0.94) / 40, name
    # What it was before.
    assert cover(plain, people[1], "sigma_r") < 0.4
    assert contaminated["posterior"]["lapse_rate"].values.mean() == pytest.approx(0.05, abs=0.015)


def test_a_known_rate_is_taken_as_it_is(people):
    model = build(num_conditions=2, fixed=["sigma", "lapse_rate"])
    assert "lapse_rate" not in model.free
    assert model.change(num_conditions=1).has_lapses


def test_a_rate_for_each_condition_is_refused():
    with pytest.raises(StudioError, match="shared by all conditions"):
        build(num_conditions=2, per_condition=["lapse_rate"])


@pytest.mark.parametrize("noise", [0.05, 0.3])
def test_far_outliers_have_the_density_of_the_integral(noise):
    actor = load_actor("inverted_gaussian")
    model = BehaviorModel(actor)
    values = {"mu_0": 1.5, "sigma_0": 0.2, "sigma": noise, "sigma_r": 0.1, "gamma": 3.0}
    data = observe(np.zeros((1, 3)), np.array([[-1.0, 1.5, 2.5]]), np.ones((1, 3), bool), {})
    found = np.asarray(eqx.filter_jit(model.pointwise_log_likelihood)(jax.tree.map(jnp.asarray, values), data))[0, :3]
    e = np.linspace(-60, 60, 240_001)
    action = np.asarray(jax.jit(jax.vmap(actor.policy(jax.tree.map(jnp.asarray, values))))(jnp.asarray(noise * e)), float)
    for y, log_density in zip((-1.0, 1.5, 2.5), found, strict=True):
        terms = stats.norm.logpdf(e) + stats.norm.logpdf(y, action, 0.1)
        expected = np.log(np.trapezoid(np.exp(terms - terms.max()), e)) + terms.max()
        assert log_density == pytest.approx(expected, rel=0.02)
