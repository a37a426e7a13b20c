"""Requests as JSON, and back: everything that is needed to build the models again."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from designstudio.fitting.request import FitRequest, FixedValue
from designstudio.inference.hierarchical.settings import PoolingSettings
from designstudio.inference.settings import FitSettings
from designstudio.model.priors import read_prior_record, record_prior


def request_as_dict(request: FitRequest) -> dict[str, Any]:
    """A request as JSON knows it."""
    return {
        "costs": list(request.costs),
        "fixed": {name: _record_fixed(value) for name, value in request.fixed.items()},
        "per_condition": list(request.per_condition),
        "priors": {name: record_prior(prior) for name, prior in request.priors.items()},
        "on_data_scale": request.on_data_scale,
        "pools": request.pools,
        "settings": request.settings.as_dict(),
        "pooling": request.pooling.as_dict(),
        "seed": request.seed,
        "actors": {cost: str(Path(path).resolve()) for cost, path in request.actors.items()},
    }


def request_from_dict(record: Mapping[str, Any]) -> FitRequest:
    """The request that was recorded."""
    return FitRequest(
        costs=tuple(record["costs"]),
        fixed={name: _read_fixed(value) for name, value in record["fixed"].items()},
        per_condition=tuple(record["per_condition"]),
        priors={name: read_prior_record(prior) for name, prior in record["priors"].items()},
        on_data_scale=record["on_data_scale"],
        pools=record["pools"],
        settings=FitSettings(**record["settings"]),
        # Older requests do not say how subjects were pooled: there was one way.
        pooling=PoolingSettings(**record.get("pooling", {})),
        seed=record["seed"],
        actors={cost: Path(path) for cost, path in record["actors"].items()},
    )


def _record_fixed(value: FixedValue) -> Any:
    if not isinstance(value, xr.DataArray):
        return float(value)
    numbers = value.values.astype(float).astype(object)
    numbers[np.isnan(value.values)] = None
    labels = {str(dim): [str(label) for label in value[dim].values] for dim in value.dims}
    return {"labels": labels, "values": numbers.tolist()}


def _read_fixed(record: Any) -> FixedValue:
    if not isinstance(record, dict):
        return float(record)
    # None becomes NaN.
    numbers = np.array(record["values"], float)
    return xr.DataArray(numbers, coords=record["labels"], dims=list(record["labels"]))
