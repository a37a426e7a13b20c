"""Psych-DS and BIDS folders are read as one data set, with what their sidecars say."""

import pytest

from designstudio.errors import DataError
from designstudio.fitting.reading import read_data
from tests.fitting.reading.make_files import as_text, make_rows, write, write_json, write_rows


def drop_subject(rows):
    return [{name: value for name, value in row.items() if name != "subject"} for row in rows]


@pytest.fixture
def bids(tmp_path):
    """Two subjects, one with sessions, without a column for the subject."""
    rows = drop_subject(make_rows(["x"]))
    for name in (
        "sub-01/beh/sub-01_task-force",
        "sub-02/ses-1/beh/sub-02_ses-1_task-force",
        "sub-02/ses-2/beh/sub-02_ses-2_task-force",
    ):
        write_rows(tmp_path / f"{name}_beh.tsv", rows, delimiter="\t")
    write_json(tmp_path / "dataset_description.json", {"Name": "forces", "BIDSVersion": "1.9.0"})
    return tmp_path


def test_a_bids_folder_has_its_subjects_in_the_names_of_its_files(bids):
    loaded = read_data(bids)
    assert loaded.trials["subject"].values.tolist() == ["01", "02"]
    assert loaded.trials["is_present"].sum("trial").values.tolist() == [12, 24]
    assert loaded.report.files[0] == "sub-01/beh/sub-01_task-force_beh.tsv"
    assert "The subject comes from the names of the files." in loaded.report.notes
    assert loaded.table["ses"].isna().sum() == 12
    assert set(loaded.table["task"]) == {"force"}


def test_filters_may_choose_by_the_names_of_files(bids):
    write(bids / "sub-01/beh/sub-01_task-questions_beh.tsv", "question\tanswer text\nhow?\twell\n")
    loaded = read_data(bids, where=["task == force"])
    assert loaded.report.filters[0].num_removed == 1
    assert loaded.report.num_trials == 36
    with pytest.raises(DataError, match=r"sub-01_task-questions_beh\.tsv has no column for the stimulus"):
        read_data(bids)


def test_tasks_that_are_put_together_are_noted(bids):
    write_rows(bids / "sub-01/beh/sub-01_task-length_beh.tsv", drop_subject(make_rows(["x"])), delimiter="\t")
    assert any(
        note.startswith("Trials of the tasks force, length are taken together") for note in read_data(bids).report.notes
    )


def test_a_column_for_the_subject_is_preferred_to_the_name_of_the_file(tmp_path):
    path = write_rows(tmp_path / "sub-07_beh.tsv", make_rows(), delimiter="\t")
    assert read_data(path).trials["subject"].values.tolist() == ["anna", "ben"]


def test_sidecars_give_units_descriptions_and_levels(bids):
    about = {"Units": "N", "Description": "what was shown"}
    write_json(bids / "task-force_beh.json", {"stimulus": about, "response": {"Units": "kN"}})
    for subject in ("01", "02"):
        # Nearer to the table, so that it wins.
        write_json(bids / f"sub-{subject}/sub-{subject}_beh.json", {"response": {"Units": "N"}})
    report = read_data(bids).report
    assert report.unit == "N"
    assert report.notes[:2] == ("The unit 'N' comes from the sidecar.", "The stimulus is described as 'what was shown'.")


def test_sidecars_of_other_tables_do_not_count(bids):
    write_json(bids / "task-length_beh.json", {"stimulus": {"Units": "cm"}})
    write_json(bids / "task-force_events.json", {"stimulus": {"Units": "cm"}})
    assert read_data(bids).report.unit == "stimulus unit"


def test_missing_values_of_bids_are_missing(tmp_path):
    rows = make_rows()
    rows[3]["response"] = "n/a"
    path = write_rows(tmp_path / "sub-01/beh/sub-01_beh.tsv", rows, delimiter="\t")
    assert read_data(path).report.excluded_rows[0].reason == "the response is missing"


def test_a_psych_ds_folder_is_read_with_its_variables(tmp_path):
    for subject in ("1", "2"):
        write_rows(tmp_path / f"data/raw/subject-{subject}_data.csv", drop_subject(make_rows(["x"], condition=["1", "2"])))
    variables = [
        "trial",
        {"@type": "PropertyValue", "name": "stimulus", "unitText": "ms"},
        {"@type": "PropertyValue", "name": "response", "unitText": "ms", "description": "reproduced"},
    ]
    write_json(tmp_path / "dataset_description.json", {"@type": "Dataset", "variableMeasured": variables})
    write_json(
        tmp_path / "data/raw/data.json", {"condition": {"Levels": {"1": "easy", "2": {"Description": "hard"}, "3": "?"}}}
    )
    loaded = read_data(tmp_path)
    assert loaded.report.unit == loaded.trials["stimulus"].attrs["units"] == "ms"
    assert loaded.trials["subject"].values.tolist() == ["1", "2"]
    assert loaded.report.notes[1:4] == (
        "The response is described as 'reproduced'.",
        "Condition '1' is described as 'easy'.",
        "Condition '2' is described as 'hard'.",
    )


def test_a_given_unit_wins(bids):
    write_json(bids / "beh.json", {"stimulus": {"Units": "N"}})
    report = read_data(bids, unit="mN").report
    assert report.unit == "mN"
    assert "The unit 'mN' was given, although the sidecar says 'N'." in report.notes


def test_two_units_are_refused(bids):
    write_json(bids / "beh.json", {"stimulus": {"Units": "ms"}, "response": {"Units": "s"}})
    with pytest.raises(
        DataError,
        match=r"^The sidecars say 'ms' for the stimulus in sub-01\S+ but 's' for the response in sub-01\S+: "
        r"convert the numbers to one unit, or name the right one with --unit if only the sidecar is wrong\.$",
    ):
        read_data(bids)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("{", r"^The sidecar '.*beh\.json' cannot be read as JSON \(.*\): correct it or take it away\.$"),
        ("[]", r"^The sidecar '.*beh\.json' must be a JSON object that names columns: correct it or take it away\.$"),
    ],
)
def test_damaged_sidecars_are_refused(bids, text, sentence):
    write(bids / "beh.json", text)
    with pytest.raises(DataError, match=sentence):
        read_data(bids)


def test_conditions_in_some_files_only_are_refused(tmp_path):
    write_rows(tmp_path / "data/a_data.csv", make_rows(["a"], condition=["x"]))
    write_rows(tmp_path / "data/b_data.csv", make_rows(["b"]))
    with pytest.raises(
        DataError, match=r"^data/a_data\.csv has a column for the condition and data/b_data\.csv has none: add"
    ):
        read_data(tmp_path)
    assert read_data(tmp_path, columns={"condition": ""}).report.num_conditions == 1


def test_folders_without_tables_or_with_both_kinds_are_refused(tmp_path):
    write(tmp_path / "notes.csv", as_text(make_rows()))
    with pytest.raises(DataError, match=r"^The folder '.*' has neither Psych-DS tables \(data/\.\.\._data\.csv\) nor BIDS"):
        read_data(tmp_path)
    write_rows(tmp_path / "data/a_data.csv", make_rows())
    write_rows(tmp_path / "sub-1/beh/sub-1_beh.tsv", make_rows(), delimiter="\t")
    with pytest.raises(DataError, match=r"^The folder '.*' has tables both as in Psych-DS \(data/\) and as in BIDS"):
        read_data(tmp_path)


def test_missing_and_foreign_files_are_refused(tmp_path):
    with pytest.raises(DataError, match=r"^There is no file or folder '.*none\.csv': check the name\.$"):
        read_data(tmp_path / "none.csv")
    write(tmp_path / "a.xlsx", "PK")
    with pytest.raises(
        DataError, match=r"^'.*a\.xlsx' is not a table: give a file that ends in \.csv, \.tsv, \.txt \(a spread"
    ):
        read_data(tmp_path / "a.xlsx")
