"""What a pilot says about people and about its design: estimates of a group against closed forms, designs by example."""

import numpy as np
import pytest
import xarray as xr

from designstudio.fitting.group_moments import SMALLEST_SPREAD, Group, estimate_group, match_prior
from designstudio.fitting.pilot import count_odd_stimuli, describe_pilot, describe_space
from designstudio.fitting.population_summary import summarize_population
from designstudio.model.actors import ExactActor
from designstudio.model.costs import get_cost
from designstudio.model.likelihood.model import BehaviorModel
from designstudio.model.priors import Constant, Interval, LogNormal
from designstudio.model.trials import make_trials
from designstudio.study import Range
from designstudio.study.design import Stimuli
from tests.fitting.make_pilot import find_moments


def test_a_group_that_is_known_exactly_is_found_exactly():
    rng = np.random.default_rng(0)
    truth = rng.normal(1.0, 0.5, 40)
    points = np.repeat(truth[None, :, None], 10, axis=2)
    location, spread = estimate_group(points, np.zeros((40, 10)))
    np.testing.assert_allclose([location[0], spread[0]], [truth.mean(), truth.std(ddof=1)], rtol=1e-6)


def test_a_group_is_found_behind_noise_and_prior():
    # Normal likelihoods of sd 0.5, normal priors N(0, 1): posteriors in closed form; the group is N(1, 0.3²).
    rng = np.random.default_rng(1)
    num, noise = 400, 0.5
    seen = rng.normal(1.0, 0.3, num) + noise * rng.normal(size=num)
    variance = 1 / (1 + 1 / noise**2)
    draws = variance * seen[:, None] / noise**2 + np.sqrt(variance) * rng.normal(size=(num, 2000))
    location, spread = estimate_group(draws[None], draws**2 / 2)
    assert location[0] == pytest.approx(1.0, abs=4 * np.hypot(0.3, noise) / np.sqrt(num))
    assert spread[0] == pytest.approx(0.3, abs=0.1)
    # What the prior pulled together, and what a naive estimate would take for the group.
    assert draws.mean(1).mean() == pytest.approx(0.8, abs=0.1)


@pytest.mark.parametrize(("mean", "spread"), [(0.85, 0.05), (0.95, 0.035), (0.6, 0.1), (0.75, 0.15), (0.98, 0.015)])
def test_a_prior_within_bounds_has_the_moments_of_the_group(mean, spread):
    prior = match_prior(Group(np.log(mean), spread), Interval(0.5, 1.0))
    found = find_moments(prior)
    assert prior.support == Interval(0.5, 1.0)
    assert 0.5 <= prior.median <= 1.0
    assert found[0] == pytest.approx(np.log(mean), abs=0.1 * spread)
    assert found[1] == pytest.approx(spread, rel=0.1)


def test_a_prior_far_from_its_bounds_is_the_group():
    prior = match_prior(Group(np.log(1.5), 0.1), Interval(0.0, np.inf))
    assert prior == LogNormal(1.5, 0.1)


def fake_posterior(model, values, fixed, num=30):
    """A posterior with all draws close to the given values."""
    rng = np.random.default_rng(3)
    summary = {name: np.asarray(value) * np.exp(0.1 * rng.normal(size=(num, 1))) for name, value in values.items()}
    draws = {}
    for name, value in summary.items():
        array = value[:, None, None, :] * np.exp(0.03 * rng.normal(size=(num, 2, 50, 1)))
        dims = ("dataset", "chain", "draw", "condition")
        draws[name] = (dims, array) if name in model.per_condition else (dims[:3], array[..., 0])
    tree = {
        "posterior": xr.Dataset(draws, coords={"dataset": np.arange(num)}),
        "diagnostics": xr.Dataset({"is_good": ("dataset", np.ones(num, bool))}),
        "constant_data": xr.Dataset(
            {f"fixed_{name}": (("dataset", "condition"), value) for name, value in fixed.items()},
            coords={"dataset": np.arange(num)},
        ),
    }
    return xr.DataTree.from_dict(tree)


def test_parameters_go_where_they_belong():
    actor = ExactActor(get_cost("quadratic_effort"))
    rng = np.random.default_rng(4)
    measured = np.repeat(0.2 * np.exp(0.3 * rng.normal(size=(30, 1))), 2, axis=1)
    model = BehaviorModel(actor, num_conditions=2, per_condition=["mu_0", "sigma"], fixed=["sigma_0", "sigma_r"])
    values = {"mu_0": [1.0, 2.0], "sigma": [0.1, 0.3], "beta": [0.8, 0.8]}
    fixed = {"sigma_0": np.full((30, 2), np.float32(0.15)), "sigma_r": measured}
    summary = summarize_population(model, fake_posterior(model, values, fixed), None)
    np.testing.assert_allclose(summary.levels["sigma"], [0.1, 0.3], rtol=0.1)
    assert [prior.median for prior in summary.own["mu_0"]] == pytest.approx([1.0, 2.0], rel=0.1)
    assert summary.own["mu_0"][0].sigma == pytest.approx(0.1, rel=0.5)
    assert summary.population["sigma_0"] == Constant(0.15)
    assert summary.population["sigma_r"].sigma == pytest.approx(0.3, rel=0.35)
    assert set(summary.population) == {"sigma_0", "sigma_r", "beta"}
    # One level for all conditions that was measured is what everyone has, but two are levels.
    model = BehaviorModel(actor, num_conditions=2, fixed=["sigma"])
    values = {"mu_0": [1.0], "sigma_0": [0.2], "sigma_r": [0.1], "beta": [0.8]}
    summary = summarize_population(model, fake_posterior(model, values, {"sigma": np.tile([0.1, 0.2], (30, 1))}), None)
    assert summary.levels == {"sigma": [0.1, 0.2]}
    assert summary.population["mu_0"].sigma >= SMALLEST_SPREAD


def lay_out_trials(*stimuli):
    """One subject whose conditions show these."""
    shown = np.concatenate(stimuli)
    index = np.repeat(np.arange(len(stimuli)), [len(part) for part in stimuli])
    return make_trials(shown, shown, condition_index=index)


@pytest.mark.parametrize("odd", [[410.0, 555.0, 1190.0], np.linspace(300.0, 1300.0, 14)])
def test_a_trial_in_a_hundred_with_another_stimulus_makes_no_range_of_a_list(odd):
    listed = np.repeat([400.0, 800.0, 1200.0], 500)
    trials = lay_out_trials(np.concatenate([listed, odd]))
    pilot = describe_pilot(trials, {}, {})
    assert pilot.stimuli == Stimuli("list", values=(400.0, 800.0, 1200.0))
    assert count_odd_stimuli(trials, pilot) == len(odd)
    # One in twenty is no mistake.
    often = lay_out_trials(np.concatenate([listed, np.repeat(odd, 8)]))
    assert describe_pilot(often, {}, {}).stimuli.support == (min(*odd, 400.0), max(*odd, 1200.0))


def test_mistakes_that_fell_into_one_condition_are_not_its_design():
    listed = np.repeat([400.0, 800.0, 1200.0], 200)
    # 10 of 1,210 trials, and 1.6 % of the first condition's.
    trials = lay_out_trials(np.concatenate([listed, np.full(10, 555.0)]), listed)
    pilot = describe_pilot(trials, {}, {})
    assert [pilot.stimuli_of(condition).values for condition in pilot.conditions] == [(400.0, 800.0, 1200.0)] * 2
    assert count_odd_stimuli(trials, pilot) == 10
    # What a small condition shows in a third of its trials is meant.
    small = np.repeat([400.0, 555.0, 800.0], 4)
    own = describe_pilot(lay_out_trials(listed, small), {}, {})
    assert own.stimuli_of(own.conditions[1]).values == (400.0, 555.0, 800.0)


def test_few_stimuli_are_a_list_and_many_a_range():
    rng = np.random.default_rng(5)
    grid = np.repeat([0.5, 1.0, 1.5], 20)
    assert describe_pilot(lay_out_trials(grid, grid), {}, {}).stimuli == Stimuli("list", values=(0.5, 1.0, 1.5))
    own = describe_pilot(lay_out_trials(grid, 2 * grid), {}, {})
    assert [c.stimuli.values for c in own.conditions] == [(0.5, 1.0, 1.5), (1.0, 2.0, 3.0)]
    even, log_even = rng.uniform(0.5, 3.0, 200), np.exp(rng.uniform(np.log(0.5), np.log(3.0), 200))
    for values, name in ((even, "uniform"), (log_even, "log-uniform")):
        design = describe_pilot(lay_out_trials(values[:100], values[100:]), {}, {})
        assert design.stimuli.distribution == name
        assert [c.stimuli for c in design.conditions] == [None, None]
    halves = describe_pilot(lay_out_trials(even[even < 1.5], even[even >= 1.5]), {}, {})
    assert [c.stimuli.support[0] for c in halves.conditions] == pytest.approx([0.5, 1.5], abs=0.05)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1.0, 2.0, 3.0], ("grid", 1.0, 3.0, 3)),
        ([1.0, 2.0, 4.0], ("log-uniform", 1.0, 4.0, None)),
        ([2.0], ("uniform", 1.8, 2.2, None)),
    ],
)
def test_a_search_takes_a_list_as_a_grid_or_a_range(values, expected):
    shown = np.repeat(values, 10)
    design = describe_pilot(lay_out_trials(shown), {}, {})
    space = describe_space(design, [0.1], shown)
    names = ("distribution", "low", "high", "num_values")
    assert tuple(space.variables.get(f"stimuli.{name}") for name in names) == pytest.approx(expected)
    assert space.level == Range(0.05, 0.2)


def test_levels_of_a_search_stay_where_actors_are_trained():
    shown = np.repeat([1.0, 2.0], 10)
    design = describe_pilot(lay_out_trials(shown), {}, {})
    assert describe_space(design, [0.0075, 0.8], shown).level == Range(0.005, 1.0)


def test_a_condition_without_trials_is_no_part_of_what_was_run():
    shown, index = [[1.0, 2.0, 1.5, 3.0]], [[0, 0, 2, 2]]
    trials = make_trials(shown, shown, condition_index=index, conditions=["a", "b", "c"])
    pilot = describe_pilot(trials, {"sigma": [0.1, 0.2, 0.3]}, {})
    assert [(condition.name, condition.num_trials, condition.levels["sigma"]) for condition in pilot.conditions] == [
        ("a", 2, 0.1),
        ("c", 2, 0.3),
    ]
