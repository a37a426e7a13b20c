"""Tables wider than a terminal."""

import io

import pytest
from rich.console import Console

from designstudio.cli.wide_tables import TableColumn, print_wide

COLUMNS = [
    TableColumn("trials", ["30", "60"]),
    *(TableColumn(f"RMSE of\nsigma[condition {k}]", [f"0.1{k} ± 0.05", f"0.2{k} ± 0.06"]) for k in range(9)),
]


@pytest.mark.parametrize("width", [30, 80, 140])
def test_neither_names_nor_numbers_are_cut_off_or_broken(width):
    console = Console(file=io.StringIO(), width=width)
    print_wide(console, "A table", COLUMNS, note="± is the Monte Carlo error.")
    lines = console.file.getvalue().splitlines()
    assert max(map(len, lines)) <= width
    for column in COLUMNS:
        for text in (*column.head.split("\n"), *column.cells):
            assert any(text in line for line in lines), text
    # Every block says what its rows are about.
    assert sum("trials" in line for line in lines) == sum("A table" in line for line in lines)
    assert lines[-1] == "± is the Monte Carlo error."
