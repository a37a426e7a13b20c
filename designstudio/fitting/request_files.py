"""Requests as JSON, and back: everything that is needed to build the models again."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from designstudio.errors import StudioError
from designstudio.fitting.request import FitRequest, FixedValue
from designstudio.inference.settings import FitSettings
from designstudio.model.priors import AbstractPrior, Constant, HalfNormal, Interval, LogNormal, Uniform

# The numbers of each family, by which it is written and read.
PRIOR_FIELDS: dict[type[AbstractPrior], tuple[str, ...]] = {
    Constant: ("value",),
    Uniform: ("low", "high"),
    HalfNormal: ("scale",),
    LogNormal: ("median", "sigma"),
}


def request_as_dict(request: FitRequest) -> dict[str, Any]:
    """A request as JSON knows it."""
    return {
        "costs": list(request.costs),
        "fixed": {name: _record_fixed(value) for name, value in request.fixed.items()},
        "per_condition": list(request.per_condition),
        "priors": {name: _record_prior(prior) for name, prior in request.priors.items()},
        "on_data_scale": request.on_data_scale,
        "pools": request.pools,
        "settings": request.settings.as_dict(),
        "seed": request.seed,
        "actors": {cost: str(Path(path).resolve()) for cost, path in request.actors.items()},
    }


def request_from_dict(record: Mapping[str, Any]) -> FitRequest:
    """The request that was recorded."""
    return FitRequest(
        costs=tuple(record["costs"]),
        fixed={name: _read_fixed(value) for name, value in record["fixed"].items()},
        per_condition=tuple(record["per_condition"]),
        priors={name: _read_prior(prior) for name, prior in record["priors"].items()},
        on_data_scale=record["on_data_scale"],
        pools=record["pools"],
        settings=FitSettings(**record["settings"]),
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


def _record_prior(prior: AbstractPrior) -> dict[str, Any]:
    fields = PRIOR_FIELDS.get(type(prior))
    if fields is None:
        raise StudioError(f"A prior of the kind {type(prior).__name__} cannot be written to a file.")
    record: dict[str, Any] = {"family": type(prior).__name__, **{name: getattr(prior, name) for name in fields}}
    if isinstance(prior, HalfNormal | LogNormal):
        # JSON has no infinity.
        record["bounds"] = [bound if math.isfinite(bound) else None for bound in (prior.bounds.low, prior.bounds.high)]
    return record


def _read_prior(record: Mapping[str, Any]) -> AbstractPrior:
    families = {family.__name__: family for family in PRIOR_FIELDS}
    family: Any = families[record["family"]]
    numbers = [record[name] for name in PRIOR_FIELDS[family]]
    if "bounds" not in record:
        return family(*numbers)
    low, high = record["bounds"]
    return family(*numbers, Interval(-math.inf if low is None else low, math.inf if high is None else high))
