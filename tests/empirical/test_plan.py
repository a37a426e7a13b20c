"""From a pilot to a plan: on simulated pilots, whose population is known."""

import dataclasses
import importlib.util
import json

import numpy as np
import pytest
import xarray as xr
from typer.testing import CliRunner

from designstudio.actors import ExactActor
from designstudio.behavior.model import BehaviorModel
from designstudio.cli import app
from designstudio.cli.plan import describe_plan, print_plan, print_precision
from designstudio.costs import get_cost
from designstudio.design import Stimuli
from designstudio.empirical.people import describe_people
from designstudio.empirical.pilot import describe_pilot, describe_space
from designstudio.empirical.plan import choose_cost, compare_precision, plan_study
from designstudio.empirical.plan_words import describe_design, describe_population, list_notes
from designstudio.empirical.population import SMALLEST_SPREAD, Group, estimate_group, match_prior
from designstudio.empirical.results import Comparison
from designstudio.errors import StudioError
from designstudio.evaluate.run import evaluate_design
from designstudio.evaluate.store import Store
from designstudio.fit.pooling import pool_subjects
from designstudio.parameters import analysis_priors
from designstudio.priors import Constant, Interval, LogNormal, Uniform
from designstudio.study import Known, Range, format_study, parse_study
from designstudio.trials import make_trials
from tests.empirical.make_pilot import BLURRED, CLEAR, LEVELS, NUM_SUBJECTS, NUM_TRIALS, TRUTH, make_pilot, make_truth

NOWHERE = Store(None)


@pytest.fixture(scope="module")
def pilot():
    return make_pilot(make_truth(3))


@pytest.fixture(scope="module")
def study(pilot):
    return plan_study(pilot)


@pytest.fixture(scope="module")
def free_pilot():
    """Nothing is known beforehand, as in most real data."""
    return make_pilot(make_truth(2, is_known=False))


def moments(prior):
    """Mean and sd of the logarithm."""
    logs = np.log(prior.quantile((np.arange(2000) + 0.5) / 2000))
    return logs.mean(), logs.std()


def spoil(fit, *places):
    """The same fit with some subjects' fits failed, and their draws nonsense."""
    ((cost, posterior),) = fit.posteriors.items()
    posterior = posterior.copy(deep=True)
    for place in places:
        posterior["diagnostics"]["is_good"].values[place] = False
        for name in posterior["posterior"].data_vars:
            posterior["posterior"][name].values[place] = 0.011
    return dataclasses.replace(fit, posteriors={cost: posterior})


def test_the_population_is_recovered(study):
    # 20 subjects know the mean of a normal group to 0.22 of its spread and the spread to 16 %; fits know each a little less.
    for name, true in TRUTH.items():
        (mean, spread), (found_mean, found_spread) = moments(true), moments(study.population.priors[name])
        assert abs(found_mean - mean) < 4 * 0.3 * spread, name
        assert 0.3 < found_spread / spread < 1.8, name


def test_planned_and_achieved_precision_agree(pilot, study):
    precision = compare_precision(pilot, study, num_datasets=100, store=NOWHERE)
    assert precision["quantity"].values.tolist() == ["mu_0", "sigma_0", "sigma_r", "beta"]
    np.testing.assert_allclose(precision["ratio"], 1.0, atol=0.2)
    assert (np.abs(precision["ratio"] - 1) < 4 * precision["ratio_se"]).all()
    assert (precision["ratio_se"] < 0.15).all()
    assert (precision["predicted_mcse"] < precision["achieved_se"]).all()


def test_planned_and_achieved_precision_agree_where_nothing_is_known(free_pilot):
    study = plan_study(free_pilot)
    pilot = study.design("pilot")
    assert pilot.levels == ("sigma",)
    assert study.analysis.per_condition == ("sigma",)
    assert study.analysis.known == {}
    low, high = (condition.levels["sigma"] for condition in pilot.conditions)
    assert 0.5 < low / LEVELS[0] < 1.6
    assert high / low == pytest.approx(LEVELS[1] / LEVELS[0], rel=0.15)
    precision = compare_precision(free_pilot, study, num_datasets=100, store=NOWHERE)
    assert precision["quantity"].values.tolist()[2:4] == [f"sigma[{CLEAR}]", f"sigma[{BLURRED}]"]
    np.testing.assert_allclose(precision["ratio"], 1.0, atol=0.2)


def test_the_pilot_is_described_as_it_was_run(study):
    design = study.design("pilot")
    assert [(c.name, c.num_trials, c.levels) for c in design.conditions] == [
        (CLEAR, NUM_TRIALS, {"sigma": LEVELS[0]}),
        (BLURRED, NUM_TRIALS, {"sigma": LEVELS[1]}),
    ]
    assert design.stimuli == Stimuli("uniform", 0.5, 3.0)
    assert design.num_participants == NUM_SUBJECTS
    assert study.analysis.known == {"sigma": Known()}
    assert study.analysis.priors == {}
    space = study.search.space
    assert space.level == Range(LEVELS[0] / 2, 2 * LEVELS[1])
    assert space.get("trials") == Range(NUM_TRIALS, 2 * NUM_TRIALS)
    assert (space.get("stimuli.low"), space.get("stimuli.high")) == (0.5, 3.0)


def test_the_plan_is_a_study_file_that_evaluates(pilot, study):
    read = parse_study(format_study(study, notes=list_notes(pilot, study)), "plan")
    assert read == study
    evaluation = evaluate_design(read, read.designs[0], num_datasets=20, store=NOWHERE)
    assert evaluation.convergence.converged >= 18


def test_what_was_pooled_is_planned_from_the_group(pilot, study):
    ((cost, posterior),) = pilot.posteriors.items()
    pooled = dataclasses.replace(pilot, pooled={cost: pool_subjects(posterior, pilot.models[cost], num_draws=500)})
    planned = plan_study(pooled)
    for name, prior in planned.population.priors.items():
        (mean, spread), (pooled_mean, pooled_spread) = moments(study.population.priors[name]), moments(prior)
        # The same draws, once for the most likely group and once for the average one.
        assert pooled_mean == pytest.approx(mean, abs=0.25 * spread), name
        assert 0.7 < pooled_spread / spread < 1.6, name
    assert any("pooling" in note for note in list_notes(pooled, planned))


def test_failed_fits_are_left_out_and_counted(pilot, study):
    spoiled = spoil(pilot, 4, 7)
    planned = plan_study(spoiled)
    for name, prior in planned.population.priors.items():
        assert prior.median == pytest.approx(study.population.priors[name].median, rel=0.1)
    assert planned.design("pilot").num_participants == NUM_SUBJECTS
    assert "18 subjects, without 2 whose fits failed" in list_notes(spoiled, planned)[0]
    with pytest.raises(StudioError, match="No subject could be fitted"):
        plan_study(spoil(pilot, *range(NUM_SUBJECTS)))


def test_a_single_subject_says_nothing_about_differences(pilot):
    alone = spoil(pilot, *range(1, NUM_SUBJECTS))
    priors = plan_study(alone).population.priors
    assert {prior.sigma for name, prior in priors.items() if name != "beta"} == {0.2}


def test_units_of_the_data_are_told_and_restored(pilot, study):
    scaled = dataclasses.replace(pilot, scale=dataclasses.replace(pilot.scale, factor=10.0, unit="N"))
    trials = pilot.trials.copy()
    for name in ("stimulus", "response"):
        trials[name] = (trials[name] * 10).assign_attrs({**trials[name].attrs, "units": "N"})
    scaled = dataclasses.replace(scaled, trials=trials)
    planned = plan_study(scaled)
    assert planned.title == "Planned from a pilot, quadratic_effort (1 unit = 10 N)"
    assert dataclasses.replace(planned, title="") == dataclasses.replace(study, title="")
    assert any("1 unit = 10 N" in note for note in list_notes(scaled, planned))
    one, ten = (compare_precision(fit, study, num_datasets=20, store=NOWHERE) for fit in (pilot, scaled))
    assert one["unit"].values.tolist() == ["m", "log units", "log units", "no unit"]
    assert ten["unit"].values.tolist() == ["N", "log units", "log units", "no unit"]
    np.testing.assert_allclose(ten["achieved_sd"] / one["achieved_sd"], [10, 1, 1, 1])
    np.testing.assert_allclose(ten["ratio"], one["ratio"])


def make_comparison(**elpd):
    total = xr.Dataset({"elpd": ("cost", list(elpd.values()))}, coords={"cost": list(elpd)})
    return Comparison(xr.Dataset(), total, xr.Dataset(), 0)


def test_the_cost_is_the_one_asked_for_or_the_best(pilot):
    model = pilot.models["quadratic_effort"]
    several = dataclasses.replace(pilot, models={"quadratic": model, "quadratic_effort": model})
    assert choose_cost(pilot) == "quadratic_effort"
    assert choose_cost(several, "quadratic") == "quadratic"
    compared = dataclasses.replace(several, comparison=make_comparison(quadratic=-9.0, quadratic_effort=-7.0))
    assert choose_cost(compared) == "quadratic_effort"
    with pytest.raises(StudioError, match="name one of quadratic, quadratic_effort"):
        choose_cost(several)
    with pytest.raises(StudioError, match="Unknown cost of this fit 'linex'"):
        choose_cost(pilot, "linex")


# Estimates of a group.


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


@pytest.mark.parametrize(("mean", "spread"), [(0.85, 0.05), (0.95, 0.05), (0.6, 0.1), (0.75, 0.15), (0.98, 0.015)])
def test_a_prior_within_bounds_has_the_moments_of_the_group(mean, spread):
    prior = match_prior(Group(np.log(mean), spread), Interval(0.5, 1.0))
    found = moments(prior)
    assert prior.support == Interval(0.5, 1.0)
    assert 0.5 <= prior.median <= 1.0
    assert found[0] == pytest.approx(np.log(mean), abs=0.1 * spread)
    assert found[1] == pytest.approx(spread, rel=0.1)


def test_a_prior_far_from_its_bounds_is_the_group():
    prior = match_prior(Group(np.log(1.5), 0.1), Interval(0.0, np.inf))
    assert prior == LogNormal(1.5, 0.1)


# What becomes of each kind of parameter.


def fake_posterior(model, values, fixed, num=30):
    """A posterior with all draws close to the given values."""
    rng = np.random.default_rng(3)
    people = {name: np.asarray(value) * np.exp(0.1 * rng.normal(size=(num, 1))) for name, value in values.items()}
    draws = {}
    for name, value in people.items():
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
    people = describe_people(model, fake_posterior(model, values, fixed), None)
    np.testing.assert_allclose(people.levels["sigma"], [0.1, 0.3], rtol=0.1)
    assert [prior.median for prior in people.own["mu_0"]] == pytest.approx([1.0, 2.0], rel=0.1)
    assert people.own["mu_0"][0].sigma == pytest.approx(0.1, rel=0.5)
    assert people.population["sigma_0"] == Constant(0.15)
    assert people.population["sigma_r"].sigma == pytest.approx(0.3, rel=0.35)
    assert set(people.population) == {"sigma_0", "sigma_r", "beta"}
    # One level for all conditions that was measured is what everyone has, but two are levels.
    model = BehaviorModel(actor, num_conditions=2, fixed=["sigma"])
    values = {"mu_0": [1.0], "sigma_0": [0.2], "sigma_r": [0.1], "beta": [0.8]}
    people = describe_people(model, fake_posterior(model, values, {"sigma": np.tile([0.1, 0.2], (30, 1))}), None)
    assert people.levels == {"sigma": [0.1, 0.2]}
    assert people.population["mu_0"].sigma >= SMALLEST_SPREAD


def lay_out_trials(*stimuli):
    """One subject whose conditions show these."""
    shown = np.concatenate(stimuli)
    index = np.repeat(np.arange(len(stimuli)), [len(part) for part in stimuli])
    return make_trials(shown, shown, condition_index=index)


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
    assert describe_space(design, [0.015, 0.4], shown).level == Range(0.01, 0.5)


# Words and command.


def test_a_plan_is_told_in_words(pilot, study, capsys):
    words = describe_population(pilot, study)
    assert words[0].startswith("μ₀, prior mean: 1.")
    assert words[2] == "σ, perceptual uncertainty: 0.1 in clear; 0.25 in blurred."
    assert "20 participants, each with 40 trials of clear, 40 trials of blurred" in describe_design(study)
    precision = compare_precision(pilot, study, num_datasets=20, store=NOWHERE)
    print_plan(pilot, study, list_notes(pilot, study))
    print_precision(precision)
    printed = capsys.readouterr().out
    for word in ("People who minimise quadratic_effort", "90 % of people", "Planned and achieved", "μ₀"):
        assert word in printed
    plain = json.loads(json.dumps(describe_plan(pilot, study, [], precision)))
    assert [row["quantity"] for row in plain["precision"]] == ["mu_0", "sigma_0", "sigma_r", "beta"]
    assert plain["population"]["mu_0"]["low"] == 0.1


def test_the_command_refuses_before_it_works(tmp_path):
    path = tmp_path / "study.toml"
    path.write_text("mine")
    if importlib.util.find_spec("designstudio.empirical.files") is None:
        pytest.skip("fits cannot be loaded yet")
    result = CliRunner().invoke(app, ["plan", "--from", str(tmp_path / "nothing"), "--out", str(path)])
    assert "already" in str(result.exception)
    assert path.read_text() == "mine"


def test_the_command_writes_a_study_that_can_be_read(tmp_path, pilot):
    if importlib.util.find_spec("designstudio.empirical.files") is None:
        pytest.skip("fits cannot be loaded yet")
    from designstudio.empirical.files import save_fit

    from designstudio.study import read_study

    save_fit(pilot, tmp_path / "fits")
    out = tmp_path / "study.toml"
    result = CliRunner().invoke(app, ["plan", "--from", str(tmp_path / "fits"), "--out", str(out), "--datasets", "20"])
    assert result.exit_code == 0, result.output
    assert read_study(out).cost == "quadratic_effort"
    assert "designstudio search" in result.output


def test_priors_of_the_fit_are_kept(pilot):
    ((cost, model),) = pilot.models.items()
    priors = analysis_priors(model.parameters).replace(mu_0=Uniform(0.2, 4.0))
    other = BehaviorModel(model.actor, num_conditions=2, fixed=["sigma"], priors=priors)
    planned = plan_study(dataclasses.replace(pilot, models={cost: other}))
    assert planned.analysis.priors == {"mu_0": Uniform(0.2, 4.0)}
    assert planned.population.priors["mu_0"].bounds == Interval(0.2, 4.0)
