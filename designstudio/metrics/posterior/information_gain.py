"""Information gain: what do the data tell about the parameters?"""

import numpy as np
from jaxtyping import Float

from designstudio.metrics.base import ALL, LARGER, PRIOR_COST, AbstractPosteriorMetric
from designstudio.metrics.samples import PosteriorShape


class InformationGain(AbstractPosteriorMetric):
    """Half the log ratio of the determinants of prior and posterior covariance."""

    name = "information_gain"
    label = "information gain"
    explanation = "nats that all parameters, or the prior-cost pair, gain; 0.69 nats halve one sd"
    caveat = "more parameters have more to gain: compare designs with the same parameters"
    direction = LARGER
    unit = "nats"

    def values(self, shape: PosteriorShape) -> Float[np.ndarray, " dataset"]:
        """Nats gained."""
        return (np.linalg.slogdet(shape.prior)[1] - np.linalg.slogdet(shape.covariance)[1]) / 2

    def row_names(self) -> dict[str, str]:
        """Both parts."""
        return {PRIOR_COST: "prior-cost gain", ALL: self.label}
