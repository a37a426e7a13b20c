"""How stimuli are distributed.

Stimuli are made from numbers between 0 and 1 that the caller draws. Two designs that are given the same numbers then show
stimuli that differ only as far as the designs do, so that designs can be compared pair by pair.

To add a distribution, write one file with a class that says which settings of `Stimuli` it takes (`low` and `high`, also
`num_values`, or else `values`) and how it places stimuli, and register it. Study files, their JSON Schema and reference
page, searches and the dashboard then know it:

    @register_distribution
    class MostAtTheEnds(AbstractDistribution):
        "Rare in the middle of the range, frequent at its ends."

        name: ClassVar[str] = "ends"

        def place(self, stimuli, uniform):
            low, high = stimuli.support
            return low + (high - low) * np.sin(np.pi / 2 * uniform) ** 2

The first line of the docstring explains the distribution in the reference. One that takes `low` and `high` can be searched.
"""

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from jaxtyping import Float

if TYPE_CHECKING:
    from designstudio.study.stimuli.stimuli import Stimuli

LOW, HIGH, NUM_VALUES, VALUES = "low", "high", "num_values", "values"


class AbstractDistribution(ABC):
    """A distribution of stimuli.

    Attributes:
        name: of study files.
        settings: fields of `Stimuli` that it takes, and needs.
    """

    name: ClassVar[str]
    settings: ClassVar[tuple[str, ...]] = (LOW, HIGH)

    @property
    def label(self) -> str:
        """What forms call it."""
        return self.name

    @property
    def is_range(self) -> bool:
        """Whether it is given by its ends, so that a search may vary them."""
        return LOW in self.settings

    @property
    def has_num_values(self) -> bool:
        """Whether it needs to be told how many values it has."""
        return NUM_VALUES in self.settings

    @abstractmethod
    def place(self, stimuli: "Stimuli", uniform: Float[np.ndarray, "*set trial"]) -> Float[np.ndarray, "*set trial"]:
        """Stimuli from numbers between 0 and 1, along the last axis."""

    def list_values(self, stimuli: "Stimuli") -> tuple[float, ...]:
        """The distinct values that are shown; empty if any value of a range may be."""
        return ()

    def describe(self, stimuli: "Stimuli") -> str:
        """A few words."""
        return f"{self.name}, {stimuli.low:g} to {stimuli.high:g}"


class AbstractValues(AbstractDistribution):
    """Some values, balanced: every one is shown equally often, up to one, in random order."""

    def place(self, stimuli: "Stimuli", uniform: Float[np.ndarray, "*set trial"]) -> Float[np.ndarray, "*set trial"]:
        values = np.asarray(self.list_values(stimuli))
        rank = np.argsort(np.argsort(uniform, axis=-1), axis=-1)
        return values[rank % len(values)]

    @abstractmethod
    def list_values(self, stimuli: "Stimuli") -> tuple[float, ...]:
        """The distinct values that are shown."""
