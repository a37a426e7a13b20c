"""Bias: do estimates lie on one side of the truth?"""

import numpy as np

from designstudio.metrics.base import SMALLER, AbstractQuantityMean, Statistic
from designstudio.metrics.samples import QuantitySample


class Bias(AbstractQuantityMean):
    """Mean of estimate minus truth. A search compares it without its sign."""

    name = "bias"
    label = "bias"
    symbol = "|bias|"
    explanation = "mean of estimate minus truth; a search compares it without its sign"
    caveat = "near 0 although single estimates may be far off"
    direction = SMALLER
    in_units = 1
    in_overview = "no"

    def values(self, sample: QuantitySample) -> np.ndarray:
        """Errors."""
        return sample.error

    def compared(self, sample: QuantitySample) -> Statistic:
        """The bias without its sign."""
        statistic = self.statistic(sample)
        return lambda weights: np.abs(statistic(weights))
