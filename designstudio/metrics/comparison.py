"""Would the right cost function win? Leave-one-out predictive density, and who wins by it.

A data set's winner is the cost whose fit predicts left-out trials best (PSIS-LOO), if the draws can tell: it must be ahead
of every other cost by more than two Monte Carlo errors of the difference, and no trial of any cost may have a k-hat above
0.7. Otherwise another seed of the fits might name another winner, and the data set is *undecided*. The *confusion* matrix
says how often each cost wins when a given one was simulated, and how often none does; the *inversion* matrix, how likely
each cost was simulated when a given one has won (all being equally likely beforehand). A data set that some cost could not
be fitted to is left out and counted.
"""

import dataclasses
from typing import Any, NamedTuple

import numpy as np
import xarray as xr
from jaxtyping import Float
from scipy import special

from designstudio.inference.convergence import smooth_weights
from designstudio.metrics.monte_carlo import Score, score_share, scores_as_dict

# Why data sets have no winner; see `ModelRecovery`.
COUNTS = ("num_close", "num_bad_khat", "num_failed")
# Effective share of draws above which Pareto smoothing of the weights would change nothing that matters.
EVEN_WEIGHTS = 0.8
# Numbers of a log likelihood that are worked on at once.
LARGEST_PART = 20_000_000


@dataclasses.dataclass(frozen=True)
class DecisionRule:
    """When a data set has a winner.

    Attributes:
        num_errors: Monte Carlo errors of the difference by which it must be ahead of every other cost.
        max_khat: largest Pareto k-hat that a trial of any cost may have.
    """

    num_errors: float = 2.0
    max_khat: float = 0.7


DEFAULT_RULE = DecisionRule()


class LeaveOneOut(NamedTuple):
    """Leave-one-out of each data set.

    Attributes:
        elpd: expected log predictive density.
        mcse: its Monte Carlo error, from the finite number of draws.
        khat: largest Pareto k-hat of the trials with uneven weights; 0 if there are none.
    """

    elpd: Float[np.ndarray, " dataset"]
    mcse: Float[np.ndarray, " dataset"]
    khat: Float[np.ndarray, " dataset"]


class PointwiseLeaveOneOut(NamedTuple):
    """Leave-one-out of each trial.

    Attributes:
        elpd: log predictive density, NaN where there is no trial.
        khat: Pareto k-hat, 0 where weights are even.
        influence: of a draw on the sum of the log predictive densities, as a standard deviation; over the square root of the
            effective draws it is the Monte Carlo error of the sum.
    """

    elpd: Float[np.ndarray, "dataset trial"]
    khat: Float[np.ndarray, "dataset trial"]
    influence: Float[np.ndarray, " dataset"]


class ModelRecovery(NamedTuple):
    """How well costs are told apart.

    Attributes:
        confusion: P(fitted wins | simulated), over (simulated, fitted), of the data sets that all costs could be fitted to.
        confusion_mcse: its Monte Carlo errors.
        inversion: P(simulated | fitted has won), over (simulated, fitted).
        undecided: P(no winner | simulated), of the same data sets, over simulated; with `confusion` it sums to 1.
        undecided_mcse: its Monte Carlo errors.
        counts: numbers of data sets, over simulated: `num_close` are undecided because the lead is within the Monte Carlo
            error, `num_bad_khat` because of a k-hat, and `num_failed` are left out because a fit failed.
    """

    confusion: xr.DataArray
    confusion_mcse: xr.DataArray
    inversion: xr.DataArray
    undecided: xr.DataArray
    undecided_mcse: xr.DataArray
    counts: xr.Dataset

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        tables: dict[str, Any] = {"confusion": {}, "inversion": {}, "undecided": {}}
        for simulated in (str(cost) for cost in self.confusion["simulated"].values):
            row = self.inversion.sel(simulated=simulated)
            fitted = [str(cost) for cost in row["fitted"].values]
            tables["inversion"][simulated] = {
                f: None if np.isnan(row.sel(fitted=f)) else float(row.sel(fitted=f)) for f in fitted
            }
            at = [{"simulated": simulated, "fitted": f} for f in fitted]
            scores = [Score(float(self.confusion.sel(a)), float(self.confusion_mcse.sel(a))) for a in at]
            tables["confusion"][simulated] = scores_as_dict(dict(zip(fitted, scores, strict=True)))
            tables["undecided"][simulated] = self.chance_to_be_undecided(simulated).as_dict()
        for name, numbers in self.counts.items():
            costs = (str(cost) for cost in numbers["simulated"].values)
            tables[str(name)] = dict(zip(costs, numbers.values.tolist(), strict=True))
        return tables

    def chance_to_win(self, cost: str) -> Score:
        """Chance that a cost wins when it was simulated."""
        at = {"simulated": cost, "fitted": cost}
        return Score(float(self.confusion.sel(at)), float(self.confusion_mcse.sel(at)))

    def chance_to_be_undecided(self, cost: str) -> Score:
        """Chance that no cost wins when this one was simulated."""
        return Score(float(self.undecided.sel(simulated=cost)), float(self.undecided_mcse.sel(simulated=cost)))


def leave_one_out(
    log_likelihood: Float[np.ndarray, "dataset chain draw trial"], num_effective: Float[np.ndarray, " dataset"]
) -> LeaveOneOut:
    """PSIS-LOO of every data set; trials that are not present are NaN, and left out.

    The Monte Carlo error is the spread of the draws' influence on the sum over the trials (how much the sum would change
    with another draw in place of one) over the square root of the effective draws. All trials depend on the same draws, so
    the influence is summed over trials before its spread is taken.

    Args:
        log_likelihood: of all draws.
        num_effective: independent draws that these are worth.
    """
    elpd, khat, influence = _in_parts(log_likelihood)
    error = influence.std(axis=1, ddof=1) / np.sqrt(num_effective)
    return LeaveOneOut(np.nansum(elpd, axis=1), error, khat.max(axis=1))


def leave_each_out(log_likelihood: Float[np.ndarray, "dataset chain draw trial"]) -> PointwiseLeaveOneOut:
    """PSIS-LOO of every trial; trials that are not present are NaN, and stay so.

    Leaving out one of many trials hardly changes a posterior, so most weights are nearly even, and smoothing their tail
    changes nothing: only trials with uneven weights are handed to it.
    """
    elpd, khat, influence = _in_parts(log_likelihood)
    return PointwiseLeaveOneOut(elpd, khat, influence.std(axis=1, ddof=1))


def _in_parts(log_likelihood: np.ndarray) -> list[np.ndarray]:
    """Log predictive density and k-hat over (dataset, trial), and influence over (dataset, draw)."""
    # The work needs several 64-bit copies of what it works on.
    num_at_once = max(1, LARGEST_PART // max(1, log_likelihood[:1].size))
    parts = [
        _leave_each_out(log_likelihood[first : first + num_at_once]) for first in range(0, len(log_likelihood), num_at_once)
    ]
    return [np.concatenate(arrays) for arrays in zip(*parts, strict=True)]


def _leave_each_out(log_likelihood: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
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
    influence = np.where(is_uneven[:, None, :], 0.0, 1 - weights / weights.mean(axis=1, keepdims=True)).sum(axis=2)
    if is_uneven.any():
        uneven = np.moveaxis(flat, 2, 1)[is_uneven]
        smoothed = smooth_weights(-uneven)
        pointwise[is_uneven] = special.logsumexp(smoothed.log_weight + uneven, axis=1)
        khat[is_uneven] = smoothed.khat
        relative = np.exp(uneven - pointwise[is_uneven][:, None]) - 1
        np.add.at(influence, np.nonzero(is_uneven)[0], flat.shape[1] * np.exp(smoothed.log_weight) * relative)
    return np.where(is_present, pointwise, np.nan), khat, influence


def score_model_recovery(loo: xr.Dataset, rule: DecisionRule = DEFAULT_RULE) -> ModelRecovery:
    """Confusion and inversion.

    Args:
        loo: `elpd`, its `mcse` and the largest `khat`, over (simulated, fitted, dataset), with costs as coordinates; elpd is
            NaN where a fit failed.
        rule: when a data set has a winner.
    """
    loo = loo.transpose("simulated", "fitted", "dataset")
    simulated, costs = ([str(cost) for cost in loo[dim].values] for dim in ("simulated", "fitted"))
    elpd, mcse, khat = (loo[name].values for name in ("elpd", "mcse", "khat"))
    confusion, errors = np.full((2, len(simulated), len(costs)), np.nan)
    undecided = np.full((2, len(simulated)), np.nan)
    counts = np.zeros((3, len(simulated)), int)
    for i in range(len(simulated)):
        is_fitted = ~np.isnan(elpd[i]).any(axis=0)
        winners, is_ahead = find_winners(elpd[i][:, is_fitted], mcse[i][:, is_fitted], rule)
        # A k-hat that cannot be estimated is no certificate either.
        is_reliable = (khat[i][:, is_fitted] <= rule.max_khat).all(axis=0)
        is_decided = is_ahead & is_reliable
        undecided[:, i] = score_share(~is_decided)
        counts[:, i] = (is_reliable & ~is_ahead).sum(), (~is_reliable).sum(), (~is_fitted).sum()
        for j in range(len(costs)):
            confusion[i, j], errors[i, j] = score_share(is_decided & (winners == j))
    total = confusion.sum(axis=0)
    inversion = np.where(total > 0, confusion / np.where(total > 0, total, 1.0), np.nan)
    both: dict[str, Any] = {"dims": ("simulated", "fitted"), "coords": {"simulated": simulated, "fitted": costs}}
    one: dict[str, Any] = {"dims": "simulated", "coords": {"simulated": simulated}}
    return ModelRecovery(
        xr.DataArray(confusion, **both),
        xr.DataArray(errors, **both),
        xr.DataArray(inversion, **both),
        xr.DataArray(undecided[0], **one),
        xr.DataArray(undecided[1], **one),
        xr.Dataset({name: xr.DataArray(row, **one) for name, row in zip(COUNTS, counts, strict=True)}),
    )


def find_winners(
    elpd: Float[np.ndarray, "fitted dataset"], mcse: Float[np.ndarray, "fitted dataset"], rule: DecisionRule
) -> tuple[np.ndarray, np.ndarray]:
    """Which cost is ahead in each data set, and whether it is clearly ahead of all others."""
    winners = np.argmax(elpd, axis=0)
    lead = np.take_along_axis(elpd, winners[None], axis=0) - elpd
    # Fits are independent of each other.
    error = np.hypot(np.take_along_axis(mcse, winners[None], axis=0), mcse)
    is_other = np.arange(len(elpd))[:, None] != winners
    return winners, ((lead > rule.num_errors * error) | ~is_other).all(axis=0)
