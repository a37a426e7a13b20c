"""Pareto-smoothed importance sampling (Vehtari, Simpson, Gelman, Yao & Gabry, 2024) of many data sets at once.

The largest weights are replaced by quantiles of a generalised Pareto distribution that is fitted to them; its shape, k-hat,
says whether the weights can be trusted. ArviZ does this for one set of weights at a time; tests compare both.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from scipy import special

# Of Zhang & Stephens' (2009) estimate: how far candidates spread, and how strongly the shape is drawn towards 0.5.
CANDIDATE_SPREAD = 3.0
PRIOR_SIZE, PRIOR_SHAPE = 10.0, 0.5


class Smoothed(NamedTuple):
    """Log weights that sum to one, and the k-hat of their tail; NaN where a tail has no spread."""

    log_weight: Float[np.ndarray, "set draw"]
    khat: Float[np.ndarray, " set"]


def smooth_weights(log_weight: Float[np.ndarray, "set draw"]) -> Smoothed:
    """Smooth the upper tail of every row; rows must be finite."""
    num_draws = log_weight.shape[1]
    num_tail = int(min(num_draws / 5, 3 * np.sqrt(num_draws)))
    shifted = log_weight - log_weight.max(axis=1, keepdims=True)
    order = np.argsort(shifted, axis=1)
    ranked = np.take_along_axis(shifted, order, axis=1)
    cutoff = np.exp(ranked[:, -num_tail - 1, None])
    tail = np.exp(ranked[:, -num_tail:]) - cutoff
    shape, scale = fit_pareto(tail)
    probabilities = (np.arange(num_tail) + 0.5) / num_tail
    k = np.where(np.abs(shape) < 1e-12, 1e-12, shape)[:, None]
    with np.errstate(all="ignore"):
        quantiles = cutoff + scale[:, None] * np.expm1(-k * np.log1p(-probabilities)) / k
        # No draw is made heavier than the heaviest.
        smoothed = np.minimum(np.log(quantiles), 0.0)
    is_fitted = (np.isfinite(shape) & (scale > 0))[:, None]
    ranked[:, -num_tail:] = np.where(is_fitted, smoothed, ranked[:, -num_tail:])
    result = np.empty_like(shifted)
    np.put_along_axis(result, order, ranked, axis=1)
    return Smoothed(result - special.logsumexp(result, axis=1, keepdims=True), np.where(is_fitted[:, 0], shape, np.nan))


def fit_pareto(
    excess: Float[np.ndarray, "set draw"],
) -> tuple[Float[np.ndarray, " set"], Float[np.ndarray, " set"]]:
    """Shape and scale of a generalised Pareto distribution; rows are sorted excesses over the cutoff.

    The profile likelihood of b = -shape / scale is averaged over a few dozen candidates; the shape is then drawn a little
    towards 0.5, which steadies it when the tail is short.
    """
    num = excess.shape[1]
    num_candidates = 30 + int(np.sqrt(num))
    steps = 1 - np.sqrt(num_candidates / (np.arange(num_candidates) + 0.5))
    with np.errstate(all="ignore"):
        quarter, largest = excess[:, int(num / 4 + 0.5) - 1, None], excess[:, -1, None]
        b = steps / (CANDIDATE_SPREAD * quarter) + 1 / largest
        shapes = np.log1p(-b[:, :, None] * excess[:, None, :]).mean(axis=2)
        profile = num * (np.log(-b / shapes) - shapes - 1)
        weights = special.softmax(profile, axis=1)
        mean_b = (b * weights).sum(axis=1)
        shape = np.log1p(-mean_b[:, None] * excess).mean(axis=1)
        scale = -shape / mean_b
        return (num * shape + PRIOR_SIZE * PRIOR_SHAPE) / (num + PRIOR_SIZE), scale
