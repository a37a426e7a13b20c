"""Are the parameters estimated well? Posterior means and intervals against the truth, over many simulated data sets.

All scores are of the posterior mean and the equal-tailed interval. Data sets whose fit failed are left out here and counted
elsewhere: a number that includes them would mean nothing.
"""

import numpy as np
import xarray as xr
from jaxtyping import Float

from designstudio.metrics.monte_carlo import (
    UNDEFINED,
    Score,
    Weights,
    score_jackknife,
    score_mean,
    score_share,
    weighted_mean,
)

# In the order of tables. Units: bias, rmse and width that of the quantity, mse its square, the others none.
RECOVERY_SCORES = (
    "bias",
    "rmse",
    "mse",
    "pearson",
    "concordance",
    "coverage",
    "width",
    "contraction",
    "z_score",
)

# Truths closer to each other than this, relative to their size, are all the same.
SAME = 1e-9


def score_recovery(summaries: xr.Dataset) -> dict[str, dict[str, Score]]:
    """Recovery scores of every quantity.

    Args:
        summaries: see `designstudio.metrics.summaries`.
    """
    good = summaries.isel(dataset=np.flatnonzero(summaries["is_good"].values))
    return {str(name): _score_quantity(good.sel(quantity=name)) for name in good["quantity"].values}


def _score_quantity(summary: xr.Dataset) -> dict[str, Score]:
    truth, mean, sd, low, high = (summary[name].values.astype(float) for name in ("truth", "mean", "sd", "low", "high"))
    scores = dict.fromkeys(RECOVERY_SCORES, UNDEFINED)
    scores["width"] = score_mean(high - low)
    scores["contraction"] = score_mean(1 - sd**2 / float(summary["prior_sd"]) ** 2)
    if len(truth) < 2 or np.isnan(truth).any():
        return scores
    error = mean - truth
    scores["bias"] = score_mean(error)
    scores["mse"] = score_mean(error**2)
    scores["rmse"] = score_rmse(error)
    scores["coverage"] = score_share((low <= truth) & (truth <= high))
    scores["z_score"] = score_mean(error / sd)
    # Where all are the same there is nothing to correlate.
    if all(np.ptp(values) > SAME * np.abs(values).max() for values in (truth, mean)):
        scores["pearson"] = score_jackknife(lambda weights: weigh_pearson(weights, truth, mean), len(truth))
        scores["concordance"] = score_jackknife(lambda weights: weigh_concordance(weights, truth, mean), len(truth))
    return scores


def score_rmse(error: Float[np.ndarray, " dataset"]) -> Score:
    """Root mean squared error."""
    return score_jackknife(lambda weights: np.sqrt(weighted_mean(weights, error**2)), len(error))


def _moments(weights: Weights, x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, ...]:
    """Differences of the means, variances and covariance, for each row of weights."""
    # Centred first: the sums would cancel otherwise.
    x, y = x - x.mean(), y - x.mean()
    mean_x, mean_y = weighted_mean(weights, x), weighted_mean(weights, y)
    var_x, var_y = (weighted_mean(weights, v**2) - m**2 for v, m in ((x, mean_x), (y, mean_y)))
    return mean_x - mean_y, var_x, var_y, weighted_mean(weights, x * y) - mean_x * mean_y


def weigh_pearson(weights: Weights, truth: np.ndarray, mean: np.ndarray) -> np.ndarray:
    """Pearson's correlation, for each row of weights."""
    _, var_x, var_y, covariance = _moments(weights, truth, mean)
    return covariance / np.sqrt(np.maximum(var_x * var_y, np.finfo(float).tiny))


def weigh_concordance(weights: Weights, truth: np.ndarray, mean: np.ndarray) -> np.ndarray:
    """Lin's concordance: a correlation that also counts bias and scale."""
    shift, var_x, var_y, covariance = _moments(weights, truth, mean)
    return 2 * covariance / (var_x + var_y + shift**2)
