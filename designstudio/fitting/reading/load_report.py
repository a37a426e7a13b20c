"""What became of the data while they were read: for people in sentences, for files as plain data."""

import dataclasses
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

# So many line numbers or names are shown; the table of rejected rows has all.
NUM_SHOWN = 5


@dataclasses.dataclass(frozen=True)
class AppliedFilter:
    """A filter and how many rows it removed, of those that the filters before it left."""

    text: str
    num_removed: int


@dataclasses.dataclass(frozen=True)
class ExcludedRows:
    """Rows that were left out for one reason; `places` are the first few, as file and line."""

    reason: str
    count: int
    places: tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class ExcludedSubject:
    """A subject who was left out, and how many usable trials went with them."""

    subject: str
    num_trials: int
    reason: str


@dataclasses.dataclass(frozen=True)
class LoadReport:
    """What was read, left out and noticed.

    Attributes:
        files: names of the tables.
        num_rows: rows that they have.
        renamed: role of each column that has another name in the files.
        filters: with the rows that each removed.
        excluded_rows: by reason, without those that filters removed.
        excluded_subjects: with reasons.
        notes: what a person should know; nothing was left out for it.
        unit: of stimulus and response.
        num_subjects: left.
        num_conditions: left.
        num_trials: left.
    """

    files: tuple[str, ...]
    num_rows: int
    renamed: Mapping[str, str]
    filters: tuple[AppliedFilter, ...]
    excluded_rows: tuple[ExcludedRows, ...]
    excluded_subjects: tuple[ExcludedSubject, ...]
    notes: tuple[str, ...]
    unit: str
    num_subjects: int
    num_conditions: int
    num_trials: int

    def as_dict(self) -> dict[str, Any]:
        """The report as JSON knows it."""
        return json.loads(json.dumps({**dataclasses.asdict(self), "renamed": dict(self.renamed)}))

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> "LoadReport":
        """The report that `as_dict` has written."""
        nested: dict[str, Any] = {
            "files": tuple(record["files"]),
            "filters": tuple(AppliedFilter(**entry) for entry in record["filters"]),
            "excluded_rows": tuple(
                ExcludedRows(**{**entry, "places": tuple(entry["places"])}) for entry in record["excluded_rows"]
            ),
            "excluded_subjects": tuple(ExcludedSubject(**entry) for entry in record["excluded_subjects"]),
            "notes": tuple(record["notes"]),
        }
        return cls(**{**record, **nested})

    def sentences(self) -> list[str]:
        """The report for people."""
        said = [f"Read {count(self.num_rows, 'row')} from {count(len(self.files), 'file')}: {shorten(self.files)}."]
        said += [f"Took the column {column!r} as the {role}." for column, role in self.renamed.items()]
        said += [f"The filter {entry.text!r} removed {count(entry.num_removed, 'row')}." for entry in self.filters]
        for rows in self.excluded_rows:
            places = shorten(rows.places, rows.count)
            said.append(f"Left out {count(rows.count, 'row')} because {rows.reason}: {places}.")
        said += [f"Left out subject {entry.subject!r}: {entry.reason}." for entry in self.excluded_subjects]
        said += self.notes
        kept = f"{count(self.num_subjects, 'subject')}, {count(self.num_conditions, 'condition')}"
        return [*said, f"Kept {kept} and {count(self.num_trials, 'trial')}, in {self.unit!r}."]


def group_rows(rejected: Iterable[tuple[str, int, str]]) -> tuple[ExcludedRows, ...]:
    """Rejected rows (file, line, reason) by reason, in the order in which reasons first appear."""
    places: dict[str, list[str]] = {}
    for file, line, reason in rejected:
        places.setdefault(reason, []).append(f"{file} line {line}")
    return tuple(ExcludedRows(reason, len(found), tuple(found[:NUM_SHOWN])) for reason, found in places.items())


def shorten(names: Sequence[str], total: int | None = None) -> str:
    """The first few names, and how many more there are."""
    shown = list(names[:NUM_SHOWN])
    num_more = (len(names) if total is None else total) - len(shown)
    return ", ".join(shown) + (f" and {num_more} more" if num_more else "")


def count(number: int, noun: str) -> str:
    """A number of things, in words that agree."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
