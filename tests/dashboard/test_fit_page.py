"""The fit page, driven without a browser."""

import dataclasses
import shutil
import sys

import numpy as np
import pytest
import xarray as xr

from designstudio.cli import main
from designstudio.core.files import write_json
from designstudio.dashboard.pages.fit import FitPage
from designstudio.dashboard.parts.fit_tables import tabulate_estimates, tabulate_subjects, write_comparison, write_warnings
from designstudio.dashboard.state.design_choice import DesignChoice
from designstudio.dashboard.state.fit_choice import MOST_MEGABYTES, FitChoice
from designstudio.dashboard.state.plan_choice import tidy_name
from designstudio.errors import DataError, StudioError
from designstudio.fitting.fit_folder import save_fit
from designstudio.fitting.reading import example_path, read_data
from designstudio.fitting.request import request_from_dict
from designstudio.lab.record import make_record
from designstudio.lab.record_files import format_record
from designstudio.model.costs import PAPER_COST_NAMES
from designstudio.runs.jobs import FINISHED, JobStore
from designstudio.runs.jobs.job import FIT, OUTCOME, PLAN, STUDY
from designstudio.runs.plan import PRECISION
from designstudio.study import Goal
from designstudio.viz.posteriors import compute_marginals
from tests.evaluate.make_study import TWO_LEVELS, make_study

# Names of widgets will be called labels.
pytestmark = pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
HOSTILE = "<img src=x onerror=alert(1)>"
ESCAPED = "&lt;img src=x onerror=alert(1)&gt;"


class StillStore(JobStore):
    """Writes jobs down and starts none."""

    def begin(self, kind, title, settings, *, files=None):
        return self.prepare(kind, title, settings, files=files)


@pytest.fixture
def store(tmp_path):
    return StillStore(tmp_path / "runs")


@pytest.fixture
def plans():
    return []


@pytest.fixture
def page(store, plans):
    return FitPage(DesignChoice(), store, on_plan=plans.append)


@pytest.fixture(scope="module")
def saved(fit, tmp_path_factory):
    """The files of the shared fit."""
    folder = tmp_path_factory.mktemp("saved")
    save_fit(fit, folder)
    return folder


@pytest.fixture
def finished(store, saved):
    """The shared fit as a job that has ended."""
    choice = FitChoice()
    choice.take_example()
    job = store.prepare(FIT, f"{HOSTILE}.csv", choice.to_settings(), files=choice.list_files())
    shutil.copytree(saved, job.folder, dirs_exist_ok=True)
    end(job)
    return job


def end(job):
    write_json(job.folder / OUTCOME, {"state": FINISHED, "message": "", "seconds": 1.0})


def make_table(subjects=("Ann", "Bob"), names="subject,condition,stimulus,response"):
    rows = [f"{subject},{k % 2},{1 + 0.1 * k:.1f},{1.1 + 0.1 * k:.1f}" for subject in subjects for k in range(12)]
    return "\n".join([names, *rows]).encode()


def click(button):
    button.clicks += 1


def test_an_empty_page_says_what_a_table_looks_like(page):
    assert "One row for each trial" in page.reading.object
    assert page.begin.disabled
    assert not page.columns.__panel__().visible


def test_the_example_is_read_with_its_sidecar(page, loaded):
    click(page.table.example)
    assert page.choice.loaded.report == loaded.report
    assert page.choice.loaded.report.unit == "N"
    for sentence in loaded.report.sentences():
        assert sentence.replace("'", "&#x27;") in page.reading.object
    assert {role: widget.value for role, widget in page.columns.roles.items()} == {
        role: role for role in ("subject", "condition", "trial", "stimulus", "response")
    } | {"group": ""}
    assert page.settings.per_condition.value == ["sigma"]
    assert not page.begin.disabled


BROKEN = {
    "text.csv": b"subject,stimulus,response\nA,1.0,fast\n",
    "short.csv": b"subject,stimulus,response\nA,1.0\n",
    "few.csv": b"subject,stimulus,response\nA,1.0,1.1\nA,1.2,1.1\n",
    "unclear.csv": b"subject,stim,stimulus_value,response\nA,1.0,1.1,1\n",
    "nothing.csv": b"",
    "table.xlsx": b"PK",
    "latin.csv": "subject,stimulus,response\nJürgen,1,1\n".encode("latin-1"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_table_gives_the_sentence_of_the_command_line(page, name, tmp_path, monkeypatch):
    (tmp_path / name).write_bytes(BROKEN[name])
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DataError) as error:
        read_data(name)
    page.choice.take_table(name, BROKEN[name])
    assert page.choice.problem == str(error.value)
    assert page.begin.disabled
    assert "failed" in page.reading.object


def test_known_values_are_numbers_or_tables(page, store):
    page.choice.take_table("people.csv", make_table())
    page.plan.numbers.value = "sigma_r = 0.1, beta=0.9"
    page.choice.plan.take_known_table("noise.csv", b"condition,sigma\n0,0.1\n1,0.2\n")
    request = page.choice.to_request()
    assert (request.fixed["sigma_r"], request.fixed["beta"]) == (0.1, 0.9)
    assert request.fixed["sigma"].sel(condition="1").item() == 0.2
    # What is known is not estimated for each condition.
    assert request.per_condition == ()
    job = store.prepare(FIT, "people", page.choice.to_settings(), files=page.choice.list_files())
    assert (job.folder / "known_noise.csv").is_file()
    for text, words in (("sigma: 2", "written like sigma=0.2"), ("speed=3", "Unknown parameter &#x27;speed")):
        page.plan.numbers.value = text
        assert words in page._message.object
    with pytest.raises(StudioError, match="has no column of a parameter"):
        page.choice.plan.take_known_table("other.csv", b"condition,noise\n0,0.1\n")
    click(page.plan.forget)
    assert page.choice.to_request().fixed == {}
    assert page.plan.numbers.value == ""


def test_a_record_decides_what_is_fitted(page, store):
    study = make_study(designs=(TWO_LEVELS,), goals=(Goal("excludes", "beta"),), seed=3)
    record = format_record(make_record(study, TWO_LEVELS)).encode()
    page.choice.take_table("people.csv", make_table().replace(b",0,", b",low,").replace(b",1,", b",high,"))
    page.choice.plan.take_record(record)
    assert "Fitted as the record" in page.plan._said.object
    assert "stays away from 1.0" in page.plan._said.object
    assert page.settings.costs.disabled
    click(page.begin)
    assert "takes sigma as measured beforehand" in page._message.object
    page.plan.numbers.value = "sigma=0.15"
    click(page.begin)
    (job,) = store.list()
    assert job.title == "people.csv: as planned"
    assert job.settings["record"] == "record.json"
    assert job.settings["fixed"] == {"sigma": "0.15"}
    assert (job.folder / "record.json").read_bytes() == record
    again = FitChoice()
    again.take_job(job)
    assert again.to_settings() == job.settings
    with pytest.raises(StudioError, match="was changed after it was made"):
        page.choice.plan.take_record(record.replace(b'"seed": 3', b'"seed": 4'))


def test_the_command_line_itself_says_the_same(page, tmp_path, monkeypatch, capsys):
    (tmp_path / "text.csv").write_bytes(BROKEN["text.csv"])
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["designstudio", "fit", "text.csv"])
    with pytest.raises(SystemExit):
        main()
    page.choice.take_table("text.csv", BROKEN["text.csv"])
    assert capsys.readouterr().err.strip() == f"Error: {page.choice.problem}"


def test_columns_that_are_not_recognised_can_be_chosen(page):
    page.choice.take_table("odd.csv", make_table(names="who,block,shown,given"))
    assert page.choice.loaded is None
    assert page.columns.roles["subject"].value == ""
    for role, name in (("subject", "who"), ("stimulus", "shown"), ("response", "given"), ("condition", "block")):
        page.columns.roles[role].value = name
    assert page.choice.loaded.report.renamed == {
        "who": "subject",
        "block": "condition",
        "shown": "stimulus",
        "given": "response",
    }
    assert "Took the column &#x27;given&#x27; as the response." in page.reading.object
    assert page.choice.per_condition == ["sigma"]
    page.columns.roles["condition"].value = ""
    assert page.choice.loaded.report.num_conditions == 1
    assert page.choice.per_condition == []


def test_rows_are_filtered_and_subjects_left_out_with_reasons(page):
    page.choice.take_table("data.csv", make_table(("Ann", "Bob")))
    page.columns.where.value = "subject == Ann"
    assert "removed 12 rows" in page.reading.object
    page.columns.min_trials.value = 13
    assert "Nobody is left" in page.choice.problem
    assert "'data.csv'" in page.choice.problem
    page.columns.where.value = "subject ="
    assert page.choice.loaded is None
    # Another table starts anew.
    page.choice.take_table("other.csv", make_table())
    assert (page.columns.where.value, page.columns.min_trials.value) == ("", 10)


def test_names_of_users_are_escaped_wherever_they_are_shown(page):
    page.choice.take_table(f"{HOSTILE}.csv", make_table((HOSTILE, "Bob")))
    page.choice.change_reading(where=f"subject != '{HOSTILE}'", unit=HOSTILE)
    for text in (page.reading.object,):
        assert HOSTILE not in text
        assert ESCAPED in text
    page.choice.take_table(f"{HOSTILE}.csv", f"subject,stimulus,response\nA,1,{HOSTILE}\n".encode())
    assert HOSTILE not in page.reading.object
    assert ESCAPED in page.reading.object


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("../../etc/passwd.csv", "passwd.csv"),
        ("C:\\data\\pilot.tsv", "pilot.tsv"),
        ("log.txt", "table_log.txt"),
        (".hidden.csv", "hidden.csv"),
        ("a\x00b\n.csv", "ab.csv"),
        ("..", "table.csv"),
        ("x" * 300 + ".csv", "x" * 60 + ".csv"),
    ],
)
def test_file_names_are_tidied(given, kept):
    assert tidy_name(given) == kept


def test_large_files_are_refused_with_a_sentence(page):
    page.table.dropper.value = {"large.csv": b" " * (MOST_MEGABYTES * 10**6 + 1)}
    assert "A table may have 20 MB, but this one has 20.0 MB" in page._message.object
    assert page._message.visible
    assert page.choice.file == ""


def test_a_dropped_table_is_taken_as_text_or_bytes(page):
    page.table.dropper.value = {"one.csv": make_table().decode()}
    assert page.choice.loaded.report.num_subjects == 2
    page.table.dropper.value = {"two.csv": make_table(("A", "B", "C"))}
    assert (page.choice.file, page.choice.loaded.report.num_subjects) == ("two.csv", 3)


def test_the_request_is_what_was_chosen(page, store):
    click(page.table.example)
    assert page.settings.costs.value == ["quadratic", "quadratic_effort"]
    page.settings.costs.value = list(reversed(PAPER_COST_NAMES))
    page.settings.per_condition.value = ["sigma", "mu_0"]
    page.settings.pools.value = True
    page.columns.unit.value = "kN"
    click(page.begin)
    (job,) = store.list()
    request = request_from_dict(job.settings["request"])
    assert request.costs == PAPER_COST_NAMES
    assert (request.per_condition, request.pools) == (("sigma", "mu_0"), True)
    reading = {"file": "force_reproduction.csv", "columns": {}, "where": [], "unit": "kN", "min_trials": 10}
    assert job.settings["reading"] == reading
    assert job.settings["name"] == "force_reproduction"
    assert (job.folder / "force_reproduction.csv").read_bytes() == example_path().read_bytes()
    assert (job.folder / "force_reproduction.json").exists()


def test_what_cannot_be_fitted_is_said_before_a_job_begins(page, store):
    page.choice.take_table("one.csv", make_table(("Ann",)))
    page.settings.pools.value = True
    click(page.begin)
    assert "pooling needs at least two" in page._message.object
    page.settings.pools.value = False
    page.settings.costs.value = []
    click(page.begin)
    assert "choose at least one" in page._message.object
    assert store.list() == []


def test_a_finished_fit_is_shown(page, finished, fit):
    page.open(finished)
    results = page.results
    assert results.tabs.visible
    assert page.choice.file == "force_reproduction.csv"
    assert HOSTILE not in page.job_card._text.object
    assert "quadratic effort</td>" in results._comparison.object
    assert results.cost.value == "quadratic_effort"
    assert results.compared.figure is not None
    assert results.posterior.figure is None
    results.tabs.active = 1
    assert all(part.figure is not None for part in (results.posterior, results.pair, results.predictive, results.functions))
    mean = float(fit.summarize()["mean"].sel(subject="S01", cost="quadratic_effort", parameter="mu_0"))
    assert f"<td>{mean:.3g}</td>" in results._estimates.object
    before = results.posterior.figure
    results.subject.value = "S03"
    assert results.posterior.figure is not before
    assert (results.across.value, results.up.value) == ("mu_0", "beta")
    results.cost.value = "quadratic"
    assert "beta" not in results.up.options
    results.tabs.active = 2
    assert results.subjects.figure is not None
    assert all(condition in results._looks.object for condition in fit.conditions)
    assert results.shrinkage.figure is None


def test_a_page_finds_the_fit_that_runs(store, finished, monkeypatch):
    assert FitPage(DesignChoice(), store, on_plan=print).job_card.job is None
    monkeypatch.setattr("designstudio.runs.jobs.job.Job.is_active", property(lambda job: job.name == finished.name))
    assert FitPage(DesignChoice(), store, on_plan=print).job_card.job.name == finished.name


def test_a_run_whose_files_are_gone_is_reported(page, finished):
    (finished.folder / "request.json").unlink()
    page.open(finished)
    assert "There is no fit in" in page._message.object
    assert not page.results.tabs.visible


def test_failures_are_listed_by_name_and_escaped(fit):
    posterior = fit.posteriors["quadratic"].copy(deep=True)
    diagnostics, loo = posterior["diagnostics"].to_dataset(), posterior["loo"].to_dataset()
    diagnostics["reason"] = diagnostics["reason"].astype(object)
    diagnostics["is_good"][1], diagnostics["reason"][1] = False, f"R-hat 1.3 {HOSTILE}"
    loo["khat"] = loo["khat"].clip(max=0.5)
    loo["khat"][2, :3] = 0.9
    posterior["diagnostics"], posterior["loo"] = xr.DataTree(diagnostics), xr.DataTree(loo)
    names = fit.trials["subject"].values.astype(object)
    names[1] = HOSTILE
    trials = fit.trials.assign_coords(subject=("dataset", names))
    own = dataclasses.replace(fit, posteriors={**fit.posteriors, "quadratic": posterior}, trials=trials)
    text = write_warnings(own)
    assert f"Failed: {ESCAPED} under quadratic: R-hat 1.3 {ESCAPED}" in text
    assert HOSTILE not in text
    assert "quadratic: 3 trials of 1 subject with Pareto k above 0.7" in text
    assert "23 of 24 fits converged" in text
    assert "<td>1</td>" in write_comparison(own)


def test_one_cost_alone_is_shown_without_a_comparison(page, finished, fit):
    cost = "quadratic"
    alone = dataclasses.replace(
        fit, models={cost: fit.models[cost]}, posteriors={cost: fit.posteriors[cost]}, comparison=None
    )
    page.results.show(alone)
    assert "choose several" in page.results._comparison.object
    assert len(tabulate_subjects(alone)) == len(fit.subjects)


def test_tables_to_download_have_every_subject(fit):
    table = tabulate_subjects(fit)
    assert len(table) == 2 * len(fit.subjects)
    assert {"subject", "cost", "failed", "elpd", "num_bad_k"} <= set(table)
    assert not tabulate_estimates(fit.summarize())["mean"].isna().any()


def test_densities_of_marginals_are_densities(fit):
    for marginal in compute_marginals(fit, "quadratic_effort", "S02").values():
        assert np.trapezoid(marginal.density, marginal.place) == pytest.approx(1, abs=0.03)
        assert np.trapezoid(marginal.prior_density, marginal.prior_place) == pytest.approx(1, abs=0.03)
        assert marginal.low < marginal.draws.mean() < marginal.high


def test_a_plan_is_begun_from_the_fit_and_its_end_is_told(page, store, finished, plans, monkeypatch):
    page.open(finished)
    page.planner.datasets.value = 50
    click(page.planner.begin)
    job = store.list()[0]
    assert job.kind == PLAN
    assert job.settings == {"fit": finished.name, "cost": "quadratic_effort", "datasets": 50}
    make_plan(job)
    page.planner._is_awaited = True
    page.planner._take(job)
    assert plans == [job]
    assert "planned" in page.planner._table.object
    assert f"note {ESCAPED}" in page.planner._notes.object
    assert page.planner.figure.figure is not None
    # Whoever opens the fit later sees the plan, and the design page stays as it is.
    page.open(finished)
    assert page.planner._results.visible
    assert plans == [job]


def make_plan(job):
    numbers = {key: [0.1, 0.2] for key in ("predicted_sd", "achieved_sd", "ratio")}
    errors = {key: [0.01, 0.02] for key in ("predicted_mcse", "achieved_se", "ratio_se")}
    names = ["mu_0", "beta"]
    coords = {"quantity": names, "symbol": ("quantity", ["μ₀", "β"]), "unit": ("quantity", ["N", "1"])}
    attrs = {"num_simulated": 50, "num_subjects": 12}
    precision = xr.Dataset({n: ("quantity", v) for n, v in (numbers | errors).items()}, coords=coords, attrs=attrs)
    precision.to_netcdf(job.folder / PRECISION, engine="h5netcdf")
    write_json(job.folder / STUDY, {})
    write_json(job.folder / "result.json", {"notes": [f"note {HOSTILE}"]})
    end(job)
