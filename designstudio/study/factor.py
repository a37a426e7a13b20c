"""Values that are everybody's own, times something: what a group or a condition changes without setting it."""

import dataclasses

import numpy as np

from designstudio.errors import StudioError
from designstudio.model.priors import AbstractPrior


@dataclasses.dataclass(frozen=True)
class Factor:
    """Everybody's own value, or the value that a design sets, times this.

    Attributes:
        factor: of the median person.
        spread: how much people differ in it: the standard deviation of its logarithm.
    """

    factor: float
    spread: float = 0.0

    def __post_init__(self) -> None:
        if not 0 < self.factor < np.inf:
            raise StudioError(f"A factor must be positive, but {self.factor:g} was given.")
        if not 0 <= self.spread < np.inf:
            raise StudioError(f"The spread of a factor must be 0 or more, but {self.spread:g} was given.")

    def __str__(self) -> str:
        varies = f", with a spread of {self.spread:g} in logarithms" if self.spread else ""
        return f"everybody's own value times {self.factor:g}{varies}"


# How people of a group, or in a condition, differ from the population.
Change = AbstractPrior | Factor
