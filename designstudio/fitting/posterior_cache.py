"""A folder for the posteriors of each cost: written as soon as they are finished, found if nothing has changed since."""

from pathlib import Path

import xarray as xr

from designstudio.errors import StudioError
from designstudio.inference.posterior import load_posterior, save_posterior

FINGERPRINT = "fingerprint"


class PosteriorCache:
    """Posteriors by kind and cost; without a folder, nothing is remembered."""

    def __init__(self, folder: Path | None) -> None:
        if folder is not None and folder.exists() and not folder.is_dir():
            raise StudioError(f"A folder is needed for the results, but {str(folder)!r} is a file.")
        self.folder = folder

    def find(self, kind: str, cost: str, fingerprint: str) -> xr.DataTree | None:
        """What was kept, if it has this fingerprint and is whole."""
        if self.folder is None:
            return None
        path = locate(self.folder, kind, cost)
        if not path.exists():
            return None
        try:
            found = load_posterior(path)
        except StudioError:
            # Damaged: made again, and written over.
            return None
        return found if found.attrs.get(FINGERPRINT) == fingerprint else None

    def put(self, kind: str, cost: str, fingerprint: str, posterior: xr.DataTree) -> None:
        """Keep a posterior, all of it or nothing."""
        posterior.attrs[FINGERPRINT] = fingerprint
        if self.folder is not None:
            save_posterior(posterior, locate(self.folder, kind, cost))


def locate(folder: Path, kind: str, cost: str) -> Path:
    """The file of one cost."""
    return folder / f"{kind}_{cost}.nc"
