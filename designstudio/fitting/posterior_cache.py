"""A folder for the posteriors of each cost: written as soon as they are finished, found if nothing has changed since.

What the fits under one cost depend on is one short text, their fingerprint: by it a run that was stopped finds what it had
finished.
"""

from pathlib import Path

import xarray as xr

from designstudio.core.fingerprint import fingerprint, hash_arrays, hash_code
from designstudio.core.versions import COMPUTING, list_versions
from designstudio.errors import StudioError
from designstudio.evaluate.fingerprint import identify_actor
from designstudio.fitting.models import CostModel
from designstudio.fitting.request import FitRequest
from designstudio.inference.posterior import load_posterior, save_posterior

FINGERPRINT = "fingerprint"
# These only show or plan.
WITHOUT_EFFECT = ("cli", "viz", "report", "dashboard", "runs", "search", "lab")


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


def fingerprint_cost(prepared: CostModel, trials: xr.Dataset, request: FitRequest, *, is_pooled: bool = False) -> str:
    """A text that two fits share if and only if their results are the same.

    Args:
        prepared: model and fixed values, in the actor's unit.
        trials: in the actor's unit.
        request: settings and seed matter; other costs do not.
        is_pooled: whether the settings of pooling matter, too.
    """
    model = prepared.model
    return fingerprint(
        {
            "trials": hash_arrays(*(trials[name].values for name in ("stimulus", "response", "is_present"))),
            "indices": trials["condition_index"].values.tolist(),
            "subjects": trials["subject"].values.tolist(),
            "conditions": trials["condition"].values.tolist(),
            "unit": trials["stimulus"].attrs["units"],
            "actor": identify_actor(model.actor),
            "cost": model.actor.cost.name,
            "per_condition": list(model.per_condition),
            "priors": {name: repr(prior) for name, prior in model.priors.items()},
            "fixed": {name: hash_arrays(array.values) for name, array in prepared.fixed.items()},
            "settings": request.settings.as_dict(),
            "pooling": request.pooling.as_dict() if is_pooled else None,
            "seed": request.seed,
            "code": hash_code(WITHOUT_EFFECT),
            "versions": list_versions(COMPUTING),
        }
    )
