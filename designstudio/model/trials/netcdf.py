"""Trials as netCDF files: data only, readable by any netCDF tool, exact in both directions."""

import os
from pathlib import Path
from typing import Final

import xarray as xr

from designstudio.core.files import replace_file
from designstudio.model.trials.schema import TrialsError, check_trials

SUFFIX = ".nc"
ENGINE: Final = "h5netcdf"
# A stimulus "in seconds" is a number, not a duration: only what was written as a duration is read as one.
DURATIONS = xr.coders.CFTimedeltaCoder(decode_via_units=False)


def save_trials(trials: xr.Dataset, path: str | os.PathLike[str]) -> None:
    """Write trials to a file, all or nothing: a killed writer leaves the old file in place.

    Raises:
        TrialsError: if the trials do not follow the schema, or cannot be written there.
    """
    target = _check_suffix(path)
    check_trials(trials)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with replace_file(target) as part:
            trials.drop_encoding().to_netcdf(part, engine=ENGINE)
    except OSError as error:
        raise TrialsError(
            f"The trials cannot be written to '{target}' ({error.strerror or error}): choose another place."
        ) from error
    except (TypeError, ValueError, NotImplementedError) as error:
        raise TrialsError(
            f"The trials hold something that netCDF cannot store ({error}): convert it or leave it out."
        ) from error


def load_trials(path: str | os.PathLike[str]) -> xr.Dataset:
    """Read trials from a file and check them.

    Raises:
        TrialsError: if there is no such file, or it does not hold trials.
    """
    source = _check_suffix(path)
    if not source.is_file():
        raise TrialsError(f"There is no file '{source}': check the name, or write it with save_trials.")
    try:
        trials = xr.load_dataset(source, engine=ENGINE, decode_timedelta=DURATIONS).drop_encoding()
    except (OSError, RuntimeError, LookupError, ValueError, TypeError, AttributeError) as error:
        # HDF5 answers damage with any of these, depending on where it is.
        raise TrialsError(
            f"The file '{source}' cannot be read as netCDF ({error}): write it again with save_trials."
        ) from error
    try:
        check_trials(trials)
    except TrialsError as error:
        raise TrialsError(f"The file '{source}' does not hold trials of this version: {error}") from error
    return trials


def _check_suffix(path: str | os.PathLike[str]) -> Path:
    path = Path(path)
    if path.suffix != SUFFIX:
        raise TrialsError(f"Trials are kept in files that end in {SUFFIX!r}, but '{path}' was given: rename it.")
    return path
