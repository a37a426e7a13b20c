"""Correlation of each pair of parameters in the posterior."""

import numpy as np
from jaxtyping import Float

from designstudio.metrics.base import PRIOR_COST, AbstractPosteriorMetric
from designstudio.metrics.monte_carlo import score_mean
from designstudio.metrics.samples import Matrices, PosteriorShape


class Correlation(AbstractPosteriorMetric):
    """The strongest correlation, on average over data sets, between a parameter of the prior and one of the cost."""

    name = "correlation"
    label = "prior-cost correlation"
    explanation = "of each pair; the table shows the strongest between prior and cost"
    caveat = "strong correlation is harmless where both are known well"
    parts = (PRIOR_COST,)

    def values(self, shape: PosteriorShape) -> Float[np.ndarray, " dataset"]:
        """Correlations of the strongest pair."""
        first, second = find_strongest_pair(shape)
        return correlate(shape.covariance)[:, first, second]


def correlate(covariance: Matrices) -> Matrices:
    """Correlations from covariances."""
    deviation = np.sqrt(np.diagonal(covariance, axis1=1, axis2=2))
    return covariance / (deviation[:, :, None] * deviation[:, None, :])


def find_strongest_pair(shape: PosteriorShape) -> tuple[int, int]:
    """Places of the parameter of the prior and the one of the cost that are correlated most, on average."""
    correlation = correlate(shape.covariance)
    pairs = [(i, j) for i in shape.of_prior for j in shape.of_cost]
    return max(pairs, key=lambda pair: abs(score_mean(correlation[:, *pair]).value))
