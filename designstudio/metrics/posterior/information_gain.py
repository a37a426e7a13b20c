"""Information gain: what do the data tell about the parameters?"""

import numpy as np
from jaxtyping import Float

from designstudio.metrics.base import ALL, LARGER, PRIOR_COST, AbstractPosteriorMetric
from designstudio.metrics.samples import PosteriorShape


class InformationGain(AbstractPosteriorMetric):
    """Mean of log p(data | parameters) - log p(data), computed with the fits; see `designstudio.metrics.summaries`."""

    name = "information_gain"
    label = "information gain"
    explanation = (
        "mean of log p(data given parameters) - log p(data), of all parameters or of prior and cost, the others integrated "
        "out: the expected information gain if participants come from the analysis prior, else what these may expect"
    )
    caveat = "more parameters have more to gain: compare designs with the same parameters"
    direction = LARGER
    unit = "nats"

    def values(self, shape: PosteriorShape) -> Float[np.ndarray, " dataset"]:
        """Nats gained."""
        return np.full(len(shape.covariance), np.nan) if shape.gain is None else shape.gain

    def row_names(self) -> dict[str, str]:
        """Both parts."""
        return {PRIOR_COST: "prior-cost gain", ALL: self.label}
