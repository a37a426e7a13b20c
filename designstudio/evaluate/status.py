"""The status of a design: what its data would teach about the participants' prior and cost. One word, and why.

| status | when |
|---|---|
| `no answer` | too few fits are good |
| `not learned` | a parameter of the prior or of the cost keeps most of its prior uncertainty |
| `confounded` | a parameter of the prior and one of the cost are strongly correlated, and much remains open between them |
| `partly` | all are learned, but not well, or strongly correlated, or for some participants only |
| `told apart` | all are learned well, and none of the prior's is strongly correlated with one of the cost's |

The first that holds is the status, but for one exception: where the data clearly determine a combination of prior and cost
and nothing else, both keep their prior uncertainty *because* they are confounded, and that is what is said.

All limits are fields of `StatusRules`. What is learned is measured by the contraction, 1 - posterior variance / prior
variance, of the parameter and of its logarithm, whichever is smaller: a posterior that only follows a skewed prior to where
it is narrow has learned nothing. An estimate must keep its limit by `num_errors` Monte Carlo errors to earn the better
status, so none is due to noise.

Where the prior is known, or the cost is known or has no parameters, there is nothing to tell apart: the status is about what
is free of the two (or, if neither has a free parameter, about all free parameters), `confounded` does not occur, and
`told apart` says that it is learned well.
"""

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import xarray as xr

from designstudio.metrics.monte_carlo import Score, score_mean
from designstudio.metrics.posterior.confounding import confound
from designstudio.metrics.posterior.correlation import correlate
from designstudio.metrics.posterior.remaining import Remaining
from designstudio.metrics.samples import PosteriorShape, keep_good, shape_posteriors

NO_ANSWER, NOT_LEARNED, CONFOUNDED, PARTLY, TOLD_APART = "no answer", "not learned", "confounded", "partly", "told apart"
# From the least to the most favourable.
STATUSES = (NO_ANSWER, NOT_LEARNED, CONFOUNDED, PARTLY, TOLD_APART)


@dataclasses.dataclass(frozen=True)
class StatusRules:
    """The limits between one status and another. They are ours; the documentation states them, too.

    Attributes:
        min_good: good fits without which there is no answer.
        min_good_share: share of good fits below which there is no answer.
        max_failed: share of failed fits above which a design is `partly` at best.
        min_contraction: below it a parameter is not learned: it keeps more than half of its prior's variance.
        well_learned: contraction from which a parameter is learned well: at most half of its prior's sd is left.
        strong_correlation: from here on two parameters trade off.
        much_remains: share of the prior's sd that remains in the weakest direction of two parameters that trade off, from
            which on they are confounded.
        low_coverage: by how much less than they should intervals may hold the truth.
        num_errors: Monte Carlo errors by which an estimate must keep a limit to earn the better status.
        coverage_errors: Monte Carlo errors by which coverage must be too low to count, as there are many coverages.
    """

    min_good: int = 5
    min_good_share: float = 0.5
    max_failed: float = 0.1
    min_contraction: float = 0.5
    well_learned: float = 0.75
    strong_correlation: float = 0.8
    much_remains: float = 0.5
    low_coverage: float = 0.1
    num_errors: float = 2.0
    coverage_errors: float = 3.0


RULES = StatusRules()


class Status(NamedTuple):
    """What a design teaches.

    Attributes:
        name: one of `STATUSES`.
        reason: why, as a sentence without the design's name and without a full stop.
        is_clear: whether no estimate is so close to its limit that other data sets might give another status.
    """

    name: str
    reason: str
    is_clear: bool

    @property
    def sentence(self) -> str:
        """The reason as a sentence."""
        return f"{self.reason[:1].upper()}{self.reason[1:]}."

    @property
    def is_about_data(self) -> bool:
        """Whether what fits say about prior and cost comes from the data more than from the analysis prior."""
        return self.name in (PARTLY, TOLD_APART)


class _Learned(NamedTuple):
    """The contraction of a parameter, and with which other parameter it is correlated most."""

    name: str
    contraction: Score
    partner: str
    correlation: Score


class _Pair(NamedTuple):
    """A parameter of the prior and one of the cost, and how they trade off."""

    first: str
    second: str
    correlation: Score
    remaining: Score
    confounding: Score


class _Doubt(NamedTuple):
    """What keeps a design from the best status, and whether that is clear."""

    text: str
    is_clear: bool


def find_status(
    summaries: xr.Dataset,
    recovery: Mapping[str, Mapping[str, Score]],
    prior_parameters: tuple[str, ...],
    cost_parameters: tuple[str, ...],
    *,
    interval: float,
    rules: StatusRules = RULES,
) -> Status:
    """The status of a design.

    Args:
        summaries: of all its data sets; see `designstudio.metrics.summaries`.
        recovery: scores of every quantity.
        prior_parameters: names of the parameters of the participants' prior.
        cost_parameters: names of the cost's own parameters.
        interval: probability of the intervals.
        rules: the limits.
    """
    refusal = _refuse(summaries, rules)
    if refusal:
        return Status(NO_ANSWER, refusal, True)
    shape = shape_posteriors(keep_good(summaries), prior_parameters, cost_parameters)
    variances = np.diagonal(shape.covariance, axis1=1, axis2=2)
    if not variances.size or not np.isfinite(shape.covariance).all() or not (variances > 0).all():
        return Status(NO_ANSWER, "no answer: posteriors have no finite variance to compare with that of the prior", True)
    learned, pairs = _score_learned(shape, recovery), _score_pairs(shape)
    bad = _find_confounded(pairs, learned, rules, is_sure=True) or _find_unlearned(learned, rules)
    bad = bad or _find_confounded(pairs, learned, rules, is_sure=False)
    if bad is not None:
        return bad
    subject = _name_subject(learned, pairs)
    doubts = _list_doubts(learned, pairs, rules) + _list_misses(learned, recovery, interval, rules)
    doubts += _list_failures(summaries, rules)
    if doubts:
        verb = "are partly told apart" if pairs else "can be learned partly"
        is_clear = any(doubt.is_clear for doubt in doubts)
        return Status(PARTLY, _hedge(f"{subject} {verb}: {'; '.join(doubt.text for doubt in doubts)}", is_clear), is_clear)
    least = min(learned, key=lambda entry: entry.contraction.value)
    known = f"contraction {least.contraction} ({least.name}) or more"
    if not pairs:
        free = "neither prior nor cost has" if not (shape.of_prior or shape.of_cost) else "only one of prior and cost has"
        return Status(
            TOLD_APART, f"{subject} can be learned: {known}; {free} a free parameter, so there is no pair to confound", True
        )
    return Status(TOLD_APART, f"{subject} are told apart: correlation {_strongest(pairs).correlation}, {known}", True)


def _refuse(summaries: xr.Dataset, rules: StatusRules) -> str:
    """Why there is no answer, if there is none."""
    is_good = summaries["is_good"].values
    if is_good.sum() >= max(rules.min_good, rules.min_good_share * is_good.size):
        return ""
    reasons, counts = np.unique(summaries["reason"].values[~is_good].astype(str), return_counts=True)
    most = f" (most often: {reasons[np.argmax(counts)]})" if len(reasons) else ""
    return (
        f"no answer: {(~is_good).sum()} of {is_good.size} fits failed{most}, and an answer needs {rules.min_good} good fits "
        f"and {rules.min_good_share:.0%} of all"
    )


def _score_learned(shape: PosteriorShape, recovery: Mapping[str, Mapping[str, Score]]) -> list[_Learned]:
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
        learned.append(_Learned(name, smaller, partner, others.get(partner, Score(0.0, 0.0))))
    return learned


def _score_pairs(shape: PosteriorShape) -> list[_Pair]:
    """Every parameter of the prior with every one of the cost."""
    pairs = []
    for i in shape.of_prior:
        for j in shape.of_cost:
            both = shape.select((i, j))
            correlation = score_mean(correlate(both.covariance)[:, 0, 1])
            # How much worse than with the whole prior known: as the table has it.
            with_prior = shape.select((*shape.of_prior, j))
            scores = (correlation, Remaining().score(both), score_mean(confound(with_prior, (len(shape.of_prior),))))
            pairs.append(_Pair(shape.names[i], shape.names[j], *scores))
    return pairs


def _find_confounded(
    pairs: Sequence[_Pair], learned: Sequence[_Learned], rules: StatusRules, *, is_sure: bool
) -> Status | None:
    """The status of a design with a pair that is confounded surely, or else of one that may be."""
    margin = rules.num_errors if is_sure else -rules.num_errors
    found = [
        pair
        for pair in pairs
        if abs(pair.correlation.value) - margin * pair.correlation.mcse >= rules.strong_correlation
        and pair.remaining.value - margin * pair.remaining.mcse >= rules.much_remains
    ]
    if not found:
        return None
    worst = max(found, key=lambda pair: abs(pair.correlation.value))
    names = (worst.first, worst.second)
    others = [entry for entry in learned if entry.name not in names and _is_low(entry, rules.min_contraction, rules)]
    also = f"; {_list(others)} {'are' if len(others) > 1 else 'is'} not learned either" if others else ""
    reason = (
        f"{worst.first} and {worst.second} are confounded: correlation {worst.correlation}, and {worst.second} is "
        f"{worst.confounding.value:.1f} times less certain than if the prior were known{also}"
    )
    return Status(CONFOUNDED, _hedge(reason, is_sure), is_sure)


def _find_unlearned(learned: Sequence[_Learned], rules: StatusRules) -> Status | None:
    """The status of a design with a parameter that keeps most of its prior uncertainty."""
    unlearned = [entry for entry in learned if _is_low(entry, rules.min_contraction, rules)]
    if not unlearned:
        return None
    is_clear = any(_is_low(entry, rules.min_contraction, rules, is_sure=True) for entry in unlearned)
    trades = [
        f"{entry.name} trades off against {entry.partner}, correlation {entry.correlation}"
        for entry in unlearned
        if abs(entry.correlation.value) >= rules.strong_correlation
    ]
    verb = "are" if len(unlearned) > 1 else "is"
    reason = f"{_list(unlearned)} {verb} not learned: what the fits say about it is mostly their prior"
    return Status(NOT_LEARNED, _hedge("; ".join([reason, *trades]), is_clear), is_clear)


def _list_doubts(learned: Sequence[_Learned], pairs: Sequence[_Pair], rules: StatusRules) -> list[_Doubt]:
    """What is learned, but not well, or still correlated strongly."""
    doubts = []
    for pair in pairs:
        size, error = abs(pair.correlation.value), rules.num_errors * pair.correlation.mcse
        if size + error >= rules.strong_correlation:
            text = f"estimates of {pair.first} and {pair.second} remain correlated ({pair.correlation})"
            doubts.append(_Doubt(text, size - error >= rules.strong_correlation))
    low = [entry for entry in learned if _is_low(entry, rules.well_learned, rules)]
    if low:
        is_clear = any(_is_low(entry, rules.well_learned, rules, is_sure=True) for entry in low)
        doubts.append(_Doubt(f"much of the prior's uncertainty is left about {_list(low)}", is_clear))
    return doubts


def _list_misses(
    learned: Sequence[_Learned], recovery: Mapping[str, Mapping[str, Score]], interval: float, rules: StatusRules
) -> list[_Doubt]:
    """What is learned, but is not the truth."""
    doubts = []
    for entry in learned:
        coverage = recovery[entry.name]["coverage"]
        if math.isnan(coverage.value):
            doubts.append(
                _Doubt(f"the simulated participants have no true {entry.name} that it could be compared with", True)
            )
        elif is_low_coverage(coverage, interval, rules):
            doubts.append(
                _Doubt(f"{interval:.0%} intervals of {entry.name} hold the truth in only {coverage.value:.0%}", True)
            )
    return doubts


def is_low_coverage(coverage: Score, interval: float, rules: StatusRules = RULES) -> bool:
    """Whether intervals hold the truth less often than they should, and noise cannot explain it."""
    return coverage.value < interval - max(rules.low_coverage, rules.coverage_errors * coverage.mcse)


def _list_failures(summaries: xr.Dataset, rules: StatusRules) -> list[_Doubt]:
    is_good = summaries["is_good"].values
    num, num_failed = is_good.size, int((~is_good).sum())
    if num_failed <= rules.max_failed * num:
        return []
    return [_Doubt(f"{num_failed} of {num} fits failed, so this is about those participants who could be fitted", True)]


def _is_low(entry: _Learned, limit: float, rules: StatusRules, *, is_sure: bool = False) -> bool:
    """Whether a contraction is below a limit, or may be."""
    margin = rules.num_errors * entry.contraction.mcse
    return entry.contraction.value < (limit - margin if is_sure else limit + margin)


def _name_subject(learned: Sequence[_Learned], pairs: Sequence[_Pair]) -> str:
    if not pairs:
        return " and ".join(entry.name for entry in learned)
    strongest = _strongest(pairs)
    return f"{strongest.first} and {strongest.second}"


def _strongest(pairs: Sequence[_Pair]) -> _Pair:
    return max(pairs, key=lambda pair: abs(pair.correlation.value))


def _list(entries: Sequence[_Learned]) -> str:
    return " and ".join(f"{entry.name} (contraction {entry.contraction})" for entry in entries)


def _hedge(reason: str, is_clear: bool) -> str:
    return reason if is_clear else f"{reason}; this is within the Monte Carlo error of a limit, so try more data sets"
