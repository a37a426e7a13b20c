"""Identifiability: linear Gaussian models, in which everything has a closed form."""

import json
import math

import numpy as np
import pytest

from designstudio.metrics.identifiability import score_identifiability
from designstudio.metrics.posterior.remaining import Remaining, find_weakest_direction
from designstudio.metrics.samples import PosteriorShape
from tests.metrics.make_summaries import make_covariances

NAMES = ("mu_0", "sigma_0", "sigma_r", "beta")
PRIOR, BETA = ("mu_0", "sigma_0"), ("beta",)


@pytest.fixture
def rng():
    return np.random.default_rng(1956)


def make_shape(covariance, prior):
    """The shape of one posterior."""
    return PosteriorShape(("",) * len(prior), covariance[None], prior, (), ())


def draw_covariances(rng, num, size):
    roots = rng.normal(size=(num, size, size))
    return roots @ np.swapaxes(roots, 1, 2) + 0.1 * np.eye(size)


def observe_linearly(prior, loadings, noise):
    """Posterior covariance of z ~ Normal(0, prior) after y = loadings z + noise; by the covariance of (z, y)."""
    joint = prior @ loadings.T
    return prior - joint @ np.linalg.solve(loadings @ joint + noise, joint.T)


def condition(covariance, chosen, given):
    """Covariance of the chosen when the given are known."""
    across = covariance[np.ix_(chosen, given)]
    return covariance[np.ix_(chosen, chosen)] - across @ np.linalg.solve(covariance[np.ix_(given, given)], across.T)


def measure_information(prior, loadings, noise, chosen):
    """What y tells about the chosen parameters: the entropy of y less its entropy when they are known."""
    others = [i for i in range(len(prior)) if i not in chosen]
    left = condition(prior, others, chosen) if others else np.zeros((0, 0))
    of_y, of_noise = loadings @ prior @ loadings.T + noise, loadings[:, others] @ left @ loadings[:, others].T + noise
    return (np.linalg.slogdet(of_y)[1] - np.linalg.slogdet(of_noise)[1]) / 2


@pytest.mark.parametrize("rho", [-0.99, -0.3, 0.0, 0.8])
def test_two_parameters_are_confounded_as_much_as_they_correlate(rho):
    covariance = [[4.0, 2 * 0.1 * rho], [2 * 0.1 * rho, 0.01]]
    found = score_identifiability(make_covariances(["mu_0", "beta"], [covariance] * 3, np.eye(2)), PRIOR, BETA)
    assert found.correlation["mu_0", "beta"] == pytest.approx((rho, 0), abs=1e-9)
    for name in ("mu_0", "beta"):
        assert found.confounding[name] == pytest.approx((1 / math.sqrt(1 - rho**2), 0), abs=1e-9)
    assert found.prior_cost["correlation"].value == pytest.approx(rho, abs=1e-9)
    assert found.prior_cost["confounding"].value == pytest.approx(1 / math.sqrt(1 - rho**2))


def test_a_parameter_is_confounded_by_all_others_together(rng):
    covariances = draw_covariances(rng, 6, 4)
    found = score_identifiability(make_covariances(NAMES, covariances, np.eye(4)), PRIOR, BETA)
    assert found.parameters == NAMES
    for i, name in enumerate(NAMES):
        others = [j for j in range(4) if j != i]
        factors = [math.sqrt(c[i, i] / condition(c, [i], others).item()) for c in covariances]
        assert found.confounding[name] == pytest.approx((np.mean(factors), np.std(factors, ddof=1) / np.sqrt(6)))


def test_the_cost_is_confounded_by_the_prior_whatever_else_is_unknown(rng):
    covariances = draw_covariances(rng, 6, 4)
    found = score_identifiability(make_covariances(NAMES, covariances, np.eye(4)), PRIOR, BETA)
    # sigma_r is neither given nor counted: it stays as unknown as it is.
    factors = [math.sqrt(c[3, 3] / condition(c, [3], [0, 1]).item()) for c in covariances]
    assert found.prior_cost["confounding"].value == pytest.approx(np.mean(factors))


def test_correlations_are_those_of_draws(rng):
    covariance = draw_covariances(rng, 1, 4)
    expected = np.corrcoef(rng.multivariate_normal(np.zeros(4), covariance[0], size=40_000).T)
    found = score_identifiability(make_covariances(NAMES, np.repeat(covariance, 2, axis=0), np.eye(4)), PRIOR, BETA)
    assert list(found.correlation) == [(NAMES[i], NAMES[j]) for i in range(4) for j in range(i + 1, 4)]
    for (first, second), score in found.correlation.items():
        assert score.value == pytest.approx(expected[NAMES.index(first), NAMES.index(second)], abs=0.02)


def test_the_strongest_pair_of_prior_and_cost_is_named():
    covariance = np.eye(4)
    covariance[1, 3] = covariance[3, 1] = -0.7
    covariance[0, 3] = covariance[3, 0] = 0.4
    # Not a pair of prior and cost.
    covariance[0, 1] = covariance[1, 0] = -0.75
    found = score_identifiability(make_covariances(NAMES, [covariance] * 3, np.eye(4)), PRIOR, BETA)
    assert found.prior_cost_pair == ("sigma_0", "beta")
    assert found.prior_cost["correlation"].value == pytest.approx(-0.7)


def test_the_order_of_parameters_does_not_matter(rng):
    covariances, prior = draw_covariances(rng, 5, 4), draw_covariances(rng, 1, 4)[0]
    order = [3, 2, 0, 1]
    found = score_identifiability(make_covariances(NAMES, covariances, prior), PRIOR, BETA)
    turned = [c[np.ix_(order, order)] for c in (*covariances, prior)]
    other = score_identifiability(make_covariances([NAMES[i] for i in order], turned[:-1], turned[-1]), PRIOR, BETA)
    assert other.prior_cost_pair == found.prior_cost_pair
    assert other.weakest == pytest.approx(found.weakest, abs=1e-3)
    for mine, theirs in (
        (found.confounding, other.confounding),
        (found.prior_cost, other.prior_cost),
        (found.scores["volume_ratio"], other.scores["volume_ratio"]),
    ):
        assert {key: theirs[key].value for key in theirs} == pytest.approx({key: mine[key].value for key in mine})


def test_the_volume_ratio_is_the_mutual_information_of_a_linear_model(rng):
    prior, noise = draw_covariances(rng, 2, 4)
    designs = rng.normal(size=(5, 4, 4))
    posteriors = [observe_linearly(prior, loadings, noise) for loadings in designs]
    gain = score_identifiability(make_covariances(NAMES, posteriors, prior), PRIOR, BETA).scores["volume_ratio"]
    for name, chosen in (("all", [0, 1, 2, 3]), ("prior_cost", [0, 1, 3])):
        informations = [measure_information(prior, loadings, noise, chosen) for loadings in designs]
        assert gain[name] == pytest.approx((np.mean(informations), np.std(informations, ddof=1) / np.sqrt(5)))


def test_a_posterior_like_the_prior_has_gained_nothing(rng):
    prior = draw_covariances(rng, 1, 4)[0]
    found = score_identifiability(make_covariances(NAMES, [prior] * 3, prior), PRIOR, BETA)
    assert found.scores["volume_ratio"]["all"].value == pytest.approx(0, abs=1e-9)
    assert found.scores["volume_ratio"]["prior_cost"].value == pytest.approx(0, abs=1e-9)
    assert found.remaining.value == pytest.approx(1)


@pytest.mark.parametrize("direction", [[1, -1, 0, 0], [0, 0, 1, 0], [0.5, -1, 0.2, 2], [1, 1, 1, -3]])
def test_a_direction_that_the_data_say_nothing_about_is_the_weakest_and_keeps_the_prior(rng, direction):
    direction = np.array(direction, float)
    prior = draw_covariances(rng, 1, 4)[0]
    # Data about everything but the direction.
    blind = np.eye(4) - np.outer(direction, direction) / (direction @ direction)
    posteriors = [observe_linearly(prior, 3 * rng.normal(size=(6, 4)) @ blind, np.eye(6)) for _ in range(4)]
    found = score_identifiability(make_covariances(NAMES, posteriors, prior), PRIOR, BETA)
    assert found.remaining == pytest.approx((1, 0), abs=1e-6)
    expected = direction * np.sign(direction[np.argmax(np.abs(direction))]) / np.linalg.norm(direction)
    assert list(found.weakest) == list(NAMES)
    np.testing.assert_allclose(list(found.weakest.values()), expected, atol=1e-3)


@pytest.mark.parametrize("rounding", [-1e-7, 0.0, 1e-7])
def test_rounding_does_not_turn_a_trade_off_of_one_against_one(rounding):
    direction = np.array([1.0, -1.0 + rounding])
    weakest = find_weakest_direction(make_shape(0.1 * np.eye(2) + np.outer(direction, direction) / 4, np.eye(2)))
    np.testing.assert_allclose(weakest, np.array([1.0, -1.0]) / math.sqrt(2), atol=1e-6)


def test_what_remains_is_the_largest_share_over_all_directions(rng):
    prior, posterior = draw_covariances(rng, 1, 3)[0], 0.3 * draw_covariances(rng, 1, 3)[0]
    remaining = Remaining().values(make_shape(posterior, prior))
    combinations = rng.normal(size=(50_000, 3))
    shares = np.sqrt(((combinations @ posterior) * combinations).sum(1) / ((combinations @ prior) * combinations).sum(1))
    assert shares.max() <= remaining[0] * (1 + 1e-9)
    assert shares.max() == pytest.approx(remaining[0], rel=0.01)


def test_what_remains_is_averaged_over_data_sets():
    posteriors = [np.diag([0.25, 0.04]), np.diag([0.01, 0.09]), np.diag([0.16, 0.01])]
    found = score_identifiability(make_covariances(["mu_0", "beta"], posteriors, np.eye(2)), PRIOR, BETA)
    assert found.remaining == pytest.approx((0.4, np.std([0.5, 0.3, 0.4], ddof=1) / np.sqrt(3)))
    assert found.weakest == {"mu_0": 1.0, "beta": 0.0}


@pytest.mark.parametrize(
    ("names", "cost"), [(["mu_0", "sigma_r"], BETA), (["sigma_r", "beta"], BETA), (["mu_0", "sigma"], ())]
)
def test_without_a_free_prior_or_cost_there_is_no_such_pair(names, cost):
    found = score_identifiability(make_covariances(names, [np.eye(2)] * 3, np.eye(2)), PRIOR, cost)
    assert found.prior_cost == {}
    assert found.prior_cost_pair is None
    assert list(found.information_gain) == list(found.scores["volume_ratio"]) == ["all"]


def test_parameters_of_each_condition_belong_to_prior_and_cost(rng):
    names = ("mu_0[block 1]", "mu_0[block 2]", "sigma[block 1]", "beta[block 1]", "beta[block 2]")
    covariances = draw_covariances(rng, 5, 5)
    found = score_identifiability(make_covariances(names, covariances, np.eye(5)), PRIOR, BETA)
    first, second = found.prior_cost_pair
    assert first in names[:2]
    assert second in names[3:]
    # With two parameters of the cost: the geometric mean of how much wider they are.
    factors = [(np.linalg.det(c[3:, 3:]) / np.linalg.det(condition(c, [3, 4], [0, 1]))) ** (1 / 4) for c in covariances]
    assert found.prior_cost["confounding"].value == pytest.approx(np.mean(factors))


def test_failed_fits_do_not_enter(rng):
    covariances = draw_covariances(rng, 6, 4)
    is_good = np.array([True, False, True, True, False, True])
    broken = np.where(is_good[:, None, None], covariances, np.nan)
    found = score_identifiability(make_covariances(NAMES, broken, np.eye(4), is_good=is_good), PRIOR, BETA)
    assert found == score_identifiability(make_covariances(NAMES, covariances[is_good], np.eye(4)), PRIOR, BETA)


def test_without_a_single_good_fit_nothing_is_defined():
    found = score_identifiability(make_covariances(NAMES, [np.eye(4)] * 3, np.eye(4), is_good=False), PRIOR, BETA)
    assert math.isnan(found.remaining.value)
    json.dumps(found.as_dict(), allow_nan=False)


def test_everything_goes_into_json(rng):
    found = score_identifiability(make_covariances(NAMES, draw_covariances(rng, 5, 4), np.eye(4)), PRIOR, BETA)
    read = json.loads(json.dumps(found.as_dict(), allow_nan=False))
    assert read["correlation"]["mu_0"]["beta"]["value"] == found.correlation["mu_0", "beta"].value
    assert read["confounding"]["sigma_r"]["mcse"] == found.confounding["sigma_r"].mcse
    assert read["weakest_direction"]["remaining"]["value"] == found.remaining.value
    assert read["weakest_direction"]["loadings"] == found.weakest
