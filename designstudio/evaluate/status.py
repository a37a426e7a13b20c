"""The status of a design: what its data would teach about the participants' prior and cost. One word, and why.

| status | when |
|---|---|
| `no answer` | too few fits are good |
| `not learned` | a parameter of the prior or of the cost keeps most of its prior uncertainty, or fits mostly miss it |
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

from designstudio.core.numbers import format_fixed
from designstudio.metrics.edges import list_at_end
from designstudio.metrics.failed import say_most_often
from designstudio.metrics.learned import Learned, Pair, score_learned, score_pairs
from designstudio.metrics.monte_carlo import Score
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
        min_coverage: coverage below which fits find something, but not the truth: that counts as not learned.
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
    min_coverage: float = 0.5
    num_errors: float = 2.0
    coverage_errors: float = 3.0


RULES = StatusRules()


class Status(NamedTuple):
    """What a design teaches.

    Attributes:
        name: one of `STATUSES`.
        reason: why, as a sentence without the design's name and without a full stop.
        is_clear: whether no estimate is so close to its limit that other data sets might give another status.
        is_of_design: whether another design may help: it cannot where the analysis does not suit the participants.
    """

    name: str
    reason: str
    is_clear: bool
    is_of_design: bool = True

    @property
    def sentence(self) -> str:
        """The reason as a sentence."""
        return f"{self.reason[:1].upper()}{self.reason[1:]}."

    @property
    def is_about_data(self) -> bool:
        """Whether what fits say about prior and cost comes from the data more than from the analysis prior."""
        return self.name in (PARTLY, TOLD_APART)


class _Doubt(NamedTuple):
    """What keeps a design from the best status, whether that is clear, and whether it is the design's."""

    text: str
    is_clear: bool
    is_of_design: bool = False


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
    contractions = [recovery[name]["contraction"].value for name in shape.names]
    if not variances.size or not np.isfinite([*shape.covariance.flat, *contractions]).all() or not (variances > 0).all():
        return Status(NO_ANSWER, "no answer: posteriors have no finite variance to compare with that of the prior", True)
    learned, pairs = score_learned(shape, recovery), score_pairs(shape)
    # At an end of the prior no equal-tailed interval holds the truth, however good the fit is.
    at_end = list_at_end(summaries)
    covered = {entry.name: recovery[entry.name]["coverage"] for entry in learned if entry.name not in at_end}
    bad = _find_confounded(pairs, learned, rules, is_sure=True) or _find_unlearned(learned, rules)
    bad = bad or _find_missed(covered, interval, rules) or _find_confounded(pairs, learned, rules, is_sure=False)
    if bad is not None:
        return bad
    doubts = _list_doubts(learned, pairs, rules) + _list_misses(covered, interval, rules) + _list_failures(summaries, rules)
    return _conclude_partly(learned, pairs, doubts) if doubts else _conclude_well(shape, learned, pairs)


def _conclude_partly(learned: Sequence[Learned], pairs: Sequence[Pair], doubts: Sequence[_Doubt]) -> Status:
    verb = "are partly told apart" if pairs else "can be learned partly"
    is_clear = any(doubt.is_clear for doubt in doubts)
    reason = _hedge(f"{_name_subject(learned, pairs)} {verb}: {'; '.join(doubt.text for doubt in doubts)}", is_clear)
    return Status(PARTLY, reason, is_clear, any(doubt.is_of_design for doubt in doubts))


def _conclude_well(shape: PosteriorShape, learned: Sequence[Learned], pairs: Sequence[Pair]) -> Status:
    subject = _name_subject(learned, pairs)
    least = min(learned, key=lambda entry: entry.contraction.value)
    known = f"contraction {least.contraction} ({least.name}) or more"
    if not pairs:
        free = [word for word, places in (("prior", shape.of_prior), ("cost", shape.of_cost)) if not places]
        nothing = (
            f"{' and '.join(free)} {'have' if len(free) > 1 else 'has'} no free parameter, so there is no pair to confound"
        )
        return Status(TOLD_APART, f"{subject} can be learned: {known}; the {nothing}", True)
    return Status(TOLD_APART, f"{subject} are told apart: correlation {_strongest(pairs).correlation}, {known}", True)


def _refuse(summaries: xr.Dataset, rules: StatusRules) -> str:
    """Why there is no answer, if there is none."""
    is_good = summaries["is_good"].values
    if is_good.sum() >= max(rules.min_good, rules.min_good_share * is_good.size):
        return ""
    return (
        f"no answer: {(~is_good).sum()} of {is_good.size} fits failed"
        f"{say_most_often(is_good, summaries['reason'].values)}, and an answer needs {rules.min_good} good fits "
        f"and {rules.min_good_share:.0%} of all"
    )


def _find_confounded(
    pairs: Sequence[Pair], learned: Sequence[Learned], rules: StatusRules, *, is_sure: bool
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
    sure, unsure = _split_low([entry for entry in learned if entry.name not in names], rules.min_contraction, rules)
    also = f"; {_list(sure)} {'are' if len(sure) > 1 else 'is'} not learned either" if sure else ""
    also += f"; {_list(unsure)} may not be learned either" if unsure else ""
    verb = "are" if is_sure else "may be"
    reason = (
        f"{worst.first} and {worst.second} {verb} confounded: correlation {worst.correlation}, and {worst.second} is "
        f"{format_fixed(worst.confounding.value, 1)} times less certain than if the prior were known{also}"
    )
    return Status(CONFOUNDED, _hedge(reason, is_sure), is_sure)


def _find_unlearned(learned: Sequence[Learned], rules: StatusRules) -> Status | None:
    """The status of a design with a parameter that keeps most of its prior uncertainty."""
    sure, unsure = _split_low(learned, rules.min_contraction, rules)
    unlearned = [*sure, *unsure]
    if not unlearned:
        return None
    is_clear = bool(sure)
    trades = [
        f"{entry.name} trades off against {entry.partner}, correlation {entry.correlation}"
        for entry in unlearned
        if abs(entry.correlation.value) >= rules.strong_correlation
    ]
    them = "them" if len(sure or unsure) > 1 else "it"
    if sure:
        verb = "are" if len(sure) > 1 else "is"
        also = f"; {_list(unsure)} may not be learned either" if unsure else ""
        reason = f"{_list(sure)} {verb} not learned: what the fits say about {them} is mostly their prior{also}"
    else:
        reason = f"{_list(unsure)} may not be learned: what the fits say about {them} may be mostly their prior"
    return Status(NOT_LEARNED, _hedge("; ".join([reason, *trades]), is_clear), is_clear)


def _split_low(learned: Sequence[Learned], limit: float, rules: StatusRules) -> tuple[list[Learned], list[Learned]]:
    """Parameters whose contraction is surely below a limit, and those of which it may be."""
    low = [entry for entry in learned if _is_low(entry, limit, rules)]
    sure = [entry for entry in low if _is_low(entry, limit, rules, is_sure=True)]
    return sure, [entry for entry in low if entry not in sure]


def _list_doubts(learned: Sequence[Learned], pairs: Sequence[Pair], rules: StatusRules) -> list[_Doubt]:
    """What is learned, but not well, or still correlated strongly."""
    doubts = []
    for pair in pairs:
        size, error = abs(pair.correlation.value), rules.num_errors * pair.correlation.mcse
        if size + error >= rules.strong_correlation:
            is_clear = size - error >= rules.strong_correlation
            verb = "remain" if is_clear else "may remain"
            text = f"estimates of {pair.first} and {pair.second} {verb} correlated ({pair.correlation})"
            doubts.append(_Doubt(text, is_clear, is_of_design=True))
    sure, unsure = _split_low(learned, rules.well_learned, rules)
    for entries, verb, is_clear in ((sure, "is left", True), (unsure, "may be left", False)):
        if entries:
            text = f"much of the prior's uncertainty {verb} about {_list(entries)}"
            doubts.append(_Doubt(text, is_clear, is_of_design=True))
    return doubts


def _find_missed(covered: Mapping[str, Score], interval: float, rules: StatusRules) -> Status | None:
    """The status of a design whose fits mostly find something else than the truth."""
    missed = {
        name: coverage
        for name, coverage in covered.items()
        if coverage.value < rules.min_coverage and is_low_coverage(coverage, interval, rules)
    }
    if not missed:
        return None
    shares = " and ".join(f"{name} in only {coverage.percent}" for name, coverage in missed.items())
    reason = (
        f"{' and '.join(missed)} {'are' if len(missed) > 1 else 'is'} not learned: {interval:.0%} intervals hold the truth "
        f"of {shares} of the data sets, so what the fit assumes does not suit these participants"
    )
    return Status(NOT_LEARNED, reason, True, is_of_design=False)


def _list_misses(covered: Mapping[str, Score], interval: float, rules: StatusRules) -> list[_Doubt]:
    """What is learned, but is not always the truth."""
    doubts = []
    for name, coverage in covered.items():
        if math.isnan(coverage.value):
            doubts.append(_Doubt(f"the simulated participants have no true {name} that it could be compared with", True))
        elif is_low_coverage(coverage, interval, rules):
            doubts.append(_Doubt(f"{interval:.0%} intervals of {name} hold the truth in only {coverage.percent}", True))
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


def _is_low(entry: Learned, limit: float, rules: StatusRules, *, is_sure: bool = False) -> bool:
    """Whether a contraction is below a limit, or may be."""
    margin = rules.num_errors * entry.contraction.mcse
    return entry.contraction.value < (limit - margin if is_sure else limit + margin)


def _name_subject(learned: Sequence[Learned], pairs: Sequence[Pair]) -> str:
    if not pairs:
        return " and ".join(entry.name for entry in learned)
    strongest = _strongest(pairs)
    return f"{strongest.first} and {strongest.second}"


def _strongest(pairs: Sequence[Pair]) -> Pair:
    return max(pairs, key=lambda pair: abs(pair.correlation.value))


def _list(entries: Sequence[Learned]) -> str:
    return " and ".join(f"{entry.name} (contraction {entry.contraction})" for entry in entries)


def _hedge(reason: str, is_clear: bool) -> str:
    return reason if is_clear else f"{reason}; this is within the Monte Carlo error of a limit, so try more data sets"
