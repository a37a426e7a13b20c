"""The unit in which an actor sees stimuli and responses, whatever people measure them in.

Amortized actors are trained on prior means from 0.02 to 20 and priors of a fit reach from 0.1 to 5. Stimuli in milliseconds
or newtons are therefore divided by a round number, and the parameters that carry the stimulus' unit are brought back
afterwards. Which do is said where they are defined (`Parameter.rescale`).

A share whose odds have a unit (the weight of effort in `absolute_effort`) has a distribution of another kind in another
unit. Studies therefore say it in the actor's unit, and name that; fits of data restore it draw by draw.
"""

import dataclasses
import functools
import math
from typing import Any

import numpy as np
import xarray as xr
from jaxtyping import Float

from designstudio.errors import DataError
from designstudio.model.family import DEFAULT_FAMILY
from designstudio.model.parameters import IN_ACTOR_UNIT, LOG_UNIT, NO_UNIT, PER_STIMULUS_UNIT, STIMULUS_UNIT, Parameter
from designstudio.model.priors import AbstractPrior, Interval
from designstudio.model.trials.schema import check_trials

# Where stimuli and responses should lie on average, and where all stimuli should.
COMFORTABLE = Interval(0.5, 3.0)
BOX = DEFAULT_FAMILY.prior_location.analysis.support
# Where the mean stimulus goes if the unit is changed.
MIDDLE = 1.5
ROUND_NUMBERS = (1, 2, 5)


@dataclasses.dataclass(frozen=True)
class Scale:
    """A change of unit.

    Attributes:
        factor: size of the actor's unit in units of the data: stimuli and responses are divided by it.
        unit: of the data.
        note: what a person should know; "" if all is well.
    """

    factor: float = 1.0
    unit: str = STIMULUS_UNIT
    note: str = ""

    def __post_init__(self) -> None:
        if not (math.isfinite(self.factor) and self.factor > 0):
            raise DataError(f"The factor of a scale must be a positive number, but {self.factor!r} was given.")

    @property
    def actor_unit(self) -> str:
        """What the actor's numbers are measured in, such as '10 N'."""
        return self.unit if self.factor == 1 else f"{self.factor:g} {self.unit}"

    def apply(self, trials: xr.Dataset) -> xr.Dataset:
        """The trials in the actor's unit.

        Raises:
            DataError: if the trials are not in the unit of the data.
        """
        check_trials(trials)
        given = trials["stimulus"].attrs["units"]
        if given != self.unit:
            raise DataError(f"The scale is for trials in {self.unit!r}, but these are in {given!r}: choose one for them.")
        scaled = trials.copy()
        for name in ("stimulus", "response"):
            scaled[name] = (trials[name] / self.factor).assign_attrs({**trials[name].attrs, "units": self.actor_unit})
        return scaled

    def undo(self, trials: xr.Dataset) -> xr.Dataset:
        """Trials that were simulated in the actor's unit, in the unit of the data."""
        scaled = trials.copy()
        for name in ("stimulus", "response"):
            scaled[name] = (trials[name] * self.factor).assign_attrs({**trials[name].attrs, "units": self.unit})
        return scaled

    def restore(self, values: Any, parameter: Parameter) -> Any:
        """Values of a parameter in the unit of the data, from those in the actor's unit.

        Args:
            values: a number or an array.
            parameter: which; one without the stimulus' unit stays as it is.
        """
        return parameter.rescale(values, self.factor)

    def convert(self, values: Any, parameter: Parameter) -> Any:
        """Values of a parameter in the actor's unit, from those in the unit of the data: undoes `restore`."""
        return parameter.rescale(values, 1 / self.factor)

    def size_of(self, parameter: Parameter) -> float:
        """What a study multiplies a parameter by that has the actor's unit; 1 for one whose odds have a unit, too."""
        if self.factor == 1 or parameter.odds_unit != NO_UNIT:
            return 1.0
        return float(parameter.rescale(1.0, self.factor))

    def stretch(self, prior: AbstractPrior, parameter: Parameter) -> AbstractPrior:
        """A prior in the unit of a study, from one in the actor's unit."""
        size = self.size_of(parameter)
        return prior if size == 1 else prior.stretch(size)

    def shrink(self, prior: AbstractPrior, parameter: Parameter) -> AbstractPrior:
        """A prior in the actor's unit, from one in the unit of a study: undoes `stretch`."""
        # Not one over the size: its last digit may be another.
        factor = 1.0 if self.size_of(parameter) == 1 else float(self.convert(1.0, parameter))
        return prior if factor == 1 else prior.stretch(factor)

    def name_unit(self, parameter: Parameter) -> str:
        """What a parameter of a study is measured in."""
        if self.factor != 1 and parameter.odds_unit != NO_UNIT:
            return f"{IN_ACTOR_UNIT}{self.actor_unit}"
        return parameter.unit if self.unit == STIMULUS_UNIT else name_unit(parameter, self.unit)

    def unit_suffix(self, parameter: Parameter) -> str:
        """What follows a number of a parameter in a sentence, such as ' ms'; nothing where no unit is named."""
        return suffix_unit(self.name_unit(parameter))

    def restate(self, parameter: Parameter) -> Parameter:
        """The parameter as a study in this unit knows it: ends, priors and unit.

        It serves checks and words. A change of unit (`restore`, `convert`) takes the parameter as its cost defines it.
        """
        return _restate(parameter, self.factor, self.unit)


OWN_UNIT = Scale()


def choose_factor(stimuli: Float[np.ndarray, "..."], responses: Float[np.ndarray, "..."] | None = None) -> float:
    """Size of the actor's unit in the unit of stimuli: 1 if that will do, else 1, 2 or 5 times a power of ten.

    Above all, as many stimuli as possible should lie where fits look for prior means; then responses should lie where
    actors are at home; if all else is equal, the stimuli's own unit is best.

    Args:
        stimuli: all that are shown, each as often as it is.
        responses: if there are any yet.
    """
    mean_stimulus, mean_response = (_mean(stimuli if values is None else values) for values in (stimuli, responses))

    def rank(factor: float) -> tuple[int, bool, bool, float]:
        """How bad a factor is."""
        has_far_responses = mean_response / factor not in COMFORTABLE
        distance = abs(math.log(mean_stimulus / factor / MIDDLE))
        return count_outside(stimuli, factor), has_far_responses, factor != 1, distance

    power = math.floor(math.log10(mean_stimulus))
    # From text: 5 * 10.0**-3 need not be 0.005.
    factors = [float(f"{number}e{exponent}") for exponent in (power - 1, power, power + 1) for number in ROUND_NUMBERS]
    return min((factor for factor in factors if mean_stimulus / factor in COMFORTABLE), key=rank)


def count_outside(stimuli: Float[np.ndarray, "..."], factor: float) -> int:
    """How many stimuli lie outside of where fits look for prior means, if this is the size of the actor's unit."""
    return int(((stimuli / factor < BOX.low) | (stimuli / factor > BOX.high)).sum())


def _mean(values: Float[np.ndarray, "..."]) -> float:
    """The geometric mean."""
    return float(np.exp(np.log(values).mean()))


def name_unit(parameter: Parameter, unit: str) -> str:
    """What a parameter is measured in when stimuli are in `unit`."""
    return {STIMULUS_UNIT: unit, PER_STIMULUS_UNIT: f"1/{unit}"}.get(parameter.unit, parameter.unit)


def suffix_unit(unit: str) -> str:
    """A unit as it follows a number in a sentence; nothing where there is none, or it has no name."""
    if unit in (NO_UNIT, LOG_UNIT, STIMULUS_UNIT, PER_STIMULUS_UNIT):
        return ""
    return f" ({unit})" if unit.startswith(IN_ACTOR_UNIT) else f" {unit}"


@functools.cache
def _restate(parameter: Parameter, factor: float, unit: str) -> Parameter:
    scale = Scale(factor, unit)
    if scale == OWN_UNIT:
        return parameter
    size = scale.size_of(parameter)
    return dataclasses.replace(
        parameter,
        unit=scale.name_unit(parameter),
        support=parameter.support.stretch(size),
        box=parameter.box.stretch(size),
        training=scale.stretch(parameter.training, parameter),
        analysis=scale.stretch(parameter.analysis, parameter),
        population=scale.stretch(parameter.population, parameter),
        neutral=None if parameter.neutral is None else parameter.neutral * size,
    )
