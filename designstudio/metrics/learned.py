"""What was learned about each parameter that matters, and how those of the prior trade off against those of the cost."""

from collections.abc import Mapping
from typing import NamedTuple

from designstudio.metrics.monte_carlo import Score, score_mean
from designstudio.metrics.posterior.confounding import confound
from designstudio.metrics.posterior.correlation import correlate
from designstudio.metrics.posterior.remaining import Remaining
from designstudio.metrics.samples import PosteriorShape


class Learned(NamedTuple):
    """What was learned about one parameter.

    Attributes:
        name: of the parameter, with its condition where that matters.
        contraction: of the parameter or of its logarithm, whichever is smaller.
        partner: the other parameter with which it is correlated most; empty if there is none.
        correlation: with the partner.
    """

    name: str
    contraction: Score
    partner: str
    correlation: Score


class Pair(NamedTuple):
    """A parameter of the prior and one of the cost, and how they trade off.

    Attributes:
        first: the parameter of the prior.
        second: the one of the cost.
        correlation: of their logarithms in the posterior.
        remaining: share of the prior's sd in the direction of the two about which the data say least.
        confounding: how many times less certain the second is because the whole prior is unknown.
    """

    first: str
    second: str
    correlation: Score
    remaining: Score
    confounding: Score


def score_learned(shape: PosteriorShape, recovery: Mapping[str, Mapping[str, Score]]) -> list[Learned]:
    """Contractions of the parameters that matter: those of prior and cost, or all if none of these is free."""
    places = (*shape.of_prior, *shape.of_cost) or tuple(range(len(shape.names)))
    correlation = correlate(shape.covariance)
    learned = []
    for place in places:
        name, variance = shape.names[place], shape.covariance[:, place, place]
        scores = (recovery[name]["contraction"], score_mean(1 - variance / shape.prior[place, place]))
        others = {shape.names[k]: score_mean(correlation[:, place, k]) for k in range(len(shape.names)) if k != place}
        partner = max(others, key=lambda other: abs(others[other].value), default="")
        smaller = min(scores, key=lambda score: score.value)
        learned.append(Learned(name, smaller, partner, others.get(partner, Score(0.0, 0.0))))
    return learned


def score_pairs(shape: PosteriorShape) -> list[Pair]:
    """Every parameter of the prior with every one of the cost."""
    pairs = []
    for i in shape.of_prior:
        for j in shape.of_cost:
            both = shape.select((i, j))
            correlation = score_mean(correlate(both.covariance)[:, 0, 1])
            # How much worse than with the whole prior known: as the table has it.
            with_prior = shape.select((*shape.of_prior, j))
            scores = (correlation, Remaining().score(both), score_mean(confound(with_prior, (len(shape.of_prior),))))
            pairs.append(Pair(shape.names[i], shape.names[j], *scores))
    return pairs
