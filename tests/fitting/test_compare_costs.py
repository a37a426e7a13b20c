"""Comparison of costs: winners and errors counted by hand, weights against brute force, densities against ArviZ."""

import dataclasses
import itertools

import numpy as np
import pytest
from arviz_stats.base import array_stats

from designstudio.fitting.compare_costs import compare_costs, stack_weights
from designstudio.inference.fit_datasets import fit_datasets
from designstudio.model.costs import PAPER_COST_NAMES, find_family, register_cost
from tests.fitting.make_posteriors import make_posteriors


@pytest.fixture
def rng():
    return np.random.default_rng(5)


def test_differences_and_their_errors_come_from_pointwise_differences(rng):
    elpd = rng.normal(size=(5, 3, 40))
    found = compare_costs(make_posteriors(elpd)).table
    sums = elpd.sum(axis=2)
    np.testing.assert_allclose(found["elpd"], sums)
    np.testing.assert_allclose(found["elpd_se"], np.sqrt(40) * elpd.std(axis=2, ddof=1))
    np.testing.assert_allclose(found["difference"], sums.max(axis=1, keepdims=True) - sums)
    for i, best in enumerate(sums.argmax(axis=1)):
        expected = np.sqrt(40) * (elpd[i, best] - elpd[i]).std(axis=1, ddof=1)
        np.testing.assert_allclose(found["difference_se"][i], expected)
        assert found["is_winner"].values[i].tolist() == [j == best for j in range(3)]


def test_totals_sum_over_subjects_and_their_errors_are_over_subjects(rng):
    elpd = rng.normal(size=(8, 3, 40)) + rng.normal(size=(8, 3, 1))
    found = compare_costs(make_posteriors(elpd)).total
    by_subject = elpd.sum(axis=2)
    best = by_subject.sum(axis=0).argmax()
    differences = by_subject[:, [best]] - by_subject
    np.testing.assert_allclose(found["elpd"], by_subject.sum(axis=0))
    np.testing.assert_allclose(found["difference"], differences.sum(axis=0))
    np.testing.assert_allclose(found["difference_se"], np.sqrt(8) * differences.std(axis=0, ddof=1))
    # Subjects differ here, which an error over trials does not see.
    others = np.arange(3) != best
    assert (found["difference_se"].values[others] > 2 * found["difference_se_trials"].values[others]).all()


def test_one_subject_has_the_error_over_trials(rng):
    found = compare_costs(make_posteriors(rng.normal(size=(1, 3, 40)))).total
    np.testing.assert_allclose(found["difference_se"], found["difference_se_trials"])


def test_a_subject_that_one_cost_could_not_be_fitted_to_counts_in_no_total(rng):
    elpd = rng.normal(size=(6, 3, 30))
    is_good = np.ones((6, 3), bool)
    is_good[2, 1] = False
    found = compare_costs(make_posteriors(elpd, is_good=is_good))
    assert found.num_undecided == 1
    assert not found.table["is_winner"].values[2].any()
    assert np.isnan(found.table["elpd"].values[2]).tolist() == [False, True, False]
    without = compare_costs(make_posteriors(np.delete(elpd, 2, axis=0)))
    for name, values in without.total.items():
        np.testing.assert_allclose(found.total[name], values)


def test_without_any_subject_nothing_is_decided(rng):
    found = compare_costs(make_posteriors(rng.normal(size=(3, 3, 30)), is_good=np.zeros((3, 3), bool)))
    assert found.num_undecided == 3
    assert np.isnan(found.total["elpd"]).all()
    assert np.isnan(found.total["share_won"]).all()


def test_trials_that_are_not_present_count_nowhere(rng):
    elpd = rng.normal(size=(2, 3, 30))
    padded = np.pad(elpd, [(0, 0), (0, 0), (0, 7)], constant_values=np.nan)
    found, without = compare_costs(make_posteriors(padded)), compare_costs(make_posteriors(elpd))
    for name in ("elpd", "difference", "difference_se", "num_bad_k"):
        np.testing.assert_allclose(found.table[name], without.table[name])
    np.testing.assert_allclose(found.total["weight"], without.total["weight"], atol=1e-6)


def test_trials_with_large_khat_are_counted(rng):
    found = compare_costs(make_posteriors(rng.normal(size=(2, 3, 30)), khat=0.9))
    assert (found.table["num_bad_k"] == 30).all()


@pytest.mark.parametrize("seed", range(3))
def test_stacking_weights_are_those_of_a_search_on_a_grid(seed):
    rng = np.random.default_rng(seed)
    elpd = rng.normal(scale=1.0, size=(300, 3)) + rng.normal(scale=0.4, size=3)
    steps = np.arange(101) / 100
    grid = np.array([(a, b, 1 - a - b) for a, b in itertools.product(steps, steps) if a + b <= 1 + 1e-9])
    scores = np.log(np.exp(elpd) @ np.maximum(grid.T, 0)).mean(axis=0)
    weights = stack_weights(elpd)
    assert weights.sum() == pytest.approx(1)
    assert np.log(np.exp(elpd) @ weights).mean() >= scores.max() - 1e-9
    np.testing.assert_allclose(weights, grid[scores.argmax()], atol=0.011)


def test_a_cost_that_is_worse_in_every_trial_gets_no_weight():
    elpd = np.random.default_rng(0).normal(size=(200, 2))
    weights = stack_weights(np.stack([elpd[:, 0], elpd[:, 0] - 0.5, elpd[:, 1]], axis=1))
    assert weights[1] < 1e-6


def test_families_are_those_of_the_paper(rng, no_user_costs):
    families = {cost: find_family(cost) for cost in PAPER_COST_NAMES}
    assert families == {
        "absolute": "symmetric",
        "quadratic": "symmetric",
        "inverted_gaussian": "symmetric",
        "absolute_effort": "effort",
        "quadratic_effort": "effort",
        "asymmetric_quadratic": "asymmetric",
        "linex": "asymmetric",
    }
    register_cost(name="mine")(lambda response, stimulus, parameters: (response - stimulus) ** 4)
    assert find_family("mine") == "other"


def test_a_family_wins_with_each_of_its_costs():
    elpd = np.zeros((10, 3, 5))
    # absolute wins 4, quadratic 3 and linex 3.
    for i, winner in enumerate([0] * 4 + [1] * 3 + [2] * 3):
        elpd[i, winner] += 1 + 0.01 * np.arange(5)
    found = compare_costs(make_posteriors(elpd))
    np.testing.assert_allclose(found.total["share_won"], [0.4, 0.3, 0.3])
    assert found.families["family"].values.tolist() == ["symmetric", "asymmetric"]
    np.testing.assert_allclose(found.families["share_won"], [0.7, 0.3])
    assert found.families["num_costs"].values.tolist() == [2, 1]
    assert (found.families["share_won_se"] > 0).all()


def test_densities_of_left_out_trials_agree_with_arviz(fit, request_of_two):
    trials = fit.scale.apply(fit.trials)
    # In batches of the same size, so that nothing compiles anew.
    settings = dataclasses.replace(request_of_two.settings, batch_size=12)
    tree = fit_datasets(fit.models["quadratic"], trials.isel(dataset=[0]), settings=settings, seed=request_of_two.seed)
    log_likelihood = np.moveaxis(tree["log_likelihood"]["response"].values[0], -1, 0).astype(float)
    elpd, _, _ = array_stats.loo(log_likelihood, chain_axis=-2, draw_axis=-1)
    assert float(fit.comparison.table["elpd"].sel(cost="quadratic")[0]) == pytest.approx(elpd.sum(), abs=0.15)
    np.testing.assert_allclose(fit.posteriors["quadratic"]["loo"]["elpd"].values[0], elpd, atol=0.05)
