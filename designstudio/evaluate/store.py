"""Finished evaluations on disk, block by block: a rerun finds them, an interrupted run goes on where it stopped."""

import contextlib
import json
import os
import tempfile
from pathlib import Path

import xarray as xr

from designstudio.core.configuration import evaluations_folder

TIMINGS = "timings.json"


class Store:
    """A folder of summaries, by fingerprint and block of data sets; or none, which remembers nothing."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder

    @classmethod
    def default(cls) -> "Store":
        """In the user's cache folder."""
        return cls(evaluations_folder())

    def load(self, fingerprint: str, block: int) -> xr.Dataset | None:
        """Summaries of a block, if they are there and whole."""
        path = self._path(fingerprint, block)
        if path is None or not path.exists():
            return None
        try:
            return xr.load_dataset(path, engine="h5netcdf")
        except (OSError, ValueError, KeyError):
            # Damaged: computed again, and written over.
            return None

    def save(self, fingerprint: str, block: int, summaries: xr.Dataset) -> None:
        """Keep a block, all of it or nothing."""
        path = self._path(fingerprint, block)
        if path is None:
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=path.parent, prefix=".saving-") as folder:
            part = Path(folder) / path.name
            summaries.to_netcdf(part, engine="h5netcdf")
            os.replace(part, path)

    def recall_seconds(self, kind: str) -> float | None:
        """Seconds a data set that evaluations of this kind took last time."""
        return self._read_timings().get(kind)

    def note_seconds(self, kind: str, seconds: float) -> None:
        """Remember how long a data set took."""
        if self.folder is None:
            return
        timings = {**self._read_timings(), kind: round(seconds, 5)}
        self.folder.mkdir(parents=True, exist_ok=True)
        part = self.folder / f".{TIMINGS}.{os.getpid()}"
        part.write_text(json.dumps(timings, indent=1))
        os.replace(part, self.folder / TIMINGS)

    def _read_timings(self) -> dict[str, float]:
        if self.folder is None:
            return {}
        # An estimate is not worth an error.
        with contextlib.suppress(OSError, ValueError):
            return {str(kind): float(seconds) for kind, seconds in json.loads((self.folder / TIMINGS).read_text()).items()}
        return {}

    def _path(self, fingerprint: str, block: int) -> Path | None:
        return None if self.folder is None else self.folder / fingerprint / f"{block:04d}.nc"
