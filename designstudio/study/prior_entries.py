"""Parameters and their priors in a study file: a number, or a table such as { uniform = [0.1, 0.25] }."""

import math
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from designstudio.model.costs import AbstractCost
from designstudio.model.parameters import Parameter, check_within
from designstudio.model.priors import AbstractPrior, Constant, HalfNormal, Interval, LogNormal, Uniform
from designstudio.study.entry import Entry, StudyFileError

UNIFORM, HALF_NORMAL, LOG_NORMAL = "uniform", "half_normal", "log_normal"
FAMILIES = (UNIFORM, HALF_NORMAL, LOG_NORMAL)
_BOUNDS = ("low", "high")
_TAIL = 1e-6
_LOG_NORMAL_KEYS = ("median", "sigma")
_LIKE = "{ uniform = [0.1, 0.25] }, { half_normal = 0.25 } or { log_normal = { median = 0.9, sigma = 0.05 } }"


def parameters_by_name(cost: AbstractCost) -> dict[str, Parameter]:
    """All parameters of a cost's model."""
    return {parameter.name: parameter for parameter in cost.all_parameters}


def read_names(entry: Entry, options: Collection[str]) -> tuple[str, ...]:
    """A list of names of parameters."""
    return tuple(item.choose("parameter", options) for item in entry.items('names in "quotes"'))


def read_value(entry: Entry, parameter: Parameter) -> float:
    """A value of a parameter, where its mathematics allows it."""
    number = entry.number()
    with entry.explain():
        check_within(parameter.name, number, parameter.support, excludes_zero=True)
    return number


def read_priors(entries: Mapping[str, Entry], parameters: Mapping[str, Parameter]) -> dict[str, AbstractPrior]:
    """A number or a prior for each of some parameters; other keys are left to the caller."""
    return {name: read_prior(entry, parameters[name]) for name, entry in entries.items() if name in parameters}


def read_prior(entry: Entry, parameter: Parameter) -> AbstractPrior:
    """A number (everyone has it) or a prior."""
    if not isinstance(entry.value, dict):
        if isinstance(entry.value, str | list):
            raise entry.refuse(f"a number, {_LIKE}")
        return Constant(read_value(entry, parameter))
    return read_range(entry, parameter)


def read_range(entry: Entry, parameter: Parameter) -> AbstractPrior:
    """A prior that is not just a number."""
    table = entry.table((*FAMILIES, *_BOUNDS), like=_LIKE)
    families = [name for name in FAMILIES if name in table]
    if len(families) != 1:
        given = " and ".join(families) or "none"
        raise entry.error(f"A prior needs one of {', '.join(FAMILIES)}, but {given} was given. Write it like {_LIKE}.")
    prior = _read_family(families[0], table[families[0]])
    bounds = {name: table[name].number() for name in _BOUNDS if name in table}
    if bounds:
        with entry.explain():
            interval = Interval(bounds.get("low", -math.inf), bounds.get("high", math.inf))
            _check_mass(entry, prior, interval)
            prior = prior.within(interval)
    _check_reach(entry, prior, parameter)
    return prior


def describe_prior(prior: AbstractPrior) -> Any:
    """A prior as it is written in a study file: the counterpart of `read_prior`.

    Raises:
        StudyFileError: if study files do not know its family.
    """
    match prior:
        case Constant(value):
            return float(value)
        case Uniform(low, high):
            return {UNIFORM: [float(low), float(high)]}
        case HalfNormal(scale):
            return {HALF_NORMAL: float(scale), **_describe_bounds(prior.bounds)}
        case LogNormal(median, sigma):
            return {LOG_NORMAL: {"median": float(median), "sigma": float(sigma)}, **_describe_bounds(prior.bounds)}
    raise StudyFileError(f"Study files know {', '.join(FAMILIES)} and numbers, but no {type(prior).__name__}.")


def _describe_bounds(bounds: Interval) -> dict[str, float]:
    """Ends that are not those of every positive number."""
    ends = {"low": float(bounds.low)} if bounds.low > 0 else {}
    return ends | ({"high": float(bounds.high)} if math.isfinite(bounds.high) else {})


def _read_family(family: str, entry: Entry) -> AbstractPrior:
    if family == UNIFORM:
        ends = [item.number() for item in entry.items("two numbers, such as [0.1, 0.25]")]
        if len(ends) != 2:
            raise entry.error(f"A uniform prior takes two numbers, such as [0.1, 0.25], but {len(ends)} were given.")
        with entry.explain():
            return Uniform(*ends)
    if family == HALF_NORMAL:
        return HalfNormal(entry.positive())
    table = entry.table(_LOG_NORMAL_KEYS, required=_LOG_NORMAL_KEYS, like="{ median = 0.9, sigma = 0.05 }")
    return LogNormal(table["median"].positive(), table["sigma"].positive())


def _check_mass(entry: Entry, prior: AbstractPrior, interval: Interval) -> None:
    """Refuse to truncate a prior to its far tail, where neither people nor 32-bit numbers are."""
    low, high = _quantiles(prior, _TAIL)
    if interval.low > high or interval.high < low:
        raise entry.error(f"Without low and high this prior lies from {low:.3g} to {high:.3g}: choose them in that range.")


def _check_reach(entry: Entry, prior: AbstractPrior, parameter: Parameter) -> None:
    """Refuse a prior that reaches where the parameter has no meaning."""
    # The ends of a uniform prior are what the user wrote; the others' ends may be infinite, and nobody gets there.
    quantiles = _quantiles(prior, 0.0001)
    ends = (prior.low, prior.high) if isinstance(prior, Uniform) else quantiles
    if not (np.isfinite(quantiles).all() and ends[0] < ends[1]):
        raise entry.error("The numbers of this prior are too large, too small or too close to compute with.")
    support = parameter.support
    allowed = f"{support.low:g} or more" if math.isinf(support.high) else f"from {support}"
    for end in ends:
        if end not in support:
            raise entry.error(
                f"{parameter.name} must be {allowed}, but this prior reaches {end:g}: limit it by low and high."
            )


def _quantiles(prior: AbstractPrior, tail: float) -> tuple[float, float]:
    """Where a prior begins and ends, up to a probability of `tail` on each side."""
    with np.errstate(all="ignore"):
        low, high = prior.quantile(np.array([tail, 1 - tail]))
    return float(low), float(high)
