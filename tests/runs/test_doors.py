"""Each command leaves the same folder through every door, and the folder gives its result back."""

import json
import shutil

import pytest
from typer.testing import CliRunner

import designstudio as ds
from designstudio.cli import app
from designstudio.core.files import write_json
from designstudio.core.run_record import read_record
from designstudio.errors import StudioError
from designstudio.fitting.reading import example_path, read_data
from designstudio.fitting.request import FitRequest, request_as_dict
from designstudio.inference.settings import FitSettings
from designstudio.lab.formats.save_schedule import save_schedule
from designstudio.lab.record import Record, RecordOptions, make_record
from designstudio.lab.record_files import format_record
from designstudio.lab.schedule import ScheduleOptions, make_schedule
from designstudio.runs.jobs import JobStore
from designstudio.runs.jobs.job import EVALUATE, FINISHED, FIT, OUTCOME, PLAN, POWER, SEARCH, STUDY, Job
from designstudio.runs.jobs.run_job import run_job
from designstudio.runs.jobs.work import Reporter
from designstudio.runs.load import load_run
from designstudio.runs.planned_fit import PlannedFitRequest, run_planned_fit
from designstudio.runs.report import ReportRequest, run_report
from designstudio.study import Analysis, Goal, Known, format_study
from tests.evaluate.make_study import TWO_LEVELS, make_study
from tests.search.make_search import TEXT

# What a job says about itself.
OF_JOBS = {"job.json", "progress.json", OUTCOME}
# What differs between two runs of the same command.
OF_TIME = {"seconds", "finished", "is_cached", "compilations", "worker", "run"}


class Doors:
    """The same command through the command line and as a job, side by side in one folder."""

    def __init__(self, folder):
        self.store, self.cli = JobStore(folder), folder / "cli"

    def type(self, *arguments):
        """The command as a user types it."""
        result = CliRunner().invoke(app, [*map(str, arguments), "--out", str(self.cli)], catch_exceptions=False)
        assert result.exit_code == 0, result.output

    def click(self, kind, settings, files=None) -> Job:
        """The command as the dashboard begins it, in this process."""
        job = self.store.prepare(kind, kind, settings, files=files)
        assert run_job(job, Reporter(job.folder))
        write_json(job.folder / OUTCOME, {"state": FINISHED})
        return job

    def compare(self, job):
        """Both folders hold the same files, and their JSON says the same."""
        names = {name for name in list_files(job.folder) if name not in OF_JOBS}
        given = {STUDY} & names if job.kind != PLAN else set()
        assert names - given == set(list_files(self.cli)) - given
        for name in names:
            if name.endswith(".json"):
                assert read(job.folder / name) == read(self.cli / name), name
        assert set(read_record(job.folder).files) <= names


def list_files(folder):
    return [path.name for path in folder.iterdir() if not path.name.startswith(".")]


def read(path):
    return forget(json.loads(path.read_text()))


def forget(value):
    """Plain data without what depends on time."""
    if isinstance(value, dict):
        return {key: forget(entry) for key, entry in value.items() if key not in OF_TIME}
    return [forget(entry) for entry in value] if isinstance(value, list) else value


@pytest.fixture
def doors(tmp_path, quick_pictures):
    return Doors(tmp_path)


@pytest.fixture
def study(tmp_path):
    goal = Goal("excludes", "beta", value=0.0)
    text = format_study(make_study(designs=(TWO_LEVELS,), fidelity="information", num_datasets=20, goals=(goal,)))
    (tmp_path / "asked.toml").write_text(text)
    return tmp_path / "asked.toml"


def test_an_evaluation_leaves_the_same_folder_and_is_read_back(doors, study):
    doors.type("evaluate", study)
    job = doors.click(EVALUATE, {}, {STUDY: study.read_text()})
    doors.compare(job)
    assert forget(load_run(job.folder).as_dict()) == read(job.folder / "result.json")


def test_a_search_leaves_the_same_folder_and_is_read_back(doors, tmp_path):
    (tmp_path / "search.toml").write_text(TEXT)
    doors.type("search", tmp_path / "search.toml", "--candidates", "4")
    job = doors.click(SEARCH, {"candidates": 4, "workers": 1}, {STUDY: TEXT})
    doors.compare(job)
    assert read_record(job.folder).sentences[0].startswith("4 designs were tried")
    expected = read(job.folder / "result.json")
    assert expected.pop("verdict")
    again = load_run(job.folder)
    assert forget(json.loads(json.dumps(again.as_dict()))) == expected
    assert "The winner, finalist-1" in repr(again)


def test_a_power_curve_leaves_the_same_folder_and_is_read_back(doors, study):
    doors.type("power", study, "--values", "30,60")
    job = doors.click(POWER, {"design": TWO_LEVELS.name, "along": "trials", "values": [30, 60]}, {STUDY: study.read_text()})
    doors.compare(job)
    again = load_run(job.folder)
    assert again.points["trials"].values.tolist() == [30, 60]
    assert again.design == TWO_LEVELS


def test_a_fit_and_its_plan_leave_the_same_folders_and_the_fit_is_read_back(doors, tmp_path):
    source, costs = example_path(), ("quadratic", "quadratic_effort")
    files = {path.name: path.read_bytes() for path in (source, source.with_suffix(".json"))}
    doors.cli.mkdir()
    for name, content in files.items():
        (doors.cli / name).write_bytes(content)
    where = "subject in S01, S02, S03"
    # As in the shared fit of the example: nothing new to compile.
    options = ("--costs", ",".join(costs), "--where", where, "--draws", "500", "--draw", "1")
    doors.type("fit", doors.cli / source.name, *options)
    request = FitRequest(costs=costs, per_condition=("sigma",), settings=FitSettings(num_draws=500))
    reading = {"file": source.name, "columns": {}, "where": [where], "unit": None, "min_trials": 10, "num_drawn": 1}
    job = doors.click(FIT, {"reading": reading, "request": request_as_dict(request), "name": source.stem}, files)
    doors.compare(job)
    assert forget(load_run(job.folder).as_dict()) == read(job.folder / "result.json")

    shutil.rmtree(doors.cli)
    doors.type("plan", "--from", job.folder, "--cost", "quadratic_effort", "--datasets", "20")
    plan = doors.click(PLAN, {"fit": job.name, "cost": "quadratic_effort", "datasets": 20})
    doors.compare(plan)


@pytest.fixture
def planned(tmp_path):
    """A record, and simulated data of its two participants in one table, with what was measured of them."""
    analysis = Analysis(known={"sigma": Known()}, lapses="free")
    goals = (Goal("excludes", "beta"), Goal("narrower", "sigma_0", width=0.5, name="precise"))
    study = make_study(designs=(TWO_LEVELS,), analysis=analysis, goals=goals)
    content = make_record(study, TWO_LEVELS, RecordOptions(2, unit="m", rules=("No one under 18.",))).content
    # As quick as the fit of a rehearsal in the tests of the laboratory.
    fits = {**content["fits"], "method": "importance"}
    options = ScheduleOptions(unit="m", simulates=True)
    save_schedule(make_schedule(study, TWO_LEVELS, options, num_participants=2), tmp_path / "lists")
    tables = [path.read_text().splitlines() for path in sorted(tmp_path.glob("lists/data/*/*.csv"))]
    return {
        "data.csv": "\n".join([tables[0][0], *(line for table in tables for line in table[1:])]).encode(),
        "known_sigma.csv": (tmp_path / "lists/known_sigma.csv").read_bytes(),
        "record.json": format_record(Record({**content, "fits": fits})).encode(),
    }


def test_a_planned_fit_leaves_the_same_folder_through_every_door(doors, planned, tmp_path):
    doors.cli.mkdir()
    for name, content in planned.items():
        (doors.cli / name).write_bytes(content)
        (tmp_path / name).write_bytes(content)
    fixed = f"sigma={doors.cli / 'known_sigma.csv'}"
    doors.type("fit", doors.cli / "data.csv", "--record", doors.cli, "--fixed", fixed, "--draw", "0")
    reading = {"file": "data.csv", "columns": {}, "unit": None, "num_drawn": 0}
    settings = {"reading": reading, "record": "record.json", "fixed": {"sigma": "known_sigma.csv"}, "name": "data"}
    job = doors.click(FIT, settings, planned)
    doors.compare(job)
    result = read(job.folder / "result.json")
    effort, precise = result["goals"]
    assert effort["num_judged"] == precise["num_reached"] == 2
    assert effort["status"] == "counted"
    assert result["plan"]["rules"] == ["No one under 18."]
    assert result["settings"]["lapses"] == "free"
    assert "--record record.json --fixed sigma=fixed_sigma.csv" in " ".join(read_record(job.folder).command)
    again = load_run(job.folder)
    assert forget(again.as_dict()) == result
    fit = ds.fit(tmp_path / "data.csv", record=tmp_path / "record.json", fixed={"sigma": tmp_path / "known_sigma.csv"})
    assert [forget(goal.as_dict()) for goal in fit.goals] == result["goals"]
    assert "Goal 'precise': in 2 of 2 participants" in repr(fit)
    page = run_report(ReportRequest(job.folder)).read_text()
    for words in (
        "As planned",
        "Deviations from the plan" if result["plan"]["deviations"] else "did not deviate",
        "precise",
    ):
        assert words in page


def test_a_study_plans_a_fit_as_its_record_would(study, planned, tmp_path, monkeypatch):
    for name, content in planned.items():
        (tmp_path / name).write_bytes(content)
    tasks = []
    monkeypatch.setattr("designstudio.runs.planned_fit.fit_and_write", lambda task, **_: tasks.append(task))
    fixed = {"sigma": tmp_path / "known_sigma.csv"}
    run_planned_fit(PlannedFitRequest(tmp_path / "data.csv", study=study, design=TWO_LEVELS.name, fixed=fixed))
    (task,) = tasks
    assert task.plan.source == "study"
    assert task.plan.power["datasets"] == 20
    assert task.fit.lapses == "off"
    assert task.plan.goals[0].value == 0.0


def test_a_record_that_was_changed_and_options_against_it_are_refused(call, planned, tmp_path):
    for name, content in planned.items():
        (tmp_path / name).write_bytes(content)
    changed = (tmp_path / "record.json").read_text().replace('"probability": 0.94', '"probability": 0.5')
    (tmp_path / "changed.json").write_text(changed)
    for arguments, words in (
        (("--record", "changed.json"), "was changed after it was made"),
        (("--record", "record.json"), "takes sigma as measured beforehand"),
        (("--record", "record.json", "--costs", "linex"), "--costs is not to be given with --record"),
        (("--record", "record.json", "--study", "asked.toml"), "give one of both"),
        (("--record", "record.json", "--design", "two-levels"), "give it with --study"),
        (("--record", "nowhere"), "There is no record"),
    ):
        code, _, errors = call("fit", "data.csv", *arguments)
        assert code == 2
        assert words in " ".join(errors.split())
    with pytest.raises(StudioError, match="costs is not to be given with record"):
        ds.fit("data.csv", record="record.json", costs="linex")
    with pytest.raises(StudioError, match="give their path"):
        ds.fit(read_data(tmp_path / "data.csv"), record="record.json")


def test_known_values_from_a_table_reach_a_job(doors, tmp_path, monkeypatch):
    seen = []
    monkeypatch.setattr("designstudio.runs.fit.run_fit", lambda request, **_: seen.append(request))
    files = {"noise.csv": b"condition,sigma\nclear,0.1\nblurred,0.2\n", "data.csv": b""}
    settings = {
        "reading": {"file": "data.csv"},
        "request": request_as_dict(FitRequest(fixed={"sigma_r": 0.1})),
        "fixed": {"sigma": "noise.csv"},
        "name": "data",
    }
    doors.click(FIT, settings, files)
    assert seen[0].fit.fixed["sigma"].sel(condition="blurred").item() == 0.2
    assert seen[0].fit.fixed["sigma_r"] == 0.1


def test_a_folder_without_a_run_is_one_sentence(tmp_path):
    with pytest.raises(StudioError, match=r"There is no result\.json"):
        load_run(tmp_path)
    (tmp_path / "result.json").write_text("{}")
    with pytest.raises(StudioError, match="holds no results of a run"):
        load_run(tmp_path)
    (tmp_path / "result.json").write_text('{"designs": [], "verdict": []}')
    with pytest.raises(StudioError, match=r"keeps no as-run\.toml"):
        load_run(tmp_path)
