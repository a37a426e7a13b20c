"""The rows of one table: filtered, understood and, where they cannot be used, rejected with a reason."""

import dataclasses
import itertools
from collections.abc import Mapping, Sequence

from designstudio.fitting.reading.cells import is_missing, parse_number, tidy_label, uses_comma
from designstudio.fitting.reading.columns import ROLES, find_column, find_columns
from designstudio.fitting.reading.folders import Source
from designstudio.fitting.reading.tables import Table, read_table
from designstudio.fitting.reading.where import Filter

# Labels in file names that say whose trials they are.
SUBJECT_LABELS = ("sub", "subject", "participant")
LABEL_ROLES = ("subject", "condition")
# Columns that are kept under the name of their role, and have no part in a fit.
EXTRA_ROLES = ("trial", "group")
NUMBER_ROLES = ("stimulus", "response")
NOT_POSITIVE = "the response is zero or negative, and the model works on logarithms"


@dataclasses.dataclass(frozen=True)
class Rows:
    """What one table contributes.

    Attributes:
        source: where it comes from.
        num_read: rows that the table has.
        num_removed: rows that each filter removed.
        roles: column of each role; empty if no row passed the filters.
        numbers: stimuli and responses of the usable rows.
        table: the usable rows.
        rejected: file, line and reason of each row that passed the filters but cannot be used.
        filtered: file, line and reason of each row that did not pass.
        is_named_by_file: whether the file's name says whose trials they are.
    """

    source: Source
    num_read: int
    num_removed: Sequence[int]
    roles: Mapping[str, str]
    numbers: Mapping[str, Sequence[float]]
    table: Table
    rejected: Sequence[tuple[str, int, str]] = ()
    filtered: Sequence[tuple[str, int, str]] = ()
    is_named_by_file: bool = False

    def labels(self, role: str) -> list[str] | None:
        """Subject or condition of each usable row; None if there is no such column."""
        return [tidy_label(cell) for cell in self.table.columns[self.roles[role]]] if role in self.roles else None

    def extras(self) -> dict[str, list[str]]:
        """All other columns; numbers with a decimal comma are written with a point."""
        used = [self.roles[role] for role in self.roles if role not in EXTRA_ROLES]
        found = {}
        for name, cells in self.table.columns.items():
            if name not in used:
                found[self._name_extra(name)] = [self._write_point(cell) for cell in cells]
        return found

    def _name_extra(self, name: str) -> str:
        for role in EXTRA_ROLES:
            if name == self.roles.get(role):
                return role
        # A role's name belongs to the column that was chosen for it.
        return f"{name}_in_file" if name in ROLES else name

    def _write_point(self, cell: str) -> str:
        is_number = self.table.has_commas and uses_comma(cell)
        return cell.replace(",", ".") if is_number else cell


def read_rows(source: Source, chosen: Mapping[str, str], filters: Sequence[Filter]) -> Rows:
    """The usable rows of a table.

    Args:
        source: which table.
        chosen: the columns of some roles.
        filters: which rows to keep; a table of which nothing is left needs no other columns.

    Raises:
        DataError: if the table cannot be read, or has something where a positive number should be.
    """
    table = read_table(source.path, source.file)
    num_read = table.num_rows
    labels = _choose_labels(table, source, chosen)
    table = table.add(labels)
    num_removed, filtered = [0] * len(filters), []
    for number, condition in enumerate(filters):
        keeps = condition.select_rows(table, chosen)
        num_removed[number] = keeps.count(False)
        reason = f"it was filtered out by {condition.text!r}"
        filtered += [(source.file, line, reason) for line, is_kept in zip(table.lines, keeps, strict=True) if not is_kept]
        table = table.keep(keeps)
        if not table.num_rows:
            return Rows(source, num_read, num_removed, {}, {}, table, (), filtered)
    roles = find_columns(list(table.columns), chosen, source.file)
    numbers = {role: _read_numbers(table, roles[role]) for role in NUMBER_ROLES}
    _refuse_stimuli(table, roles["stimulus"], numbers["stimulus"])
    reasons = [_find_reason(table, roles, numbers, row) for row in range(table.num_rows)]
    keeps = [reason is None for reason in reasons]
    rejected = [(source.file, line, reason) for line, reason in zip(table.lines, reasons, strict=True) if reason]
    usable = {role: [value for value in itertools.compress(values, keeps) if value] for role, values in numbers.items()}
    return Rows(source, num_read, num_removed, roles, usable, table.keep(keeps), rejected, filtered, "subject" in labels)


def _choose_labels(table: Table, source: Source, chosen: Mapping[str, str]) -> dict[str, str]:
    """The labels in the file's name that the table does not have as columns."""
    has_subject = find_column("subject", table.columns, chosen, source.file) is not None
    labels = {}
    for key, label in source.labels.items():
        if key in SUBJECT_LABELS:
            if not has_subject:
                labels["subject"] = label
        elif key not in table.columns:
            labels[key] = label
    return labels


def _read_numbers(table: Table, column: str) -> list[float | None]:
    numbers = [table.number(column, row) for row in range(table.num_rows)]
    if table.has_commas:
        cells = table.columns[column]
        with_comma = [row for row, cell in enumerate(cells) if uses_comma(cell)]
        with_point = [row for row, cell in enumerate(cells) if "." in cell and parse_number(cell) is not None]
        if with_comma and with_point:
            row = with_point[0]
            raise table.error(
                column,
                row,
                f"The number {cells[row]!r} has a point, but {cells[with_comma[0]]!r} on line {table.lines[with_comma[0]]} "
                "has a comma, so that one may stand for thousands: write all alike.",
            )
    return numbers


def _refuse_stimuli(table: Table, column: str, numbers: Sequence[float | None]) -> None:
    for row, number in enumerate(numbers):
        if number is not None and number <= 0:
            raise table.error(
                column,
                row,
                f"The stimulus is {number:g}, but the model needs positive stimuli: correct it, or leave the row out "
                "with a filter.",
            )


def _find_reason(
    table: Table, roles: Mapping[str, str], numbers: Mapping[str, Sequence[float | None]], row: int
) -> str | None:
    """Why the row cannot be used, if so."""
    for role in LABEL_ROLES:
        if role in roles and is_missing(table.columns[roles[role]][row]):
            return f"the {role} is missing"
    for role in NUMBER_ROLES:
        if numbers[role][row] is None:
            return f"the {role} is missing"
    response = numbers["response"][row]
    return NOT_POSITIVE if response is not None and response <= 0 else None
