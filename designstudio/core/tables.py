"""Rows as CSV files and as Markdown, and tables within a text that are made anew."""

import csv
import re
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


def fill_blocks(text: str, blocks: Mapping[str, str]) -> str:
    """The text with what stands between `<!-- name:start -->` and `<!-- name:end -->` made anew, by the names of blocks."""
    for name, block in blocks.items():
        pattern = re.compile(f"(<!-- {name}:start -->\n).*?(<!-- {name}:end -->)", re.DOTALL)
        text = pattern.sub(lambda match, block=block: f"{match[1]}{block}\n{match[2]}", text)
    return text


def fill_tables(text: str, folder: Path) -> str:
    """The text with the table of every CSV file of a folder in the block of its name; a table without a file is `none`."""
    names = re.findall(r"<!-- (\w+):start -->", text)
    paths = {name: folder / f"{name}.csv" for name in names}
    tables = {name: as_markdown(read_csv(path)) if path.exists() else "none" for name, path in paths.items()}
    return fill_blocks(text, tables)
