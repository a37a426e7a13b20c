"""Filters: which rows of a table to keep, in words such as `keep == 1` or `block in 1, 2 and rt < 2.5`.

Read by a small parser of our own, never executed as Python. A filter compares a column (of the file, or by its role) with a
number or a text, in quotes or not. Numbers are compared as numbers: `keep == 1` also keeps 1.0. A missing value equals
nothing and is neither small nor large, so that only `!=` and `not in` keep it.
"""

import dataclasses
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from designstudio.errors import DataError
from designstudio.fitting.reading.cells import is_missing, parse_number
from designstudio.fitting.reading.columns import ROLES, find_column, list_names, match_name
from designstudio.fitting.reading.tables import Table

EXAMPLE = "write it like keep == 1, rt < 2.5 or block in 1, 2"
_QUOTED = r"\"[^\"]*\"|'[^']*'"
_CLAUSE = re.compile(
    rf"(?P<column>{_QUOTED}|[^\"'<>=!]+?)\s*(?P<operator>==|!=|<=|>=|<|>|\bnot\s+in\b|\bin\b)\s*(?P<values>[^\s=].*)",
    re.IGNORECASE,
)
_ORDERS: Mapping[str, Callable[[float, float], bool]] = MappingProxyType(
    {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
)


@dataclasses.dataclass(frozen=True)
class Value:
    """What a column is compared with: text, and the number that it is, unless it stood in quotes."""

    text: str
    number: float | None

    def equals(self, cell: str, number: float | None) -> bool:
        """Whether a cell holds this value, given the number that it is."""
        if self.number is not None and number is not None:
            return self.number == number
        return self.text == cell


@dataclasses.dataclass(frozen=True)
class Filter:
    """One comparison.

    Attributes:
        text: as it was written.
        column: which column, as it was written.
        operator: ==, !=, <, <=, >, >=, in or not in.
        values: what to compare with; several only after in.
    """

    text: str
    column: str
    operator: str
    values: tuple[Value, ...]

    def select_rows(self, table: Table, chosen: Mapping[str, str]) -> list[bool]:
        """Which rows of the table to keep.

        Raises:
            DataError: if there is no such column, or it has text where sizes are compared.
        """
        column = self._find(table, chosen)
        if self.operator in _ORDERS:
            return [self._is_ordered(table.number(column, row)) for row in range(table.num_rows)]
        wants_equal = self.operator in ("==", "in")
        return [self._is_among(cell, table.has_commas) == wants_equal for cell in table.columns[column]]

    def _find(self, table: Table, chosen: Mapping[str, str]) -> str:
        column = match_name(self.column, table.columns)
        if column is None and self.column in ROLES:
            column = find_column(self.column, table.columns, chosen, table.file)
        if column is None:
            raise DataError(
                f"The filter {self.text!r} asks for the column {self.column!r} of {table.file}, "
                f"but {list_names(table.columns)}: choose one of them."
            )
        return column

    def _is_ordered(self, number: float | None) -> bool:
        limit = self.values[0].number
        return number is not None and limit is not None and _ORDERS[self.operator](number, limit)

    def _is_among(self, cell: str, has_commas: bool) -> bool:
        if is_missing(cell):
            return False
        number = parse_number(cell, has_commas=has_commas)
        return any(value.equals(cell, number) for value in self.values)


def parse_filters(texts: Sequence[str]) -> list[Filter]:
    """The filters in these texts; each may hold several, joined by `and`.

    Raises:
        DataError: if one cannot be read.
    """
    if isinstance(texts, str):
        texts = [texts]
    return [_parse_clause(clause) for text in texts for clause in _split(text, r"\band\b")]


def _parse_clause(text: str) -> Filter:
    match = _CLAUSE.fullmatch(text)
    if match is None:
        raise DataError(f"The filter {text!r} cannot be read: {EXAMPLE}.")
    column, symbol = _unquote(match["column"]), " ".join(match["operator"].lower().split())
    values = match["values"].strip()
    entries = [values]
    if symbol.endswith("in"):
        bare = values[1:-1] if (values[0], values[-1]) in (("[", "]"), ("(", ")")) else values
        entries = _split(bare, ",")
    if not all(entries):
        raise DataError(f"The filter {text!r} compares with nothing: {EXAMPLE}.")
    parsed = tuple(_parse_value(entry, text) for entry in entries)
    if symbol in _ORDERS and parsed[0].number is None:
        raise DataError(f"The filter {text!r} compares sizes, but {parsed[0].text!r} is not a number: write it like 2.5.")
    return Filter(text, column, symbol, parsed)


def _parse_value(text: str, clause: str) -> Value:
    if re.fullmatch(_QUOTED, text):
        return Value(text[1:-1], None)
    if any(symbol in text for symbol in "\"'=<>"):
        raise DataError(f"The filter {clause!r} compares with {text!r}, which cannot be read: put text in quotes.")
    return Value(text, parse_number(text))


def _split(text: str, separator: str) -> list[str]:
    """Parts between separators that stand outside of quotes."""
    parts, start = [], 0
    for match in re.finditer(rf"{_QUOTED}|(?P<separator>{separator})", text, re.IGNORECASE):
        if match["separator"]:
            parts.append(text[start : match.start()].strip())
            start = match.end()
    return [*parts, text[start:].strip()]


def _unquote(text: str) -> str:
    return text[1:-1] if re.fullmatch(_QUOTED, text) else text.strip()
