"""Groups of many simulated studies against integration on a grid. Against the pooling of one group: `test_pooling.py`."""

import jax
import numpy as np
import pytest
from scipy import stats

from designstudio.inference.hierarchical.focus import Places, find_focus, smooth
from designstudio.inference.hierarchical.group_model import Group, Hyperprior
from designstudio.inference.hierarchical.many_groups import sample_many_groups
from designstudio.inference.hierarchical.marginal import Kernels, Particles, weigh_particles
from designstudio.inference.hierarchical.pairs import Pair
from designstudio.inference.hierarchical.pool_many import find_modes
from tests.oracles.hierarchy import integrate_normal_group, integrate_normal_slope

NUM_GROUPS, NUM_SUBJECTS, NUM_PARTICLES, NUM_ENTRIES = 6, 12, 400, 2
NUM_KERNELS = 40
CENTRE, SCALE, SPREAD = 0.0, 2.0, 1.0
# The errors of a mean over some two hundred effective draws, and of a standard deviation, with room for particles.
MEAN, SD = 0.3, 0.25


@pytest.fixture(scope="module")
def subjects():
    """Normal subjects with known errors, in groups of different sizes, with a covariate: means, errors, covariate, sizes."""
    rng = np.random.default_rng(3)
    sds = rng.uniform(0.2, 0.6, (NUM_GROUPS, NUM_SUBJECTS, NUM_ENTRIES))
    covariate = rng.normal(size=(NUM_GROUPS, NUM_SUBJECTS))
    locations = 0.5 + 0.4 * covariate[..., None]
    means = locations + 0.4 * rng.normal(size=sds.shape) + sds * rng.normal(size=sds.shape)
    sizes = np.array([12, 12, 5, 8, 12, 3])
    return means, sds, covariate, sizes


@pytest.fixture(scope="module")
def particles(subjects):
    """Equally weighted draws of each subject."""
    means, sds, covariate, sizes = subjects
    rng = np.random.default_rng(4)
    normal = rng.normal(size=(NUM_GROUPS, NUM_SUBJECTS, NUM_PARTICLES, NUM_ENTRIES))
    points = (means[:, :, None] + sds[:, :, None] * normal).astype(np.float32)
    has = np.broadcast_to((np.arange(NUM_SUBJECTS) < sizes[:, None])[..., None], means.shape)
    predictors = np.stack([np.ones_like(covariate), covariate], axis=-1).astype(np.float32)
    return Particles(points, np.zeros(points.shape[:-1], np.float32), has, predictors)


def make_hyperprior(num_predictors):
    coefficients = [np.full(num_predictors * NUM_ENTRIES, value, np.float32) for value in (CENTRE, SCALE)]
    return Hyperprior(*coefficients, np.full(NUM_ENTRIES, SPREAD, np.float32))


def assert_close(draws, expected):
    mean, sd = expected
    assert abs(draws.mean() - mean) < MEAN * sd
    assert draws.std() == pytest.approx(sd, rel=SD)


def test_many_groups_of_different_sizes_are_what_integration_says(subjects, particles):
    means, sds, _, sizes = subjects
    groups = particles._replace(predictors=particles.predictors[..., :1])
    found = sample_many_groups(groups, make_hyperprior(1), np.arange(NUM_GROUPS), seed=1)
    assert found.is_good.all()
    assert np.isinf(found.support[2, sizes[2] :]).all()
    assert (found.support > 10).all()
    for g, size in enumerate(sizes):
        for entry in range(NUM_ENTRIES):
            mine = slice(size), entry
            location, spread, _ = integrate_normal_group(means[g][mine], sds[g][mine], CENTRE, SCALE, SPREAD)
            assert_close(found.group.location[g, :, entry], location)
            assert_close(found.group.spread[g, :, entry], spread)


@pytest.mark.parametrize("error", [1e-4, 1.0])
def test_the_mode_of_a_group_of_one_person_is_a_number(error):
    # Where people hardly differ, the variance of one is what rounding makes of it.
    rng = np.random.default_rng(6)
    middles = rng.uniform(-3, 3, (40, 1, 1, 1))
    points = (middles + error * rng.normal(size=(40, 1, 200, NUM_ENTRIES))).astype(np.float32)
    has, ones = np.ones((40, 1, NUM_ENTRIES), bool), np.ones((40, 1, 1), np.float32)
    hyperprior = make_hyperprior(1)._replace(spread=np.full(NUM_ENTRIES, 0.2, np.float32))
    mode, errors, widest = find_modes(Particles(points, np.zeros(points.shape[:-1], np.float32), has, ones), hyperprior)
    assert all(np.isfinite(array).all() for array in (mode.location, mode.spread, errors, widest))
    # Between the prior's middle and the person.
    assert (np.abs(mode.location) < np.abs(middles[:, 0, 0]) + error).all()


def test_a_slope_on_a_covariate_is_what_integration_says(subjects, particles):
    means, sds, covariate, sizes = subjects
    found = sample_many_groups(particles, make_hyperprior(2), np.arange(NUM_GROUPS), seed=1)
    assert found.is_good.all()
    for g, size in enumerate(sizes):
        mine = slice(size), 1
        expected = integrate_normal_slope(means[g][mine], sds[g][mine], covariate[g, :size], CENTRE, SCALE, SPREAD)
        # Coefficients of all entries for the first predictor, then for the next.
        for draws, moments in zip((found.group.location[g, :, 1], found.group.location[g, :, 3]), expected, strict=True):
            assert_close(draws, moments)


def test_a_change_within_people_is_what_integration_says_of_their_differences(subjects):
    _, sds, _, sizes = subjects
    rng = np.random.default_rng(5)
    # As uncertain before as after: then mean and difference of a person have independent errors.
    sds, pair = np.broadcast_to(sds[..., :1], sds.shape), Pair(0, 1)
    own = rng.normal(size=sds.shape[:2])
    values = np.stack([own, own + 0.4 + 0.1 * rng.normal(size=own.shape)], axis=-1)
    means = values + sds * rng.normal(size=sds.shape)
    points = means[:, :, None] + sds[:, :, None] * rng.normal(size=(NUM_GROUPS, NUM_SUBJECTS, NUM_PARTICLES, NUM_ENTRIES))
    np.testing.assert_allclose(pair.turn_back(pair.turn(points)), points)
    has = np.broadcast_to((np.arange(NUM_SUBJECTS) < sizes[:, None])[..., None], means.shape)
    ones = np.ones((*has.shape[:2], 1), np.float32)
    turned = Particles(pair.turn(points).astype(np.float32), np.zeros(points.shape[:-1], np.float32), has, ones)
    hyperprior = pair.turn_hyperprior(make_hyperprior(1))
    found = sample_many_groups(turned, hyperprior, np.arange(NUM_GROUPS), seed=1)
    apart = sample_many_groups(turned._replace(points=points.astype(np.float32)), make_hyperprior(1), np.arange(NUM_GROUPS))
    assert found.is_good.all()
    for g, size in enumerate(sizes):
        changes, errors = (means[g, :size, 1] - means[g, :size, 0]), np.sqrt(2) * sds[g, :size, 0]
        expected = integrate_normal_group(changes, errors, 0.0, np.sqrt(2) * SCALE, np.sqrt(2) * SPREAD)[0]
        assert_close(found.group.location[g, :, 1], expected)
    # What people have in common before and after is no uncertainty about the change.
    location = pair.turn_back(found.group.location)
    widths = [(draws[..., 1] - draws[..., 0]).std(axis=1) for draws in (location, apart.group.location)]
    assert (widths[0] < widths[1]).all()
    assert (widths[0] < 0.6 * widths[1])[sizes > 5].all()


def test_groups_do_not_depend_on_which_others_there_are(particles):
    groups = particles._replace(predictors=particles.predictors[..., :1])
    together = sample_many_groups(groups, make_hyperprior(1), np.arange(NUM_GROUPS), seed=1)
    order = np.array([3, 1, 0, 2, 5, 4])
    moved = sample_many_groups(jax.tree.map(lambda array: array[order], groups), make_hyperprior(1), order, seed=1)
    np.testing.assert_array_equal(moved.group.location, together.group.location[order])


def test_a_focus_is_the_normal_that_data_and_group_make():
    rng = np.random.default_rng(0)
    num, mean, sd = 5, np.array([1.0, -0.5]), np.array([0.8, 0.4])
    points = mean + sd * rng.normal(size=(num, 4000, 2))
    places = Places(np.zeros((num, 2)), np.full((num, 2), 0.2))
    focus = find_focus(points, np.zeros(points.shape[:2]), places)
    # The group alone leaves few of the draws; moments under a wider one, made narrow again, are the exact ones.
    precision = sd**-2 + 0.2**-2
    np.testing.assert_allclose(focus.mean, np.broadcast_to(mean / sd**2 / precision, (num, 2)), atol=0.06)
    variances = np.diagonal(focus.factor @ np.swapaxes(focus.factor, 1, 2), axis1=1, axis2=2)
    np.testing.assert_allclose(np.sqrt(variances) / 1.15, np.broadcast_to(precision**-0.5, (num, 2)), rtol=0.1)
    kernels, factor = smooth(points, np.zeros(points.shape[:2]), places, 500, [np.random.default_rng(i) for i in range(num)])
    # Kernels have the mean and, with their own size, the variance of the draws under the group.
    np.testing.assert_allclose(kernels.mean(axis=1), np.broadcast_to(mean / sd**2 / precision, (num, 2)), atol=0.06)
    sizes = np.sum(factor**2, axis=2)
    np.testing.assert_allclose(kernels.var(axis=1) + sizes, np.broadcast_to(1 / precision, (num, 2)), rtol=0.25)
    np.testing.assert_allclose(sizes * precision, 0.5, atol=0.15)


def test_kernels_weigh_what_quadrature_says():
    points, middle, place = np.array([[0.4, -0.2], [-0.1, 0.3]]), np.array([-0.3, 0.2]), np.array([0.7, 0.9])
    factor = np.array([[0.2, 0.0], [-0.15, 0.25]])
    locations, spreads = np.array([[0.1, 0.0], [0.6, -0.4]]), np.array([[0.2, 0.05], [1.3, 0.6]])
    has, one = np.ones(2, bool), np.ones(1, np.float32)
    kernels = Kernels(*(array.astype(np.float32) for array in (factor, middle, place**-2)))
    subject = Particles((points - middle).astype(np.float32), np.array([0.5, 0.0], np.float32), has, one, kernels)
    found = np.asarray(weigh_particles(subject, Group(locations.astype(np.float32), spreads.astype(np.float32))))
    grid = np.stack(np.meshgrid(np.linspace(-3, 3, 1201), np.linspace(-3, 3, 1201), indexing="ij"), axis=-1)
    for k, point in enumerate(points):
        kernel = stats.multivariate_normal(point, factor @ factor.T).pdf(grid)
        likelihood = kernel * np.exp(np.sum(((grid - middle) / place) ** 2, axis=-1) / 2)
        for g, (location, spread) in enumerate(zip(locations, spreads, strict=True)):
            under = likelihood * np.exp(-np.sum(((grid - location) / spread) ** 2, axis=-1) / 2)
            expected = subject.log_weight[k] + np.log(under.sum() * (6 / 1200) ** 2)
            assert found[k, g] == pytest.approx(expected, abs=1e-3)


def test_groups_of_equals_are_what_integration_says():
    """Where nobody differs, particles without size leave a rough likelihood, whose peaks are too narrow."""
    rng = np.random.default_rng(5)
    sds = rng.uniform(0.2, 0.6, (NUM_GROUPS, NUM_SUBJECTS, NUM_ENTRIES))
    means = 0.5 + sds * rng.normal(size=sds.shape)
    flat, spread = (array.reshape(-1, NUM_ENTRIES) for array in (means, sds))
    places = Places(np.full(flat.shape, 0.5), np.full(flat.shape, 0.5))
    points = flat[:, None] + spread[:, None] * rng.normal(size=(len(flat), 4000, NUM_ENTRIES))
    # Of so few particles without size hardly any would be in a narrow group.
    rngs = [np.random.default_rng(i) for i in range(len(flat))]
    kernels, factor = smooth(points, np.zeros(points.shape[:2]), places, NUM_KERNELS, rngs)

    def lay_out(array):
        return np.asarray(array, np.float32).reshape(NUM_GROUPS, NUM_SUBJECTS, *array.shape[1:])

    has = np.ones(means.shape, bool)
    around = Kernels(*map(lay_out, (factor, places.mean, places.sd**-2.0)))
    weights, one = lay_out(np.zeros(kernels.shape[:2])), has[..., :1].astype(np.float32)
    particles = Particles(lay_out(kernels), weights, has, one, around)
    found = sample_many_groups(particles, make_hyperprior(1), np.arange(NUM_GROUPS), seed=1)
    assert found.is_good.all()
    ratios = []
    for g in range(NUM_GROUPS):
        for entry in range(NUM_ENTRIES):
            location, _, _ = integrate_normal_group(means[g, :, entry], sds[g, :, entry], CENTRE, SCALE, SPREAD)
            draws = found.group.location[g, :, entry]
            assert_close(draws, location)
            ratios.append(draws.std() / location[1])
    assert np.mean(ratios) == pytest.approx(1.0, abs=0.06)
