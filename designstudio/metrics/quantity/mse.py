"""Mean squared error, as in the paper's tables."""

import numpy as np

from designstudio.metrics.base import SMALLER, AbstractQuantityMean
from designstudio.metrics.samples import QuantitySample


class MeanSquaredError(AbstractQuantityMean):
    """Mean of the squared error of the posterior mean."""

    name = "mse"
    label = "MSE"
    symbol = "MSE"
    explanation = "the square of the RMSE, as in the paper's tables"
    caveat = "small also where the prior alone was right"
    direction = SMALLER
    is_size = True
    in_units = 2
    in_overview = "no"
    in_report = False

    def values(self, sample: QuantitySample) -> np.ndarray:
        """Squared errors."""
        return sample.error**2
