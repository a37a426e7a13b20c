"""Pearson's correlation of truth and estimate."""

import numpy as np

from designstudio.metrics.base import LARGER, AbstractQuantityMetric, Statistic
from designstudio.metrics.monte_carlo import Weights
from designstudio.metrics.quantity.moments import can_correlate, compute_moments
from designstudio.metrics.samples import QuantitySample


class Pearson(AbstractQuantityMetric):
    """Correlation of truth and posterior mean over participants."""

    name = "pearson"
    label = "Pearson's correlation"
    explanation = "correlation of truth and estimate over participants"
    caveat = "blind to bias and scale; undefined if all participants are the same"
    direction = LARGER
    in_overview = "no"
    in_report = False

    def statistic(self, sample: QuantitySample) -> Statistic:
        """The weighted correlation."""

        def correlate(weights: Weights) -> np.ndarray:
            _, truth_variance, mean_variance, covariance = compute_moments(weights, sample)
            return covariance / np.sqrt(np.maximum(truth_variance * mean_variance, np.finfo(float).tiny))

        return correlate

    def is_defined(self, sample: QuantitySample) -> bool:
        """Only where truth and estimate vary."""
        return super().is_defined(sample) and can_correlate(sample)
