"""Rows as CSV files and as Markdown."""

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from designstudio.core.files import replace_file


def write_csv(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write rows with the same columns, all or nothing."""
    with replace_file(path) as part, part.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def read_csv(path: Path) -> list[dict[str, str]]:
    """Rows of a file."""
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def as_markdown(rows: Sequence[Mapping[str, str]]) -> str:
    """Rows as a Markdown table."""
    lines = [list(rows[0]), ["---"] * len(rows[0]), *(list(row.values()) for row in rows)]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)
