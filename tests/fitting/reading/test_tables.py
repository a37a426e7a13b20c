"""Tables are read whatever program wrote them; what is not a table is refused with its line."""

import pytest

from designstudio.errors import DataError
from designstudio.fitting.reading.cells import is_missing, parse_number, tidy_label
from designstudio.fitting.reading.tables import read_table
from tests.fitting.reading.make_files import write


def read(path, text, encoding="utf-8"):
    return read_table(write(path / "a.csv", text, encoding), "a.csv")


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_delimiter_line_ends_and_mark_do_not_matter(tmp_path, delimiter, end, encoding):
    table = read(tmp_path, end.join([f"subject{delimiter} größe ", f"é{delimiter}2", "", f"b{delimiter}3"]), encoding)
    assert table.columns == {"subject": ["é", "b"], "größe": ["2", "3"]}
    assert table.lines == [2, 4]


def test_decimal_commas_do_not_split_a_row(tmp_path):
    table = read(tmp_path, "subject;stimulus;response\na;1,5;2,5\nb;1,5;2,5\n")
    assert table.columns["response"] == ["2,5", "2,5"]
    assert table.number("response", 0) == 2.5


def test_decimal_commas_are_numbers_only_where_semicolons_separate(tmp_path):
    table = read(tmp_path, 'subject,stimulus\na,"1,5"\n')
    with pytest.raises(
        DataError, match=r"^a\.csv, line 2, column 'stimulus': A number without commas is needed, but '1,5' was"
    ):
        table.number("stimulus", 0)


def test_commas_in_names_are_not_taken_for_delimiters(tmp_path):
    table = read(tmp_path, "subject;stimulus, mm;response, mm\na;1,5;2,5\n")
    assert list(table.columns) == ["subject", "stimulus, mm", "response, mm"]


def test_quoted_cells_may_hold_delimiters_and_line_ends_and_lines_are_still_right(tmp_path):
    table = read(tmp_path, 'subject,comment\na,"tired, then\nnot ""fit"""\nb,\n')
    assert table.columns["comment"] == ['tired, then\nnot "fit"', ""]
    assert table.lines == [2, 4]


def test_a_column_without_a_name_gets_one(tmp_path):
    assert list(read(tmp_path, ",subject\n0,a\n").columns) == ["column 1", "subject"]


def test_rows_of_empty_cells_are_no_rows(tmp_path):
    assert read(tmp_path, "a;b\n1;2\n;\n ; \n").lines == [2]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", r"^a\.csv is empty: give a table whose first line names the columns\.$"),
        ("\n \n", r"^a\.csv is empty"),
        (
            "subject|stimulus\na|1\n",
            r"^a\.csv has one column only \('subject\|stimulus'\), but subject, stimulus and .* tabs\.$",
        ),
        ("a,b\n", r"^a\.csv has no rows under its names of columns: give one row for each trial\.$"),
        ("a,b\n1,2\n1,2,3\n", r"^a\.csv, line 3: This row has 3 cells, but 2 columns are named in the first line: make "),
        ("a,b,a\n1,2,3\n", r"^a\.csv has two columns named 'a': give each a name of its own\.$"),
        ('a,b\n1,"2\n3,4\n', r"^a\.csv, line 2: This row cannot be read \(.*\): check its quotes\.$"),
    ],
)
def test_what_is_not_a_table_is_refused(tmp_path, text, sentence):
    with pytest.raises(DataError, match=sentence):
        read(tmp_path, text)


def test_other_encodings_are_refused_with_the_line(tmp_path):
    with pytest.raises(DataError, match=r"^a\.csv, line 2: This is not UTF-8 text; save the table as UTF-8\.$"):
        read(tmp_path, "a,b\né,1\n", "latin-1")


def test_unreadable_files_are_refused(tmp_path):
    with pytest.raises(DataError, match=r"^The file a\.csv cannot be read: No such file or directory\.$"):
        read_table(tmp_path / "a.csv", "a.csv")


def test_only_numbers_are_numbers():
    for text, number in {"1": 1, "-2.50": -2.5, ".5": 0.5, "5.": 5, "+1e-3": 0.001, "1E3": 1000}.items():
        assert parse_number(text) == number
    for text in ("", "a", "1_000", "inf", "nan", "1e999", "1,5", "1 2", "0x10", "٣", "1.2.3", "--1"):
        assert parse_number(text) is None
    assert parse_number("-1,5", has_commas=True) == -1.5
    assert parse_number("1.000,5", has_commas=True) is None


def test_missing_is_what_programs_write_for_it():
    assert all(is_missing(text) for text in ("", "NA", "n/a", "NaN", "<NA>", "null"))
    assert not any(is_missing(text) for text in ("0", "none", "no", "-"))


def test_labels_lose_the_decimals_of_spreadsheets_and_nothing_else():
    labels = {"1.0": "1", "0.30": "0.3", "0.0": "0", "007": "007", "10": "10", "a.0": "a.0", "1.5e3": "1.5e3", "120.": "120"}
    for given, tidied in labels.items():
        assert tidy_label(given) == tidied
