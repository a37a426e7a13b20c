"""Posterior z-score: errors in units of what the posterior claims to know."""

import numpy as np

from designstudio.metrics.base import AbstractQuantityMean
from designstudio.metrics.samples import QuantitySample


class ZScore(AbstractQuantityMean):
    """Mean of errors over posterior standard deviations; neither way is better."""

    name = "z_score"
    label = "z-score"
    explanation = "mean of (estimate - truth) / posterior sd"
    caveat = "averages over- and underestimates away"
    in_overview = "no"
    in_report = False

    def values(self, sample: QuantitySample) -> np.ndarray:
        """Errors over standard deviations."""
        return sample.error / sample.sd
