"""Where the tables of a data set are: one file, a Psych-DS folder or a BIDS folder.

File names of both standards carry labels, such as `sub-07_task-timing_beh.tsv`; each becomes a column (`sub`, `task`) unless
the table has it already, so that a filter can choose by it.
"""

import dataclasses
from collections.abc import Mapping
from pathlib import Path

from designstudio.errors import DataError
from designstudio.fitting.reading.sidecars import ColumnInfo, read_sidecars

SUFFIXES = (".csv", ".tsv", ".txt")
PATTERNS = {
    "Psych-DS": ("data/**/*_data.csv",),
    "BIDS": ("sub-*/beh/*_beh.tsv", "sub-*/ses-*/beh/*_beh.tsv"),
}
ENDINGS = ("beh", "data")


@dataclasses.dataclass(frozen=True)
class Source:
    """A table of a data set.

    Attributes:
        path: where it is.
        file: how messages and reports call it.
        labels: what its name says.
        info: what sidecars say about its columns.
    """

    path: Path
    file: str
    labels: Mapping[str, str]
    info: Mapping[str, ColumnInfo]


def find_sources(path: Path) -> list[Source]:
    """The tables that a path stands for, in the order of their names.

    Raises:
        DataError: if there are none.
    """
    if path.is_dir():
        return [
            Source(table, table.relative_to(path).as_posix(), read_labels(table), read_sidecars(table, path))
            for table in _find_tables(path)
        ]
    if not path.is_file():
        raise DataError(f"There is no file or folder '{path}': check the name.")
    if path.suffix.lower() not in SUFFIXES:
        raise DataError(
            f"'{path}' is not a table: give a file that ends in {', '.join(SUFFIXES)} (a spreadsheet can be saved as CSV), "
            "or a Psych-DS or BIDS folder."
        )
    return [Source(path, path.name, read_labels(path), read_sidecars(path, path.parent))]


def read_labels(path: Path) -> dict[str, str]:
    """The labels in a file's name, if it is one of the two standards'."""
    *parts, ending = path.stem.split("_")
    if ending not in ENDINGS:
        return {}
    pairs = (part.partition("-") for part in parts)
    return {key: label for key, hyphen, label in pairs if hyphen and key and label}


def _find_tables(folder: Path) -> list[Path]:
    found = {
        standard: sorted({path for pattern in patterns for path in folder.glob(pattern) if path.is_file()})
        for standard, patterns in PATTERNS.items()
    }
    if all(found.values()):
        raise DataError(
            f"The folder '{folder}' has tables both as in Psych-DS (data/) and as in BIDS (sub-*/beh/): "
            "give one of the tables, or take one kind away."
        )
    tables = [path for paths in found.values() for path in paths]
    if not tables:
        raise DataError(
            f"The folder '{folder}' has neither Psych-DS tables (data/..._data.csv) nor BIDS tables "
            "(sub-.../beh/..._beh.tsv): give one of these, or a single CSV file."
        )
    return tables
