"""How a result shows itself: one screen of text, the same as HTML in notebooks, a tidy table, and figures.

To give a class of results all of this, derive it from `AbstractResult` and say what is on the screen (`overview`) and in the
table (`to_frame`); what `.plot()` draws is registered in `designstudio/viz/plots.py`, because figures stand above results.
"""

import html
import importlib
import itertools
import textwrap
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import pandas as pd

# Of one screen.
WIDTH, NUM_ROWS, NUM_NOTE_LINES = 100, 18, 12
GAP = "  "


class Overview(NamedTuple):
    """What one screen says about a result.

    Attributes:
        title: what it is.
        facts: what was done, in one line.
        columns: heads of a table, of one line or several; the first is of the names of the rows.
        rows: cells of the table.
        notes: what it means, in plain sentences.
        hint: what to call next.
    """

    title: str
    facts: str
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    notes: tuple[str, ...] = ()
    hint: str = ""


class AbstractResult(ABC):
    """A result of the public API. Its `repr` is one screen that a person can read."""

    @abstractmethod
    def overview(self) -> Overview:
        """What one screen says about the result."""

    @abstractmethod
    def to_frame(self) -> "pd.DataFrame":
        """All numbers as a tidy table: one row for each `value`, with its Monte Carlo error `mcse`."""

    def plot(self, **options: Any) -> Any:
        """The result as HoloViews figure; options are those of `designstudio.plot` for this kind of result."""
        # Through the front door: whoever has a result need not know which room draws it.
        return importlib.import_module("designstudio").plot(self, **options)

    def __repr__(self) -> str:
        return format_text(self.overview())

    def _repr_html_(self) -> str:
        return format_html(self.overview())


def format_text(overview: Overview) -> str:
    """An overview within one screen: what does not fit is counted, not shown."""
    blocks = [_wrap(overview.title), _wrap(overview.facts)]
    if overview.rows:
        blocks += ["", *_format_table(overview.columns, overview.rows)]
    if overview.notes:
        wrapped = [_wrap(note, first="• ", rest="  ") for note in overview.notes]
        ends = itertools.accumulate(note.count("\n") + 1 for note in wrapped)
        num_shown = max(1, sum(end <= NUM_NOTE_LINES for end in ends))
        blocks += ["", *wrapped[:num_shown], *_count_rest(len(wrapped) - num_shown, "sentences")]
    if overview.hint:
        blocks += ["", _wrap(overview.hint)]
    return "\n".join(block for k, block in enumerate(blocks) if block or k > 1)


def format_html(overview: Overview) -> str:
    """An overview for a notebook: all of it, in the notebook's own fonts and colours."""
    parts = [f"<p><strong>{html.escape(overview.title)}</strong><br>{html.escape(overview.facts)}</p>"]
    if overview.rows:
        head = "".join(f"<th>{html.escape(name).replace(chr(10), '<br>')}</th>" for name in overview.columns)
        body = "".join(
            f"<tr><th>{html.escape(row[0])}</th>{''.join(f'<td>{html.escape(cell)}</td>' for cell in row[1:])}</tr>"
            for row in overview.rows
        )
        parts.append(f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>")
    if overview.notes:
        parts.append(f"<ul>{''.join(f'<li>{html.escape(note)}</li>' for note in overview.notes)}</ul>")
    if overview.hint:
        parts.append(f"<p><small>{html.escape(overview.hint)}</small></p>")
    return f"<div>{''.join(parts)}</div>"


def _format_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows of aligned cells; columns that do not fit are left out at the right."""
    shown = rows[:NUM_ROWS]
    num_lines = max(name.count("\n") for name in columns) + 1
    # Heads of several lines stand on the ruler.
    heads = list(
        zip(*([""] * (num_lines - len(lines)) + lines for lines in (name.split("\n") for name in columns)), strict=True)
    )
    widths = [max(len(row[k]) for row in (*heads, *shown)) for k in range(len(columns))]
    num = 1
    while num < len(columns) and sum(widths[: num + 1]) + num * len(GAP) <= WIDTH:
        num += 1

    def format_row(cells: Sequence[str]) -> str:
        first, *others = (
            cell.ljust(width) if k == 0 else cell.rjust(width)
            for k, (cell, width) in enumerate(zip(cells, widths, strict=True))
        )
        return GAP.join([first, *others][:num]).rstrip()

    lines = [*map(format_row, heads), "-" * min(WIDTH, sum(widths[:num]) + (num - 1) * len(GAP)), *map(format_row, shown)]
    return lines + _count_rest(len(rows) - NUM_ROWS, "rows") + _count_rest(len(columns) - num, "columns")


def _count_rest(number: int, what: str) -> list[str]:
    return [f"... {number} more {what if number > 1 else what.removesuffix('s')}"] if number > 0 else []


def _wrap(text: str, *, first: str = "", rest: str = "") -> str:
    return textwrap.fill(text, WIDTH, initial_indent=first, subsequent_indent=rest, break_on_hyphens=False)
