"""Posteriors in a few numbers, in the unit of the data."""

from collections.abc import Mapping

import numpy as np
import xarray as xr
from jaxtyping import Float

from designstudio.fitting.units import count_trials
from designstudio.metrics.intervals import compute_interval
from designstudio.model.likelihood.model import BehaviorModel
from designstudio.model.parameter_entries import list_parameter_entries
from designstudio.model.scale import Scale

STATISTICS = ("mean", "sd", "low", "high")


def summarize_posteriors(
    posteriors: Mapping[str, xr.DataTree],
    models: Mapping[str, BehaviorModel],
    trials: xr.Dataset,
    scale: Scale,
    interval: float,
) -> xr.Dataset:
    """Mean, standard deviation and equal-tailed interval (low, high) of every number, in the unit of the data.

    Returns:
        A Dataset over (subject, cost, parameter), NaN where a cost has no such parameter or a subject no trials in its
        condition.
    """
    conditions = [str(label) for label in trials["condition"].values]
    entries = {cost: list_parameter_entries(model) for cost, model in models.items()}
    labels = list(dict.fromkeys(entry.label(conditions) for own in entries.values() for entry in own))
    has_trials = count_trials(trials) > 0
    values = np.full((len(STATISTICS), trials.sizes["dataset"], len(posteriors), len(labels)), np.nan)
    for j, (cost, posterior) in enumerate(posteriors.items()):
        parameters = {parameter.name: parameter for parameter in models[cost].parameters}
        draws = posterior["posterior"].to_dataset()
        for entry in entries[cost]:
            flat = entry.pick(draws[entry.name]).transpose("dataset", "chain", "draw").values.astype(float)
            restored = scale.restore(flat.reshape(len(flat), -1), parameters[entry.name])
            found = summarize_draws(restored, interval)
            if entry.condition is not None:
                found[:, ~has_trials[:, entry.condition]] = np.nan
            values[:, :, j, labels.index(entry.label(conditions))] = found
    dims = ("subject", "cost", "parameter")
    coords = {"subject": trials["subject"].values, "cost": list(posteriors), "parameter": labels}
    return xr.Dataset({name: (dims, array) for name, array in zip(STATISTICS, values, strict=True)}, coords=coords)


def summarize_group(
    pooled: xr.DataTree, model: BehaviorModel, conditions: list[str], scale: Scale, interval: float
) -> dict[str, dict[str, dict[str, float]]]:
    """The median subject, in the unit of the data, and the spread of subjects, on the scale of the group."""
    group = pooled["group"].to_dataset()
    parameters = {parameter.name: parameter for parameter in model.parameters}
    summaries = {}
    for entry in list_parameter_entries(model):
        median, spread = (
            entry.pick(group[f"{entry.name}_{kind}"]).values.astype(float).ravel() for kind in ("median", "spread")
        )
        restored = scale.restore(median, parameters[entry.name])
        summaries[entry.label(conditions)] = {
            kind: dict(zip(STATISTICS, summarize_draws(draws, interval).tolist(), strict=True))
            for kind, draws in (("median", restored), ("spread", spread))
        }
    return summaries


def summarize_draws(draws: Float[np.ndarray, "*set draw"], interval: float) -> Float[np.ndarray, "statistic *set"]:
    """Mean, standard deviation and interval."""
    low, high = compute_interval(draws, interval)
    return np.stack([draws.mean(axis=-1), draws.std(axis=-1, ddof=1), low, high])
