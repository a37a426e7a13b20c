"""A study with groups in the laboratory: lists for everybody of every group, a record that knows them, and their goals."""

import csv
import dataclasses
import io
import json

import numpy as np
import pytest

from designstudio.core.cache import BlockCache
from designstudio.errors import StudioError
from designstudio.evaluate.evaluate_design import evaluate_design
from designstudio.evaluate.group_decisions import decide
from designstudio.evaluate.group_goals import simulate_questions
from designstudio.evaluate.group_questions import list_questions, split_question
from designstudio.evaluate.group_studies import find_everybody, prepare_group, stay_in
from designstudio.fitting.fit_subjects import fit_subjects
from designstudio.fitting.goal_outcome import NOT_JUDGED
from designstudio.fitting.reading import read_data
from designstudio.lab.compare_data import compare_data
from designstudio.lab.formats.save_schedule import format_schedule, save_schedule
from designstudio.lab.planned_fit import plan_fit
from designstudio.lab.record import Record, RecordOptions, make_record
from designstudio.lab.record_text import write_text
from designstudio.lab.schedule import BLOCKED, ScheduleOptions, make_schedule
from designstudio.model.priors import Uniform
from designstudio.study import Analysis, Factor, Goal, Group, Known
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


GOALS = (
    Goal("groups-differ", "beta", decision="t-test", name="differ"),
    Goal("groups-differ", "beta", name="pooled"),
    Goal("group-mean", "beta", groups=("old patients",), name="effort"),
    Goal("groups-differ", "beta", decision="bayes-factor", least_factor=6.0, name="evidence"),
)
# Nobody drops out, so that everybody can be compared.
ASKED = STUDY.replace(
    goals=GOALS,
    groups=(GROUPS[0], dataclasses.replace(GROUPS[1], dropout=0.0)),
    analysis=Analysis(known={"sigma_r": Known(0.15)}),
)
OPTIONS = RecordOptions(unit="cm")
LARGE = dataclasses.replace(DESIGN, num_participants=8)


@pytest.fixture(scope="module")
def lists(tmp_path_factory):
    folder = tmp_path_factory.mktemp("groups") / "lists"
    save_schedule(make_schedule(ASKED, DESIGN, SIMULATED), folder, ["psychopy"])
    return folder


@pytest.fixture(scope="module")
def record():
    return make_record(ASKED, DESIGN, OPTIONS)


def test_a_record_holds_groups_and_goals_and_is_read_back_as_the_plan_of_the_data(record, lists):
    assert record.content["groups"]["old patients"] == {
        "participants": 4,
        "dropout": 0.0,
        "differs": {"beta": "{ uniform = [0.6, 0.7] }", "sigma": "times 1.5"},
    }
    text = write_text(record)
    assert "Design two-levels: 3 controls, 4 old patients, 90 trials each" in text
    assert "Old patients minus controls in beta stays away from 0: the 95% interval of a t test on posterior means." in text
    planned = plan_fit(record, lists).analysis
    assert planned.deviations == ()
    differ, pooled, effort, evidence = planned.goals
    assert (differ.decision, differ.groups, differ.nominal) == ("t-test", ("controls", "old patients"), 0.05)
    assert (pooled.decision, pooled.nominal) == ("hierarchical", pytest.approx(0.06))
    assert (evidence.least_factor, evidence.nominal) == (6.0, pytest.approx(1 / 6))
    assert "Old patients minus controls in beta is away from 0: a Bayes factor of 6 or more, of a t test" in text
    assert (effort.groups, effort.value, effort.margin) == (("old patients",), 1.0, pytest.approx(0.025))


def test_people_who_are_missing_from_a_group_are_told(record, lists, tmp_path):
    rows = read_data(lists).table
    content = json.loads(json.dumps(record.content))
    content["groups"]["controls"]["participants"] = 5
    content["groups"]["young"] = {"participants": 2, "dropout": 0.0, "differs": {}}
    said = [difference.sentence for difference in compare_data(content, read_data(lists))]
    assert "Not yet complete: 3 of 5 planned participants of controls are in the data." in said
    assert "Not yet complete: 0 of 2 planned participants of young are in the data." in said
    rows.drop(columns="group").to_csv(tmp_path / "nobody.csv", index=False)
    planned = plan_fit(record, tmp_path / "nobody.csv", unit="cm").analysis
    assert "No column of the data says who is in which of the planned groups." in planned.deviations


def test_data_of_the_laboratory_are_decided_as_the_simulated_study_of_the_same_people_is(tmp_path):
    study = ASKED.replace(groups=tuple(dataclasses.replace(group, num_participants=None) for group in ASKED.groups))
    save_schedule(make_schedule(study, LARGE, SIMULATED), tmp_path / "lists", ["psychopy"])
    planned = plan_fit(make_record(study, LARGE, OPTIONS), tmp_path / "lists")
    fit = fit_subjects(planned.loaded, planned.request, scale=planned.scale, plan=planned.analysis)
    questions = list_questions(study, LARGE, [8])
    found = simulate_questions(LARGE, questions, [8], num_studies=1, cache=BlockCache(None))
    for outcome, question in zip(fit.goals, questions, strict=True):
        assert outcome.status != NOT_JUDGED, outcome.sentence
        [part] = split_question(question, found, 8)
        goal, value = question.goal, 1.0 if question.goal.kind == "group-mean" else 0.0
        simulated = [float(array[0]) for array in decide(study, goal, part.present, value)[:3]]
        width = outcome.high - outcome.low
        # Other draws: chains here, weighted draws there, and some 300 effective ones of the group on both sides. The error
        # of the estimate is then 0.02 of the width, that of the ends (3 % quantiles) 0.055; four errors of each.
        np.testing.assert_allclose(outcome.estimate, simulated[0], atol=0.09 * width)
        np.testing.assert_allclose([outcome.low, outcome.high], simulated[1:], atol=0.22 * width)


def test_a_record_holds_the_power_of_goals_of_whole_studies():
    study = ASKED.replace(goals=GOALS[:1], num_studies=10, fidelity="information")
    evaluation = evaluate_design(study, DESIGN, num_datasets=10, cache=BlockCache(None))
    text = write_text(make_record(study, DESIGN, OPTIONS, evaluation=evaluation))
    assert "Goals about groups or changes: of 10 whole simulated studies, those that decide so are counted." in text
    assert isinstance(make_record(study, DESIGN, OPTIONS, evaluation=evaluation), Record)
