"""Root mean squared error: how far off is a typical estimate?"""

import numpy as np

from designstudio.metrics.base import SMALLER, AbstractQuantityMetric, Statistic
from designstudio.metrics.monte_carlo import weighted_mean
from designstudio.metrics.samples import QuantitySample


class RootMeanSquaredError(AbstractQuantityMetric):
    """Root of the mean squared error of the posterior mean."""

    name = "rmse"
    label = "RMSE"
    symbol = "RMSE"
    explanation = "root of the mean squared error, in the parameter's unit"
    caveat = "small also where the prior alone was right"
    direction = SMALLER
    is_size = True
    in_units = 1
    in_overview = "each"

    def statistic(self, sample: QuantitySample) -> Statistic:
        """Root of the weighted mean of squared errors."""
        squares = sample.error**2
        return lambda weights: np.sqrt(weighted_mean(weights, squares))

    def compared(self, sample: QuantitySample) -> Statistic:
        """Half the logarithm of the mean: that of its root, without rounding the root."""
        squares = sample.error**2
        return lambda weights: np.log(weighted_mean(weights, squares)) / 2
