"""The half-normal prior: small values are likely, large ones are not."""

import dataclasses
from typing import ClassVar

import numpy as np
import numpyro.distributions as dist
from jaxtyping import Float

from designstudio.model.priors.base import AbstractTruncatedPrior, Layout, positive
from designstudio.model.priors.interval import POSITIVE_NUMBERS, Interval
from designstudio.model.priors.normal import finite, normal_quantile


@dataclasses.dataclass(frozen=True)
class HalfNormal(AbstractTruncatedPrior):
    """Normal around zero with standard deviation `scale`, restricted to positive values."""

    family: ClassVar[str] = "half_normal"
    example: ClassVar[str] = "{ half_normal = 0.25 }"
    layout: ClassVar[Layout] = "number"
    scale: float = positive()
    bounds: Interval = POSITIVE_NUMBERS

    def stretch(self, factor: float) -> "HalfNormal":
        return HalfNormal(self.scale * factor, self.bounds.stretch(factor))

    def distribution(self) -> dist.Distribution:
        return dist.TruncatedNormal(0.0, self.scale, low=self.bounds.low, high=finite(self.bounds.high))

    def quantile(self, probability: Float[np.ndarray, "..."]) -> Float[np.ndarray, "..."]:
        return normal_quantile(probability, 0.0, self.scale, self.bounds)

    def __str__(self) -> str:
        return f"HalfNormal({self.scale:g}) on {self.bounds}"
