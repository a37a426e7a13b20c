"""A schedule as files: for PsychoPy, for jsPsych, and as Psych-DS that comes back as it went."""

import csv
import io
import json
import re

import numpy as np
import pytest

from designstudio.core.fingerprint import hash_text
from designstudio.errors import DataError, StudioError
from designstudio.fitting.reading import read_data
from designstudio.lab.formats.save_schedule import format_schedule, save_schedule
from designstudio.lab.schedule import BLOCKED, ScheduleOptions, make_schedule
from designstudio.study.design import Condition, Design
from tests.evaluate.make_study import STIMULI, TWO_LEVELS
from tests.lab.make_lists import make_question

PSYCH_DS = re.compile(r"data/sub-\d+/([a-z]+-[a-zA-Z0-9]+)(_[a-z]+-[a-zA-Z0-9]+)*_data\.(csv|json)")


def make(num_participants=3, design=TWO_LEVELS, **options):
    return make_schedule(
        make_question(design, title="A title"), design, ScheduleOptions(**options), num_participants=num_participants
    )


@pytest.fixture(scope="module")
def simulated(tmp_path_factory):
    """A schedule with simulated responses, and its folder."""
    schedule = make(order=BLOCKED, unit="m", simulates=True)
    folder = tmp_path_factory.mktemp("lists") / "lists"
    save_schedule(schedule, folder)
    return schedule, folder


def test_psychopy_gets_a_row_for_each_trial_in_names_that_python_knows():
    schedule = make()
    files = format_schedule(schedule)
    for trials in schedule.lists:
        rows = list(csv.DictReader(io.StringIO(files[f"psychopy/sub-{trials.subject}.csv"])))
        assert all(name.isidentifier() for name in rows[0])
        # A routine of this name is in every new experiment of the Builder.
        assert not {"trial", "level"} & set(rows[0])
        for row, trial in zip(rows, trials.trials, strict=True):
            assert int(row["trial_number"]) == trial.number
            assert (row["condition"], float(row["sigma"])) == (trial.condition, trial.levels["sigma"])
            assert float(row["stimulus"]) == trial.stimulus
            assert float(row["seconds"]) == 5.0


def test_jspsych_gets_an_object_for_each_trial():
    schedule = make()
    files = format_schedule(schedule)
    for trials in schedule.lists:
        timeline = json.loads(files[f"jspsych/sub-{trials.subject}.json"])
        assert [entry["stimulus"] for entry in timeline] == [trial.stimulus for trial in trials.trials]
        assert timeline[0] == {
            "trial": 1,
            "block": 1,
            "condition": trials.trials[0].condition,
            "sigma": trials.trials[0].levels["sigma"],
            "stimulus": trials.trials[0].stimulus,
            "seconds": 5.0,
        }


@pytest.mark.parametrize("simulates", [False, True])
def test_psych_ds_names_every_column_and_every_file_as_the_standard_wants(simulates):
    files = format_schedule(make(simulates=simulates, unit="cm"))
    description = json.loads(files["dataset_description.json"])
    assert description["@type"] == "Dataset"
    assert description["@context"] == "https://schema.org/"
    assert description["name"]
    assert description["description"]
    tables = [name for name in files if name.startswith("data/")]
    assert len(tables) == 6
    for name in tables:
        assert PSYCH_DS.fullmatch(name)
        if name.endswith(".csv"):
            columns = files[name].splitlines()[0].split(",")
            sidecar = json.loads(files[name.replace(".csv", ".json")])
            for variables in (description["variableMeasured"], sidecar["variableMeasured"]):
                assert [variable["name"] for variable in variables] == columns
                units = {variable["name"]: variable.get("unitText") for variable in variables}
                assert units["stimulus"] == units["response"] == "cm"
                assert (units["sigma"], units["seconds"]) == ("log units", "s")


def test_a_schedule_with_simulated_responses_is_read_as_it_was_made(simulated):
    schedule, folder = simulated
    loaded = read_data(folder)
    assert loaded.report.num_subjects == 3
    assert loaded.report.num_trials == 3 * 90
    assert loaded.report.unit == "m"
    assert set(loaded.trials["condition"].values.tolist()) == {"low", "high"}
    assert loaded.trials["subject"].values.tolist() == ["01", "02", "03"]
    assert not loaded.report.excluded_rows
    assert not loaded.report.renamed
    labels = loaded.trials["condition"].values[loaded.trials["condition_index"].values]
    for i, trials in enumerate(schedule.lists):
        assert labels[i].tolist() == [trial.condition for trial in trials.trials]
        for name in ("stimulus", "response"):
            np.testing.assert_array_equal(loaded.trials[name].values[i], [getattr(trial, name) for trial in trials.trials])


def test_simulated_responses_are_called_so_everywhere(simulated):
    _, folder = simulated
    description = json.loads((folder / "dataset_description.json").read_text())
    assert description["name"].startswith("SIMULATED")
    assert description["description"].startswith("SIMULATED")
    tables = list(folder.glob("data/**/*.csv"))
    assert all("simulated" in table.name for table in tables)
    assert all(line.endswith(",simulated") for table in tables for line in table.read_text().splitlines()[1:])
    assert "SIMULATED" in (folder / "README.txt").read_text()
    assert json.loads((folder / "schedule.json").read_text())["is_simulated"] is True
    assert any("SIMULATED" in note for note in read_data(folder).report.notes)


def test_a_schedule_that_nobody_has_filled_is_not_taken_for_data(tmp_path):
    save_schedule(make(), tmp_path / "lists")
    with pytest.raises(DataError, match="in 270 rows the response is missing"):
        read_data(tmp_path / "lists")


def test_names_with_commas_quotes_and_accents_come_back(tmp_path):
    names = ('near, "slow"', "für später; 日本")
    design = Design("ä ö", tuple(Condition(name, 15) for name in names), STIMULI)
    save_schedule(make(2, design, simulates=True), tmp_path)
    loaded = read_data(tmp_path)
    assert set(loaded.trials["condition"].values.tolist()) == set(names)
    assert loaded.report.num_trials == 60


def test_the_same_seed_gives_the_same_bytes_and_more_participants_the_same_lists():
    few, again, many = (format_schedule(make(num, max_repeats=4)) for num in (3, 3, 5))
    assert few == again
    lists = [name for name in few if "sub-" in name]
    assert len(lists) == 12
    assert {name: many[name] for name in lists} == {name: few[name] for name in lists}


def test_schedule_json_holds_the_hash_of_every_file(simulated):
    _, folder = simulated
    record = json.loads((folder / "schedule.json").read_text())
    written = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert set(record["files"]) == written - {"schedule.json"}
    for name, hashed in record["files"].items():
        assert hash_text((folder / name).read_text(encoding="utf-8")) == hashed
    assert record["block_orders"] == {"01": ["low", "high"], "02": ["high", "low"], "03": ["low", "high"]}
    assert (record["seed"], record["order"], record["unit"]) == (1, "blocked", "m")


def test_nothing_is_overwritten(tmp_path):
    schedule = make(2)
    save_schedule(schedule, tmp_path / "lists")
    before = {path: path.read_bytes() for path in (tmp_path / "lists").rglob("*") if path.is_file()}
    # The same once more changes nothing, and completes what is missing.
    (tmp_path / "lists/schedule.json").unlink()
    save_schedule(schedule, tmp_path / "lists")
    with pytest.raises(StudioError, match=r"has something else in it \('README\.txt'\), and nothing is overwritten"):
        save_schedule(make(3), tmp_path / "lists")
    (tmp_path / "lists/notes.txt").write_text("mine")
    with pytest.raises(StudioError, match=r"has something else in it \('notes\.txt'\)"):
        save_schedule(schedule, tmp_path / "lists")
    (tmp_path / "lists/notes.txt").unlink()
    assert {path: path.read_bytes() for path in (tmp_path / "lists").rglob("*") if path.is_file()} == before
    with pytest.raises(StudioError, match="--out takes a folder"):
        save_schedule(schedule, tmp_path / "lists/README.txt")
