"""The prior of a value that everyone has."""

import dataclasses
import math
from typing import ClassVar

import numpy as np
import numpyro.distributions as dist
from jaxtyping import Float

from designstudio.errors import StudioError
from designstudio.model.priors.base import AbstractPrior, Layout
from designstudio.model.priors.interval import Interval


@dataclasses.dataclass(frozen=True)
class Constant(AbstractPrior):
    """Everyone has the same value. For simulated participants only: a fit needs a range, or a fixed value."""

    family: ClassVar[str] = "constant"
    example: ClassVar[str] = "0.15"
    layout: ClassVar[Layout] = "number"
    value: float

    @property
    def support(self) -> Interval:
        return Interval(math.nextafter(self.value, -math.inf), math.nextafter(self.value, math.inf))

    def within(self, interval: Interval) -> "Constant":
        if self.value not in interval:
            raise StudioError(f"The constant {self.value:g} lies outside {interval}.")
        return self

    def stretch(self, factor: float) -> "Constant":
        return Constant(self.value * factor)

    def distribution(self) -> dist.Distribution:
        return dist.Delta(self.value)

    def quantile(self, probability: Float[np.ndarray, "..."]) -> Float[np.ndarray, "..."]:
        return np.full(np.shape(probability), self.value)

    def __str__(self) -> str:
        return f"always {self.value:g}"
