"""What priors that are made from a truncated normal distribution share."""

import math

import numpy as np
from jaxtyping import Float
from scipy import stats

from designstudio.model.priors.interval import Interval


def finite(bound: float) -> float | None:
    """A bound as numpyro takes it: None where there is none."""
    return bound if math.isfinite(bound) else None


def normal_quantile(
    probability: Float[np.ndarray, "..."], mean: float, sd: float, bounds: Interval
) -> Float[np.ndarray, "..."]:
    """Quantiles of a normal distribution that is truncated to `bounds`."""
    low, high = ((bound - mean) / sd for bound in (bounds.low, bounds.high))
    return stats.truncnorm.ppf(probability, low, high, loc=mean, scale=sd)
