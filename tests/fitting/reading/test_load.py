"""Real tables become trials, and every row that does not is listed with its reason."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from designstudio.errors import DataError
from designstudio.fitting.reading import read_data
from designstudio.model.trials import check_trials
from tests.fitting.reading.make_files import as_text, make_rows, write, write_rows


@pytest.fixture
def load(tmp_path):
    """Write rows and read them."""

    def write_and_read(rows, **options):
        return read_data(write_rows(tmp_path / "a.csv", rows), **options)

    return write_and_read


def test_a_plain_table_becomes_one_data_set_for_each_subject(load):
    loaded = load(make_rows(condition=["high", "low"]), unit="s")
    check_trials(loaded.trials)
    assert loaded.trials["subject"].values.tolist() == ["anna", "ben"]
    assert loaded.trials["condition"].values.tolist() == ["high", "low"]
    np.testing.assert_array_equal(loaded.trials["stimulus"].values[0], [1, 2, 3] * 4)
    np.testing.assert_array_equal(loaded.trials["condition_index"].values[1], [0, 1] * 6)
    assert loaded.trials["response"].attrs["units"] == "s"
    assert loaded.report.sentences() == [
        "Read 24 rows from 1 file: a.csv.",
        "Kept 2 subjects, 2 conditions and 24 trials, in 's'.",
    ]


def test_conditions_are_in_the_order_of_their_numbers_or_of_the_alphabet(load):
    rows = make_rows(condition=["10", "9", "x", "0.5"])
    loaded = load(rows)
    assert loaded.trials["condition"].values.tolist() == ["0.5", "9", "10", "x"]
    labels = loaded.trials["condition"].values[loaded.trials["condition_index"].values[0]]
    assert labels.tolist() == ["10", "9", "x", "0.5"] * 3


def test_other_columns_are_kept_with_file_and_line(load):
    rows = [{**row, "rt": "n/a" if n == 3 else n / 2, "hand": "left", "age": 30} for n, row in enumerate(make_rows())]
    table = load(rows).table
    assert list(table.columns) == ["subject", "condition", "trial", "stimulus", "response", "rt", "hand", "age"]
    assert np.isnan(table.loc[("a.csv", 5), "rt"])
    assert table.loc[("a.csv", 6), "rt"] == 2
    assert table["age"].dtype == int
    assert set(table["hand"]) == {"left"}


def test_a_chosen_column_takes_the_name_of_its_role(load):
    rows = [{**row, "stimulus": "picture.png", "size": row["stimulus"]} for row in make_rows()]
    loaded = load(rows, columns={"stimulus": "size"})
    assert loaded.table["stimulus"].tolist()[:3] == [1, 2, 3]
    assert set(loaded.table["stimulus_in_file"]) == {"picture.png"}
    assert loaded.report.renamed == {"size": "stimulus"}
    assert "Took the column 'size' as the stimulus." in loaded.report.sentences()


def test_every_row_is_accounted_for(load):
    rows = [{**row, "keep": 1} for row in make_rows(["anna", "ben", "cleo", "dora"])]
    rows[0]["keep"] = 0
    rows[1]["response"] = ""
    rows[2]["response"] = -0.1
    rows[3]["stimulus"] = "NA"
    rows[4]["response"] = 0
    rows[5]["subject"] = "n/a"
    for row in rows[24:27]:
        row["response"] = "NaN"
    for row in rows[36:]:
        row["stimulus"] = 2
    rows[12:12] = [{**rows[12], "trial": 100 + n} for n in range(5)]
    loaded = load(rows, where=["keep == 1"])
    report = loaded.report
    assert [(entry.reason, entry.count) for entry in report.excluded_rows] == [
        ("the response is missing", 4),
        ("the response is zero or negative, and the model works on logarithms", 2),
        ("the stimulus is missing", 1),
        ("the subject is missing", 1),
    ]
    assert report.excluded_rows[1].places == ("a.csv line 4", "a.csv line 6")
    assert [(entry.subject, entry.num_trials) for entry in report.excluded_subjects] == [
        ("anna", 6),
        ("cleo", 9),
        ("dora", 12),
    ]
    assert loaded.trials["subject"].values.tolist() == ["ben"]
    left_out = (
        sum(entry.num_removed for entry in report.filters)
        + sum(entry.count for entry in report.excluded_rows)
        + sum(entry.num_trials for entry in report.excluded_subjects)
    )
    assert report.num_rows == len(rows) == left_out + report.num_trials
    assert len(loaded.rejected) == left_out
    assert set(loaded.rejected["line"]) | {line for _, line in loaded.table.index} == set(range(2, len(rows) + 2))
    assert loaded.rejected["reason"].tolist()[0] == "it was filtered out by 'keep == 1'"
    assert report.sentences() == [
        "Read 53 rows from 1 file: a.csv.",
        "The filter 'keep == 1' removed 1 row.",
        "Left out 4 rows because the response is missing: a.csv line 3, a.csv line 31, a.csv line 32, a.csv line 33.",
        "Left out 2 rows because the response is zero or negative, and the model works on logarithms: "
        "a.csv line 4, a.csv line 6.",
        "Left out 1 row because the stimulus is missing: a.csv line 5.",
        "Left out 1 row because the subject is missing: a.csv line 7.",
        "Left out subject 'anna': 6 usable trials, but at least 10 are needed (--min-trials).",
        "Left out subject 'cleo': 9 usable trials, but at least 10 are needed (--min-trials).",
        "Left out subject 'dora': every stimulus is 2, but prior and bias can only be told apart if it varies.",
        "The unit of stimulus and response is not known: name it, for example with --unit s.",
        "There is no column for the condition: all trials are in one, called 'all'.",
        "Kept 1 subject, 1 condition and 17 trials, in 'stimulus unit'.",
    ]


def test_a_report_is_plain_data(load):
    report = load(make_rows(), where=["trial < 12"]).report
    assert json.loads(json.dumps(report.as_dict())) == report.as_dict()
    assert report.as_dict()["filters"] == [{"text": "trial < 12", "num_removed": 2}]


def test_long_lists_are_shortened(load):
    rows = make_rows(num_trials=30)
    for row in rows[:8]:
        row["response"] = ""
    assert "a.csv line 6 and 3 more." in load(rows).report.sentences()[1]


def test_a_missing_condition_excludes_the_row_and_a_lacking_one_keeps_the_subject(load):
    rows = make_rows(condition=["x", "y"])
    rows[0]["condition"] = ""
    for row in rows[12:]:
        row["condition"] = "x"
    loaded = load(rows, unit="s")
    assert loaded.report.excluded_rows[0].reason == "the condition is missing"
    assert loaded.trials.sizes == {"dataset": 2, "trial": 12, "condition": 2}
    assert loaded.report.notes == (
        "Condition 'y' has no trials of 1 of 2 subjects (ben): "
        "what belongs to it alone stays as uncertain for them as before.",
    )


def test_very_many_conditions_are_noted(load):
    rows = [{**row, "noise": n} for n, row in enumerate(make_rows())]
    assert any(
        note.startswith("There are 24 conditions: check that the column is meant") for note in load(rows).report.notes
    )


def test_labels_from_spreadsheets_are_the_same_subject(load):
    rows = [{**row, "trial": number} for number, row in enumerate(make_rows(["1", "1.0"], num_trials=6))]
    loaded = load(rows)
    assert loaded.trials["subject"].values.tolist() == ["1"]


@pytest.mark.parametrize(
    ("change", "options", "sentence"),
    [
        ({"stimulus": 0}, {}, r"^a\.csv, line 3, column 'stimulus': The stimulus is 0, but the model needs positive"),
        ({"stimulus": -2.5}, {}, r"column 'stimulus': The stimulus is -2\.5, but .* leave the row out with a filter\.$"),
        ({"response": "late"}, {}, r"^a\.csv, line 3, column 'response': A number is needed, but 'late' was given: corr"),
        ({"stimulus": "inf"}, {}, r"column 'stimulus': A number is needed, but 'inf' was given"),
        ({}, {"min_trials": 0}, r"^min_trials must be a whole number of 1 or more, but 0 was given\.$"),
        ({}, {"min_trials": 2.5}, r"^min_trials must be a whole number of 1 or more, but 2\.5 was given\.$"),
        ({}, {"unit": " "}, r"^The unit must have a name, such as 's' or 'mm', but '' was given\.$"),
        (
            {},
            {"min_trials": 50},
            r"^Nobody is left of the 24 rows in '.*a\.csv': subject 'anna' was left out \(12 usable trials, but at least 50 "
            r"are needed \(--min-trials\)\), and 1 more subject too: give people with more trials and stimuli\.$",
        ),
        ({}, {"where": ["trial > 99"]}, r"^Nobody is left of the 24 rows in '.*': 'trial > 99' removed 24 rows: change"),
    ],
)
def test_what_cannot_be_used_is_refused_in_a_sentence(load, change, options, sentence):
    rows = make_rows()
    rows[1] |= change
    with pytest.raises(DataError, match=sentence):
        load(rows, **options)


def test_nobody_is_left_if_all_responses_are_missing(load):
    with pytest.raises(DataError, match=r"in 24 rows the response is missing"):
        load([{**row, "response": ""} for row in make_rows()])


def test_a_wrong_stimulus_may_be_filtered_out(load):
    rows = make_rows()
    rows[1]["stimulus"] = 0
    assert load(rows, where=["stimulus > 0"]).report.num_trials == 23


def test_points_and_commas_in_one_column_are_refused(tmp_path):
    rows = [{**row, "response": str(row["response"]).replace(".", ",")} for row in make_rows()]
    path = write_rows(tmp_path / "a.csv", rows, delimiter=";")
    assert read_data(path).table["response"].tolist()[:2] == [1.1, 2.1]
    rows[4]["response"] = "1.250"
    write_rows(path, rows, delimiter=";")
    with pytest.raises(
        DataError, match=r"^a\.csv, line 6, column 'response': The number '1\.250' has a point, but '1,1' on line 2 has"
    ):
        read_data(path)


names = {
    "subject": st.sampled_from(["subject", "Participant", "subj_idx", "PP"]),
    "condition": st.sampled_from(["condition", "noise-level", "Coherence"]),
    "stimulus": st.sampled_from(["stimulus", "target", "Sample Interval"]),
    "response": st.sampled_from(["response", "reproduction", "Estimate"]),
}
number = st.floats(1e-6, 1e6)


@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_random_tables_survive_a_file(data, tmp_path_factory):
    """Aliases, delimiters, line ends and the order of columns do not change what is read."""
    subjects = data.draw(st.lists(st.text("abcß12 ,;'\"", min_size=1), min_size=1, max_size=3, unique_by=str.strip))
    subjects = [f"s{name.strip()}" for name in subjects]
    num_trials = data.draw(st.integers(2, 6))
    rows = [
        {
            "subject": subject,
            "condition": data.draw(st.sampled_from(["low", "high", "3"])),
            "stimulus": trial + data.draw(number),
            "response": data.draw(number),
            "extra": data.draw(st.integers(0, 9)),
        }
        for subject in subjects
        for trial in range(num_trials)
    ]
    for subject in subjects:
        own = [row for row in rows if row["subject"] == subject]
        own[0]["stimulus"] = own[1]["stimulus"] + 1
    order = data.draw(st.permutations(list(rows[0])))
    delimiter = data.draw(st.sampled_from([",", ";", "\t"]))
    has_commas = delimiter == ";" and data.draw(st.booleans())

    def show(value):
        if isinstance(value, str):
            return '"' + value.replace('"', '""') + '"'
        # All with a decimal, as a program writes a column of floats.
        return repr(value).replace(".", ",") if has_commas else repr(value)

    shown = [{name: show(row[name]) for name in order} for row in rows]
    rename = {role: data.draw(choices) for role, choices in names.items()}
    text = as_text(shown, delimiter, data.draw(st.sampled_from(["\n", "\r\n"])), rename)
    path = write(tmp_path_factory.mktemp("random") / "a.csv", text, data.draw(st.sampled_from(["utf-8", "utf-8-sig"])))
    loaded = read_data(path, min_trials=1)
    for name in ("subject", "condition", "stimulus", "response", "extra"):
        assert loaded.table[name].tolist() == [row[name] for row in rows], name
    assert loaded.report.renamed == {column: role for role, column in rename.items() if column != role}
    for position, subject in enumerate(dict.fromkeys(subjects)):
        present = loaded.trials["is_present"].values[position]
        own = [row for row in rows if row["subject"] == subject]
        assert loaded.trials["subject"].values[position] == subject
        assert loaded.trials["stimulus"].values[position][present].tolist() == [row["stimulus"] for row in own]
        index = loaded.trials["condition_index"].values[position][present]
        assert loaded.trials["condition"].values[index].tolist() == [row["condition"] for row in own]


def test_labels_in_two_spellings_are_named(load):
    rows = [
        {**row, "subject": row["subject"].upper() if row["trial"] % 2 else row["subject"]}
        for row in make_rows(num_trials=24)
    ]
    said = "The subjects 'ANNA' and 'anna' are taken for 2: if one is meant, write it one way."
    assert said in load(rows).report.notes


def test_the_unit_of_the_rows_is_known(load):
    rows = [{**row, "unit": "ms"} for row in make_rows()]
    loaded = load(rows)
    assert loaded.report.unit == "ms"
    assert "The unit 'ms' comes from the column 'unit'." in loaded.report.notes
    assert "The unit 's' was given, although the column 'unit' says 'ms'." in load(rows, unit="s").report.notes
    rows[3]["unit"] = "s"
    with pytest.raises(DataError, match=r"^The column 'unit' says 'ms' and 's': convert .* --where 'unit == ms'\.$"):
        load(rows)


@pytest.mark.parametrize("cell", ["1,5", "2,140"])
def test_a_comma_in_a_number_is_explained(load, cell):
    rows = make_rows()
    rows[1]["response"] = f'"{cell}"'
    with pytest.raises(DataError, match=rf"A number without commas is needed, but '{cell}' was given: .* semicolons"):
        load(rows)


def test_decimal_commas_among_commas_are_guessed(load):
    rows = make_rows()
    rows[1]["response"] = "1,5"
    with pytest.raises(
        DataError, match=r"This row has 5 cells, but 4 .* if commas are decimal, separate columns by semicolons"
    ):
        load(rows)
