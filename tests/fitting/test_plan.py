"""From a pilot to a plan: on simulated pilots, whose population is known."""

import dataclasses
import json

import numpy as np
import pytest
import xarray as xr
from typer.testing import CliRunner

from designstudio.cli import app
from designstudio.cli.plan import print_plan, print_precision
from designstudio.core.cache import BlockCache
from designstudio.errors import StudioError
from designstudio.evaluate.evaluate_design import evaluate_design
from designstudio.fitting.comparison import Comparison
from designstudio.fitting.plan import Plan, choose_cost, compare_precision, plan_study
from designstudio.fitting.plan_words import describe_pilot, describe_population, list_notes
from designstudio.fitting.reading import example_path, read_data
from designstudio.fitting.request import FitRequest
from designstudio.inference.hierarchical import PoolingSettings, pool_subjects
from designstudio.model.likelihood.model import BehaviorModel
from designstudio.model.parameters import analysis_priors
from designstudio.model.priors import Interval, Uniform
from designstudio.runs import plan as plan_run
from designstudio.runs.plan import describe_plan
from designstudio.search.feasible import check_feasible
from designstudio.study import Known, Range, format_study, parse_study, read_study
from designstudio.study.design import Stimuli
from tests.fitting.make_pilot import (
    BLURRED,
    CLEAR,
    LEVELS,
    NUM_SUBJECTS,
    NUM_TRIALS,
    SETTINGS,
    TRUTH,
    find_moments,
    make_pilot,
    make_truth,
)
from tests.viz.test_calibration import find_picture_faults

NOWHERE = BlockCache(None)


@pytest.fixture(scope="module")
def pilot():
    return make_pilot(make_truth(5))


@pytest.fixture(scope="module")
def study(pilot):
    return plan_study(pilot)


@pytest.fixture(scope="module")
def free_pilot():
    """Nothing is known beforehand, as in most real data."""
    return make_pilot(make_truth(2, is_known=False))


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
        (mean, spread), (found_mean, found_spread) = find_moments(true), find_moments(study.population.priors[name])
        assert abs(found_mean - mean) < 4 * 0.3 * spread, name
        assert 0.3 < found_spread / spread < 1.8, name


def test_planned_and_achieved_precision_agree(pilot, study):
    precision = compare_precision(pilot, study, num_datasets=100, cache=NOWHERE)
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
    precision = compare_precision(free_pilot, study, num_datasets=100, cache=NOWHERE)
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
    evaluation = evaluate_design(read, read.designs[0], num_datasets=20, cache=NOWHERE)
    assert evaluation.convergence.converged >= 18
    # What a search does first.
    check_feasible(read.search)
    assert evaluate_design(read, read.designs[0], fidelity="information", num_datasets=20).num_datasets == 20


def test_what_was_pooled_is_planned_from_the_group(pilot, study):
    # How well pooling works is tested where it is made.
    hasty = PoolingSettings(num_draws=500, max_turns=2, num_particles=4000)
    ((cost, posterior),) = pilot.posteriors.items()
    # The pilot's unit is the actor's.
    group = pool_subjects(posterior, pilot.models[cost], pilot.trials, fixed=pilot.request.fixed, settings=hasty)
    pooled = dataclasses.replace(pilot, pooled={cost: group})
    planned = plan_study(pooled)
    for name, prior in planned.population.priors.items():
        (mean, spread), (pooled_mean, pooled_spread) = find_moments(study.population.priors[name]), find_moments(prior)
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
    assert (study.unit, study.scale) == ("m", 1.0)
    assert (planned.unit, planned.scale) == ("N", 10.0)
    assert planned.title == "Planned from a pilot, quadratic_effort"
    assert planned.designs[0].stimuli == Stimuli("uniform", 5.0, 30.0)
    one_mu, ten_mu = (one.population.priors["mu_0"] for one in (study, planned))
    assert (ten_mu.median, ten_mu.sigma, ten_mu.support) == (
        pytest.approx(10 * one_mu.median), one_mu.sigma, Interval(1.0, 50.0),
    )  # fmt: skip
    assert {n: p for n, p in planned.population.priors.items() if n != "mu_0"} == {
        n: p for n, p in study.population.priors.items() if n != "mu_0"
    }
    assert parse_study(format_study(planned, notes=list_notes(scaled, planned)), "plan") == planned
    assert any("in N; fits and simulations run in units of 10 N" in note for note in list_notes(scaled, planned))
    pairs = ((pilot, study), (scaled, planned))
    one, ten = (compare_precision(fit, of, num_datasets=20, cache=NOWHERE) for fit, of in pairs)
    assert one["unit"].values.tolist() == ["m", "log units", "log units", "no unit"]
    assert ten["unit"].values.tolist() == ["N", "log units", "log units", "no unit"]
    np.testing.assert_allclose(ten["achieved_sd"] / one["achieved_sd"], [10, 1, 1, 1])
    np.testing.assert_allclose(ten["ratio"], one["ratio"], rtol=1e-4)


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


@pytest.mark.parametrize(("lead", "is_decided"), [(2.0, False), (5.9, False), (20.0, True)])
def test_a_cost_that_leads_by_less_than_two_errors_is_not_taken_without_a_word(pilot, study, lead, is_decided):
    numbers = {"elpd": [-9.0, -9.0 + lead], "difference": [lead, 0.0], "difference_se": [3.0, 0.0]}
    numbers |= {"difference_se_trials": [2.5, 0.0], "difference_mcse": [0.4, 0.0]}
    total = xr.Dataset({k: ("cost", v) for k, v in numbers.items()}, coords={"cost": ["quadratic", "quadratic_effort"]})
    compared = dataclasses.replace(pilot, comparison=Comparison(xr.Dataset(), total, xr.Dataset(), 0))
    said = [note for note in list_notes(compared, study) if note.startswith("Undecided")]
    assert not said if is_decided else f"less than two errors of quadratic, by {lead:.1f} ± 3.0 nats" in said[0]
    # The file says it, too.
    assert ("# Undecided" in format_study(study, notes=list_notes(compared, study))) != is_decided


def test_a_plan_is_told_in_words(pilot, study, capsys):
    words = describe_population(study)
    assert words[0].startswith("μ₀, prior mean: 1.")
    assert words[2] == "σ, perceptual uncertainty: 0.1 in clear; 0.25 in blurred."
    assert "20 participants, each with 40 trials of clear, 40 trials of blurred" in describe_pilot(study)
    precision = compare_precision(pilot, study, num_datasets=20, cache=NOWHERE)
    plan = Plan(pilot, study, tuple(list_notes(pilot, study)), precision)
    print_plan(plan)
    print_precision(precision)
    printed = capsys.readouterr().out
    for word in ("People who minimise quadratic_effort", "90 % of people", "Planned and achieved", "μ₀"):
        assert word in printed
    plain = json.loads(json.dumps(describe_plan(plan)))
    assert [row["quantity"] for row in plain["precision"]] == ["mu_0", "sigma_0", "sigma_r", "beta"]
    assert plain["population"]["mu_0"]["low"] == 0.1


def run_plan(monkeypatch, fit, *arguments):
    """The command, with a fit that needs no folder."""
    monkeypatch.setattr(plan_run, "load_fit", lambda folder: fit)
    return CliRunner().invoke(app, ["plan", "--from", "fits", *map(str, arguments)])


def test_the_command_plans_compares_and_says_what_is_next(tmp_path, monkeypatch, pilot, study):
    out, report = tmp_path / "my study.toml", tmp_path / "plan.json"
    figure = tmp_path / "precision.png"
    result = run_plan(monkeypatch, pilot, "--out", out, "--datasets", 20, "--json", report, "--figure", figure)
    assert result.exit_code == 0, result.output
    assert read_study(out) == study
    assert out.read_text().startswith("# Planned from a pilot: the population is that of its 20 subjects.")
    assert "seconds_per_trial = 5 is a guess" in out.read_text()
    for words in ("Planned and achieved precision", f"designstudio evaluate '{out}'", f"designstudio search '{out}'"):
        assert words in result.output
    assert len(json.loads(report.read_text())["precision"]) == 4
    assert not find_picture_faults(figure)


@pytest.mark.parametrize("options", [("--figure", "a.pdf"), ("--figure", "a.png", "--datasets", "0")])
def test_a_figure_needs_a_known_kind_and_a_check(tmp_path, monkeypatch, pilot, options):
    monkeypatch.chdir(tmp_path)
    assert "--figure takes a .png or .svg file" in str(run_plan(monkeypatch, pilot, *options).exception)
    assert not list(tmp_path.iterdir())


def test_the_command_never_replaces_a_file_unless_told(tmp_path, monkeypatch, pilot, study):
    path = tmp_path / "study.toml"
    path.write_text("mine")
    result = run_plan(monkeypatch, pilot, "--out", path, "--datasets", 0)
    assert "already" in str(result.exception)
    assert path.read_text() == "mine"
    result = run_plan(monkeypatch, pilot, "--out", path, "--datasets", 0, "--force")
    assert result.exit_code == 0
    assert "Planned and achieved" not in result.output
    assert read_study(path) == study
    assert "at least 10" in str(run_plan(monkeypatch, pilot, "--out", tmp_path / "b.toml", "--datasets", 5).exception)


def test_a_folder_of_fits_becomes_a_study(tmp_path):
    run = pytest.importorskip("designstudio.fitting.fit_subjects", reason="fits of real data cannot be made yet")
    files = pytest.importorskip("designstudio.fitting.fit_folder", reason="fits of real data cannot be loaded yet")
    request = FitRequest(("quadratic_effort",), per_condition=("sigma",), settings=SETTINGS)
    fit = run.fit_subjects(read_data(example_path(), unit="N"), request, name="example")
    files.save_fit(fit, tmp_path / "fits")
    out = tmp_path / "study.toml"
    result = CliRunner().invoke(app, ["plan", "--from", str(tmp_path / "fits"), "--out", str(out), "--datasets", "20"])
    assert result.exit_code == 0, (result.output, result.exception)
    assert read_study(out) == plan_study(fit)


def test_priors_of_the_fit_are_kept(pilot):
    ((cost, model),) = pilot.models.items()
    priors = analysis_priors(model.parameters).replace(mu_0=Uniform(0.2, 4.0))
    other = BehaviorModel(model.actor, num_conditions=2, fixed=["sigma"], priors=priors)
    planned = plan_study(dataclasses.replace(pilot, models={cost: other}))
    assert planned.analysis.priors == {"mu_0": Uniform(0.2, 4.0)}
    assert planned.population.priors["mu_0"].bounds == Interval(0.2, 4.0)
