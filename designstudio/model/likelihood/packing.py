"""Between trials as people keep them and trials as the likelihood sees them.

A person's trials are in the order of the experiment, (dataset, trial); `Observations` are sorted by condition,
(dataset, condition, trial in condition). The order within a condition is that of the experiment, so what is computed for
each trial can be put back where it belongs.
"""

import warnings
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import xarray as xr
from jaxtyping import ArrayLike, Float

from designstudio.errors import OutsideTrainingBoxWarning, StudioError, UnknownNameError
from designstudio.model.likelihood.lapses import prepare_lapses
from designstudio.model.likelihood.model import BehaviorModel
from designstudio.model.likelihood.observations import Observations, observe
from designstudio.model.parameters import Parameter, check_within
from designstudio.model.trials.schema import TrialsError, check_trials, number_within_groups

FixedValue = float | npt.ArrayLike | xr.DataArray
NOTHING_FIXED: Mapping[str, FixedValue] = MappingProxyType({})
FIXED_DIMS = ("dataset", "condition")
# Values are kept in 32 bits: one on a face of the box may be rounded out of it.
ROUNDING = 1e-5


class TrialIndex(NamedTuple):
    """Where every present trial stands, in the experiment and in its condition."""

    dataset: np.ndarray
    trial: np.ndarray
    condition: np.ndarray
    trial_in_condition: np.ndarray


def pack_trials(trials: xr.Dataset, model: BehaviorModel, fixed: Mapping[str, FixedValue] = NOTHING_FIXED) -> Observations:
    """Trials as observations, with a leading axis for data sets.

    Args:
        trials: follow the schema of `designstudio.model.trials`.
        model: what will be fitted to them.
        fixed: a value for each of the model's fixed parameters: one number; a sequence with one number for each condition;
            or a DataArray along dataset, condition or both, matched by label where it has labels.

    Raises:
        StudioError: if trials and model do not fit together, or fixed values are missing, superfluous or impossible.

    Warns:
        OutsideTrainingBoxWarning: if a fixed value lies where the actor was not trained.
    """
    check_trials(trials)
    num_datasets, num_conditions = trials.sizes["dataset"], trials.sizes["condition"]
    if num_conditions != model.num_conditions:
        labels = ", ".join(trials["condition"].values.tolist())
        raise TrialsError(
            f"The trials have {num_conditions} conditions ({labels}), but the model has {model.num_conditions}: "
            f"build the model with num_conditions={num_conditions}."
        )
    _check_names(fixed, model)
    parameters = {parameter.name: parameter for parameter in model.parameters}
    values: dict[str, ArrayLike] = {}
    for name in model.fixed:
        values[name] = numbers = _spread_fixed(parameters[name], fixed[name], trials)
        _warn_outside_box(name, numbers, model)
    index = index_trials(trials)
    shape = (num_datasets, num_conditions, int(index.trial_in_condition.max()) + 1)

    def lay_out(numbers: np.ndarray) -> np.ndarray:
        packed = np.zeros(shape, numbers.dtype)
        packed[index.dataset, index.condition, index.trial_in_condition] = numbers
        return packed

    at = (index.dataset, index.trial)
    stimulus = model.family.perception.encode(trials["stimulus"].values[at])
    response = model.family.response.encode(trials["response"].values[at])
    is_present = np.ones(index.dataset.size, bool)
    observations = observe(lay_out(stimulus), lay_out(response), lay_out(is_present), values)
    return prepare_lapses(observations) if model.has_lapses else observations


def unpack_pointwise(
    values: Float[npt.ArrayLike, "dataset ... condition trial_in_condition"], trials: xr.Dataset
) -> Float[np.ndarray, "dataset ... trial"]:
    """Numbers for every observation in the order of the trials; NaN where a trial is not present.

    Args:
        values: numbers laid out as in `pack_trials`, with any axes (chain, draw) after the data sets.
        trials: the trials that were packed.

    Raises:
        TrialsError: if the numbers do not belong to these trials.
    """
    check_trials(trials)
    numbers, index = np.asarray(values), index_trials(trials)
    needed = (trials.sizes["dataset"], trials.sizes["condition"], int(index.trial_in_condition.max()) + 1)
    if numbers.ndim < 3 or numbers.shape[0] != needed[0] or numbers.shape[-2] != needed[1] or numbers.shape[-1] < needed[2]:
        raise TrialsError(
            f"The values have shape {numbers.shape}, but these trials need (dataset, ..., condition, trial) with "
            f"{needed[0]} data sets, {needed[1]} conditions and at least {needed[2]} trials: give their own values."
        )
    by_condition = np.moveaxis(numbers, (-2, -1), (1, 2))
    dtype = np.result_type(numbers.dtype, np.float32)
    by_trial = np.full((needed[0], trials.sizes["trial"], *by_condition.shape[3:]), np.nan, dtype)
    by_trial[index.dataset, index.trial] = by_condition[index.dataset, index.condition, index.trial_in_condition]
    return np.moveaxis(by_trial, 1, -1)


def index_trials(trials: xr.Dataset) -> TrialIndex:
    """Where every present trial stands."""
    dataset, trial = np.nonzero(trials["is_present"].values)
    condition = trials["condition_index"].values[dataset, trial]
    return TrialIndex(dataset, trial, condition, number_within_groups(dataset * trials.sizes["condition"] + condition))


def _check_names(fixed: Mapping[str, FixedValue], model: BehaviorModel) -> None:
    for name in fixed:
        if name in model.free:
            raise StudioError(
                f"A fixed value was given for {name!r}, but the model fits it: "
                f"leave the value out or build the model with fixed=[{name!r}]."
            )
        if name not in model.fixed:
            raise UnknownNameError("parameter", name, [parameter.name for parameter in model.parameters])
    for name in model.fixed:
        if name not in fixed:
            raise StudioError(f"The model fixes {name!r}, but no value was given: pass fixed={{{name!r}: ...}}.")


def _spread_fixed(parameter: Parameter, value: FixedValue, trials: xr.Dataset) -> Float[np.ndarray, "dataset condition"]:
    """A fixed value for every data set and condition."""
    check_within(f"The fixed value of {parameter.name}", _as_array(value), parameter.support, excludes_zero=True)
    shape = tuple(trials.sizes[dim] for dim in FIXED_DIMS)
    labelled = value if isinstance(value, xr.DataArray) else _label(parameter.name, np.asarray(value, float), shape[1])
    for dim in labelled.dims:
        if dim not in FIXED_DIMS:
            raise StudioError(
                f"The fixed value of {parameter.name!r} has dimension {dim!r}, but only dataset and condition are allowed."
            )
        labelled = _align(parameter.name, labelled, str(dim), trials)
    present_dims = [dim for dim in FIXED_DIMS if dim in labelled.dims]
    numbers = labelled.transpose(*present_dims).values.astype(float)
    _refuse_beyond_32_bits(parameter.name, numbers)
    if present_dims == ["dataset"]:
        numbers = numbers[:, None]
    return np.broadcast_to(numbers, shape)


def _refuse_beyond_32_bits(name: str, numbers: np.ndarray) -> None:
    limits = np.finfo(np.float32)
    is_beyond = (np.abs(numbers) > limits.max) | ((numbers != 0) & (np.abs(numbers) < limits.tiny))
    if is_beyond.any():
        raise StudioError(f"The fixed value {numbers[is_beyond][0]:g} of {name!r} is not a 32-bit number: change the unit.")


def _as_array(value: FixedValue) -> Any:
    return value.values if isinstance(value, xr.DataArray) else value


def _label(name: str, numbers: np.ndarray, num_conditions: int) -> xr.DataArray:
    if numbers.ndim > 1:
        raise StudioError(
            f"The fixed value of {name!r} has shape {numbers.shape}, but one number, or one for each of {num_conditions} "
            "conditions, is allowed: give values that differ between data sets as a DataArray."
        )
    return xr.DataArray(numbers, dims=FIXED_DIMS[1:] if numbers.ndim else ())


def _align(name: str, values: xr.DataArray, dim: str, trials: xr.Dataset) -> xr.DataArray:
    """The values in the order of the trials' labels, if they have labels."""
    if values.sizes[dim] != trials.sizes[dim]:
        raise StudioError(
            f"The fixed value of {name!r} has {values.sizes[dim]} entries along {dim}, "
            f"but the trials have {trials.sizes[dim]}: give one for each."
        )
    if dim not in values.coords:
        return values
    given, needed = values[dim].values.tolist(), trials[dim].values.tolist()
    if given == needed:
        return values
    if len(set(given)) < len(given) or set(given) != set(needed):
        odd = next((label for label in given if label not in set(needed)), given[0])
        raise StudioError(
            f"The fixed value of {name!r} is labelled {odd!r} along {dim}, which the trials do not have exactly once: "
            "use their labels, or none."
        )
    return values.sel({dim: needed})


def _warn_outside_box(name: str, numbers: np.ndarray, model: BehaviorModel) -> None:
    box = model.actor.parameter_boxes.get(name)
    if box is None:
        return
    room = ROUNDING * (box.high - box.low)
    is_outside = (numbers < box.low - room) | (numbers > box.high + room)
    if is_outside.any():
        warnings.warn(
            f"The fixed value {numbers[is_outside][0]:g} of {name!r} lies outside {box}, on which the "
            f"{model.actor.cost.name} actor was trained: where beliefs are outside as well, its actions are extrapolated; "
            "use an exact actor.",
            OutsideTrainingBoxWarning,
            stacklevel=3,
        )
