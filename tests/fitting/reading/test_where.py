"""Filters keep the rows that they say, and are read without running anything."""

import pytest

from designstudio.errors import DataError
from designstudio.fitting.reading.tables import Table
from designstudio.fitting.reading.where import parse_filters

TABLE = Table(
    "a.csv",
    {
        "keep": ["1", "1.0", "0", "n/a"],
        "Level": ["a b", "low", "high", ""],
        "rt": ["0.5", "2.5", "NA", "3e0"],
        "time in s": ["1", "2", "3", "4"],
        "block": ["1", "2", "3", "4"],
    },
    [2, 3, 4, 5],
)


def kept(*texts, table=TABLE, chosen=None):
    """The blocks that all filters keep."""
    for condition in parse_filters(texts):
        table = table.keep(condition.select_rows(table, chosen or {}))
    return "".join(table.columns["block"])


@pytest.mark.parametrize(
    ("text", "blocks"),
    [
        ("keep == 1", "12"),
        ("keep==1", "12"),
        ("keep != 1", "34"),
        ('keep == "1"', "1"),
        ("KEEP == 1", "12"),
        ("level == low", "2"),
        ("condition == low", "2"),
        ('level == "a b"', "1"),
        ("level == a b", "1"),
        ("level != 'a b'", "234"),
        ("rt < 2.5", "1"),
        ("rt <= 2.5", "12"),
        ("rt > 2.5", "4"),
        ("rt >= 0.5", "124"),
        ("block in 1,2,3", "123"),
        ("block in [1, 3]", "13"),
        ("block in (4)", "4"),
        ("block not in 1, 2", "34"),
        ("level not  in low, 'a b'", "34"),
        ("block IN 1, 2 and keep == 1 AND rt > 1", "2"),
        ("level in 'and', low", "2"),
        ("'time in s' > 2", "34"),
        ("level == Low", ""),
    ],
)
def test_a_filter_keeps_what_it_says(text, blocks):
    assert kept(text) == blocks


def test_several_filters_must_all_agree():
    assert kept("keep == 1", "block > 1") == kept("keep == 1 and block > 1") == "2"
    assert parse_filters("keep == 1") == parse_filters(["keep == 1"])
    assert kept() == "1234"


def test_numbers_with_commas_are_compared_as_numbers():
    table = Table("a.csv", {"rt": ["0,5", "2,5"], "block": ["1", "2"]}, [2, 3], has_commas=True)
    assert kept("rt < 2.5", table=table) == "1"
    assert kept("rt == 2.5", table=table) == "2"


def test_a_role_may_be_named_instead_of_its_column():
    assert kept("condition == 2", chosen={"condition": "block"}) == "2"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("keep", r"^The filter 'keep' cannot be read: write it like keep == 1, rt < 2\.5 or block in 1, 2\.$"),
        ("keep = 1", r"^The filter 'keep = 1' cannot be read"),
        ("", r"^The filter '' cannot be read"),
        ("== 1", r"^The filter '== 1' cannot be read"),
        ("keep ==", r"^The filter 'keep ==' cannot be read"),
        ("keep === 1", r"^The filter 'keep === 1' cannot be read"),
        ("keep == 1 and", r"^The filter '' cannot be read"),
        ("block in 1,,2", r"^The filter 'block in 1,,2' compares with nothing"),
        ("block in []", r"^The filter 'block in \[\]' compares with nothing"),
        ("rt < fast", r"^The filter 'rt < fast' compares sizes, but 'fast' is not a number: write it like 2\.5\.$"),
        ("rt < 2,5", r"compares sizes, but '2,5' is not a number"),
        ("rt == 1 < 2", r"^The filter 'rt == 1 < 2' compares with '1 < 2', which cannot be read: put text in quotes\.$"),
        ("level == 'a", r"compares with \"'a\", which cannot be read"),
        (
            "day == 1",
            r"^The filter 'day == 1' asks for the column 'day' of a\.csv, but it has 'keep', 'Level', 'rt', 'time in s', "
            r"'block': choose one of them\.$",
        ),
        ("trial == 1", r"asks for the column 'trial' of a\.csv, but it has"),
        (
            "Level < 2",
            r"^a\.csv, line 2, column 'Level': A number is needed, but 'a b' was given: correct it, or write n/a ",
        ),
    ],
)
def test_what_cannot_be_read_is_refused(text, sentence):
    with pytest.raises(DataError, match=sentence):
        kept(text)


def test_nothing_is_executed():
    with pytest.raises(DataError, match="asks for the column '__import__"):
        kept("__import__('os').getcwd() == 1".replace("'", ""))
