"""Width of the intervals."""

import numpy as np

from designstudio.metrics.base import SMALLER, AbstractQuantityMean
from designstudio.metrics.samples import QuantitySample


class Width(AbstractQuantityMean):
    """Mean width of the equal-tailed intervals."""

    name = "width"
    label = "interval width"
    explanation = "mean width of the intervals"
    caveat = "narrow intervals may miss"
    direction = SMALLER
    is_size = True
    in_units = 1
    needs_truth = False
    is_of_interval = True
    in_overview = "no"

    def values(self, sample: QuantitySample) -> np.ndarray:
        """Widths."""
        return sample.high - sample.low
