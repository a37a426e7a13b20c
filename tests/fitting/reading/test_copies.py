"""Rows that are there twice count once, or are named."""

from designstudio.fitting.reading import read_data
from tests.fitting.reading.make_files import make_rows, write_rows


def read(tmp_path, rows):
    return read_data(write_rows(tmp_path / "a.csv", rows), unit="s")


def without_numbers(rows):
    return [{name: cell for name, cell in row.items() if name != "trial"} for row in rows]


def vary(rows):
    """Responses that are all different."""
    return [{**row, "response": row["response"] + number / 100} for number, row in enumerate(rows)]


def test_a_table_pasted_below_itself_is_read_once(tmp_path):
    rows = make_rows()
    loaded = read(tmp_path, rows + rows[:5])
    assert loaded.trials["is_present"].values.sum() == len(rows)
    reason = "the row repeats an earlier one in every column, the number of the trial among them"
    assert loaded.report.sentences()[1].startswith(f"Left out 5 rows because {reason}: a.csv line 26, ")
    assert loaded.rejected["line"].tolist() == [26, 27, 28, 29, 30]


def test_trials_that_are_alike_but_for_their_number_stay(tmp_path):
    rows = [{**row, "response": 1.5} for row in make_rows()]
    assert read(tmp_path, rows).report.excluded_rows == ()
    # Nor does a column with one entry number trials.
    constant = [{**row, "trial": 12} for row in rows]
    assert read(tmp_path, constant).trials["is_present"].values.sum() == len(rows)


def test_without_numbers_rows_are_counted_where_half_of_somebodys_are_there_twice(tmp_path):
    rows = without_numbers(vary(make_rows()))
    anna = [row for row in rows if row["subject"] == "anna"]
    loaded = read(tmp_path, rows + anna)
    assert loaded.trials["is_present"].values.sum() == len(rows + anna)
    (note,) = [note for note in loaded.report.notes if "repeat" in note]
    assert note.startswith("12 rows of 1 subject (anna) repeat others in every column")
    assert not any("repeat" in note for note in read(tmp_path, rows + anna[:3]).report.notes)
