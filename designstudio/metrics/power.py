"""Power: the chance that a study reaches its goals, over the participants it may meet.

Participants come from the population, so each chance is an average over them: an assurance, not the power for one assumed
effect. A population of constants gives the latter.

What a goal asks of the posteriors is a criterion; one class a kind of goal. How often a criterion is met says little as long
as nobody knows how often it is met where there is nothing to find, so each chance comes with that one: a `PowerScore`.
"""

import dataclasses
import math
from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Bool, Float

from designstudio.metrics.base import GOAL, LARGER, SMALLER, AbstractMetric, Statistic
from designstudio.metrics.monte_carlo import UNDEFINED, Score, Weights, score_jackknife, score_share, weighted_mean
from designstudio.metrics.samples import QuantitySample

ALPHA = 0.05
# Monte Carlo errors by which a chance must be above another to be called higher.
CLEARLY = 2.0
# Groups without any spread are told apart as soon as they differ.
TINY = 1e-300


class PowerScore(NamedTuple):
    """The chance to reach a goal, and the chance to reach it where its effect is absent.

    Attributes:
        value: the chance.
        mcse: its Monte Carlo error.
        when_absent: the chance of the same participants with the same noise, but without the effect, that is, the
            false-positive rate; None if there is no such thing.
        absent: how the effect was taken away, or why it cannot be.
        nominal: what the false-positive rate should be at most; None if there is none.
        kind: of the goal.
        rule: what is asked of the posteriors, in full.
        num_datasets: simulated participants, of both groups where groups are compared; 0 if nobody has counted.
        num_failed: of how many of them the fit failed; `value` leaves them out.
        num_failed_absent: the same without the effect; `when_absent` leaves them out.
        num_studies: whole studies that were simulated, for a goal that one study reaches or not; data sets are studies then.
        type_s: of studies that decide for an effect, the share that have its sign wrong; None if there is no such thing.
        type_m: of these studies, how many times their estimate is the true effect; None if there is no such thing.
    """

    value: float
    mcse: float
    when_absent: Score | None
    absent: str
    nominal: float | None
    kind: str
    rule: str
    num_datasets: int = 0
    num_failed: int = 0
    num_failed_absent: int = 0
    num_studies: int = 0
    type_s: Score | None = None
    type_m: Score | None = None

    @property
    def present(self) -> Score:
        """The chance alone."""
        return Score(self.value, self.mcse)

    @property
    def is_more_than_absent(self) -> bool:
        """Whether the goal is reached clearly more often with the effect than without."""
        absent = self.when_absent
        return absent is not None and self.value - absent.value > CLEARLY * math.hypot(self.mcse, absent.mcse)

    @property
    def errs_too_often(self) -> bool:
        """Whether the false-positive rate is clearly above its nominal level."""
        absent, nominal = self.when_absent, self.nominal
        return absent is not None and nominal is not None and absent.value - CLEARLY * absent.mcse > nominal

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        absent = None if self.when_absent is None else self.when_absent.as_dict()
        about = {name: getattr(self, name) for name in self._fields[3:]}
        for name in ("type_s", "type_m"):
            about[name] = None if about[name] is None else about[name].as_dict()
        return {**self.present.as_dict(), "when_absent": absent, **about}


class AbstractCriterion(ABC):
    """What a goal asks of the posteriors of its quantity."""

    @abstractmethod
    def statistic(self, sample: QuantitySample) -> Statistic:
        """The chance to meet it, as a function of weights on the data sets."""

    @abstractmethod
    def score(self, sample: QuantitySample) -> Score:
        """The chance to meet it."""


class AbstractParticipantCriterion(AbstractCriterion):
    """What a goal asks of each participant's posterior: the chance is the share of participants that meet it."""

    @abstractmethod
    def is_met(self, sample: QuantitySample) -> Bool[np.ndarray, " dataset"]:
        """Whether each participant's posterior meets it."""

    def statistic(self, sample: QuantitySample) -> Statistic:
        """The weighted share."""
        is_met = self.is_met(sample).astype(float)
        return lambda weights: weighted_mean(weights, is_met)

    def score(self, sample: QuantitySample) -> Score:
        """The share."""
        return score_share(self.is_met(sample))


@dataclasses.dataclass(frozen=True)
class Exclusion(AbstractParticipantCriterion):
    """A participant's interval stays away from `value` by more than `margin`."""

    value: float
    margin: float = 0.0

    def is_met(self, sample: QuantitySample) -> Bool[np.ndarray, " dataset"]:
        """Whether the interval lies beyond the value."""
        return (sample.low > self.value + self.margin) | (sample.high < self.value - self.margin)


@dataclasses.dataclass(frozen=True)
class Narrowness(AbstractParticipantCriterion):
    """A participant's interval is narrower than `width`."""

    width: float

    def is_met(self, sample: QuantitySample) -> Bool[np.ndarray, " dataset"]:
        """Whether the interval is narrower."""
        return (sample.high - sample.low) < self.width


@dataclasses.dataclass(frozen=True)
class GroupDifference(AbstractCriterion):
    """A two-sided t test on posterior means tells two groups apart.

    Attributes:
        second: posterior means of simulated members of the second group; the sample holds those of the first.
        num_participants: in each group.
    """

    second: Float[np.ndarray, " dataset"]
    num_participants: int

    def statistic(self, sample: QuantitySample) -> Statistic:
        """Power of the test."""
        num = min(sample.num_datasets, len(self.second))
        a, b = sample.mean[:num], self.second[:num]

        def test(weights: Weights) -> np.ndarray:
            mean_a, mean_b = (weighted_mean(weights, x) for x in (a, b))
            variances = [
                weighted_mean(weights, (x - x.mean()) ** 2) - (m - x.mean()) ** 2 for x, m in ((a, mean_a), (b, mean_b))
            ]
            # As the test does, with one less than there are: the spread of a sample is too small by that.
            pooled = np.mean(variances, axis=0) * num / (num - 1)
            return power_of_t_test((mean_a - mean_b) / np.sqrt(np.maximum(pooled, TINY)), self.num_participants)

        return test

    def score(self, sample: QuantitySample) -> Score:
        """Power of the test; one participant in a group has no spread to test against."""
        if self.num_participants < 2:
            return UNDEFINED
        return score_jackknife(self.statistic(sample), min(sample.num_datasets, len(self.second)))


class Power(AbstractMetric):
    """Chance that a goal is reached."""

    name = "power"
    label = "power"
    explanation = "chance that a goal of the study is reached, on average over the population"
    caveat = "means nothing without the false-positive rate beside it: an interval may exclude a value because of the prior"
    scope = GOAL
    direction = LARGER
    number_format = ".0%"

    def statistic(self, sample: QuantitySample, criterion: AbstractCriterion) -> Statistic:
        """The chance, as a function of weights on the data sets."""
        return criterion.statistic(sample)

    def score(self, sample: QuantitySample, criterion: AbstractCriterion) -> Score:
        """The chance."""
        return criterion.score(sample)


class FalsePositives(AbstractMetric):
    """Chance that a goal is reached although its effect is absent."""

    name = "when_absent"
    label = "power when absent"
    symbol = "power without the effect"
    explanation = "chance that a goal is reached by the same participants without its effect: the false-positive rate"
    caveat = "narrow intervals have none: they are no effect that could be absent"
    scope = GOAL
    direction = SMALLER
    number_format = ".0%"


def power_of_t_test(effect: Float[np.ndarray, "..."], num_participants: int) -> Float[np.ndarray, "..."]:
    """Power of a two-sided t test with as many participants in each of two groups.

    Args:
        effect: difference of the means in standard deviations.
        num_participants: in each group.
    """
    from scipy import stats  # noqa: PLC0415  (takes half a second)

    freedom = 2 * num_participants - 2
    critical = stats.t.ppf(1 - ALPHA / 2, freedom)
    shift = np.abs(effect) * math.sqrt(num_participants / 2)
    # Far out the noncentral t is a shifted normal, and SciPy's series for it gives up.
    near = np.minimum(shift, 30.0)
    return np.where(shift > 30.0, 1.0, stats.nct.sf(critical, freedom, near) + stats.nct.sf(critical, freedom, -near))
