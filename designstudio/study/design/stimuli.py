"""Which stimuli are shown: a range, a grid or a list, placed by uniform random numbers.

Stimuli are made from numbers between 0 and 1 that the caller draws. Two designs that are given the same numbers then show
stimuli that differ only as far as the designs do, so that designs can be compared pair by pair.
"""

import dataclasses
import math

import numpy as np
from jaxtyping import Float

from designstudio.errors import StudioError, UnknownNameError

UNIFORM, LOG_UNIFORM, GRID, LIST = "uniform", "log-uniform", "grid", "list"
DISTRIBUTIONS = (UNIFORM, LOG_UNIFORM, GRID, LIST)


@dataclasses.dataclass(frozen=True)
class Stimuli:
    """A distribution of stimuli, in the stimulus unit.

    Attributes:
        distribution: `uniform`, `log-uniform` (evenly in logarithms), `grid` (equally spaced values) or `list`.
        low: smallest stimulus; not for a list.
        high: largest stimulus; not for a list.
        num_values: how many values a grid has.
        values: the values of a list.
    """

    distribution: str = UNIFORM
    low: float | None = None
    high: float | None = None
    num_values: int | None = None
    values: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if self.distribution not in DISTRIBUTIONS:
            raise UnknownNameError("distribution of stimuli", self.distribution, list(DISTRIBUTIONS))
        if self.distribution == LIST:
            self._check_list()
        else:
            self._check_range()

    @property
    def support(self) -> tuple[float, float]:
        """Smallest and largest stimulus."""
        if self.distribution == LIST:
            return min(self.values), max(self.values)
        return float(self.low or 0.0), float(self.high or 0.0)

    @property
    def shown_values(self) -> tuple[float, ...]:
        """The distinct values of a grid or list; empty for a range."""
        if self.distribution == GRID:
            return tuple(float(value) for value in np.linspace(*self.support, int(self.num_values or 0)))
        return self.values

    def place(self, uniform: Float[np.ndarray, "*set trial"]) -> Float[np.ndarray, "*set trial"]:
        """Stimuli from numbers between 0 and 1, along the last axis.

        Grids and lists are balanced: every value is shown equally often, up to one, in random order.
        """
        low, high = self.support
        if self.distribution == UNIFORM:
            return low + (high - low) * uniform
        if self.distribution == LOG_UNIFORM:
            return np.exp(math.log(low) + math.log(high / low) * uniform)
        rank = np.argsort(np.argsort(uniform, axis=-1), axis=-1)
        return np.asarray(self.shown_values)[rank % len(self.shown_values)]

    def __str__(self) -> str:
        if self.distribution == LIST:
            return "list of " + ", ".join(f"{value:g}" for value in self.values)
        range_ = f"{self.low:g} to {self.high:g}"
        return f"{self.num_values} values from {range_}" if self.distribution == GRID else f"{self.distribution}, {range_}"

    def _check_range(self) -> None:
        if self.values:
            raise StudioError(f"Stimuli of distribution {self.distribution!r} take low and high, not a list of values.")
        if self.low is None or self.high is None:
            raise StudioError(f"Stimuli of distribution {self.distribution!r} need low and high.")
        if not (0 < self.low < self.high < math.inf):
            raise StudioError(
                f"Stimuli need 0 < low < high, but low is {self.low:g} and high is {self.high:g}: the model works on "
                "logarithms of magnitudes."
            )
        if (self.num_values is None) == (self.distribution == GRID):
            need = "needs" if self.distribution == GRID else "takes no"
            raise StudioError(f"The distribution {self.distribution!r} {need} num_values.")
        if self.num_values is not None and self.num_values < 2:
            raise StudioError(f"A grid needs at least 2 values, but num_values is {self.num_values}.")

    def _check_list(self) -> None:
        if self.low is not None or self.high is not None or self.num_values is not None:
            raise StudioError("A list of stimuli takes values only, not low, high or num_values.")
        if not self.values:
            raise StudioError("A list of stimuli needs at least one value.")
        bad = [value for value in self.values if not 0 < value < math.inf]
        if bad:
            raise StudioError(f"Stimuli must be positive and finite, but {bad[0]:g} was given.")
