"""Contraction: how much of the prior's variance do the data remove?"""

import numpy as np

from designstudio.metrics.base import LARGER, AbstractQuantityMean
from designstudio.metrics.samples import QuantitySample


class Contraction(AbstractQuantityMean):
    """Share of the prior's variance that the data remove."""

    name = "contraction"
    label = "contraction"
    explanation = "1 - posterior variance / prior variance"
    caveat = "depends on how wide the prior was"
    direction = LARGER
    needs_truth = False
    number_format = ".0%"

    def values(self, sample: QuantitySample) -> np.ndarray:
        """Removed shares."""
        return 1 - sample.sd**2 / sample.prior_sd**2
