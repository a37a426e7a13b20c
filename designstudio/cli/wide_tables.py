"""Tables that are wider than a terminal: as many below each other as it needs, so that no name and no number is cut off."""

from collections.abc import Sequence
from typing import NamedTuple

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table

# Letters that no table needs: it is measured as if there were so many.
WIDEST = 1000


class TableColumn(NamedTuple):
    """One column.

    Attributes:
        head: its name; a line end breaks it.
        cells: one a row.
        is_text: begins at the left.
    """

    head: str
    cells: Sequence[str]
    is_text: bool = False


def print_wide(console: Console, title: str, columns: Sequence[TableColumn], *, num_keys: int = 1, note: str = "") -> None:
    """Print columns, below each other where they do not fit beside each other.

    Args:
        console: says how wide the terminal is.
        title: of the first table.
        columns: of all of them.
        num_keys: columns that say what a row is about, and are repeated.
        note: about all of them, in a line of its own: the last table may be narrow.
    """
    for table in _split_table(console, title, columns, num_keys):
        console.print(table)
    if note:
        console.print(note, markup=False)


def _split_table(console: Console, title: str, columns: Sequence[TableColumn], num_keys: int) -> list[Table]:
    keys, others = columns[:num_keys], columns[num_keys:]

    def make(chosen: Sequence[TableColumn], *, is_first: bool = True) -> Table:
        table = Table(
            title=escape(title) + ("" if is_first else " (continued)"),
            box=SIMPLE_HEAD,
            padding=(0, 1, 0, 0),
            pad_edge=False,
        )
        shown = (*keys, *chosen)
        for column in shown:
            # Names such as sigma[low] are no styles.
            table.add_column(escape(column.head), justify="left" if column.is_text else "right", no_wrap=True)
        for row in zip(*(column.cells for column in shown), strict=True):
            table.add_row(*map(escape, row))
        return table

    widest = console.options.update(max_width=WIDEST)
    blocks: list[list[TableColumn]] = [[]]
    for column in others:
        wider = [*blocks[-1], column]
        if blocks[-1] and console.measure(make(wider), options=widest).maximum > console.width:
            blocks.append([column])
        else:
            blocks[-1] = wider
    return [make(block, is_first=k == 0) for k, block in enumerate(blocks)]
