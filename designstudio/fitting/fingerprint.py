"""What the fits under one cost depend on, as one short text: by it a run that was stopped finds what it had finished."""

import xarray as xr

from designstudio.core.fingerprint import fingerprint, hash_arrays, hash_code
from designstudio.core.versions import COMPUTING, list_versions
from designstudio.evaluate.fingerprint import identify_actor
from designstudio.fitting.models import CostModel
from designstudio.fitting.request import FitRequest

# These only show or plan.
WITHOUT_EFFECT = ("cli", "viz", "report", "dashboard", "runs", "search", "lab")


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
