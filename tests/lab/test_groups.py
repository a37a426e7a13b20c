"""A study with groups in the laboratory: lists for everybody of every group, a record that knows them, and their goals."""

import csv
import dataclasses
import io
import json

import numpy as np
import pytest

from designstudio.errors import StudioError
from designstudio.evaluate.group_studies import find_everybody, prepare_group, stay_in
from designstudio.fitting.reading import read_data
from designstudio.lab.formats.save_schedule import format_schedule, save_schedule
from designstudio.lab.schedule import BLOCKED, ScheduleOptions, make_schedule
from designstudio.model.priors import Uniform
from designstudio.study import Analysis, Factor, Group, Known
from tests.evaluate.make_study import EVERYONE_THE_SAME, TWO_LEVELS, make_study

GROUPS = (
    Group("controls"),
    Group("old patients", num_participants=4, dropout=0.4, differs={"beta": Uniform(0.6, 0.7), "sigma": Factor(1.5)}),
)
DESIGN = dataclasses.replace(TWO_LEVELS, num_participants=3)
STUDY = make_study(designs=(DESIGN,), groups=GROUPS)
SIMULATED = ScheduleOptions(BLOCKED, unit="cm", simulates=True)


@pytest.fixture(scope="module")
def schedule():
    return make_schedule(STUDY, DESIGN, SIMULATED)


def read_table(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_everybody_of_every_group_has_a_list_and_every_file_names_the_group(schedule, tmp_path):
    assert schedule.groups == {
        "controls": ("controls01", "controls02", "controls03"),
        "old patients": ("oldpatients01", "oldpatients02", "oldpatients03", "oldpatients04"),
    }
    files = format_schedule(schedule)
    for group, subjects in schedule.groups.items():
        for subject in subjects:
            assert {row["group"] for row in read_table(files[f"psychopy/sub-{subject}.csv"])} == {group}
            assert {row["group"] for row in json.loads(files[f"jspsych/sub-{subject}.json"])} == {group}
    assert "7 participants (3 controls, 4 old patients)" in files["README.txt"]
    record = save_schedule(schedule, tmp_path / "lists")
    assert record["groups"]["controls"] == ["controls01", "controls02", "controls03"]
    loaded = read_data(tmp_path / "lists")
    told = dict(zip(loaded.table["subject"], loaded.table["group"], strict=True))
    assert all(subject in schedule.groups[group] for subject, group in told.items())


def test_people_of_the_laboratory_are_those_of_the_first_simulated_study(schedule):
    for members in find_everybody(STUDY):
        subjects = schedule.groups[members.group.name]
        experiment = prepare_group(members, DESIGN, np.array([0]), len(subjects))
        lists = [trials for trials in schedule.lists if trials.subject in subjects]
        for trials, shown in zip(lists, experiment.stimuli, strict=True):
            listed = [trial.stimulus for trial in trials.trials if trial.condition == "low"]
            np.testing.assert_array_equal(np.sort(listed), np.sort(shown[0]))


def test_other_groups_leave_the_lists_of_a_group_as_they_are(schedule):
    alone = make_schedule(STUDY.replace(groups=GROUPS[:1]), DESIGN, SIMULATED)
    assert schedule.lists[:3] == alone.lists
    nobody = make_schedule(STUDY.replace(groups=()), DESIGN, SIMULATED)
    assert [trials.trials for trials in nobody.lists] == [trials.trials for trials in alone.lists]
    assert [trials.subject for trials in nobody.lists] == ["01", "02", "03"]


def test_who_drops_out_in_the_simulation_has_no_responses(schedule):
    patients = find_everybody(STUDY)[1]
    stays = stay_in(patients, 0, 4)
    assert 0 < stays.sum() < 4
    for trials, stayed in zip(schedule.lists[3:], stays, strict=True):
        assert all((trial.response is not None) == stayed for trial in trials.trials)
    assert any(note.startswith("Who drops out in the simulation has no responses: oldpatients0") for note in schedule.notes)


def test_what_a_group_perceives_is_measured_in_each_of_its_people():
    study = STUDY.replace(analysis=Analysis(known={"sigma": Known()}))
    rows = read_table(format_schedule(make_schedule(study, DESIGN, SIMULATED))["known_sigma.csv"])
    found = {(row["subject"], row["condition"]): float(row["sigma"]) for row in rows}
    assert found["controls01", "low"] == pytest.approx(0.1)
    assert found["oldpatients01", "low"] == pytest.approx(0.15)
    empty = read_table(format_schedule(make_schedule(study, DESIGN, ScheduleOptions(BLOCKED)))["known_sigma.csv"])
    assert [(row["subject"], row["condition"]) for row in empty] == list(found)
    assert {row["sigma"] for row in empty} == {""}


def test_groups_whose_people_would_be_called_alike_are_refused():
    study = STUDY.replace(groups=(Group("group 1"), Group("Group_1")))
    with pytest.raises(StudioError, match=r"^Participants of the groups 'group 1' and 'Group_1' would both be called"):
        make_schedule(study, DESIGN, SIMULATED)


def test_a_group_takes_the_number_of_lists_that_is_asked_for_unless_it_has_its_own():
    schedule = make_schedule(STUDY.replace(population=EVERYONE_THE_SAME), DESIGN, num_participants=2)
    assert {group: len(subjects) for group, subjects in schedule.groups.items()} == {"controls": 2, "old patients": 4}
