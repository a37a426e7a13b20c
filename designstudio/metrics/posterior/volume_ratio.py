"""Volume ratio: by how much do the data shrink what the prior leaves open?"""

import numpy as np
from jaxtyping import Float

from designstudio.metrics.base import LARGER, AbstractPosteriorMetric
from designstudio.metrics.samples import PosteriorShape


class VolumeRatio(AbstractPosteriorMetric):
    """Half the log ratio of the determinants of prior and posterior covariance."""

    name = "volume_ratio"
    label = "log volume ratio"
    explanation = "log ratio of the prior's volume to the posterior's, by the covariance of the parameters' logarithms"
    caveat = "the information gained only if prior and posterior are Gaussian; also defined where participants have no truth"
    direction = LARGER
    unit = "nats"

    def values(self, shape: PosteriorShape) -> Float[np.ndarray, " dataset"]:
        """The logarithm."""
        return (np.linalg.slogdet(shape.prior)[1] - np.linalg.slogdet(shape.covariance)[1]) / 2

    def row_names(self) -> dict[str, str]:
        """None: tables show the information gain, and files have both."""
        return {}
