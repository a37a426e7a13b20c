"""Posteriors in a few numbers, in the unit of the data."""

from collections.abc import Mapping

import numpy as np
import xarray as xr
from jaxtyping import Float

from designstudio.fitting.reading import Scale
from designstudio.fitting.units import count_trials
from designstudio.model.likelihood.model import BehaviorModel
from designstudio.model.parameter_entries import list_parameter_entries

# Probability of the intervals, which are those of highest density.
INTERVAL = 0.94
STATISTICS = ("mean", "sd", "hdi_low", "hdi_high")


def summarize_posteriors(
    posteriors: Mapping[str, xr.DataTree], models: Mapping[str, BehaviorModel], trials: xr.Dataset, scale: Scale
) -> xr.Dataset:
    """Mean, standard deviation and 94 % interval (of highest density) of every number, in the unit of the data.

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
            found = summarize_draws(restored)
            if entry.condition is not None:
                found[:, ~has_trials[:, entry.condition]] = np.nan
            values[:, :, j, labels.index(entry.label(conditions))] = found
    dims = ("subject", "cost", "parameter")
    coords = {"subject": trials["subject"].values, "cost": list(posteriors), "parameter": labels}
    return xr.Dataset({name: (dims, array) for name, array in zip(STATISTICS, values, strict=True)}, coords=coords)


def summarize_group(
    pooled: xr.DataTree, model: BehaviorModel, conditions: list[str], scale: Scale
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
            kind: dict(zip(STATISTICS, summarize_draws(draws).tolist(), strict=True))
            for kind, draws in (("median", restored), ("spread", spread))
        }
    return summaries


def summarize_draws(draws: Float[np.ndarray, "*set draw"]) -> Float[np.ndarray, "statistic *set"]:
    """Mean, standard deviation and interval."""
    low, high = compute_hdi(draws)
    return np.stack([draws.mean(axis=-1), draws.std(axis=-1, ddof=1), low, high])


def compute_hdi(
    draws: Float[np.ndarray, "*set draw"], probability: float = INTERVAL
) -> tuple[Float[np.ndarray, "*set"], Float[np.ndarray, "*set"]]:
    """Ends of the shortest interval that holds this share of the draws.

    They are those of ArviZ, whose import takes longer than everything else here; a test compares both.
    """
    ordered = np.sort(draws, axis=-1)
    num_inside = int(np.floor(probability * ordered.shape[-1]))
    widths = ordered[..., num_inside:] - ordered[..., : ordered.shape[-1] - num_inside]
    first = np.argmin(widths, axis=-1)[..., None]
    low, high = (np.take_along_axis(ordered, at, axis=-1)[..., 0] for at in (first, first + num_inside))
    return low, high
