"""Can prior and cost be told apart? What the shape of the posterior says about each pair of parameters, and about all.

Shapes are those of the logarithms of the parameters, in which the trade-offs of the model (one parameter up by a factor,
another down by its power) are straight. Of every posterior only the covariance enters, so all fidelities have the same
scores:

* correlation of each pair;
* confounding factor of a parameter: its posterior sd over the sd it would have if all other parameters were known; for the
  prior-cost pair, how much wider the posterior of the cost's parameter is because mu_0 and sigma_0 are unknown;
* weakest direction: the combination of parameters about which the data say least, and the share of the prior's sd that
  remains in it. A share of 1 means that the data say nothing about it;
* information gain, in nats: half the log ratio of the determinants of prior and posterior covariance.
"""

import dataclasses
from typing import Any

import numpy as np
import xarray as xr
from jaxtyping import Float

from designstudio.metrics.monte_carlo import Score, score_mean, scores_as_dict

PRIOR_PARAMETERS = ("mu_0", "sigma_0")
# Loadings smaller than this in a direction of length 1 are not worth naming.
SMALL_LOADING = 0.1
# Loadings that differ by less are shown as the same number.
EQUAL_LOADING = 1e-3

Matrices = Float[np.ndarray, "dataset parameter parameter_other"]


@dataclasses.dataclass(frozen=True)
class Identifiability:
    """What a design can tell apart; NaN where there is nothing to tell.

    Attributes:
        parameters: names of the free parameters, one for each condition where they differ.
        correlation: of every pair, by both names.
        confounding: factor of every parameter.
        prior_cost: `confounding` of the cost by the prior and the strongest `correlation` between the two; empty if the fit
            has no free parameter of one of them.
        information_gain: on `all` parameters, and on `prior_cost`.
        remaining: share of the prior's sd that remains in the weakest direction.
        weakest: the weakest direction, over the logarithms of the parameters; of length 1.
    """

    parameters: tuple[str, ...]
    correlation: dict[tuple[str, str], Score]
    confounding: dict[str, Score]
    prior_cost: dict[str, Score]
    prior_cost_pair: tuple[str, str] | None
    information_gain: dict[str, Score]
    remaining: Score
    weakest: dict[str, float]

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        correlation: dict[str, Any] = {}
        for (first, second), score in self.correlation.items():
            correlation.setdefault(first, {})[second] = score.as_dict()
        return {
            "correlation": correlation,
            "confounding": scores_as_dict(self.confounding),
            "prior_cost": scores_as_dict(self.prior_cost),
            "information_gain": scores_as_dict(self.information_gain),
            "weakest_direction": {"remaining": self.remaining.as_dict(), "loadings": self.weakest},
        }


def score_identifiability(summaries: xr.Dataset, cost_parameters: tuple[str, ...]) -> Identifiability:
    """Identifiability of all free parameters.

    Args:
        summaries: see `designstudio.metrics.summaries`.
        cost_parameters: names of the cost's own parameters.
    """
    good = summaries.isel(dataset=np.flatnonzero(summaries["is_good"].values))
    names = tuple(str(name) for name in good["parameter"].values)
    covariance = good["log_covariance"].values.astype(float)
    prior = good["prior_log_covariance"].values.astype(float)
    deviation = np.sqrt(np.diagonal(covariance, axis1=1, axis2=2))
    correlation = covariance / (deviation[:, :, None] * deviation[:, None, :])
    pairs = {
        (first, second): score_mean(correlation[:, i, j])
        for i, first in enumerate(names)
        for j, second in enumerate(names)
        if i < j
    }
    confounding = {name: score_mean(confound(covariance, [i])) for i, name in enumerate(names)}
    of_prior = [i for i, name in enumerate(names) if _base(name) in PRIOR_PARAMETERS]
    of_cost = [i for i, name in enumerate(names) if _base(name) in cost_parameters]
    gain = {"all": score_mean(gain_information(covariance, prior))}
    prior_cost, strongest = {}, None
    if of_prior and of_cost:
        both = [*of_prior, *of_cost]
        inner = np.ix_(both, both)
        gain["prior_cost"] = score_mean(gain_information(covariance[:, inner[0], inner[1]], prior[inner]))
        widened = confound(covariance[:, inner[0], inner[1]], list(range(len(of_prior), len(both))))
        strongest = max(
            ((names[i], names[j]) for i in of_prior for j in of_cost), key=lambda pair: abs(_either(pairs, pair).value)
        )
        prior_cost = {"confounding": score_mean(widened), "correlation": _either(pairs, strongest)}
    remaining, weakest = find_weakest(covariance, prior)
    direction = {name: round(float(value), 3) for name, value in zip(names, weakest, strict=True) if not np.isnan(value)}
    return Identifiability(names, pairs, confounding, prior_cost, strongest, gain, score_mean(remaining), direction)


def confound(covariance: Matrices, chosen: list[int]) -> Float[np.ndarray, " dataset"]:
    """How much wider the posterior of the chosen parameters is because the others are unknown (geometric mean over them)."""
    marginal = covariance[:, chosen][:, :, chosen]
    conditional = np.linalg.inv(covariance)[:, chosen][:, :, chosen]
    return np.exp((np.linalg.slogdet(marginal)[1] + np.linalg.slogdet(conditional)[1]) / (2 * len(chosen)))


def gain_information(covariance: Matrices, prior: Float[np.ndarray, "parameter parameter_other"]) -> np.ndarray:
    """Information gained, in nats."""
    return (np.linalg.slogdet(prior)[1] - np.linalg.slogdet(covariance)[1]) / 2


def find_weakest(
    covariance: Matrices, prior: Float[np.ndarray, "parameter parameter_other"]
) -> tuple[Float[np.ndarray, " dataset"], Float[np.ndarray, " parameter"]]:
    """Share of the prior's sd that remains in the weakest direction of each data set, and the direction of their mean."""
    if not len(covariance):
        return np.empty(0), np.full(len(prior), np.nan)
    root = np.linalg.cholesky(prior)
    whitened = np.linalg.solve(root, np.swapaxes(np.linalg.solve(root, covariance), 1, 2))
    remaining = np.sqrt(np.linalg.eigvalsh(whitened)[:, -1])
    weakest = root @ np.linalg.eigh(whitened.mean(0))[1][:, -1]
    weakest = weakest / np.linalg.norm(weakest)
    # The first of the largest loadings is positive. In a trade-off of one against one both are largest: rounding, which
    # differs between machines, must not choose between them.
    size = np.abs(weakest)
    return remaining, weakest * np.sign(weakest[np.argmax(size > size.max() - EQUAL_LOADING)])


def _base(name: str) -> str:
    """The parameter that an entry such as sigma[low] belongs to."""
    return name.partition("[")[0]


def _either(pairs: dict[tuple[str, str], Score], pair: tuple[str, str]) -> Score:
    return pairs[pair] if pair in pairs else pairs[pair[1], pair[0]]
