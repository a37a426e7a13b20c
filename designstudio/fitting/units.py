"""Between the unit of the data and the actor's: fixed values and priors, as a person gives them and as a fit needs them."""

import numpy as np
import xarray as xr

from designstudio.errors import DataError, StudioError
from designstudio.fitting.request import FixedValue
from designstudio.model.parameters import NO_UNIT, Parameter
from designstudio.model.priors import AbstractPrior
from designstudio.model.scale import Scale

# From here on the mean stimuli of two conditions are so different that people may have noticed.
OTHER_STIMULI = 1.1


def convert_prior(prior: AbstractPrior, parameter: Parameter, scale: Scale) -> AbstractPrior:
    """A prior in the actor's unit, from one in the unit of the data.

    Raises:
        StudioError: if the change of unit would make a distribution of another kind of it.
    """
    if scale.factor == 1:
        return prior
    if parameter.odds_unit != NO_UNIT:
        raise StudioError(
            f"The prior of {parameter.name!r} cannot be given in the unit of the data, because its odds have a unit, and "
            f"would have another shape in {scale.actor_unit}: give all priors in the actor's unit (on_data_scale=False)."
        )
    return scale.shrink(prior, parameter)


def convert_fixed(value: FixedValue, parameter: Parameter, trials: xr.Dataset, scale: Scale) -> xr.DataArray:
    """A fixed value for each data set and condition, in the actor's unit; NaN where a subject has no trials of a condition.

    Args:
        value: in the unit of the data: a number, or a DataArray along subject, condition or both.
        parameter: which is fixed.
        trials: whose subjects and conditions need a value.
        scale: between the two units.

    Raises:
        DataError: if a subject or condition with trials has no value.
    """
    labels = {"subject": trials["subject"].values.tolist(), "condition": trials["condition"].values.tolist()}
    array = value if isinstance(value, xr.DataArray) else xr.DataArray(_as_number(value, parameter))
    for dim in map(str, array.dims):
        if dim not in labels:
            raise DataError(f"The fixed {parameter.name} has the dimension {dim!r}, but only subject and condition can be.")
        if dim not in array.coords:
            raise DataError(f"The fixed {parameter.name} has no labels along {dim}: name them as in the data.")
        given = [str(label) for label in array[dim].values]
        repeated = [label for label in given if given.count(label) > 1]
        if repeated:
            raise DataError(f"The fixed {parameter.name} has {dim} {repeated[0]!r} twice: give one value.")
        array = array.assign_coords({dim: given}).reindex({dim: labels[dim]})
    whole = array.broadcast_like(xr.DataArray(np.zeros(tuple(map(len, labels.values()))), coords=labels, dims=list(labels)))
    numbers = whole.transpose("subject", "condition").values.astype(float)
    has_trials = count_trials(trials) > 0
    for i, k in zip(*np.nonzero(has_trials & np.isnan(numbers)), strict=True):
        where = [f"{dim} {labels[dim][place]!r}" for dim, place in (("subject", i), ("condition", k)) if dim in array.dims]
        raise DataError(
            f"There is no fixed {parameter.name} for {' and '.join(where) or 'anybody'}: add one, or leave them out."
        )
    converted = scale.convert(np.where(has_trials, numbers, np.nan), parameter)
    return xr.DataArray(converted, dims=("dataset", "condition"))


def count_trials(trials: xr.Dataset) -> np.ndarray:
    """How many trials each data set has in each condition."""
    present, index = trials["is_present"].values, trials["condition_index"].values
    return np.stack([(present & (index == k)).sum(axis=1) for k in range(trials.sizes["condition"])], axis=1)


def compare_stimuli(trials: xr.Dataset) -> float:
    """By which factor the mean stimuli of a subject's conditions differ, at most; the median over subjects with several."""
    log_stimuli, index = np.log(trials["stimulus"].values), trials["condition_index"].values
    factors = []
    for i, is_present in enumerate(trials["is_present"].values):
        conditions = np.unique(index[i][is_present])
        means = [log_stimuli[i][is_present & (index[i] == k)].mean() for k in conditions]
        if len(means) > 1:
            factors.append(np.exp(max(means) - min(means)))
    return float(np.median(factors)) if factors else 1.0


def _as_number(value: float, parameter: Parameter) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise DataError(f"The fixed {parameter.name} must be a number, but {value!r} was given.") from None
