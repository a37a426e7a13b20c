"""A record finds out about changed records, changed studies and data that are not those that were planned."""

import csv
import dataclasses
import json
import shutil

import pytest

from designstudio.errors import StudioError
from designstudio.lab.differences import compare_contents
from designstudio.lab.formats.save_schedule import save_schedule
from designstudio.lab.record import RecordOptions, make_record
from designstudio.lab.record_files import save_record
from designstudio.lab.schedule import ScheduleOptions, make_schedule
from designstudio.lab.verify import verify_record
from designstudio.model.priors import Uniform
from designstudio.study import Analysis, Known
from designstudio.study.design import Condition
from tests.evaluate.make_study import ONE_LEVEL, TWO_LEVELS, make_study

STUDY = make_study(designs=(TWO_LEVELS, ONE_LEVEL))
OPTIONS = RecordOptions(3, unit="m")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A record of three participants, and data of three simulated ones."""
    folder = tmp_path_factory.mktemp("lab")
    save_record(make_record(STUDY, TWO_LEVELS, OPTIONS), folder / "record")
    options = ScheduleOptions(unit="m", simulates=True)
    save_schedule(make_schedule(STUDY, TWO_LEVELS, options, num_participants=3), folder / "data")
    return folder


@pytest.fixture
def lab(folder, tmp_path):
    """A copy to be changed."""
    shutil.copytree(folder, tmp_path / "lab")
    return tmp_path / "lab"


def change_rows(lab, change, subjects=("01", "02", "03")):
    """Rewrite tables; `change` gives the rows that take the place of a row."""
    for subject in subjects:
        (path,) = lab.glob(f"data/data/sub-{subject}/*.csv")
        with path.open(newline="") as file:
            rows = [new for row in csv.DictReader(file) for new in change(row)]
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)


def find(result):
    return [(difference.where, difference.what, difference.recorded, difference.found) for difference in result.differences]


def test_what_was_planned_matches(lab):
    result = verify_record(lab / "record", study=STUDY, data=lab / "data")
    assert result.matches
    assert result.checked == ("record", "study", "data")
    assert result.notes == ("The responses are SIMULATED: they are no data of people.",)
    assert verify_record(lab / "record", deposited=f" {result.fingerprint.upper()}\n").matches


def test_a_tampered_record_is_found(lab):
    path = lab / "record/record.json"
    path.write_text(path.read_text().replace('"each_group": 3', '"each_group": 2'))
    result = verify_record(lab / "record", study=STUDY, data=lab / "data")
    assert [difference.what for difference in result.differences] == ["fingerprint"]
    assert result.differences[0].sentence.startswith("The content of the record was changed after it was made")
    assert result.checked == ("record",)


def test_every_single_entry_of_a_record_is_protected(lab):
    path = lab / "record/record.json"
    stored = json.loads(path.read_text())
    for key in stored["content"]:
        changed = {**stored, "content": {**stored["content"], key: None}}
        path.write_text(json.dumps(changed))
        assert not verify_record(path).matches, key


def test_a_record_that_was_changed_with_its_fingerprint_is_found_by_the_deposited_one(lab):
    deposited = verify_record(lab / "record").fingerprint
    shutil.rmtree(lab / "record")
    save_record(make_record(STUDY, TWO_LEVELS, RecordOptions(2, unit="m")), lab / "record")
    assert verify_record(lab / "record").matches
    result = verify_record(lab / "record", deposited=deposited)
    assert [difference.what for difference in result.differences] == ["deposited fingerprint"]


def test_a_changed_text_is_found(lab):
    path = lab / "record/record.md"
    path.write_text(path.read_text().replace("3 participants", "2 participants"))
    assert [difference.what for difference in verify_record(lab / "record").differences] == ["record.md"]
    path.unlink()
    assert verify_record(lab / "record").matches


def test_a_changed_prior_is_found(lab):
    study = STUDY.replace(analysis=Analysis(priors={"mu_0": Uniform(0.1, 4.0)}, known={"sigma": Known()}))
    result = verify_record(lab / "record", study=study)
    assert find(result) == [
        ("study", "prior of mu_0 in the analysis", "{ uniform = [0.1, 5.0] }", "{ uniform = [0.1, 4.0] }")
    ]
    assert result.differences[0].sentence == (
        "Prior of mu_0 in the analysis: recorded as { uniform = [0.1, 5.0] }, but the study now says "
        "{ uniform = [0.1, 4.0] }."
    )


def test_a_changed_number_of_trials_is_found(lab):
    low, high = TWO_LEVELS.conditions
    design = dataclasses.replace(TWO_LEVELS, conditions=(low, dataclasses.replace(high, num_trials=40)))
    result = verify_record(lab / "record", study=STUDY.replace(designs=(design,)))
    assert find(result) == [("study", "trials of condition 'high'", "45", "40")]


def test_a_further_condition_and_another_order_of_conditions_are_found(lab):
    low, high = TWO_LEVELS.conditions
    for conditions, whats in (
        ((low, high, Condition("third", 5, {"sigma": 0.3})), ["all of condition 'third'"]),
        ((high, low), ["order of conditions"]),
    ):
        design = dataclasses.replace(TWO_LEVELS, conditions=conditions)
        result = verify_record(lab / "record", study=STUDY.replace(designs=(design,)))
        assert [difference.what for difference in result.differences] == whats


def test_a_study_without_the_design_differs(lab):
    result = verify_record(lab / "record", study=STUDY.replace(designs=(ONE_LEVEL,)))
    assert [difference.sentence for difference in result.differences] == ["The study no longer has a design 'two-levels'."]


def test_participants_of_the_study_count_unless_the_record_named_its_own(tmp_path):
    ten, twelve = (dataclasses.replace(TWO_LEVELS, num_participants=num) for num in (10, 12))
    save_record(make_record(STUDY, ten), tmp_path)
    result = verify_record(tmp_path, study=STUDY.replace(designs=(twelve,)))
    assert find(result) == [("study", "participants", "10", "12")]


def test_newer_packages_are_noted_but_are_no_difference(lab):
    content = {**make_record(STUDY, TWO_LEVELS, OPTIONS).content}
    content["versions"] = {**content["versions"], "jax": "0.1.0"}
    shutil.rmtree(lab / "record")
    save_record(dataclasses.replace(make_record(STUDY, TWO_LEVELS, OPTIONS), content=content), lab / "record")
    result = verify_record(lab / "record", study=STUDY)
    assert result.matches
    assert len(result.notes) == 1
    assert result.notes[0].startswith("jax was 0.1.0 and is now ")


def test_data_with_an_extra_condition_are_found(lab):
    change_rows(lab, lambda row: [row, {**row, "condition": "middle"}], ["02"])
    result = verify_record(lab / "record", data=lab / "data")
    assert find(result) == [("data", "conditions", "low, high", "middle")]
    assert result.differences[0].sentence == "The data have a condition 'middle', with 90 trials, that was not planned."


def test_data_without_a_planned_condition_are_found(lab):
    change_rows(lab, lambda row: [row] if row["condition"] == "low" else [])
    result = verify_record(lab / "record", data=lab / "data")
    assert [difference.sentence for difference in result.differences] == [
        "The data have no trials of the planned condition 'high'."
    ]


def test_fewer_participants_are_not_yet_complete(lab):
    shutil.rmtree(lab / "data/data/sub-03")
    result = verify_record(lab / "record", data=lab / "data")
    assert find(result) == [("data", "participants", "3", "2")]
    assert result.differences[0].sentence == "Not yet complete: 2 of 3 planned participants are in the data."


def test_participants_who_have_not_responded_are_not_yet_there(lab):
    change_rows(lab, lambda row: [{**row, "response": ""}], ["03"])
    result = verify_record(lab / "record", data=lab / "data")
    assert find(result) == [("data", "participants", "3", "2")]
    assert "90 rows left out because the response is missing." in result.notes


def test_more_participants_than_planned_are_found(lab):
    change_rows(lab, lambda row: [row, {**row, "subject": "04"}], ["01"])
    result = verify_record(lab / "record", data=lab / "data")
    assert [difference.sentence for difference in result.differences] == ["There is 1 participant more than planned."]


def test_missing_and_additional_trials_are_found_for_each_condition(lab):
    change_rows(lab, lambda row: [] if int(row["trial"]) <= 20 and row["condition"] == "low" else [row], ["01"])

    def repeat(row):
        return [row, {**row, "trial": str(1000 + int(row["trial"]))}] if row["condition"] == "high" else [row]

    change_rows(lab, repeat, ["02"])
    result = verify_record(lab / "record", data=lab / "data")
    assert [difference.what for difference in result.differences] == ["trials of 'low'", "trials of 'high'"]
    assert "1 of 3 participants have another number of trials of 'high' than the planned 45: 02 has 90" in (
        result.differences[1].sentence
    )


def test_stimuli_outside_the_range_are_found(lab):
    change_rows(lab, lambda row: [{**row, "stimulus": "5.5" if row["trial"] == "1" else row["stimulus"]}], ["01"])
    (difference,) = verify_record(lab / "record", data=lab / "data").differences
    assert difference.recorded == "uniform, 0.25 to 5"
    assert difference.found == "5.5"
    assert "1 of 135 stimuli" in difference.sentence


def test_rounded_stimuli_are_no_difference(lab):
    change_rows(lab, lambda row: [{**row, "stimulus": f"{float(row['stimulus']):.3g}"}])
    assert verify_record(lab / "record", data=lab / "data").matches


def test_other_levels_are_found_where_the_data_name_them(lab):
    change_rows(lab, lambda row: [{**row, "sigma": "0.3" if row["condition"] == "high" else row["sigma"]}])
    (difference,) = verify_record(lab / "record", data=lab / "data").differences
    assert (difference.what, difference.recorded, difference.found) == ("sigma of 'high'", "0.2", "0.3")
    change_rows(lab, lambda row: [{name: value for name, value in row.items() if name != "sigma"}])
    assert verify_record(lab / "record", data=lab / "data").matches


def test_another_unit_is_found(lab):
    for path in lab.rglob("*.json"):
        path.write_text(path.read_text().replace('"unitText": "m"', '"unitText": "cm"'))
    assert find(verify_record(lab / "record", data=lab / "data")) == [("data", "unit", "m", "cm")]


def test_another_unit_of_the_study_is_one_sentence(lab):
    for study, unit in ((STUDY.replace(unit="cm", scale=1.0), "m"), (STUDY, "ms")):
        shutil.rmtree(lab / "record")
        own = STUDY.replace(unit="ms", scale=1.0) if unit == "ms" else STUDY
        save_record(make_record(own, TWO_LEVELS, RecordOptions(3, unit=unit)), lab / "record")
        assert verify_record(lab / "record", study=own).matches
        (difference,) = verify_record(lab / "record", study=study).differences
        found = study.unit or "stimulus unit"
        assert (difference.what, difference.recorded, difference.found) == ("unit", unit, found)
        assert f"The record is in '{unit}', but the study is now in '{found}'" in difference.sentence


def test_trials_that_were_scheduled_for_another_design_are_found(lab):
    design = dataclasses.replace(TWO_LEVELS, seconds_per_trial=9.0)
    shutil.rmtree(lab / "data")
    options = ScheduleOptions(unit="m", simulates=True)
    save_schedule(make_schedule(STUDY, design, options, num_participants=3), lab / "data")
    (difference,) = verify_record(lab / "record", data=lab / "data").differences
    assert difference.what == "design of the schedule"


def test_the_recorded_filters_are_applied(lab):
    shutil.rmtree(lab / "record")
    save_record(make_record(STUDY, TWO_LEVELS, RecordOptions(3, where=("keep == 1",))), lab / "record")
    change_rows(lab, lambda row: [{**row, "keep": 1}, {**row, "keep": 0}])
    result = verify_record(lab / "record", data=lab / "data")
    assert result.matches
    assert "The filter 'keep == 1' removed 270 rows." in result.notes


def test_the_only_condition_needs_no_name(lab):
    shutil.rmtree(lab / "record")
    save_record(make_record(STUDY, ONE_LEVEL, RecordOptions(3)), lab / "record")
    (lab / "data/schedule.json").unlink()
    change_rows(lab, lambda row: [{name: row[name] for name in ("subject", "stimulus", "response")}])
    assert verify_record(lab / "record", data=lab / "data").matches


@pytest.mark.parametrize("text", ["{", "[]", '{"format": "designstudio record 1"}', '{"format": "another"}'])
def test_what_is_no_record_is_refused(tmp_path, text):
    (tmp_path / "record.json").write_text(text)
    with pytest.raises(StudioError, match=r"record\.json"):
        verify_record(tmp_path)
    with pytest.raises(StudioError, match="There is no record"):
        verify_record(tmp_path / "nothing.json")


def test_contents_are_compared_by_names_where_they_have_some():
    recorded = {"goals": [{"name": "a", "width": 1.0}, {"name": "a", "width": 2.0}], "list": [1, 2], "gone": ""}
    found = {"goals": [{"name": "a", "width": 1.0}, {"name": "a", "width": 3.0}], "list": [1, 3], "new": {"x": 1}}
    assert [(d.what, d.recorded, d.found) for d in compare_contents(recorded, found)] == [
        ("goals", "name a; width 1.0, name a; width 2.0", "name a; width 1.0, name a; width 3.0"),
        ("list", "1, 2", "1, 3"),
        ("gone", "''", "-"),
        ("new", "-", "x 1"),
    ]
