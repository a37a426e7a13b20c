"""Can prior and cost be told apart? What the shape of the posterior says about each pair of parameters, and about all.

The numbers are those of the metrics in `designstudio.metrics.posterior`, of all parameters and of prior and cost; the
correlation also of each pair, and the confounding factor of each parameter: its posterior sd over the sd it would have if
all other parameters were known.
"""

import dataclasses
from typing import Any

import numpy as np
import xarray as xr

from designstudio.metrics.base import ALL, PRIOR_COST
from designstudio.metrics.monte_carlo import Score, score_mean, scores_as_dict
from designstudio.metrics.posterior.confounding import Confounding, confound
from designstudio.metrics.posterior.correlation import Correlation, correlate, find_strongest_pair
from designstudio.metrics.posterior.information_gain import InformationGain
from designstudio.metrics.posterior.remaining import Remaining, find_weakest_direction
from designstudio.metrics.registry import list_posterior_metrics
from designstudio.metrics.samples import PosteriorShape, keep_good, shape_posteriors

# Loadings smaller than this in a direction of length 1 are not worth naming.
SMALL_LOADING = 0.1


@dataclasses.dataclass(frozen=True)
class Identifiability:
    """What a design can tell apart; NaN where there is nothing to tell.

    Attributes:
        parameters: names of the free parameters, one for each condition where they differ.
        correlation: of every pair, by both names.
        confounding: factor of every parameter.
        scores: every registered metric of posteriors, by its name and by what it is of: `all` parameters, or `prior_cost`,
            which is missing if the fit has no free parameter of one of them.
        prior_cost_pair: the parameter of the prior and the one of the cost that are correlated most, if there are both.
        weakest: the weakest direction, over the logarithms of the parameters; of length 1.
    """

    parameters: tuple[str, ...]
    correlation: dict[tuple[str, str], Score]
    confounding: dict[str, Score]
    scores: dict[str, dict[str, Score]]
    prior_cost_pair: tuple[str, str] | None
    weakest: dict[str, float]

    @property
    def prior_cost(self) -> dict[str, Score]:
        """`confounding` of the cost by the prior and the strongest `correlation` between the two; empty without both."""
        names = (Confounding.name, Correlation.name) if self.prior_cost_pair else ()
        return {name: self.scores[name][PRIOR_COST] for name in names}

    @property
    def information_gain(self) -> dict[str, Score]:
        """On `all` parameters, and on `prior_cost`."""
        return self.scores[InformationGain.name]

    @property
    def remaining(self) -> Score:
        """Share of the prior's sd that remains in the weakest direction."""
        return self.scores[Remaining.name][ALL]

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        correlation: dict[str, Any] = {}
        for (first, second), score in self.correlation.items():
            correlation.setdefault(first, {})[second] = score.as_dict()
        own = (Correlation.name, Confounding.name, Remaining.name)
        return {
            Correlation.name: correlation,
            Confounding.name: scores_as_dict(self.confounding),
            PRIOR_COST: scores_as_dict(self.prior_cost),
            **{name: scores_as_dict(scores) for name, scores in self.scores.items() if name not in own},
            "weakest_direction": {"remaining": self.remaining.as_dict(), "loadings": self.weakest},
        }


def score_identifiability(
    summaries: xr.Dataset, prior_parameters: tuple[str, ...], cost_parameters: tuple[str, ...]
) -> Identifiability:
    """Identifiability of all free parameters.

    Args:
        summaries: see `designstudio.metrics.summaries`.
        prior_parameters: names of the parameters of the participants' prior.
        cost_parameters: names of the cost's own parameters.
    """
    shape = shape_posteriors(keep_good(summaries), prior_parameters, cost_parameters)
    names, has_both = shape.names, bool(shape.of_prior and shape.of_cost)
    pair = find_strongest_pair(shape) if has_both else None
    weakest = find_weakest_direction(shape)
    return Identifiability(
        names,
        score_correlations(shape),
        {name: score_mean(confound(shape, (place,))) for place, name in enumerate(names)},
        _score_parts(shape, has_both=has_both),
        None if pair is None else (names[pair[0]], names[pair[1]]),
        {name: round(float(value), 3) for name, value in zip(names, weakest, strict=True) if not np.isnan(value)},
    )


def score_correlations(shape: PosteriorShape) -> dict[tuple[str, str], Score]:
    """The correlation of every pair, by both names."""
    correlation = correlate(shape.covariance)
    return {
        (first, second): score_mean(correlation[:, i, j])
        for i, first in enumerate(shape.names)
        for j, second in enumerate(shape.names)
        if i < j
    }


def _score_parts(shape: PosteriorShape, *, has_both: bool) -> dict[str, dict[str, Score]]:
    """Every registered metric, of each of its parts."""
    parts = {ALL: shape, **({PRIOR_COST: shape.select_prior_and_cost()} if has_both else {})}
    return {
        name: {part: metric.score(chosen) for part, chosen in parts.items() if part in (metric.parts or (ALL,))}
        for name, metric in list_posterior_metrics().items()
    }
