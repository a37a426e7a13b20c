"""The numbers that are scored: free parameters, for each condition where they differ, and the study's quantities."""

import functools
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import xarray as xr
from jaxtyping import Float

from designstudio.errors import StudioError, UnknownNameError
from designstudio.model.likelihood.model import BehaviorModel
from designstudio.model.parameter_entries import list_parameter_entries
from designstudio.model.parameters import Role
from designstudio.model.priors import AbstractPrior, Interval
from designstudio.model.scale import OWN_UNIT, Scale
from designstudio.study import Quantity
from designstudio.study.design import Design
from designstudio.study.quantities import PerCondition

NUM_PRIOR_DRAWS = 4096
# Spread of a quantity, as a share of its largest value, that is only rounding of 32-bit numbers.
SAME = 1e-6


class Entry(NamedTuple):
    """One scored number.

    Attributes:
        name: of the parameter or quantity, with its condition where that matters.
        base: of the parameter or quantity alone.
        condition: place of the condition, or None.
        symbol: how people write it.
        unit: what it is measured in.
        is_parameter: whether it is a free parameter.
    """

    name: str
    base: str
    condition: int | None
    symbol: str
    unit: str
    is_parameter: bool


def list_entries(
    model: BehaviorModel, design: Design, quantities: Sequence[Quantity], scale: Scale = OWN_UNIT
) -> list[Entry]:
    """All that is scored for a model that is fitted to the data of a design of a study with this scale."""
    return name_entries(model, [condition.name for condition in design.conditions], quantities, scale)


def name_entries(
    model: BehaviorModel, conditions: Sequence[str], quantities: Sequence[Quantity], scale: Scale = OWN_UNIT
) -> list[Entry]:
    """The same, where there is no design but only conditions with names."""
    parameters = {parameter.name: parameter for parameter in model.parameters}
    entries = []
    for at in list_parameter_entries(model):
        parameter = parameters[at.name]
        if parameter.role == Role.LIKELIHOOD:
            # It belongs to the analysis: nobody asks how well it is recovered.
            continue
        symbol = parameter.symbol if at.condition is None else f"{parameter.symbol} {conditions[at.condition]}"
        entries.append(Entry(at.label(conditions), at.name, at.condition, symbol, scale.name_unit(parameter), True))
    entries += [Entry(q.name, q.name, None, q.name, q.unit, False) for q in quantities]
    return entries


def compute_entries(
    entries: Sequence[Entry], values: Mapping[str, Any], quantities: Sequence[Quantity]
) -> dict[str, np.ndarray]:
    """Values of all entries, from parameters that may be `PerCondition`."""
    functions = {quantity.name: quantity.function for quantity in quantities}
    computed = {}
    for entry in entries:
        if entry.is_parameter:
            value = values[entry.base]
            computed[entry.name] = value if entry.condition is None else value[entry.condition]
        else:
            computed[entry.name] = functions[entry.base](values)
    return {name: np.asarray(value) for name, value in computed.items()}


def compute_truth(
    entries: Sequence[Entry], experiment_values: xr.Dataset, quantities: Sequence[Quantity]
) -> dict[str, Float[np.ndarray, " dataset"]]:
    """True values of all entries; NaN where simulated participants have none.

    They have none of a parameter that their cost lacks, nor of one that the fit takes as shared while it differs.
    """
    num_datasets = experiment_values.sizes["dataset"]
    values = {str(name): split_conditions(array, ("dataset",)) for name, array in experiment_values.items()}
    truth = {}
    for entry in entries:
        value = values.get(entry.base)
        if not entry.is_parameter:
            truth[entry.name] = _try(quantities, entry, values, num_datasets)
        elif value is None:
            truth[entry.name] = np.full(num_datasets, np.nan)
        elif isinstance(value, PerCondition):
            same = all(np.array_equal(value[0], other) for other in value)
            at = entry.condition if entry.condition is not None else (0 if same else None)
            truth[entry.name] = np.full(num_datasets, np.nan) if at is None else value[at]
        else:
            truth[entry.name] = value
    return truth


def find_support(name: str, model: BehaviorModel, scale: Scale) -> Interval:
    """Where the analysis prior of a free parameter is, in the study's unit."""
    parameter = next(p for p in model.parameters if p.name == name)
    return model.priors[name].support.stretch(scale.size_of(parameter))


def restore_values(values: Mapping[str, Any], model: BehaviorModel, scale: Scale) -> dict[str, Any]:
    """Parameters in the study's unit, from those in the actor's.

    Args:
        values: of parameters; they may be `PerCondition`.
        model: whose parameters they are.
        scale: between both units.
    """
    sizes = {parameter.name: scale.size_of(parameter) for parameter in model.parameters}

    def restore(name: str, value: Any) -> Any:
        if sizes[name] == 1:
            return value
        return PerCondition(sizes[name] * one for one in value) if isinstance(value, PerCondition) else sizes[name] * value

    return {name: restore(name, value) for name, value in values.items()}


def take_draws(posterior: xr.Dataset) -> dict[str, Float[np.ndarray, "dataset chain draw *condition"]]:
    """Draws of the free parameters, without labels."""
    dims = ("dataset", "chain", "draw", ...)
    return {str(name): array.transpose(*dims).values for name, array in posterior.items()}


def split_draws(
    draws: Mapping[str, Float[np.ndarray, "dataset chain draw *condition"]], fixed: Mapping[str, xr.DataArray]
) -> dict[str, Any]:
    """Draws of the free parameters and values of the known ones, as quantities want them."""
    known = {name: array.transpose("dataset", ...).values for name, array in fixed.items()}
    everything = {**draws, **{name: array[:, None, None] for name, array in known.items()}}
    return {
        name: array if array.ndim == 3 else PerCondition(np.moveaxis(array, -1, 0)) for name, array in everything.items()
    }


def summarize_prior(
    model: BehaviorModel,
    entries: Sequence[Entry],
    quantities: Sequence[Quantity],
    fixed: Mapping[str, xr.DataArray],
    scale: Scale = OWN_UNIT,
) -> dict[str, np.ndarray]:
    """Sd of each entry, in the study's unit, and covariance of the parameters' logarithms, under the analysis prior."""
    rng = np.random.default_rng(0)
    values: dict[str, Any] = {}
    for name, prior in model.priors.items():
        columns = [rng.permutation(spread_evenly(prior)) for _ in range(model.free_entries.count(name))]
        values[name] = PerCondition(columns) if name in model.per_condition else columns[0]
    for name, array in fixed.items():
        known = split_conditions(array.isel(dataset=[0]), ("dataset",))
        values[name] = known
    computed = compute_entries(entries, restore_values(values, model, scale), quantities)
    _check_quantities(computed, quantities)
    names = [entry.name for entry in entries if entry.is_parameter]
    logs = np.log(np.stack([computed[name] for name in names]))
    # Independent by construction: sampled correlations would only be noise.
    covariance = np.diag(logs.var(axis=1))
    return {
        "prior_sd": np.array([computed[entry.name].std() for entry in entries]),
        "prior_log_mean": logs.mean(axis=1),
        "prior_log_covariance": covariance,
    }


def _check_quantities(values: Mapping[str, np.ndarray], quantities: Sequence[Quantity]) -> None:
    """Refuse quantities of which there is nothing to learn, from their values under the analysis prior.

    Raises:
        StudioError: if one is not always a number, or always the same.
    """
    for quantity in quantities:
        drawn = np.asarray(values[quantity.name], float)
        is_finite = np.isfinite(drawn)
        if not is_finite.all():
            part = "some" if is_finite.any() else "all"
            raise StudioError(
                f"The quantity {quantity.name!r}, {quantity.text}, is not a finite number for {part} of what the "
                "analysis prior allows: change its formula, or the priors."
            )
        if drawn.std() <= SAME * np.abs(drawn).max():
            raise StudioError(
                f"The quantity {quantity.name!r}, {quantity.text}, is {drawn.flat[0]:.3g} for everybody: it depends on "
                "nothing that is estimated."
            )


@functools.cache
def spread_evenly(prior: AbstractPrior) -> Float[np.ndarray, " draw"]:
    """Evenly spread quantiles: in random order, draws that are nearly free of noise."""
    return prior.quantile((np.arange(NUM_PRIOR_DRAWS) + 0.5) / NUM_PRIOR_DRAWS)


def _try(quantities: Sequence[Quantity], entry: Entry, values: Mapping[str, Any], num_datasets: int) -> np.ndarray:
    function = next(quantity.function for quantity in quantities if quantity.name == entry.base)
    try:
        return np.broadcast_to(np.asarray(function(values), float), (num_datasets,))
    except (UnknownNameError, KeyError):
        return np.full(num_datasets, np.nan)


def split_conditions(array: xr.DataArray, dims: tuple[str, ...]) -> Any:
    """An array, or a tuple of arrays where there is one for each condition."""
    if "condition" not in array.dims:
        return array.transpose(*dims).values
    return PerCondition(array.isel(condition=k).transpose(*dims).values for k in range(array.sizes["condition"]))
