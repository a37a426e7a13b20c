"""Finished work on disk, block by block: a rerun finds it, an interrupted run goes on where it stopped."""

import contextlib
from pathlib import Path

import xarray as xr

from designstudio.core.configuration import evaluations_folder
from designstudio.core.files import read_json, replace_file, write_json

TIMINGS = "timings.json"
BLOCK_SIZE = 100


class BlockCache:
    """A folder of datasets, by fingerprint and number of the block; without a folder nothing is remembered.

    Args:
        folder: where blocks are kept.
        block_size: items that are computed, and kept, together: shapes repeat from block to block; nothing compiles twice.
    """

    def __init__(self, folder: Path | None, block_size: int = BLOCK_SIZE) -> None:
        self.folder, self.block_size = folder, block_size

    @classmethod
    def default(cls) -> "BlockCache":
        """In the user's cache folder."""
        return cls(evaluations_folder())

    def load(self, fingerprint: str, block: int) -> xr.Dataset | None:
        """A block, if it is there and whole."""
        path = self._path(fingerprint, block)
        if path is None or not path.exists():
            return None
        try:
            return xr.load_dataset(path, engine="h5netcdf")
        except (OSError, ValueError, KeyError):
            # Damaged: computed again, and written over.
            return None

    def save(self, fingerprint: str, block: int, content: xr.Dataset) -> None:
        """Keep a block, all of it or nothing."""
        path = self._path(fingerprint, block)
        if path is None:
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        with replace_file(path) as part:
            content.to_netcdf(part, engine="h5netcdf")

    def recall_seconds(self, kind: str) -> float | None:
        """Seconds an item that work of this kind took last time."""
        return self._read_timings().get(kind)

    def note_seconds(self, kind: str, seconds: float) -> None:
        """Remember how long an item took."""
        if self.folder is None:
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        write_json(self.folder / TIMINGS, {**self._read_timings(), kind: round(seconds, 5)})

    def _read_timings(self) -> dict[str, float]:
        if self.folder is None:
            return {}
        # An estimate is not worth an error.
        with contextlib.suppress(ValueError, TypeError):
            return {kind: float(seconds) for kind, seconds in read_json(self.folder / TIMINGS).items()}
        return {}

    def _path(self, fingerprint: str, block: int) -> Path | None:
        return None if self.folder is None else self.folder / fingerprint / f"{block:04d}.nc"
