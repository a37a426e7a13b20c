"""The log-normal prior: people differ by factors."""

import dataclasses
import math
from typing import ClassVar

import numpy as np
import numpyro.distributions as dist
from jaxtyping import Float

from designstudio.model.priors.base import AbstractTruncatedPrior, Layout, positive
from designstudio.model.priors.interval import POSITIVE_NUMBERS, Interval
from designstudio.model.priors.normal import finite, normal_quantile


@dataclasses.dataclass(frozen=True)
class LogNormal(AbstractTruncatedPrior):
    """The logarithm is normal around log(`median`) with standard deviation `sigma`."""

    family: ClassVar[str] = "log_normal"
    example: ClassVar[str] = "{ log_normal = { median = 0.9, sigma = 0.05 } }"
    layout: ClassVar[Layout] = "table"
    is_logarithmic: ClassVar[bool] = True
    median: float = positive()
    sigma: float = positive()
    bounds: Interval = POSITIVE_NUMBERS

    def stretch(self, factor: float) -> "LogNormal":
        return LogNormal(self.median * factor, self.sigma, self.bounds.stretch(factor))

    def distribution(self) -> dist.Distribution:
        low = math.log(self.bounds.low) if self.bounds.low > 0 else None
        high = finite(math.log(self.bounds.high))
        logarithm = dist.TruncatedNormal(math.log(self.median), self.sigma, low=low, high=high)
        return dist.TransformedDistribution(logarithm, dist.transforms.ExpTransform())

    def quantile(self, probability: Float[np.ndarray, "..."]) -> Float[np.ndarray, "..."]:
        with np.errstate(divide="ignore"):
            low, high = (float(np.log(bound)) for bound in (self.bounds.low, self.bounds.high))
        return np.exp(normal_quantile(probability, math.log(self.median), self.sigma, Interval(low, high)))

    def __str__(self) -> str:
        return f"LogNormal(log {self.median:g}, {self.sigma:g}) on {self.bounds}"
