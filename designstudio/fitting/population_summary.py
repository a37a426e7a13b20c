"""A fit, summarized as a population to plan from: is a parameter a person's, a level of the design, or a condition's own?

`sigma` that was estimated for each condition becomes a level of the design, the same for everyone: the median subject's.
That is a simplification, since people differ in it, but only a level can be set anew in another design. Other parameters
that were estimated for each condition are drawn anew in it. What was fixed becomes everyone's value if there was one, a
level if it differed between conditions, else a parameter in which people differ as they did. All others are the
population's.
"""

import dataclasses
from typing import Any, NamedTuple, cast

import numpy as np
import xarray as xr

from designstudio.fitting.group_moments import Group, describe_groups, match_prior, pick_good, round_number
from designstudio.model.family import DEFAULT_FAMILY
from designstudio.model.likelihood.lapses import LAPSE_RATE
from designstudio.model.likelihood.model import BehaviorModel
from designstudio.model.parameters import Parameter
from designstudio.model.priors import AbstractPrior, Constant, Interval
from designstudio.model.priors.base import BOUNDS
from designstudio.model.scale import Scale

# Numbers that differ by less than this, relative to their size, are the same in 32 bits.
SAME = 1e-5
# Digits of what was measured beforehand: as many as 32 bits keep.
NUM_DIGITS = 6
# Beyond these, digits of a product are noise.
MOST_DIGITS = 9


class PopulationSummary(NamedTuple):
    """What is known about every parameter.

    Attributes:
        population: where those come from that are the same in all conditions.
        levels: values that the experimenter sets, one for each condition.
        own: where those come from that are drawn anew in each condition.
    """

    population: dict[str, AbstractPrior]
    levels: dict[str, list[float]]
    own: dict[str, list[AbstractPrior]]

    def stretch(self, model: BehaviorModel, scale: Scale) -> "PopulationSummary":
        """The same in the unit of the data.

        Args:
            model: that was fitted.
            scale: between this unit and the actor's, in which the summary is.
        """
        parameters = {parameter.name: parameter for parameter in model.parameters}
        sizes = {name: scale.size_of(parameter) for name, parameter in parameters.items()}
        return PopulationSummary(
            {name: stretch_prior(prior, sizes[name]) for name, prior in self.population.items()},
            {name: [_tidy(value * sizes[name]) for value in values] for name, values in self.levels.items()}
            if scale.factor != 1
            else self.levels,
            {name: [stretch_prior(prior, sizes[name]) for prior in priors] for name, priors in self.own.items()},
        )

    @property
    def fitted_sigma(self) -> list[float]:
        """The median subject's perceptual uncertainty, in each condition if it differs."""
        if DEFAULT_FAMILY.perceptual_noise.name in self.levels:
            return self.levels[DEFAULT_FAMILY.perceptual_noise.name]
        return [float(self.population[DEFAULT_FAMILY.perceptual_noise.name].quantile(np.array(0.5)))]


def summarize_population(model: BehaviorModel, posterior: xr.DataTree, pooled: xr.DataTree | None) -> PopulationSummary:
    """What a fit says about every parameter.

    Args:
        model: that was fitted.
        posterior: of all subjects; those whose fits failed are left out.
        pooled: the group, if subjects were pooled.
    """
    summary = PopulationSummary({}, {}, {})
    for name, groups in describe_groups(model, posterior, pooled).items():
        if name == LAPSE_RATE.name:
            # Simulated participants lapse at one rate: see `designstudio.fitting.plan`.
            continue
        bounds = model.priors[name].support
        if name == DEFAULT_FAMILY.perceptual_noise.name and name in model.per_condition:
            summary.levels[name] = [round_number(group.median) for group in groups]
        elif name in model.per_condition:
            summary.own[name] = [match_prior(group, bounds) for group in groups]
        else:
            summary.population[name] = match_prior(groups[0], bounds)
    fixed = posterior["constant_data"].to_dataset().sel(dataset=pick_good(posterior)["dataset"])
    for parameter in model.parameters:
        if parameter.name in model.fixed and parameter.name != LAPSE_RATE.name:
            _add_fixed(summary, parameter, fixed[f"fixed_{parameter.name}"].transpose("dataset", "condition").values)
    return summary


def stretch_prior(prior: AbstractPrior, size: float) -> AbstractPrior:
    """The prior in a unit in which numbers are so many times larger, without the noise of the last digits."""
    if size == 1:
        return prior
    stretched = prior.stretch(size)
    numbers = {name: _tidy(number) for name, number in stretched.numbers.items()}
    bounds = getattr(stretched, BOUNDS, None)
    ends = {} if bounds is None else {BOUNDS: Interval(_tidy(bounds.low), _tidy(bounds.high))}
    return cast(AbstractPrior, dataclasses.replace(cast(Any, stretched), **numbers, **ends))


def _tidy(number: float) -> float:
    return round_number(number, MOST_DIGITS)


def _add_fixed(summary: PopulationSummary, parameter: Parameter, values: np.ndarray) -> None:
    """What was measured beforehand, over (subject, condition)."""
    if not _is_same(values, axis=1):
        summary.levels[parameter.name] = [round_number(float(np.median(column)), NUM_DIGITS) for column in values.T]
    elif not _is_same(values, axis=0):
        logs = np.log(values[:, 0].astype(float))
        group = Group(float(logs.mean()), float(logs.std(ddof=1)))
        summary.population[parameter.name] = match_prior(group, _widen(parameter, values))
    else:
        summary.population[parameter.name] = Constant(round_number(float(values.flat[0]), NUM_DIGITS))


def _widen(parameter: Parameter, values: np.ndarray) -> Interval:
    """The training box, and beyond it what was measured there."""
    low, high = min(parameter.box.low, float(values.min())), max(parameter.box.high, float(values.max()))
    return Interval(low, high).intersect(parameter.support)


def _is_same(values: np.ndarray, *, axis: int) -> bool:
    return bool((np.ptp(values, axis=axis) <= SAME * np.abs(values).max()).all())
