"""Weighted moments of truth and estimate, which both correlations need."""

from typing import NamedTuple

import numpy as np

from designstudio.metrics.monte_carlo import Weights, weighted_mean
from designstudio.metrics.samples import QuantitySample

# Numbers closer to each other than this, relative to their size, are all the same.
SAME = 1e-9


class Moments(NamedTuple):
    """Difference of the means, variances and covariance of truth and estimate, one for each row of weights."""

    shift: np.ndarray
    truth_variance: np.ndarray
    mean_variance: np.ndarray
    covariance: np.ndarray


def compute_moments(weights: Weights, sample: QuantitySample) -> Moments:
    """Moments of truth and posterior mean."""
    # Centred first: the sums would cancel otherwise.
    x, y = sample.truth - sample.truth.mean(), sample.mean - sample.truth.mean()
    mean_x, mean_y = weighted_mean(weights, x), weighted_mean(weights, y)
    var_x, var_y = (weighted_mean(weights, v**2) - m**2 for v, m in ((x, mean_x), (y, mean_y)))
    return Moments(mean_x - mean_y, var_x, var_y, weighted_mean(weights, x * y) - mean_x * mean_y)


def can_correlate(sample: QuantitySample) -> bool:
    """Whether truth and estimate both vary; where all are the same there is nothing to correlate."""
    return all(np.ptp(values) > SAME * np.abs(values).max() for values in (sample.truth, sample.mean))
