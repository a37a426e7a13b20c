"""Confounding factor: how much less certain is a parameter because others are unknown?"""

import numpy as np
from jaxtyping import Float

from designstudio.metrics.base import PRIOR_COST, SMALLER, AbstractPosteriorMetric
from designstudio.metrics.samples import PosteriorShape


class Confounding(AbstractPosteriorMetric):
    """How many times wider the posterior of the cost is because the other parameters of the part are unknown."""

    name = "confounding"
    label = "confounding factor"
    explanation = (
        "posterior sd over the sd if all others were known; of prior and cost: how many times less certain the cost is "
        "because the prior is unknown"
    )
    caveat = "1 also where nothing is known about either"
    direction = SMALLER

    def values(self, shape: PosteriorShape) -> Float[np.ndarray, " dataset"]:
        """Factors of the cost's parameters; of all if the cost has none."""
        return confound(shape, shape.of_cost or tuple(range(len(shape.names))))

    def row_names(self) -> dict[str, str]:
        """That of prior and cost only."""
        return {PRIOR_COST: self.label}


def confound(shape: PosteriorShape, chosen: tuple[int, ...]) -> Float[np.ndarray, " dataset"]:
    """How much wider the posterior of the chosen parameters is because the others are unknown (geometric mean over them)."""
    places = list(chosen)
    marginal = shape.covariance[:, places][:, :, places]
    conditional = np.linalg.inv(shape.covariance)[:, places][:, :, places]
    return np.exp((np.linalg.slogdet(marginal)[1] + np.linalg.slogdet(conditional)[1]) / (2 * len(places)))
