"""The uniform prior."""

import dataclasses
from typing import ClassVar

import numpy as np
import numpyro.distributions as dist
from jaxtyping import Float

from designstudio.model.priors.base import AbstractPrior, Layout
from designstudio.model.priors.interval import Interval


@dataclasses.dataclass(frozen=True)
class Uniform(AbstractPrior):
    """Uniform from `low` to `high`."""

    family: ClassVar[str] = "uniform"
    example: ClassVar[str] = "{ uniform = [0.1, 0.25] }"
    layout: ClassVar[Layout] = "list"
    low: float
    high: float

    def __post_init__(self) -> None:
        Interval(self.low, self.high)

    @property
    def support(self) -> Interval:
        return Interval(self.low, self.high)

    @property
    def ends(self) -> tuple[float, float]:
        return self.low, self.high

    def within(self, interval: Interval) -> "Uniform":
        shared = self.support.intersect(interval)
        return Uniform(shared.low, shared.high)

    def stretch(self, factor: float) -> "Uniform":
        return Uniform(self.low * factor, self.high * factor)

    def distribution(self) -> dist.Distribution:
        return dist.Uniform(self.low, self.high)

    def quantile(self, probability: Float[np.ndarray, "..."]) -> Float[np.ndarray, "..."]:
        return self.low + (self.high - self.low) * np.asarray(probability, float)

    def __str__(self) -> str:
        return f"Uniform({self.low:g}, {self.high:g})"
