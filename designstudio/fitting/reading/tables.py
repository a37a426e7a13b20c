"""Tables of text: CSV and TSV files with one row for each trial, as text that knows which line it comes from."""

import csv
import dataclasses
import io
import itertools
from collections.abc import Mapping, Sequence
from pathlib import Path

from designstudio.errors import DataError
from designstudio.fitting.reading.cells import is_missing, parse_number, uses_comma
from designstudio.fitting.reading.load_report import count

# If a first line could be split by several, the earlier one: commas also stand in numbers and in text.
DELIMITERS = ("\t", ";", ",")
NUM_SNIFFED = 50


@dataclasses.dataclass(frozen=True)
class Table:
    """Rows of a file that are still of interest.

    Attributes:
        file: how messages call it.
        columns: cells of each column, as text without spaces around it.
        lines: line of the file on which each row begins, counted from 1 as editors do.
        has_commas: whether 0,5 is a number here.
    """

    file: str
    columns: Mapping[str, Sequence[str]]
    lines: Sequence[int]
    has_commas: bool = False

    @property
    def num_rows(self) -> int:
        """How many rows there are."""
        return len(self.lines)

    def keep(self, keeps: Sequence[bool]) -> "Table":
        """Only the rows that are marked."""
        columns = {name: list(itertools.compress(cells, keeps)) for name, cells in self.columns.items()}
        return dataclasses.replace(self, columns=columns, lines=list(itertools.compress(self.lines, keeps)))

    def add(self, labels: Mapping[str, str]) -> "Table":
        """The table with further columns, each the same in all rows."""
        constant = {name: [label] * self.num_rows for name, label in labels.items()}
        return dataclasses.replace(self, columns={**self.columns, **constant})

    def number(self, column: str, row: int) -> float | None:
        """The number in a cell; None if it is missing.

        Raises:
            DataError: if the cell holds something else.
        """
        text = self.columns[column][row]
        if is_missing(text):
            return None
        number = parse_number(text, has_commas=self.has_commas)
        if number is None and uses_comma(text):
            # It may stand for thousands as well: nobody can know.
            raise self.error(
                column,
                row,
                f"A number without commas is needed, but {text!r} was given: write a decimal point, or separate columns by "
                "semicolons, where a comma is decimal.",
            )
        if number is None:
            raise self.error(
                column, row, f"A number is needed, but {text!r} was given: correct it, or write n/a where there is none."
            )
        return number

    def error(self, column: str, row: int, sentence: str) -> DataError:
        """An error that says where it is."""
        return DataError(f"{self.file}, line {self.lines[row]}, column {column!r}: {sentence}")


def read_table(path: Path, file: str) -> Table:
    """The table in a file.

    Args:
        path: of a UTF-8 text file whose first line names the columns, separated by comma, semicolon or tab.
        file: how messages call it.

    Raises:
        DataError: if the file cannot be read as a table.
    """
    text = _read_text(path, file)
    delimiter = _find_delimiter(text, file)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, skipinitialspace=True, strict=True)
    names: list[str] = []
    rows: list[list[str]] = []
    lines: list[int] = []
    line = 1
    try:
        for row in reader:
            cells = [cell.strip() for cell in row]
            if any(cells) and not names:
                names = _name_columns(cells, file)
            elif any(cells):
                if len(cells) != len(names):
                    # Decimal commas make more cells.
                    is_longer = delimiter == "," and len(cells) > len(names)
                    hint = ", and if commas are decimal, separate columns by semicolons" if is_longer else ""
                    raise DataError(
                        f"{file}, line {line}: This row has {count(len(cells), 'cell')}, but {len(names)} columns are "
                        f"named in the first line: make them agree{hint}."
                    )
                rows.append(cells)
                lines.append(line)
            line = reader.line_num + 1
    except csv.Error as error:
        raise DataError(f"{file}, line {line}: This row cannot be read ({error}): check its quotes.") from None
    if not rows:
        raise DataError(f"{file} has no rows under its names of columns: give one row for each trial.")
    columns = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    return Table(file, columns, lines, has_commas=delimiter == ";")


def _read_text(path: Path, file: str) -> str:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise DataError(f"The file {file} cannot be read: {error.strerror or error}.") from None
    try:
        # Spreadsheets mark UTF-8 with three bytes that belong to no name.
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise DataError(f"{file}, line {line}: This is not UTF-8 text; save the table as UTF-8.") from None


def _find_delimiter(text: str, file: str) -> str:
    """What splits the first line, and the lines after it into as many cells."""
    physical = (line for line in io.StringIO(text, newline="") if line.strip())
    lines = list(itertools.islice(physical, NUM_SNIFFED))
    if not lines:
        raise DataError(f"{file} is empty: give a table whose first line names the columns.")
    counts = {delimiter: [_count_cells(line, delimiter) for line in lines] for delimiter in DELIMITERS}
    several = [delimiter for delimiter in DELIMITERS if counts[delimiter][0] > 1]
    if not several:
        raise DataError(
            f"{file} has one column only ({lines[0].strip()!r}), but subject, stimulus and response are needed: "
            "separate columns by commas, semicolons or tabs."
        )
    # The first of equals, in the order above.
    return max(several, key=lambda delimiter: (len(set(counts[delimiter])) == 1, counts[delimiter][0]))


def _count_cells(line: str, delimiter: str) -> int:
    try:
        return len(next(csv.reader([line], delimiter=delimiter, skipinitialspace=True)))
    except csv.Error:
        return 0


def _name_columns(cells: Sequence[str], file: str) -> list[str]:
    # pandas writes its index without a name.
    names = [cell or f"column {number}" for number, cell in enumerate(cells, start=1)]
    for name in names:
        if names.count(name) > 1:
            raise DataError(f"{file} has two columns named {name!r}: give each a name of its own.")
    return names
