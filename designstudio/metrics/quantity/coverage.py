"""Coverage: do intervals hold the truth as often as they should?"""

import numpy as np

from designstudio.metrics.base import LARGER, AbstractQuantityMean
from designstudio.metrics.samples import QuantitySample


class Coverage(AbstractQuantityMean):
    """Share of equal-tailed intervals that hold the truth."""

    name = "coverage"
    label = "coverage"
    explanation = "share of intervals that hold the truth"
    caveat = "high also for useless, wide intervals; nominal on average over the analysis prior, not at every truth"
    direction = LARGER
    number_format = ".0%"
    is_of_interval = True

    def values(self, sample: QuantitySample) -> np.ndarray:
        """Whether each interval holds its truth."""
        return (sample.low <= sample.truth) & (sample.truth <= sample.high)
