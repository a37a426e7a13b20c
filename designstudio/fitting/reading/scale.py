"""The unit in which an actor sees the data.

Amortized actors are trained on prior means from 0.1 to 7 and priors of a fit reach from 0.1 to 5, whatever a stimulus is
measured in. Data in milliseconds or newtons are therefore divided by a round number before a fit, and the parameters that
carry the stimulus' unit are brought back after it. Which do is said where they are defined (`Parameter.rescale`).
"""

import dataclasses
import math
from typing import Any

import numpy as np
import xarray as xr

from designstudio.errors import DataError
from designstudio.model.family import DEFAULT_FAMILY
from designstudio.model.parameters import Parameter
from designstudio.model.priors import Interval
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

    factor: float
    unit: str
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


def choose_scale(trials: xr.Dataset) -> Scale:
    """The unit in which actors know these data: the data's own if it will do, else 1, 2 or 5 times a power of ten of it."""
    check_trials(trials)
    present = trials["is_present"].values
    stimuli, responses = (trials[name].values[present] for name in ("stimulus", "response"))
    unit = trials["stimulus"].attrs["units"]
    mean_stimulus, mean_response = (float(np.exp(np.log(values).mean())) for values in (stimuli, responses))

    def count_outside(factor: float) -> int:
        return int(((stimuli / factor < BOX.low) | (stimuli / factor > BOX.high)).sum())

    def rank(factor: float) -> tuple[int, bool, bool, float]:
        """How bad a factor is: above all stimuli should be in the box; if all else is equal, the data's own unit is best."""
        has_far_responses = mean_response / factor not in COMFORTABLE
        return count_outside(factor), has_far_responses, factor != 1, abs(math.log(mean_stimulus / factor / MIDDLE))

    power = math.floor(math.log10(mean_stimulus))
    # From text: 5 * 10.0**-3 need not be 0.005.
    factors = [float(f"{number}e{exponent}") for exponent in (power - 1, power, power + 1) for number in ROUND_NUMBERS]
    factor = min((factor for factor in factors if mean_stimulus / factor in COMFORTABLE), key=rank)
    return Scale(factor, unit, _describe_outside(count_outside(factor), stimuli / factor))


def _describe_outside(num_outside: int, stimuli: np.ndarray) -> str:
    if not num_outside:
        return ""
    return (
        f"The stimuli reach from {stimuli.min():.3g} to {stimuli.max():.3g} in the actor's unit, but prior means only from "
        f"{BOX}: {num_outside} of {stimuli.size} lie outside, where a fit knows less."
    )
