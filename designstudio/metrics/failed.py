"""Share of fits that failed, which no other metric uses."""

import numpy as np
from jaxtyping import Bool

from designstudio.metrics.base import SMALLER, WHOLE, AbstractMetric
from designstudio.metrics.monte_carlo import MetricEstimate, score_share


class Failed(AbstractMetric):
    """Share of fits that failed."""

    name = "failed"
    label = "share of failed fits"
    explanation = "share of data sets without a usable fit"
    caveat = "why they failed: see `convergence` in the JSON"
    scope = WHOLE
    direction = SMALLER

    def estimate(self, is_good: Bool[np.ndarray, " dataset"]) -> MetricEstimate:
        """The share; of all data sets, not of good ones as other metrics."""
        return MetricEstimate(score_share(~is_good), np.where(is_good, 0.0, 1.0))
