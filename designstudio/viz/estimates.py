"""Estimates of real participants as tables, in the unit of the data.

Posteriors are in the actor's unit. They are brought to the unit of the data draw by draw, since a weight of effort does not
change in proportion; means and equal-tailed intervals are taken after that.

A table is tidy: a row for each `subject`, `quantity` (a parameter) and `condition` (`SHARED` if all conditions share it),
with `mean`, `low`, `high` and `is_good`. The table of a group has the same columns without `subject` and `is_good`.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from designstudio.metrics.intervals import INTERVAL, compute_interval
from designstudio.model.likelihood.model import BehaviorModel
from designstudio.model.parameter_entries import list_array_entries, list_parameter_entries
from designstudio.model.parameters import Parameter
from designstudio.model.scale import Scale, name_unit
from designstudio.viz.theme import QuantityLabel

SHARED = ""


def label_parameters(model: BehaviorModel, unit: str, conditions: list[str]) -> dict[str, QuantityLabel]:
    """Symbols and units, of the free parameters and of each condition's entry of them (`sigma[0]`)."""
    labels = {p.name: QuantityLabel(p.symbol, name_unit(p, unit)) for p in _list_free(model)}
    for entry in list_parameter_entries(model):
        if entry.condition is not None:
            label = labels[entry.name]
            labels[entry.label()] = label._replace(symbol=f"{label.symbol}, {conditions[entry.condition]}")
    return labels


def estimate_subjects(
    posterior: xr.DataTree, model: BehaviorModel, scale: Scale, *, interval: float = INTERVAL
) -> pd.DataFrame:
    """Means and equal-tailed intervals of all subjects.

    Args:
        posterior: separate or pooled fits of one cost. Subjects that were excluded from pooling have rows, without numbers.
        model: that was fitted.
        scale: to the unit of the data.
        interval: probability of the intervals.
    """
    draws = posterior["posterior"].to_dataset()
    subjects = draws["subject"].values.astype(str).tolist()
    is_good: Any = posterior["diagnostics"]["is_good"].values
    excluded: list[str] = []
    if "excluded" in posterior.children:
        excluded = posterior["excluded"].to_dataset()["subject"].values.astype(str).tolist()
    tables = []
    for parameter, condition, array in _list_entries(draws, model, scale):
        flat = array.transpose("dataset", ...).values.reshape(len(subjects), -1)
        low, high = compute_interval(flat, interval)
        missing = np.full(len(excluded), np.nan)
        tables.append(
            pd.DataFrame(
                {
                    "subject": [*subjects, *excluded],
                    "quantity": parameter.name,
                    "condition": condition,
                    "mean": np.append(flat.mean(1), missing),
                    "low": np.append(low, missing),
                    "high": np.append(high, missing),
                    "is_good": [*is_good.tolist(), *([False] * len(excluded))],
                }
            )
        )
    return pd.concat(tables, ignore_index=True)


def estimate_group(pooled: xr.DataTree, model: BehaviorModel, scale: Scale, *, interval: float = INTERVAL) -> pd.DataFrame:
    """Mean and equal-tailed interval of the median subject."""
    group = pooled["group"].to_dataset()
    medians = group[[f"{parameter.name}_median" for parameter in _list_free(model)]]
    medians = medians.rename({name: str(name).removesuffix("_median") for name in medians.data_vars})
    rows = []
    for parameter, condition, array in _list_entries(medians, model, scale):
        flat = array.values.reshape(1, -1)
        (low,), (high,) = compute_interval(flat, interval)
        rows.append((parameter.name, condition, flat.mean(), low, high))
    return pd.DataFrame(rows, columns=["quantity", "condition", "mean", "low", "high"])


def _list_free(model: BehaviorModel) -> list[Parameter]:
    return [parameter for parameter in model.parameters if parameter.name in model.priors]


def _list_entries(draws: xr.Dataset, model: BehaviorModel, scale: Scale) -> Iterator[tuple[Parameter, str, xr.DataArray]]:
    """Every free parameter, in each condition if it differs between them, in the unit of the data."""
    parameters = {parameter.name: parameter for parameter in _list_free(model)}
    for entry in list_array_entries(draws[list(parameters)]):
        parameter = parameters[entry.name]
        condition = SHARED if entry.condition is None else str(draws["condition"].values[entry.condition])
        yield parameter, condition, scale.restore(entry.pick(draws[entry.name]).astype(float), parameter)
