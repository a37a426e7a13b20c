"""Values that a fit takes as known, as people give them: a number, or a table with one row for a subject or condition.

Every door brings what it is given into this form: `--fixed sigma=measured.csv`, `fixed={"sigma": "measured.csv"}` in Python,
and the same in a job of the browser.
"""

import math
import os
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import xarray as xr

from designstudio.errors import DataError
from designstudio.fitting.reading.cells import tidy_label
from designstudio.fitting.reading.columns import find_column, list_names
from designstudio.fitting.reading.tables import Table, read_table
from designstudio.fitting.request import FixedValue

GivenValue = FixedValue | str | os.PathLike[str]


def read_fixed(given: Mapping[str, GivenValue], *, folder: Path | None = None) -> dict[str, FixedValue]:
    """Values by parameter: one number for all, or along subject, condition or both.

    Args:
        given: numbers, numbers as text, paths of tables, or what was read already.
        folder: where tables are looked for, if not from the working directory.

    Raises:
        DataError: if one cannot be read.
    """
    fixed: dict[str, FixedValue] = {}
    for name, value in given.items():
        if isinstance(value, xr.DataArray):
            fixed[name] = value
            continue
        fixed[name] = _read_one(name, value, folder)
    return fixed


def _read_one(name: str, value: float | str | os.PathLike[str], folder: Path | None) -> FixedValue:
    """A number, or what a table says."""
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        path = Path(os.fspath(value))  # type: ignore[arg-type]
    return read_values(name, path if folder is None else folder / path.name)


def read_values(name: str, path: Path) -> xr.DataArray:
    """A table with one row for each subject, condition or both, and a column of the parameter's name."""
    if not path.is_file():
        raise DataError(f"The fixed {name}, {str(path)!r}, is neither a number nor a file: check the name.")
    table = read_table(path, path.name)
    if name not in table.columns:
        raise DataError(f"{path.name} has no column {name!r}, but {list_names(table.columns)}: name one so.")
    found = {role: find_column(role, table.columns, {}, path.name) for role in ("subject", "condition")}
    roles = {role: column for role, column in found.items() if column is not None}
    if not roles:
        raise DataError(f"{path.name} has no column for the subject or the condition, but {list_names(table.columns)}.")
    keys = [tuple(tidy_label(table.columns[column][row]) for column in roles.values()) for row in range(table.num_rows)]
    labels = {role: list(dict.fromkeys(key[place] for key in keys)) for place, role in enumerate(roles)}
    values = xr.DataArray(np.full([len(own) for own in labels.values()], np.nan), coords=labels, dims=list(labels))
    for row, key in enumerate(keys):
        at = dict(zip(roles, key, strict=True))
        if not np.isnan(values.sel(at)):
            raise table.error(name, row, f"{' and '.join(map(repr, key))} has a value already: give one row for each.")
        values.loc[at] = _read_number(table, name, row)
    return values


def _read_number(table: Table, name: str, row: int) -> float:
    number = table.number(name, row)
    return math.nan if number is None else number
