"""`--fixed sigma=0.2` and `--fixed sigma=measured.csv`: values that a fit takes as known."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from designstudio.errors import DataError, StudioError

if TYPE_CHECKING:
    import xarray as xr

    from designstudio.fitting.reading.tables import Table


def split_pair(text: str, option: str, like: str, *, may_be_empty: bool = False) -> tuple[str, str]:
    """The two sides of a NAME=VALUE, of which the value may be empty where that means something."""
    name, sign, value = (part.strip() for part in text.partition("="))
    if not (name and sign and (value or may_be_empty)):
        raise StudioError(f"{option} is written like {like}, but {text!r} was given.")
    return name, value


def read_fixed(texts: Sequence[str]) -> "dict[str, float | xr.DataArray]":
    """Values by parameter: one number for all, or a table with a column of the parameter's name.

    Raises:
        StudioError: if one cannot be read.
    """
    fixed: dict[str, float | xr.DataArray] = {}
    for text in texts:
        name, value = split_pair(text, "--fixed", "sigma=0.2 or sigma=measured.csv")
        if name in fixed:
            raise StudioError(f"--fixed names {name!r} twice: name it once.")
        try:
            fixed[name] = float(value)
        except ValueError:
            fixed[name] = _read_values(name, Path(value))
    return fixed


def _read_values(name: str, path: Path) -> "xr.DataArray":
    """A table with one row for each subject, condition or both."""
    import numpy as np  # noqa: PLC0415  (keeps `designstudio --help` fast)
    import xarray as xr  # noqa: PLC0415

    from designstudio.fitting.reading.cells import tidy_label  # noqa: PLC0415
    from designstudio.fitting.reading.columns import find_column, list_names  # noqa: PLC0415
    from designstudio.fitting.reading.tables import read_table  # noqa: PLC0415

    if not path.is_file():
        raise DataError(f"--fixed {name}={path} is neither a number nor a file: check the name.")
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


def _read_number(table: "Table", name: str, row: int) -> float:
    number = table.number(name, row)
    return float("nan") if number is None else number
