"""Sidecars: JSON files that say what the columns of a table mean.

BIDS and Psych-DS let one sidecar stand for many tables: it applies to every table below its folder whose name ends alike
(`_beh`, `_data`) and has all the parts of the sidecar's name; the closer one wins. BIDS lists columns by name, with Units,
Description and Levels; Psych-DS lists them under variableMeasured, as schema.org does.
"""

import dataclasses
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from designstudio.errors import DataError


@dataclasses.dataclass(frozen=True)
class ColumnInfo:
    """What a sidecar says about a column.

    Attributes:
        unit: what it is measured in; "" if nothing is said.
        description: a sentence; "" if nothing is said.
        levels: meaning of each of its values, as far as something is said.
    """

    unit: str = ""
    description: str = ""
    levels: Mapping[str, str] = dataclasses.field(default_factory=dict)


def read_sidecars(table: Path, root: Path) -> dict[str, ColumnInfo]:
    """What is said about the columns of a table, by their names.

    Args:
        table: a file in `root` or below.
        root: folder of the data set.

    Raises:
        DataError: if a sidecar is not JSON.
    """
    found: dict[str, ColumnInfo] = {}
    for path in _find_sidecars(table, root):
        found |= _read_sidecar(path)
    return found


def _find_sidecars(table: Path, root: Path) -> Iterator[Path]:
    """From the top of the data set down to the table's own; of one folder, the one with the longest name last."""
    yield from root.glob("dataset_description.json")
    *parts, suffix = table.stem.split("_")
    above = [folder for folder in (*reversed(table.parents), table.parent) if folder == root or root in folder.parents]
    for folder in dict.fromkeys(above):
        for path in sorted(folder.glob("*.json"), key=lambda path: (len(path.stem), path.stem)):
            *needed, ending = path.stem.split("_")
            if ending == suffix and set(needed) <= set(parts):
                yield path


def _read_sidecar(path: Path) -> dict[str, ColumnInfo]:
    try:
        content = json.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(f"The sidecar '{path}' cannot be read as JSON ({error}): correct it or take it away.") from None
    if not isinstance(content, dict):
        raise DataError(f"The sidecar '{path}' must be a JSON object that names columns: correct it or take it away.")
    measured = content.get("variableMeasured")
    listed = measured if isinstance(measured, list) else []
    entries = {entry.get("name"): entry for entry in listed if isinstance(entry, dict)}
    entries |= {name: entry for name, entry in content.items() if isinstance(entry, dict)}
    return {name: _read_entry(entry) for name, entry in entries.items() if isinstance(name, str)}


def _read_entry(entry: Mapping[str, Any]) -> ColumnInfo:
    by_key = {key.lower(): value for key, value in entry.items()}
    levels = by_key.get("levels")
    return ColumnInfo(
        unit=_as_text(by_key.get("units", by_key.get("unittext", by_key.get("unit")))),
        description=_as_text(by_key.get("description")),
        levels={level: _describe_level(meaning) for level, meaning in levels.items()} if isinstance(levels, dict) else {},
    )


def _describe_level(meaning: Any) -> str:
    # BIDS allows a sentence, or an object that holds one.
    return _as_text(meaning.get("Description") if isinstance(meaning, dict) else meaning)


def _as_text(value: Any) -> str:
    return value.strip() if isinstance(value, str) else ""
