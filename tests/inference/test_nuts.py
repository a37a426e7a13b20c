"""NUTS against closed forms and against numpyro's: trajectories, adaptation, jumps, and chains that do not wait."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numpyro.infer.hmc import hmc
from scipy import stats

from designstudio.inference.convergence import compute_ebfmi, compute_ess, compute_rhat, compute_tail_ess
from designstudio.inference.nuts.chains import run_chains
from designstudio.inference.nuts.scale import adapt_scale, spread_scale, start_whitening
from designstudio.inference.nuts.turn import Jumps
from designstudio.inference.settings import NutsSettings
from tests.helpers.quick_compilation import ONCE

NUM_DATASETS, NUM_CHAINS, NUM_COORDINATES = 16, 4, 3
# Correlated, and with scales from a fifth to three: the scale that chains are given is none of them.
FACTOR = np.array([[1.0, 0.0, 0.0], [2.5, 1.5, 0.0], [0.1, -0.1, 0.15]])
SETTINGS = NutsSettings(windows=(60, 120, 60), num_draws=500, jumps="never")


def gaussian(mean, y):
    """A Gaussian around the data set's mean; the weight is that of a proposal around the same mean, 1.3 times as wide."""
    u = jax.scipy.linalg.solve_triangular(jnp.asarray(FACTOR, jnp.float32), y - mean, lower=True)
    square = jnp.sum(u**2)
    return -square / 2, -square / 2 + square / 1.69 / 2


def corner(mean, y):
    """A funnel's milder cousin: the second coordinate is as wide as the first says."""
    return -(y[0] ** 2 + (y[1] * jnp.exp(-y[0] / 2)) ** 2 + y[2] ** 2) / 2 - y[0] / 2, jnp.zeros(())


def wall(_, y):
    """Logarithms of half normal numbers: each coordinate ends at a wall above, and trails off below."""
    return jnp.sum(y - jnp.exp(2 * y) / 2), jnp.zeros(())


@functools.cache
def sample(density=gaussian, settings=SETTINGS, num_datasets=NUM_DATASETS, seed=0):
    return jax.tree.map(np.asarray, prepare_and_run(density, settings, num_datasets, seed))


# In one program that runs once, and is compiled lightly.
@functools.partial(jax.jit, static_argnums=(0, 1, 2), compiler_options=ONCE)
def prepare_and_run(density, settings, num_datasets, seed):
    means = jnp.linspace(-3.0, 3.0, 64)[:num_datasets, None] * jnp.ones(NUM_COORDINATES)
    start_key, chain_key, jump_key = jax.random.split(jax.random.key(seed), 3)

    def per_dataset(key, shape):
        return jax.vmap(lambda k: jax.random.normal(jax.random.fold_in(key, k), shape))(jnp.arange(num_datasets))

    starts = means[:, None] + 3 * per_dataset(start_key, (NUM_CHAINS, NUM_COORDINATES))
    keys = jax.vmap(lambda k: jax.random.split(jax.random.fold_in(chain_key, k), NUM_CHAINS))(jnp.arange(num_datasets))
    identity = jnp.broadcast_to(jnp.eye(NUM_COORDINATES), (num_datasets, NUM_COORDINATES, NUM_COORDINATES))
    jumps = None
    if settings.jumps == "always":
        u = 1.3 * per_dataset(jump_key, (NUM_CHAINS, settings.num_draws, NUM_COORDINATES))
        y = means[:, None, None] + u @ jnp.asarray(FACTOR, jnp.float32).T
        square = jnp.sum(u**2, axis=-1)
        is_on = jnp.ones((num_datasets, NUM_CHAINS), bool)
        jumps = Jumps(is_on, y, -square / 2 + square / 1.69 / 2, -square / 2)
    chains = run_chains(
        density,
        means,
        jax.vmap(start_whitening)(means, identity),
        starts,
        jumps,
        settings,
        is_wanted=jnp.ones(num_datasets, bool),
        keys=keys,
    )
    return means, chains


def test_draws_of_a_gaussian_have_its_moments_though_the_first_scale_is_far_off():
    means, chains = sample()
    draws = (chains.y - means[:, None, None]).reshape(-1, NUM_COORDINATES) @ np.linalg.inv(FACTOR).T
    num_effective = 0.3 * len(draws)
    assert np.abs(draws.mean(0)).max() < 4 / np.sqrt(num_effective)
    np.testing.assert_allclose(np.cov(draws.T), np.eye(NUM_COORDINATES), atol=0.05)


def test_every_chain_of_an_easy_target_is_good():
    _, chains = sample()
    draws = np.moveaxis(chains.y, -1, 1)
    assert np.quantile(compute_rhat(draws), 0.9) < 1.01
    assert compute_ess(draws).min() > 400
    assert compute_tail_ess(draws).min() > 200
    assert compute_ebfmi(chains.numbers.energy).min() > 0.5
    assert not chains.numbers.is_diverging.any()
    assert not chains.numbers.is_saturated.any()


def test_step_sizes_and_scales_are_adapted():
    _, chains = sample()
    # As wide as the target, whatever the scale was in the beginning.
    _, factor, skew = chains.whitening
    factor = (skew.width * skew.cosh)[..., None] * factor
    covariance = factor @ np.swapaxes(factor, 1, 2)
    ratio = np.linalg.inv(FACTOR) @ covariance @ np.linalg.inv(FACTOR).T
    np.testing.assert_allclose(ratio.mean(0), np.eye(NUM_COORDINATES), atol=0.15)
    assert 0.78 < chains.numbers.acceptance.mean() < 0.95
    assert 0.5 < np.median(chains.step_size) < 1.4
    # One that suits all chains of a data set: a chain that began badly does not crawl.
    assert not np.ptp(chains.step_size, axis=1).any()


def test_trajectories_are_trees_that_turn():
    _, chains = sample()
    steps = chains.numbers.num_steps
    # Whole trees have a power of two less one steps; others were left when a half of them had turned.
    assert steps.min() >= 1
    assert steps.mean() > 2.5
    assert steps.max() < 2**SETTINGS.max_tree_depth
    assert (steps == 3).mean() > 0.2


def test_the_number_of_steps_is_that_of_numpyro_at_the_same_step_size():
    num_draws, step_size = 2000, 0.4
    initialise, move = hmc(lambda u: jnp.sum(u**2) / 2, algo="NUTS")
    state = initialise(
        jnp.zeros(NUM_COORDINATES),
        0,
        step_size=step_size,
        adapt_step_size=False,
        adapt_mass_matrix=False,
        rng_key=jax.random.key(1),
    )

    def step(state, _):
        state = move(state)
        return state, (state.num_steps, state.z)

    _, (theirs, positions) = jax.jit(lambda state: jax.lax.scan(step, state, length=num_draws))(state)
    settings = NutsSettings(windows=(1,), num_draws=250, first_step_size=step_size, jumps="never")
    _, chains = sample(lambda _, y: (-jnp.sum(y**2) / 2, jnp.zeros(())), settings, seed=3)
    # The one window has moved the step size a little: compare lengths of trajectories, in time.
    ours = chains.numbers.num_steps * chains.step_size[..., None]
    error = np.std(np.asarray(theirs)) * step_size / np.sqrt(num_draws / 5)
    assert abs(ours.mean() - np.mean(np.asarray(theirs)) * step_size) < 5 * error + 0.1
    assert np.std(np.asarray(positions)) == pytest.approx(1.0, abs=0.06)


def test_a_target_whose_width_varies_is_sampled_rightly():
    _, chains = sample(corner)
    first = chains.y[..., 0]
    assert abs(first.mean()) < 0.1
    assert first.std() == pytest.approx(1.0, abs=0.06)
    # Given the first, the second is a Gaussian of that width.
    second = chains.y[..., 1] * np.exp(-first / 2)
    assert second.std() == pytest.approx(1.0, abs=0.03)
    assert chains.numbers.is_diverging.mean() < 0.01


def test_a_wall_on_one_side_does_not_make_steps_small():
    _, chains = sample(wall)
    assert np.median(chains.step_size) > 0.55
    assert chains.numbers.is_diverging.mean() < 0.001
    sizes = np.exp(chains.y).reshape(-1)
    num_effective = 0.2 * sizes.size
    assert abs(sizes.mean() - np.sqrt(2 / np.pi)) < 4 * np.sqrt((1 - 2 / np.pi) / num_effective)
    assert (sizes**2).mean() == pytest.approx(1.0, abs=4 * np.sqrt(2 / num_effective))
    # What is recorded is the density of the coordinates, whatever the scale.
    expected = np.sum(chains.y - np.exp(2 * chains.y) / 2, axis=-1)
    np.testing.assert_allclose(chains.numbers.log_density, expected, atol=0.02)


def test_a_scale_goes_there_and_back_and_knows_its_slope():
    draws = jnp.asarray(np.log(np.abs(np.random.default_rng(0).normal(size=(200, 3, 1, 2)))), jnp.float32)
    first = jax.vmap(start_whitening)(jnp.zeros((1, 3)), jnp.eye(3)[None])
    # Only the first 150 count.
    whitening = adapt_scale(first, draws.at[150:].set(1e3), jnp.asarray(150))
    scale = spread_scale(whitening, jnp.zeros(1, int))
    assert (scale.skew.sinh < -0.3).all()
    u = 2 * jax.random.normal(jax.random.key(0), (50, 3, 1))
    y, log_slope = scale.to_coordinates(u)
    np.testing.assert_allclose(scale.to_units(y), u, atol=2e-3)
    slopes = jax.vmap(jax.jacfwd(lambda point: scale.to_coordinates(point[:, None])[0][:, 0]))(u[..., 0])
    constant = np.linalg.slogdet(slopes)[1] - log_slope[:, 0]
    np.testing.assert_allclose(constant, constant[0], atol=1e-3)
    # The draws it has learnt from are nearly normal in its units.
    units = scale.to_units(jnp.moveaxis(draws[:150, :, 0], 2, 1).reshape(-1, 3, 1))[..., 0]
    assert abs(stats.skew(np.asarray(units))).max() < 0.5 < abs(stats.skew(np.asarray(draws[:150]).ravel()))


def test_a_scale_stays_as_it_is_where_draws_are_not_numbers():
    first = jax.vmap(start_whitening)(jnp.zeros((1, 3)), jnp.eye(3)[None])
    after = adapt_scale(first, jnp.full((50, 3, 1, 2), jnp.nan), jnp.asarray(50))
    for new, old in zip(*map(jax.tree.leaves, (after, first)), strict=True):
        np.testing.assert_array_equal(new, old)


def test_jumps_leave_the_target_as_it_is_and_are_counted():
    settings = NutsSettings(windows=(60, 120, 60), num_draws=500, jumps="always")
    means, chains = sample(settings=settings)
    draws = (chains.y - means[:, None, None]) @ np.linalg.inv(FACTOR).T
    np.testing.assert_allclose(np.cov(draws.reshape(-1, NUM_COORDINATES).T), np.eye(NUM_COORDINATES), atol=0.03)
    jumped = chains.numbers.is_jump_accepted
    # A proposal 1.3 times as wide in three dimensions.
    assert 0.5 < jumped.mean() < 0.8
    assert compute_ess(np.moveaxis(chains.y, -1, 1)).min() > 1000
    np.testing.assert_allclose(chains.numbers.log_density, -(draws**2).sum(-1) / 2, atol=0.05)


def test_chains_do_not_depend_on_who_runs_beside_them():
    _, many = sample()
    _, few = sample(num_datasets=5)
    np.testing.assert_allclose(few.y, many.y[:5], rtol=1e-3, atol=1e-2)
    np.testing.assert_array_equal(few.numbers.num_steps[:, :, :50], many.numbers.num_steps[:5, :, :50])


def test_trees_end_where_they_may_grow_no_further():
    settings = NutsSettings(windows=(1,), num_draws=100, first_step_size=0.01, max_tree_depth=3, jumps="never")
    _, chains = sample(settings=settings)
    assert chains.numbers.num_steps.max() == 2**3 - 1
    assert chains.numbers.is_saturated.mean() > 0.5


def test_a_density_that_is_not_a_number_somewhere_is_left_alone():
    def cliff(mean, y):
        return jnp.where(y[0] > 0, -jnp.sum(y**2) / 2, jnp.nan), jnp.zeros(())

    _, chains = sample(cliff, NutsSettings(windows=(30, 30), num_draws=100, jumps="never"))
    is_inside = chains.y[~chains.has_given_up][..., 0] > 0
    # Where a chain starts it can not choose, and where nothing is a number it gives up; once inside, it never leaves.
    assert len(is_inside) > 10
    assert (np.diff(is_inside.astype(int), axis=-1) >= 0).all()
    assert chains.numbers.is_diverging.any()
    assert np.isfinite(chains.y).all()


def test_a_chain_that_gets_nowhere_gives_up_and_says_so():
    settings = NutsSettings(
        windows=(1,), num_draws=100, first_step_size=1e-4, max_tree_depth=8, max_mean_steps=20, jumps="never"
    )
    _, chains = sample(settings=settings)
    assert chains.has_given_up.all()
    assert not sample()[1].has_given_up.any()
