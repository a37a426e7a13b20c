"""What priors that are made from a truncated normal distribution share."""

import math

import numpy as np
from jaxtyping import Float
from scipy import special

from designstudio.model.priors.interval import Interval


def finite(bound: float) -> float | None:
    """A bound as numpyro takes it: None where there is none."""
    return bound if math.isfinite(bound) else None


def normal_quantile(
    probability: Float[np.ndarray, "..."], mean: float, sd: float, bounds: Interval
) -> Float[np.ndarray, "..."]:
    """Quantiles of a normal distribution that is truncated to `bounds`."""
    low, high = ((bound - mean) / sd for bound in (bounds.low, bounds.high))
    with np.errstate(divide="ignore"):
        log_below, log_above = np.log(probability), np.log1p(-np.asarray(probability))
    if low < 0:
        return mean + sd * _truncated_quantile(log_below, low, high)
    # Far above the mean, probabilities of more than that keep their digits.
    return mean - sd * _truncated_quantile(log_above, -high, -low)


def _truncated_quantile(log_below: Float[np.ndarray, "..."], low: float, high: float) -> Float[np.ndarray, "..."]:
    """Quantiles of a standard normal distribution between two bounds, of which the lower is negative, from logarithms."""
    at_low, at_high = special.log_ndtr(low), special.log_ndtr(high)
    log_mass = at_high + np.log1p(-np.exp(at_low - at_high))
    return special.ndtri_exp(np.logaddexp(at_low, log_below + log_mass)).clip(low, high)
