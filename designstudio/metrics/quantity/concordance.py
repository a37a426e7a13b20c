"""Lin's concordance: a correlation of truth and estimate that also counts bias and scale."""

import numpy as np

from designstudio.metrics.base import LARGER, AbstractQuantityMetric, Statistic
from designstudio.metrics.monte_carlo import Weights
from designstudio.metrics.quantity.moments import can_correlate, compute_moments
from designstudio.metrics.samples import QuantitySample


class Concordance(AbstractQuantityMetric):
    """How close pairs of truth and posterior mean lie to the diagonal."""

    name = "concordance"
    label = "concordance"
    explanation = "Lin's; a correlation that counts bias and scale"
    caveat = "depends on how much participants differ"
    direction = LARGER
    in_overview = "no"

    def statistic(self, sample: QuantitySample) -> Statistic:
        """The weighted concordance."""

        def concord(weights: Weights) -> np.ndarray:
            shift, truth_variance, mean_variance, covariance = compute_moments(weights, sample)
            return 2 * covariance / (truth_variance + mean_variance + shift**2)

        return concord

    def is_defined(self, sample: QuantitySample) -> bool:
        """Only where truth and estimate vary."""
        return super().is_defined(sample) and can_correlate(sample)
