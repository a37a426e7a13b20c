"""How real data are to be fitted; as JSON, too, with everything that is needed to build the models again."""

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from designstudio.inference.hierarchical.pooling_settings import PoolingSettings
from designstudio.inference.settings import FitSettings
from designstudio.metrics.intervals import INTERVAL
from designstudio.model.costs import PAPER_COST_NAMES
from designstudio.model.likelihood.lapses import FREE_LAPSES, NO_LAPSES, Lapses
from designstudio.model.priors import AbstractPrior, read_prior_record, record_prior

FixedValue = float | xr.DataArray


@dataclasses.dataclass(frozen=True)
class FitRequest:
    """What is fitted to every subject.

    Attributes:
        costs: names of the costs; each is fitted to every subject.
        fixed: parameters that are not estimated, in the unit of the data: one number, or a DataArray along `subject`,
            `condition` or both, labelled as the data are.
        per_condition: parameters with one value for each condition; all others are shared by the conditions.
        priors: of the analysis, where they differ from the paper's; a cost without such a parameter ignores it.
        on_data_scale: whether `priors` are in the unit of the data (else in that of the actor).
        pools: whether subjects are also pooled partially.
        settings: how carefully. pooling: how carefully subjects are pooled.
        seed: of all random numbers.
        lapses: whether some responses may have nothing to do with their stimulus: `free` (their share is estimated), `off`,
            or a known share. See `designstudio.model.likelihood.lapses`.
        interval: probability of the equal-tailed intervals.
        actors: files of trained actors, for costs whose actor does not come with the package.
        own_priors: of single costs, in the actor's unit, where they differ from `priors`.
        is_exact: whether actors are exact, where no file is given.
    """

    costs: tuple[str, ...] = PAPER_COST_NAMES
    fixed: Mapping[str, FixedValue] = dataclasses.field(default_factory=dict)
    per_condition: tuple[str, ...] = ()
    priors: Mapping[str, AbstractPrior] = dataclasses.field(default_factory=dict)
    on_data_scale: bool = False
    pools: bool = False
    settings: FitSettings = dataclasses.field(default_factory=FitSettings)
    pooling: PoolingSettings = dataclasses.field(default_factory=PoolingSettings)
    seed: int = 1
    lapses: Lapses = FREE_LAPSES
    interval: float = INTERVAL
    actors: Mapping[str, Path] = dataclasses.field(default_factory=dict)
    own_priors: Mapping[str, Mapping[str, AbstractPrior]] = dataclasses.field(default_factory=dict)
    is_exact: bool = False


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
        "lapses": request.lapses,
        "interval": request.interval,
        "own_priors": {
            cost: {name: record_prior(prior) for name, prior in priors.items()}
            for cost, priors in request.own_priors.items()
        },
        "is_exact": request.is_exact,
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
        # Older requests knew no lapses.
        lapses=record.get("lapses", NO_LAPSES),
        interval=record.get("interval", INTERVAL),
        actors={cost: Path(path) for cost, path in record["actors"].items()},
        own_priors={
            cost: {name: read_prior_record(prior) for name, prior in priors.items()}
            for cost, priors in record.get("own_priors", {}).items()
        },
        is_exact=record.get("is_exact", False),
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
