import numpy as np
import pytest
import xarray as xr

from designstudio.core.files import write_json
from designstudio.dashboard.pages.power import PowerPage
from designstudio.dashboard.parts.power_results import (
    find_smallest,
    report_doubt,
    report_smallest,
    tabulate_power,
    write_power,
    write_smallest,
    write_warnings,
)
from designstudio.dashboard.state.design_choice import DesignChoice
from designstudio.dashboard.state.power_choice import BOTH, PARTICIPANTS, TRIALS, PowerChoice
from designstudio.errors import StudioError
from designstudio.evaluate.curves import map_power, trace_power
from designstudio.evaluate.curves import tabulate_power as trace_points
from designstudio.metrics.monte_carlo import Score
from designstudio.metrics.power import PowerScore
from designstudio.model.priors import Constant, LogNormal
from designstudio.runs.jobs import JobStore
from designstudio.runs.jobs.job import FINISHED, OUTCOME, POWER, STUDY
from designstudio.runs.power import CURVES
from designstudio.study import format_study, parse_study
from designstudio.study.goals import EXCLUDES, GROUPS_DIFFER, NARROWER

# Panel 2 will call `name` and `button_type` otherwise.
pytestmark = pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
HOSTILE = "<img src=x onerror=alert(1)>"
CHOICES = [
    {"kind": EXCLUDES, "quantity": "beta"},
    {"kind": NARROWER, "quantity": "mu_0", "width": 0.2},
    {"kind": GROUPS_DIFFER, "quantity": "beta", "other_value": 0.8, "along": PARTICIPANTS},
    {"kind": GROUPS_DIFFER, "quantity": "mu_0", "other_value": 1.6, "along": BOTH},
]


def make_curve(values, mcse=0.04, goal="beta is not neutral", dim="trials", absent=0.02, kind=EXCLUDES):
    score = PowerScore(0.0, mcse, Score(absent, 0.01), "beta is 1 for everybody", 0.06, kind, "a rule")
    powers = [{goal: score._replace(value=value).as_dict()} for value in values]
    return trace_points([goal], {dim: [30.0 * (k + 1) for k in range(len(values))]}, powers)


def make_map():
    values = [0.3, 0.5, 0.7, 0.5, 0.81, 0.9, 0.7, 0.9, 0.95]
    score = PowerScore(0.0, 0.01, Score(0.05, 0.01), "equal groups", 0.05, GROUPS_DIFFER, "a rule")
    powers = [{"groups differ in beta": score._replace(value=value).as_dict()} for value in values]
    sizes = {"participants": [10, 20, 60], "trials": [30.0, 60.0, 120.0]}
    return trace_points(["groups differ in beta"], sizes, powers)


@pytest.fixture
def page(tmp_path):
    return PowerPage(DesignChoice(), JobStore(tmp_path / "runs"))


def finish(page, power, study):
    job = page._store.prepare(POWER, HOSTILE, {}, files={STUDY: format_study(study)})
    if power is not None:
        power.to_netcdf(job.folder / CURVES, engine="h5netcdf")
    write_json(job.folder / OUTCOME, {"state": FINISHED, "seconds": 1.0})
    page.open(job)
    return job


def test_the_smallest_size_that_reaches_the_target_is_read_off():
    found = find_smallest(make_curve([0.4, 0.7, 0.82, 0.79, 0.9]).isel(goal=0), 0.8)
    assert found.sizes == {"trials": 90}
    assert found.power.present == (0.82, 0.04)
    said = report_smallest(make_curve([0.4, 0.7, 0.82]).isel(goal=0), 0.8, 5.0)
    assert said == "90 trials (7.5 min) reach 0.82 ± 0.04 (without the effect: 0.02 ± 0.01)."


def test_a_size_whose_power_comes_from_the_prior_is_not_read_off_and_the_page_says_why():
    curve = make_curve([0.4, 0.82], absent=0.4)
    assert find_smallest(curve.isel(goal=0), 0.8) is None
    assert "without finding the effect too often where it is absent" in report_smallest(curve.isel(goal=0), 0.8, 5.0)
    assert "82% (± 4%) with the effect, 40% (± 1%) without it" in write_warnings(curve)
    assert write_warnings(make_curve([0.4, 0.82])) == ""
    assert "0.82 ± 0.04 (0.40 ± 0.01)" in write_power(curve)


def test_a_power_that_may_fall_short_within_its_error_says_so():
    assert "may fall short of 0.8" in report_doubt(make_curve([0.4, 0.82]).isel(goal=0), 0.8)
    assert report_doubt(make_curve([0.4, 0.95]).isel(goal=0), 0.8) == ""
    assert report_doubt(make_curve([0.4, 0.5]).isel(goal=0), 0.8) == ""


def test_if_no_size_reaches_the_target_the_highest_power_is_named():
    said = report_smallest(make_curve([0.1, 0.5, np.nan]).isel(goal=0), 0.8, 5.0)
    assert said == "None of these sizes reaches 0.8: the highest power is 0.50 ± 0.04."
    assert "too few fits" in report_smallest(make_curve([np.nan]).isel(goal=0), 0.8, 5.0)


def test_of_participants_and_trials_the_fewest_trials_of_all_count():
    found = find_smallest(make_map().isel(goal=0), 0.8)
    assert found.sizes == {"participants": 20, "trials": 60}
    assert "20 participants a group with 60 trials each (3.3 h of both groups) reach" in report_smallest(
        make_map().isel(goal=0), 0.8, 5.0
    )


def test_goals_are_escaped():
    curve = make_curve([0.4, 0.9], goal=HOSTILE)
    assert HOSTILE not in write_smallest(curve, 0.8, 5.0)
    assert HOSTILE not in write_power(xr.concat([curve, make_curve([0.4, 0.9])], "goal"))


def test_tables_have_a_row_for_each_size():
    assert len(tabulate_power(make_map())) == 9
    assert write_power(make_map()).count("<tr>") == 4


@pytest.mark.parametrize("changes", CHOICES)
def test_every_choice_is_a_study_that_files_can_hold(changes):
    choice = PowerChoice(DesignChoice(), **changes)
    study = choice.to_study()
    assert parse_study(format_study(study), "the file") == study
    assert study.goals == (choice.to_goal(),)


@pytest.mark.parametrize("changes", CHOICES)
def test_the_settings_are_what_the_job_computes_from(changes):
    choice = PowerChoice(DesignChoice(), trials=(40, 80), participants=(5, 9), num_points=2, num_datasets=10, **changes)
    study, settings = choice.to_study(), choice.to_settings()
    design = study.design(settings["design"])
    if choice.along == BOTH:
        power = map_power(study, design, trials=settings["values"], participants=settings["participants"])
    else:
        power = trace_power(study, design, settings["along"], settings["values"])
    assert power.sizes["goal"] == 1
    assert np.isfinite(power["value"]).all()


def test_a_second_group_differs_within_itself_as_the_first_does():
    alike = PowerChoice(DesignChoice(), kind=GROUPS_DIFFER, quantity="beta", other_value=0.7).to_goal()
    assert alike.group["beta"] == Constant(0.7)
    spread = PowerChoice(DesignChoice(spread=0.1), kind=GROUPS_DIFFER, quantity="mu_0", other_value=1.7).to_goal()
    assert isinstance(spread.group["mu_0"], LogNormal)
    low, high = spread.group["mu_0"].quantile(np.array([0.16, 0.84]))
    assert np.log(high / low) / 2 == pytest.approx(0.1, rel=0.05)


def test_a_cost_without_a_neutral_value_offers_other_goals():
    design = DesignChoice()
    choice = PowerChoice(design)
    design.cost = "quadratic"
    choice.follow_design()
    assert choice.kind == NARROWER
    assert choice.quantity in choice.list_quantities()
    assert EXCLUDES not in choice.list_kinds()


def test_only_groups_need_participants(page):
    assert page.form.along.options == {"trials": TRIALS}
    page.form.kind.value = GROUPS_DIFFER
    assert set(page.form.along.options.values()) == {TRIALS, PARTICIPANTS, BOTH}
    page.form.along.value = BOTH
    page.form.kind.value = EXCLUDES
    assert page.state.along == TRIALS


def test_an_impossible_second_group_is_refused_in_a_sentence(page):
    page.state.param.update(kind=GROUPS_DIFFER, quantity="beta", other_value=7.0)
    page._try(page._begin)
    assert "must be from" in page._message.object
    with pytest.raises(StudioError, match="must be from"):
        page.state.to_goal()


def test_start_writes_down_a_job(page, monkeypatch):
    monkeypatch.setattr(JobStore, "start", lambda self, job: None)
    monkeypatch.setattr("designstudio.dashboard.parts.job_card.JobCard.watch", lambda self, job: None)
    page._try(page._begin)
    (job,) = page._store.list()
    assert job.kind == POWER
    assert job.settings == page.state.to_settings()
    assert parse_study((job.folder / STUDY).read_text(), STUDY).fidelity == "information"


@pytest.mark.parametrize("power", [make_curve([0.4, 0.7, 0.82]), make_map()])
def test_a_finished_job_is_drawn_and_read_off(page, power):
    finish(page, power, page.state.to_study())
    assert page._shown.visible
    assert "reach" in page._answer.object
    assert page._figure.object is not None
    assert len(page._draw()) == 1
    page.target.value = 0.99
    assert "None of these sizes reaches 0.99" in page._answer.object


def test_power_of_an_older_version_without_false_positive_rates_is_refused_in_a_sentence(page):
    finish(page, make_curve([0.4, 0.9])[["value", "mcse"]], page.state.to_study())
    assert "holds power without its false-positive rate: compute it again" in page._message.object
    assert not page._shown.visible


def test_a_folder_without_power_is_one_sentence(page):
    finish(page, None, page.state.to_study())
    assert "holds no power" in page._message.object
    assert not page._shown.visible


def test_progress_goes_from_the_first_size_to_the_last():
    choice = PowerChoice(DesignChoice(), **CHOICES[3], num_datasets=10)
    told = []
    map_power(choice.to_study(), choice.design.to_design(), trials=[40, 80], participants=[5, 9], progress=told.append)
    assert [entry.num_done for entry in told] == sorted(entry.num_done for entry in told)
    assert told[-1].num_done == told[-1].num_total == 4 * 10
