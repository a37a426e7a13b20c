"""Which stimuli are shown."""

import dataclasses
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from jaxtyping import Float

from designstudio.errors import StudioError
from designstudio.model.parameters import LARGEST, SMALLEST
from designstudio.study.stimuli.base import AbstractDistribution
from designstudio.study.stimuli.registry import DISTRIBUTIONS
from designstudio.study.stimuli.uniform import UNIFORM

# More values than trials serve no purpose.
MOST_VALUES = 100_000


@dataclasses.dataclass(frozen=True)
class Stimuli:
    """A distribution of stimuli, in the stimulus unit.

    Attributes:
        distribution: `uniform`, `log-uniform` (evenly in logarithms), `grid` (equally spaced values), `list`, or one that
            was registered.
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
        if self.kind.is_range:
            self._check_range()
        else:
            self._check_list()

    @property
    def kind(self) -> AbstractDistribution:
        """The distribution itself."""
        return DISTRIBUTIONS.find(self.distribution)

    @property
    def support(self) -> tuple[float, float]:
        """Smallest and largest stimulus."""
        if self.kind.is_range:
            return float(self.low or 0.0), float(self.high or 0.0)
        return min(self.values), max(self.values)

    @property
    def shown_values(self) -> tuple[float, ...]:
        """The distinct values of a grid or list; empty for a range."""
        return self.kind.list_values(self)

    def place(self, uniform: Float[np.ndarray, "*set trial"]) -> Float[np.ndarray, "*set trial"]:
        """Stimuli from numbers between 0 and 1, along the last axis.

        Grids and lists are balanced: every value is shown equally often, up to one, in random order.
        """
        return self.kind.place(self, uniform)

    def as_dict(self) -> dict[str, Any]:
        """As a study file says it: the distribution and the settings that it takes."""
        casts: dict[str, Callable[[Any], Any]] = {
            "low": float,
            "high": float,
            "num_values": int,
            "values": lambda values: [float(value) for value in values],
        }
        given = {name: cast(getattr(self, name)) for name, cast in casts.items() if name in self.kind.settings}
        return {"distribution": self.distribution, **given}

    def __str__(self) -> str:
        return self.kind.describe(self)

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
        if (self.num_values is None) == self.kind.has_num_values:
            need = "needs" if self.kind.has_num_values else "takes no"
            raise StudioError(f"The distribution {self.distribution!r} {need} num_values.")
        if self.num_values is not None and self.num_values < 2:
            raise StudioError(f"A grid needs at least 2 values, but num_values is {self.num_values}.")
        if self.num_values is not None and self.num_values > MOST_VALUES:
            raise StudioError(f"A grid takes up to {MOST_VALUES:,} values, but num_values is {self.num_values:,}.")
        _check_size(self.low, self.high)

    def _check_list(self) -> None:
        if self.low is not None or self.high is not None or self.num_values is not None:
            raise StudioError("A list of stimuli takes values only, not low, high or num_values.")
        if not self.values:
            raise StudioError("A list of stimuli needs at least one value.")
        bad = [value for value in self.values if not 0 < value < math.inf]
        if bad:
            raise StudioError(f"Stimuli must be positive and finite, but {bad[0]:g} was given.")
        _check_size(*self.values)


def _check_size(*values: float) -> None:
    """Refuse stimuli with which nothing can be computed: choose another unit."""
    for value in values:
        if not SMALLEST <= value <= LARGEST:
            raise StudioError(
                f"Stimuli must be from {SMALLEST:g} to {LARGEST:g}, but {value:g} was given: choose another unit."
            )
