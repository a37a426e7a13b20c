"""What simulated studies decide: an interval of an effect that stays away from no effect, or does not.

The interval is that of the middle of the groups in the hierarchical analysis, or that of a t test on posterior means
(Welch's, or of one sample). What a decision says of the effect when it is made is scored, too: how often its sign is wrong
(type S), and how many times it is too large (type M). A Bayes factor decides instead where a goal says so; the interval that
is shown with it is that of the t test.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float
from scipy import special

from designstudio.evaluate.bayes_factor import compute_log_bayes_factor
from designstudio.evaluate.group_studies import Sample
from designstudio.metrics.monte_carlo import Score, score_share
from designstudio.metrics.power import ALPHA
from designstudio.study import Goal, Study
from designstudio.study.groups import BAYES_FACTOR, HIERARCHICAL

# Effects smaller than this, relative to the values, are none.
NO_EFFECT = 1e-9


class Evidence(NamedTuple):
    """What the Bayes factor of a t test needs, of each study.

    Attributes:
        error: standard error of the estimate. size: effective number of people. freedom: degrees of freedom.
        least_factor: that decides for an effect.
    """

    error: Float[np.ndarray, " study"]
    size: Float[np.ndarray, " study"]
    freedom: Float[np.ndarray, " study"]
    least_factor: float

    def weigh(self, estimate: Float[np.ndarray, " study"], margin: float) -> Float[np.ndarray, " study"]:
        """Logarithm of the Bayes factor for an effect beyond a margin, from how far the estimate is beyond it."""
        with np.errstate(all="ignore"):
            t = np.maximum(np.abs(estimate) - margin, 0.0) / self.error
            return compute_log_bayes_factor(t, self.size, self.freedom)


class Decisions(NamedTuple):
    """What simulated studies decide.

    Attributes:
        estimate: of the effect; NaN where no decision could be made.
        low, high: interval of the effect.
        evidence: if a Bayes factor decides.
    """

    estimate: Float[np.ndarray, " study"]
    low: Float[np.ndarray, " study"]
    high: Float[np.ndarray, " study"]
    evidence: Evidence | None = None

    @property
    def is_made(self) -> Bool[np.ndarray, " study"]:
        """Whether a study could decide."""
        return np.isfinite(self.low) & np.isfinite(self.high)

    def find_effect(self, margin: float) -> Bool[np.ndarray, " study"]:
        """Whether a study decides for an effect beyond a margin."""
        if self.evidence is None:
            return (self.low > margin) | (self.high < -margin)
        return self.is_made & (self.evidence.weigh(self.estimate, margin) >= np.log(self.evidence.least_factor))


def decide(study: Study, goal: Goal, samples: list[Sample], value: float) -> Decisions:
    """What studies decide about a goal, by its kind of decision."""
    if goal.decision == HIERARCHICAL:
        return decide_by_interval(samples, value, study.interval)
    if goal.decision == BAYES_FACTOR:
        return decide_by_bayes_factor(samples, value, goal.least_factor)
    return decide_by_t_test(samples, value)


def decide_by_interval(samples: list[Sample], value: float, interval: float) -> Decisions:
    """By the middle of a group minus a value, or of the second group minus the first."""
    draws = samples[-1].middle - (samples[0].middle if len(samples) > 1 else value)
    is_good = np.all([sample.is_good for sample in samples], axis=0)
    low, high = np.quantile(draws, [(1 - interval) / 2, (1 + interval) / 2], axis=1)
    estimate, low, high = (np.where(is_good, found, np.nan) for found in (draws.mean(axis=1), low, high))
    return Decisions(estimate, low, high)


def decide_by_t_test(samples: list[Sample], value: float) -> Decisions:
    """By posterior means: Welch's test of two groups, or a test of one group against a value."""
    means, variances, counts = [], [], []
    for sample in samples:
        is_there = np.isfinite(sample.mean)
        counts.append(is_there.sum(axis=1))
        with np.errstate(all="ignore"):
            mean = np.where(is_there, sample.mean, 0.0).sum(axis=1) / counts[-1]
            squares = np.where(is_there, (sample.mean - mean[:, None]) ** 2, 0.0).sum(axis=1)
            means.append(mean)
            variances.append(squares / (counts[-1] - 1) / counts[-1])
    estimate = means[-1] - (means[0] if len(samples) > 1 else value)
    with np.errstate(all="ignore"):
        squared = np.sum(variances, axis=0)
        freedom = squared**2 / np.sum([v**2 / (n - 1) for v, n in zip(variances, counts, strict=True)], axis=0)
        reach = special.stdtrit(freedom, 1 - ALPHA / 2) * np.sqrt(squared)
    return Decisions(estimate, estimate - reach, estimate + reach)


def decide_by_bayes_factor(samples: list[Sample], value: float, least_factor: float) -> Decisions:
    """By the Bayes factor of a t test on posterior means, with equal variances in two groups."""
    is_there = [np.isfinite(sample.mean) for sample in samples]
    counts = [there.sum(axis=1) for there in is_there]
    with np.errstate(all="ignore"):
        means = [np.where(there, s.mean, 0.0).sum(axis=1) / n for s, there, n in zip(samples, is_there, counts, strict=True)]
        squares = [
            np.where(there, (sample.mean - mean[:, None]) ** 2, 0.0).sum(axis=1)
            for sample, there, mean in zip(samples, is_there, means, strict=True)
        ]
        freedom = np.sum(counts, axis=0) - len(samples)
        size = 1 / np.sum([1 / count for count in counts], axis=0)
        error = np.sqrt(np.sum(squares, axis=0) / freedom / size)
    return decide_by_t_test(samples, value)._replace(evidence=Evidence(error, size, freedom, least_factor))


def find_effect(middles: list[float], value: float) -> float:
    """The true effect: the second middle minus the first, or the only one minus a value."""
    effect = middles[-1] - (middles[0] if len(middles) > 1 else value)
    return 0.0 if abs(effect) < NO_EFFECT * max(map(abs, middles)) else effect


def find_mean(truth: Float[np.ndarray, "study person"]) -> float:
    """Of all people in all studies; NaN if there is no truth."""
    return float("nan") if np.isnan(truth).all() else float(np.nanmean(truth))


def find_median(truth: Float[np.ndarray, "study person"]) -> float:
    """Of all people in all studies; NaN if there is no truth."""
    return float("nan") if np.isnan(truth).all() else float(np.nanmedian(truth))


def score_errors(decisions: Decisions, margin: float, effect: float) -> tuple[Score | None, Score | None]:
    """Of studies that decide for an effect: the share with the wrong sign, and how many times too large they find it."""
    found = decisions.estimate[decisions.find_effect(margin) & decisions.is_made]
    if not len(found) or not abs(effect) > 0:
        return None, None
    exaggeration = np.abs(found) / abs(effect)
    error = float(exaggeration.std(ddof=1) / np.sqrt(len(found))) if len(found) > 1 else float("nan")
    return score_share(np.sign(found) != np.sign(effect)), Score(float(exaggeration.mean()), error)
