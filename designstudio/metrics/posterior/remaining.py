"""Weakest direction: the combination of parameters about which the data say least, and what of the prior remains in it."""

import numpy as np
from jaxtyping import Float

from designstudio.metrics.base import SMALLER, AbstractPosteriorMetric
from designstudio.metrics.samples import PosteriorShape

# Loadings that differ by less are shown as the same number.
EQUAL_LOADING = 1e-3


class Remaining(AbstractPosteriorMetric):
    """Share of the prior's sd that remains in the weakest direction; 1 if the data say nothing about it."""

    name = "remaining"
    label = "remaining share of the prior's sd"
    explanation = "share of the prior's sd left in the direction that the data know worst"
    caveat = "which direction: see `weakest_direction` in the JSON"
    direction = SMALLER
    parts = ()

    def values(self, shape: PosteriorShape) -> Float[np.ndarray, " dataset"]:
        """Shares."""
        return np.sqrt(np.linalg.eigvalsh(_whiten(shape))[:, -1])

    def row_names(self) -> dict[str, str]:
        """None: the verdict says it."""
        return {}


def find_weakest_direction(shape: PosteriorShape) -> Float[np.ndarray, " parameter"]:
    """The weakest direction of the mean posterior, of length 1; NaN without data sets."""
    if not len(shape.covariance):
        return np.full(len(shape.prior), np.nan)
    root = np.linalg.cholesky(shape.prior)
    weakest = root @ np.linalg.eigh(_whiten(shape).mean(0))[1][:, -1]
    weakest = weakest / np.linalg.norm(weakest)
    # The first of the largest loadings is positive. In a trade-off of one against one both are largest: rounding, which
    # differs between machines, must not choose between them.
    size = np.abs(weakest)
    return weakest * np.sign(weakest[np.argmax(size > size.max() - EQUAL_LOADING)])


def _whiten(shape: PosteriorShape) -> np.ndarray:
    """Posterior covariances in coordinates in which the prior's is the identity."""
    root = np.linalg.cholesky(shape.prior)
    return np.linalg.solve(root, np.swapaxes(np.linalg.solve(root, shape.covariance), 1, 2))
