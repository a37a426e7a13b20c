"""Would the right cost function win? Leave-one-out predictive density, and who wins by it.

A data set's winner is the cost whose fit predicts left-out trials best (PSIS-LOO). The *confusion* matrix says how often
each cost wins when a given one was simulated; the *inversion* matrix, how likely each cost was simulated when a given one
has won (all being equally likely beforehand). A data set that some cost could not be fitted to has no winner and is counted.
"""

from typing import Any, NamedTuple

import numpy as np
import xarray as xr
from jaxtyping import Float
from scipy import special

from designstudio.inference.convergence import smooth_weights
from designstudio.metrics.monte_carlo import Score, score_share, scores_as_dict

# Effective share of draws above which Pareto smoothing of the weights would change nothing that matters.
EVEN_WEIGHTS = 0.8
# Numbers of a log likelihood that are worked on at once.
LARGEST_PART = 20_000_000


class LeaveOneOut(NamedTuple):
    """Expected log predictive density of each data set, and the largest Pareto k-hat of its trials with uneven weights."""

    elpd: Float[np.ndarray, " dataset"]
    khat: Float[np.ndarray, " dataset"]


class PointwiseLeaveOneOut(NamedTuple):
    """Log predictive density of each left-out trial, NaN where there is none, and its k-hat, 0 where weights are even."""

    elpd: Float[np.ndarray, "dataset trial"]
    khat: Float[np.ndarray, "dataset trial"]


class ModelRecovery(NamedTuple):
    """How well costs are told apart.

    Attributes:
        confusion: P(fitted wins | simulated), over (simulated, fitted).
        confusion_mcse: its Monte Carlo errors.
        inversion: P(simulated | fitted has won), over (simulated, fitted).
        num_undecided: data sets without a winner, for each simulated cost.
    """

    confusion: xr.DataArray
    confusion_mcse: xr.DataArray
    inversion: xr.DataArray
    num_undecided: xr.DataArray

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        tables: dict[str, Any] = {"confusion": {}, "inversion": {}, "num_undecided": {}}
        for simulated in (str(cost) for cost in self.confusion["simulated"].values):
            tables["num_undecided"][simulated] = int(self.num_undecided.sel(simulated=simulated))
            row = self.inversion.sel(simulated=simulated)
            fitted = [str(cost) for cost in row["fitted"].values]
            tables["inversion"][simulated] = {
                f: None if np.isnan(row.sel(fitted=f)) else float(row.sel(fitted=f)) for f in fitted
            }
            at = [{"simulated": simulated, "fitted": f} for f in fitted]
            scores = [Score(float(self.confusion.sel(a)), float(self.confusion_mcse.sel(a))) for a in at]
            tables["confusion"][simulated] = scores_as_dict(dict(zip(fitted, scores, strict=True)))
        return tables

    def chance_to_win(self, cost: str) -> Score:
        """Chance that a cost wins when it was simulated."""
        at = {"simulated": cost, "fitted": cost}
        return Score(float(self.confusion.sel(at)), float(self.confusion_mcse.sel(at)))


def leave_one_out(log_likelihood: Float[np.ndarray, "dataset chain draw trial"]) -> LeaveOneOut:
    """PSIS-LOO of every data set; trials that are not present are NaN, and left out."""
    pointwise = leave_each_out(log_likelihood)
    return LeaveOneOut(np.nansum(pointwise.elpd, axis=1), pointwise.khat.max(axis=1))


def leave_each_out(log_likelihood: Float[np.ndarray, "dataset chain draw trial"]) -> PointwiseLeaveOneOut:
    """PSIS-LOO of every trial; trials that are not present are NaN, and stay so.

    Leaving out one of many trials hardly changes a posterior, so most weights are nearly even, and smoothing their tail
    changes nothing: only trials with uneven weights are handed to it.
    """
    # In parts: the work needs several 64-bit copies of what it works on.
    num_at_once = max(1, LARGEST_PART // max(1, log_likelihood[:1].size))
    parts = [
        _leave_each_out(log_likelihood[first : first + num_at_once]) for first in range(0, len(log_likelihood), num_at_once)
    ]
    return PointwiseLeaveOneOut(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


def _leave_each_out(log_likelihood: Float[np.ndarray, "dataset chain draw trial"]) -> PointwiseLeaveOneOut:
    flat = np.asarray(log_likelihood, float).reshape(len(log_likelihood), -1, log_likelihood.shape[-1])
    is_present = ~np.isnan(flat).all(axis=1)
    # Weights are inverse likelihoods; their scale is free.
    safe = np.where(is_present[:, None, :], flat, 0.0)
    smallest = safe.min(axis=1)
    weights = np.exp(smallest[:, None, :] - safe)
    pointwise = np.log(weights.shape[1]) - np.log(weights.sum(axis=1)) + smallest
    share = weights.sum(axis=1) ** 2 / (weights**2).sum(axis=1) / weights.shape[1]
    khat = np.zeros_like(pointwise)
    is_uneven = is_present & (share < EVEN_WEIGHTS)
    if is_uneven.any():
        uneven = np.moveaxis(flat, 2, 1)[is_uneven]
        smoothed = smooth_weights(-uneven)
        pointwise[is_uneven] = special.logsumexp(smoothed.log_weight + uneven, axis=1)
        khat[is_uneven] = smoothed.khat
    return PointwiseLeaveOneOut(np.where(is_present, pointwise, np.nan), khat)


def score_model_recovery(elpd: xr.DataArray) -> ModelRecovery:
    """Confusion and inversion.

    Args:
        elpd: over (simulated, fitted, dataset), with costs as coordinates; NaN where a fit failed.
    """
    costs = [str(cost) for cost in elpd["fitted"].values]
    simulated = [str(cost) for cost in elpd["simulated"].values]
    values = elpd.transpose("simulated", "fitted", "dataset").values
    is_decided = ~np.isnan(values).any(axis=1)
    confusion, errors = np.full((2, len(simulated), len(costs)), np.nan)
    for i, row in enumerate(values):
        winners = np.argmax(row[:, is_decided[i]], axis=0)
        for j in range(len(costs)):
            confusion[i, j], errors[i, j] = score_share(winners == j)
    total = confusion.sum(axis=0)
    inversion = np.where(total > 0, confusion / np.where(total > 0, total, 1.0), np.nan)
    label: dict[str, Any] = {"dims": ("simulated", "fitted"), "coords": {"simulated": simulated, "fitted": costs}}
    return ModelRecovery(
        xr.DataArray(confusion, **label),
        xr.DataArray(errors, **label),
        xr.DataArray(inversion, **label),
        xr.DataArray((~is_decided).sum(axis=1), dims="simulated", coords={"simulated": simulated}),
    )
