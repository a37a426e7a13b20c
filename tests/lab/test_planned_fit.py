"""A record plans a fit: what it says is what is fitted, and what the data do not allow is one sentence."""

import csv
import dataclasses
import math

import pytest

from designstudio.errors import DataError, StudioError
from designstudio.evaluate.experiment import prepare_experiment
from designstudio.fitting.fixed_values import read_fixed
from designstudio.fitting.models import build_models
from designstudio.inference.hierarchical import PoolingSettings
from designstudio.lab.formats.save_schedule import save_schedule
from designstudio.lab.planned_fit import plan_fit, plan_goals, plan_request
from designstudio.lab.record import Record, RecordOptions, make_record
from designstudio.lab.record_text import write_text
from designstudio.lab.schedule import ScheduleOptions, make_schedule
from designstudio.model.costs import PAPER_COST_NAMES, get_cost
from designstudio.model.parameters import analysis_priors
from designstudio.model.priors import HalfNormal, Interval, LogNormal, Uniform
from designstudio.model.scale import Scale
from designstudio.runs.planned_fit import refuse_options
from designstudio.study import Analysis, Goal, Known, Quantity
from designstudio.study.file import format_study, parse_study
from designstudio.study.schema.priors import format_prior, parse_prior
from tests.evaluate.make_study import TWO_LEVELS, make_study

GOALS = (
    Goal("excludes", "beta"),
    Goal("narrower", "mu_0", width=0.5, name="precise"),
    Goal("groups-differ", "beta", group={"beta": Uniform(0.6, 0.7)}),
)
OPTIONS = RecordOptions(3, min_trials=20, unit="m", rules=("No one under 18.",))
ANALYSIS = Analysis(
    priors={"mu_0": LogNormal(1.5, 0.4, Interval(0.2, 4.0))},
    known={"sigma": Known(), "sigma_r": Known(0.15)},
    lapses="free",
)
QUANTITIES = (Quantity.from_formula("ratio", "sigma_0 / sigma[0]"),)
STUDY = make_study(
    designs=(TWO_LEVELS,),
    goals=GOALS,
    analysis=ANALYSIS,
    candidates=("quadratic_effort", "linex"),
    interval=0.9,
    seed=7,
    quantities=QUANTITIES,
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Simulated data of three participants, in metres."""
    folder = tmp_path_factory.mktemp("planned") / "lists"
    options = ScheduleOptions(order="blocked", unit="m", simulates=True)
    save_schedule(make_schedule(STUDY, TWO_LEVELS, options, num_participants=3), folder)
    return folder


@pytest.fixture
def record():
    return make_record(STUDY, TWO_LEVELS, OPTIONS)


def plan(record, folder, data=None, **changes):
    fixed = read_fixed({"sigma": folder / "known_sigma.csv"})
    return plan_fit(record, folder if data is None else data, **{"fixed": fixed, **changes})


def flatten(folder, path, change=lambda row: row):
    """All tables of a schedule as one, its rows changed; None leaves one out."""
    rows = []
    for table in sorted(folder.glob("data/*/*.csv")):
        with table.open(newline="") as file:
            rows += [new for row in csv.DictReader(file) if (new := change(dict(row))) is not None]
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


@pytest.mark.parametrize("cost", PAPER_COST_NAMES)
def test_every_prior_of_a_record_is_read_back_exactly(cost):
    parameters = get_cost(cost).all_parameters
    priors = dict(analysis_priors(parameters))
    for parameter in parameters:
        low, high = parameter.box.low, parameter.box.high
        others = [Uniform(low + (high - low) / 3, high), HalfNormal(high / math.pi), LogNormal(high / 7, 0.37)]
        for prior in (priors[parameter.name], *(other.within(parameter.box) for other in others)):
            assert parse_prior(format_prior(prior), parameter) == prior


@pytest.mark.parametrize("text", ["{ uniform = [0.1", "{ normal = 3 }", "{ uniform = [-3.0, 1.0] }", "import os"])
def test_what_is_no_prior_is_refused(text):
    with pytest.raises(StudioError):
        parse_prior(text, get_cost("quadratic").all_parameters[0])


def test_the_request_is_what_the_study_says(folder, record):
    planned = plan(record, folder)
    request = planned.request
    assert request.costs == ("quadratic_effort", "linex")
    assert (request.interval, request.seed, request.lapses) == (0.9, 7, "free")
    assert request.fixed["sigma_r"] == 0.15
    models = build_models(request, planned.scale.apply(planned.loaded.trials), planned.scale)
    for cost in request.costs:
        wanted = ANALYSIS.build_model(STUDY.load_actor(cost), TWO_LEVELS)
        found = models[cost].model
        assert dict(found.priors) == dict(wanted.priors)
        assert (found.fixed, found.per_condition, found.has_lapses) == (wanted.fixed, wanted.per_condition, True)
    assert planned.scale == Scale(1.0, "m")


def test_a_group_is_pooled_with_the_recorded_prior_of_its_spread():
    plain = make_record(STUDY, TWO_LEVELS, OPTIONS)
    assert "pooling" not in plain.content["analysis"]
    assert not plan_request(plain.content, fixed={"sigma": 0.1}, actors={}).pools
    analysis = dataclasses.replace(ANALYSIS, pools=True, group_spread=0.8, group_spreads={"beta": 1.5})
    study = STUDY.replace(analysis=analysis)
    assert parse_study(format_study(study), "text").analysis == analysis
    record = make_record(study, TWO_LEVELS, OPTIONS)
    request = plan_request(record.content, fixed={"sigma": 0.1}, actors={})
    assert request.pools
    assert request.pooling == analysis.pooling == PoolingSettings(spread_share=0.8, spread_shares={"beta": 1.5})
    assert "0.8 times the standard deviation of that parameter's analysis prior, 1.5 times for beta." in write_text(record)
    # The same prior in goals of whole groups.
    assert prepare_experiment(study, TWO_LEVELS, first=0, num_datasets=1).pooling == analysis.pooling


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"group_spread": 0.0}, "must be a share above 0, but 0 was given"),
        ({"group_spreads": {"beta": math.inf}}, "must be a share above 0, but inf was given"),
        ({"group_spreads": {"gamma": 1.0}}, "Unknown parameter of the analysis"),
    ],
)
def test_what_is_no_spread_of_a_group_is_refused(given, said):
    with pytest.raises(StudioError, match=said):
        STUDY.replace(analysis=dataclasses.replace(ANALYSIS, **given))


def test_conditions_are_those_of_the_plan_in_their_order(folder, record):
    trials = plan(record, folder).loaded.trials
    # In the alphabet high comes first.
    assert trials["condition"].values.tolist() == ["low", "high"]
    sigma = plan(record, folder).request.fixed["sigma"]
    assert sigma.sel(subject="02", condition="high").item() == 0.2


def test_goals_carry_their_numbers_and_their_planned_power(folder, record):
    effort, precise, groups = plan_goals(record.content)
    assert (effort.value, effort.margin, effort.nominal) == (1.0, 0.025, pytest.approx(0.1))
    assert (precise.name, precise.width, precise.nominal) == ("precise", 0.5, None)
    assert (groups.alpha, groups.nominal) == (0.05, 0.05)
    analysis = plan(record, folder).analysis
    assert analysis.quantities == {"ratio": "sigma_0 / sigma[0]"}
    assert analysis.rules == ("No one under 18.",)
    assert analysis.fingerprint == record.fingerprint
    assert type(analysis).from_dict(analysis.as_dict()) == analysis


def test_what_was_measured_must_be_given_and_nothing_else(folder, record):
    with pytest.raises(StudioError, match=r"takes sigma as measured beforehand.* give it with --fixed sigma=FILE\.csv"):
        plan_request(record.content, fixed={}, actors={})
    for name, words in (("sigma_r", "the record takes it as 0.15"), ("beta", "the record estimates it")):
        with pytest.raises(StudioError, match=f"--fixed gives {name}, but {words}"):
            plan_request(record.content, fixed={"sigma": 0.1, name: 0.2}, actors={})


def test_data_of_another_unit_are_refused(folder, record):
    with pytest.raises(StudioError, match="The plan is in 'm', but --unit 'cm' was given"):
        plan(record, folder, unit="cm")
    other = make_record(STUDY, TWO_LEVELS, dataclasses.replace(OPTIONS, unit="s"))
    with pytest.raises(StudioError, match="The plan is in 's', but the data are in 'm': convert them"):
        plan(other, folder)


def test_a_table_without_a_unit_is_taken_in_that_of_the_plan(folder, record, tmp_path):
    data = flatten(folder, tmp_path / "data.csv")
    assert plan(record, folder, data).scale == Scale(1.0, "m")


def test_what_differs_from_the_plan_is_told_and_unplanned_conditions_are_left_out(folder, record, tmp_path):
    def change(row):
        if row["subject"] == "03":
            return None
        if row["trial"] == "1":
            return {**row, "condition": "warm-up"}
        return {**row, "stimulus": "9"} if row["trial"] == "2" else row

    planned = plan(record, folder, flatten(folder, tmp_path / "data.csv", change))
    assert planned.loaded.trials["condition"].values.tolist() == ["low", "high"]
    assert planned.loaded.report.num_trials == 2 * 89
    said = planned.analysis.deviations
    assert "Not yet complete: 2 of 6 planned participants are in the data." in said
    assert "The data have a condition 'warm-up' that was not planned: its 2 trials were left out." in said
    assert any("lie outside the planned range" in sentence for sentence in said)


def test_a_planned_condition_without_trials_stays_in_the_model(folder, record, tmp_path):
    data = flatten(folder, tmp_path / "data.csv", lambda row: row if row["condition"] == "low" else None)
    planned = plan(record, folder, data)
    assert "The data have no trials of the planned condition 'high'." in planned.analysis.deviations
    assert planned.loaded.trials.sizes["condition"] == 2
    data = flatten(folder, tmp_path / "other.csv", lambda row: {**row, "condition": "dim"})
    with pytest.raises(StudioError, match="None of the planned conditions 'low', 'high' is in the data, which have 'dim'"):
        plan(record, folder, data)


def test_exclusions_are_the_recorded_ones(folder, tmp_path):
    record = make_record(STUDY, TWO_LEVELS, dataclasses.replace(OPTIONS, where=("trial > 10",), min_trials=81))
    with pytest.raises(DataError, match="at least 81 are needed"):
        plan(record, folder)
    record = make_record(STUDY, TWO_LEVELS, dataclasses.replace(OPTIONS, where=("trial > 10",)))
    assert plan(record, folder).loaded.report.num_trials == 3 * 80


def test_groups_come_from_the_data(folder, record, tmp_path):
    assert plan(record, folder).analysis.groups == {}
    data = flatten(folder, tmp_path / "data.csv", lambda row: {**row, "arm": "1" if row["subject"] == "01" else "2"})
    assert plan(record, folder, data).analysis.groups == {"01": "1", "02": "2", "03": "2"}
    data = flatten(folder, tmp_path / "both.csv", lambda row: {**row, "group": "a" if row["trial"] == "1" else "b"})
    with pytest.raises(DataError, match="Subject '01' is in the groups 'a' and 'b'"):
        plan(record, folder, data)


def test_another_actor_is_a_deviation_and_a_missing_one_is_refused(folder, record):
    content = {**record.content, "model": {**record.content["model"], "actor_fingerprint": "0" * 16}}
    assert any("is not the recorded one" in sentence for sentence in plan(Record(content), folder).analysis.deviations)
    content = {**record.content, "model": {**record.content["model"], "actor": "file mine.actor"}}
    with pytest.raises(StudioError, match=r"is the file mine\.actor: give it with --actor"):
        plan(Record(content), folder)
    content = {**record.content, "model": {**record.content["model"], "actor": "exact"}}
    assert plan_request(content, fixed={"sigma": 0.1}, actors={}).is_exact


def test_options_about_which_the_plan_decides_are_refused():
    refuse_options({"--costs": None, "--pool": False}, "--record")
    with pytest.raises(StudioError, match="--costs and --seed are not to be given with --record"):
        refuse_options({"--costs": "quadratic", "--pool": False, "--seed": 0}, "--record")
