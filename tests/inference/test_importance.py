"""Importance sampling against brute force, the mixture it draws from, and the checks of its weights."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from designstudio.inference.diagnostics import (
    ChainCheck,
    WeightCheck,
    check_chains,
    check_weights,
    explain_chains,
    explain_weights,
    resample,
)
from designstudio.inference.importance import draw_weighted, effective_draws, temper
from designstudio.inference.mixture import Mixture, draw_from_mixture, mixture_log_density, prepare_mixture, start_mixture
from designstudio.inference.settings import FitSettings, ImportanceSettings
from designstudio.model.actors import ExactActor
from designstudio.model.costs import get_cost
from designstudio.model.likelihood.model import BehaviorModel
from designstudio.model.likelihood.observations import observe

SIGMA_0, SIGMA = 0.2, 0.15
NUM_TRIALS = 30


def make_responses():
    """Stimuli and responses of one participant with the quadratic cost, as logarithms."""
    rng = np.random.default_rng(8)
    log_stimulus = np.log(rng.uniform(0.25, 5.0, NUM_TRIALS))
    mean, sd = predict(log_stimulus, 1.5, 0.15)
    return log_stimulus, mean + sd * rng.normal(size=NUM_TRIALS)


def predict(log_stimulus, mu_0, sigma_r):
    """Mean and standard deviation of log r in closed form."""
    weight = SIGMA_0**2 / (SIGMA_0**2 + SIGMA**2)
    mean = weight * log_stimulus + (1 - weight) * np.log(mu_0) + (weight * SIGMA**2 - 3 * sigma_r**2) / 2
    return mean, np.sqrt((weight * SIGMA) ** 2 + sigma_r**2)


@pytest.fixture(scope="module")
def weighted():
    """Parameters and checked weights from importance sampling; mu_0 and sigma_r are free."""
    model = BehaviorModel(ExactActor(get_cost("quadratic")), fixed=["sigma_0", "sigma"])
    log_stimulus, log_response = make_responses()
    fixed = {"sigma_0": np.array([SIGMA_0]), "sigma": np.array([SIGMA])}
    observations = observe(log_stimulus[None], log_response[None], np.ones((1, NUM_TRIALS), bool), fixed)

    @eqx.filter_jit
    def run(key):
        draws, _ = draw_weighted(model, observations, ImportanceSettings(block_size=5000), key=key)
        return draws.found.values, draws.log_weight

    values, log_weight = run(jax.random.key(9))
    return {name: np.asarray(value, float).ravel() for name, value in values.items()}, check_weights(
        np.asarray(log_weight)[None]
    )


@pytest.fixture(scope="module")
def brute_force():
    """Marginal posteriors on a grid over all of the prior, and the log evidence."""
    log_stimulus, log_response = make_responses()
    mu_0, sigma_r = np.linspace(0.1, 5.0, 500), np.linspace(0.01, 0.5, 400)
    log_density = -np.log(4.9) + stats.truncnorm(0.04, 2.0, scale=0.25).logpdf(sigma_r) + np.zeros((500, 1))
    for x, y in zip(log_stimulus, log_response, strict=True):
        log_density += stats.norm.logpdf(y, *predict(x, mu_0[:, None], sigma_r))
    largest = log_density.max()
    density = np.exp(log_density - largest)
    evidence = np.trapezoid(np.trapezoid(density, sigma_r), mu_0)
    marginals = {
        "mu_0": (mu_0, np.trapezoid(density, sigma_r, axis=1) / evidence),
        "sigma_r": (sigma_r, np.trapezoid(density, mu_0, axis=0) / evidence),
    }
    return marginals, largest + np.log(evidence)


@pytest.mark.parametrize("name", ["mu_0", "sigma_r"])
def test_weighted_draws_have_the_moments_of_the_posterior(weighted, brute_force, name):
    (values, check), (marginals, _) = weighted, brute_force
    grid, density = marginals[name]
    mean = np.trapezoid(grid * density, grid)
    sd = np.sqrt(np.trapezoid((grid - mean) ** 2 * density, grid))
    weights = np.exp(check.log_weight.ravel())
    estimate = weights @ values[name]
    assert abs(estimate - mean) < 0.05 * sd
    assert abs(np.sqrt(weights @ (values[name] - estimate) ** 2) / sd - 1) < 0.03


def test_the_mean_weight_is_the_evidence(weighted, brute_force):
    assert abs(weighted[1].log_evidence[0] - brute_force[1]) < 0.05


def test_the_proposal_is_nearly_the_posterior(weighted):
    _, check = weighted
    assert check.khat[0] < 0.5
    assert check.ess[0] > 0.5 * 20_000
    np.testing.assert_allclose(np.exp(check.log_weight).sum(), 1.0)


def test_tempering_leaves_the_asked_number_of_effective_draws():
    log_weights = 10 * jax.random.normal(jax.random.key(10), (1000,)).at[:50].set(-jnp.inf)
    weights = jax.jit(temper)(log_weights, 125)
    np.testing.assert_allclose(weights.sum(), 1.0, rtol=1e-5)
    assert 125 <= 1 / np.sum(np.asarray(weights) ** 2) * (1 + 1e-4) < 128
    assert (np.asarray(weights[:50]) == 0).all()
    assert (np.diff(np.asarray(weights[50:])[np.argsort(log_weights[50:])]) >= 0).all()


def test_weights_that_are_good_enough_are_not_tempered():
    log_weights = 0.5 * jax.random.normal(jax.random.key(11), (1000,))
    assert effective_draws(log_weights) > 125
    np.testing.assert_allclose(temper(log_weights, 125), jax.nn.softmax(log_weights), rtol=1e-5)


def test_tempering_survives_draws_that_are_all_impossible():
    np.testing.assert_allclose(temper(jnp.full(10, -jnp.inf), 5), 0.1, rtol=1e-5)


MIXTURES = {
    "the regression alone": start_mixture(2, 3),
    "three components": Mixture(
        jnp.log(jnp.array([0.2, 0.5, 0.3])),
        jnp.array([[0.5, -0.2], [-1.0, 0.4]]),
        jnp.array([[[0.8, 0.0], [0.3, 0.5]], [[0.4, 0.0], [-0.6, 1.2]]]),
    ),
}


@pytest.mark.parametrize("is_unidentified", [(False, False), (False, True), (True, True)], ids=str)
@pytest.mark.parametrize("name", MIXTURES)
def test_the_density_of_the_mixture_is_that_of_its_draws(name, is_unidentified):
    """The mean of f(x) / q(x) over draws from q is the integral of f: one, for any density f where q is positive."""
    mixture, num = MIXTURES[name], 40_000

    @jax.jit
    def draw(key):
        points = draw_from_mixture(mixture, is_unidentified, num, key=key)
        return points, mixture_log_density(prepare_mixture(mixture), is_unidentified, points)

    points, log_density = map(np.asarray, draw(jax.random.key(12)))
    assert np.isfinite(log_density).all()
    for low, high in ((-0.9, 0.9), (0.0, 0.8), (-0.7, 0.1)):
        uniform = np.all((points > low) & (points < high), axis=1) / (high - low) ** 2
        ratio = uniform * np.exp(-log_density)
        assert abs(ratio.mean() - 1) < 5 * ratio.std() / np.sqrt(num)
        assert ratio.std() / np.sqrt(num) < 0.03


def test_the_density_of_the_mixture_integrates_to_one():
    # Cells are small near the middle and reach far into the tails; the slab of the slack ends between two cells.
    edges = np.concatenate(
        [-np.geomspace(1.0, 300.0, 150)[::-1], np.linspace(-1.0, 1.0, 61)[1:-1], np.geomspace(1.0, 300.0, 150)]
    )
    middles, widths = (edges[1:] + edges[:-1]) / 2, np.diff(edges)
    points = np.stack(np.meshgrid(middles, middles, indexing="ij"), -1).reshape(-1, 2).astype(np.float32)
    evaluate = jax.jit(
        lambda points: mixture_log_density(prepare_mixture(MIXTURES["three components"]), (False, True), points)
    )
    density = np.exp(np.asarray(evaluate(points), float))
    assert abs(widths @ density.reshape(len(middles), -1) @ widths - 1) < 5e-3


def test_nearly_equal_weights_are_the_best_there_are():
    log_weight = -3.0 + 0.01 * np.random.default_rng(13).normal(size=(1, 4, 500))
    check = check_weights(log_weight)
    np.testing.assert_allclose(check.ess, 2000, rtol=1e-3)
    np.testing.assert_allclose(check.log_evidence, -3.0, atol=1e-2)
    assert check.khat[0] < 0.5


def test_equal_weights_are_good():
    check = check_weights(np.full((1, 4, 500), -3.0))
    np.testing.assert_allclose(check.ess, 2000)
    np.testing.assert_allclose(np.exp(check.log_weight), 1 / 2000)
    assert explain_weights(check, FitSettings()) == [""]


def test_one_dominating_weight_is_flagged():
    log_weight = np.random.default_rng(14).normal(size=(1, 4, 500))
    log_weight[0, 1, 7] = 30.0
    check = check_weights(log_weight)
    assert check.ess[0] < 1.01
    (reason,) = explain_weights(check, FitSettings())
    assert reason


def test_heavy_tailed_weights_have_a_large_khat():
    uniform = np.random.default_rng(15).uniform(size=(1, 4, 1000))
    check = check_weights(-1.5 * np.log(uniform))
    assert 1.0 < check.khat[0] < 2.0
    assert "k-hat" in explain_weights(check, FitSettings())[0]


def test_impossible_draws_have_no_weight():
    log_weight = np.random.default_rng(16).normal(size=(3, 2, 500))
    log_weight[1], log_weight[2, 0] = -np.inf, np.nan
    check = check_weights(log_weight)
    assert check.khat[1] == np.inf
    assert check.ess[1] == 0
    assert check.log_evidence[1] == -np.inf
    assert (check.log_weight[2, 0] == -np.inf).all()
    np.testing.assert_allclose(np.exp(check.log_weight[[0, 2]]).sum((1, 2)), 1.0, rtol=1e-6)
    reasons = explain_weights(check, FitSettings(min_ess=100))
    assert [bool(reason) for reason in reasons] == [False, True, False]


def test_bad_weights_are_judged_in_words():
    check = WeightCheck(np.zeros((3, 1, 1)), np.array([0.81, 0.2, 0.2]), np.array([5000.0, 120.0, 2000.0]), np.zeros(3))
    assert explain_weights(check, FitSettings()) == [
        "k-hat 0.81 of the importance weights is not below 0.7",
        "120 effective draws are fewer than 400",
        "",
    ]


def test_bad_chains_are_judged_in_words():
    good = np.ones(7)
    check = ChainCheck(
        rhat=np.array([1.3, *good[1:]]),
        ess=np.array([900.0, 50.0, *(900 * good[2:])]),
        ess_tail=np.array([900.0, 900.0, 30.0, *(900 * good[3:])]),
        ebfmi=np.array([1.0, 1.0, 1.0, 1.0, 0.1, 1.0, 0.1]),
        num_divergent=np.array([0, 0, 0, 24, 0, 0, 24]),
        num_saturated=np.zeros(7, int),
        mean_steps=good,
        mean_step_size=good,
        jump_rate=good,
        worst=["sigma_0"] * 7,
        num_draws=1000,
    )
    has_jumps = np.array([False] * 6 + [True])
    assert explain_chains(check, has_jumps, FitSettings()) == [
        "R-hat 1.300 of sigma_0 is above 1.01",
        "50 effective draws are fewer than 400",
        "30 effective draws of a tail are fewer than 400",
        "2.4% of the trajectories diverge, more than 1%",
        "E-BFMI 0.10 is below 0.2: momenta do not explore the energy",
        "",
        # Jumps get to where trajectories do not.
        "",
    ]


def test_the_worst_chain_is_named():
    rng = np.random.default_rng(17)
    draws = {"mu_0": rng.normal(size=(3, 4, 200)), "sigma": rng.normal(size=(3, 4, 200, 2))}
    draws["sigma"][1, 0, :, 1] += 3.0
    draws["mu_0"][2, 3] = 0.0
    nothing = np.zeros((3, 4, 200), bool)
    stats = dict.fromkeys(("energy", "n_steps", "step_size", "jumped"), rng.normal(size=(3, 4, 200)))
    check = check_chains(draws, {**stats, "diverging": nothing, "reached_max_treedepth": ~nothing})
    assert check.worst[1:] == ["sigma[1]", "mu_0"]
    assert check.num_divergent.tolist() == [0, 0, 0]
    assert check.num_saturated.tolist() == [800, 800, 800]
    assert check.rhat[0] < 1.03
    assert check.rhat[1] > 1.3
    assert check.rhat[2] == np.inf
    assert check.ess[0] > 400
    assert check.ess[2] == 1


def test_resampling_reproduces_the_weights():
    weights = np.random.default_rng(18).dirichlet(np.full(20, 0.5), size=(2, 3))
    chosen = resample(np.log(weights), 1000, [np.random.default_rng(i) for i in range(2)])
    counts = np.apply_along_axis(np.bincount, -1, chosen, minlength=20)
    # Systematic resampling is never off by one draw or more.
    assert np.abs(counts - 1000 * weights).max() < 1
    # Draws come in random order: neighbours are not alike.
    assert abs(np.corrcoef(chosen[0, 0, 1:], chosen[0, 0, :-1])[0, 1]) < 0.2


def test_resampling_survives_weights_that_are_all_zero():
    chosen = resample(np.full((1, 1, 10), -np.inf), 100, [np.random.default_rng(0)])
    assert sorted(set(chosen.ravel())) == list(range(10))
