"""Numbers with their Monte Carlo standard errors.

Every score is a statistic of simulated data sets, and would be another with other data sets. Means have the textbook error;
everything else is jackknifed: computed again with each data set left out, which needs no formula of its own. The same
repetitions give the jackknife's pseudo-values, one for each data set. Their mean is the score (up to the jackknife's own
bias correction), and their differences between two designs are paired by data set: designs race by them.
"""

import math
from collections.abc import Callable, Mapping
from typing import NamedTuple, Self

import numpy as np
from jaxtyping import Bool, Float

from designstudio.core.numbers import format_fixed, format_percent

Weights = Float[np.ndarray, "repeat dataset"]


class Score(NamedTuple):
    """A number and its Monte Carlo standard error; NaN where the number is not defined."""

    value: float
    mcse: float

    def as_dict(self) -> dict[str, float | None]:
        """For JSON, which has neither NaN nor infinity."""
        return {name: number if math.isfinite(number) else None for name, number in zip(self._fields, self, strict=True)}

    @classmethod
    def from_dict(cls, record: Mapping[str, float | None] | None) -> Self:
        """What `as_dict` gave; not defined if there is no record."""
        numbers = [None if record is None else record[name] for name in ("value", "mcse")]
        return cls(*(math.nan if number is None else float(number) for number in numbers))

    def __str__(self) -> str:
        """The number to the digit that its error leaves it."""
        if math.isnan(self.value):
            return "-"
        if not 0 < self.mcse < math.inf:
            return f"{self.value:.3g}"
        return f"{format_fixed(self.value, self.num_digits)} ± {format_fixed(self.mcse, self.num_digits)}"

    @property
    def num_digits(self) -> int:
        """Behind the point, to the first digit of the error."""
        return min(max(0, -math.floor(math.log10(self.mcse))), MOST_DIGITS) if 0 < self.mcse < math.inf else 0

    @property
    def chance(self) -> str:
        """A chance: to the percent at least, as `chance_in_words` has it."""
        if math.isnan(self.value):
            return "-"
        num_digits = max(self.num_digits, 2)
        return f"{format_fixed(self.value, num_digits)} ± {format_fixed(self.mcse, num_digits)}"

    @property
    def chance_in_words(self) -> str:
        """The same in percent, for sentences."""
        num_digits = max(self.num_digits, 2) - 2
        return f"{format_percent(self.value, num_digits)} (± {format_percent(self.mcse, num_digits)})"

    @property
    def percent(self) -> str:
        """A share in percent, without its error."""
        return format_percent(self.value)

    @property
    def percent_error(self) -> str:
        """The error of a share in percent."""
        return f"± {format_percent(self.mcse)}"


class MetricEstimate(NamedTuple):
    """A metric of one design, in a form in which designs can race.

    Attributes:
        score: its value, with its error.
        pseudo_values: one for each data set, smaller is better; NaN where the fit failed. Their mean ranks designs.
    """

    score: Score
    pseudo_values: Float[np.ndarray, " dataset"]


# In tables; JSON has them all.
MOST_DIGITS = 4
# Data sets without which the jackknife has nothing to say.
FEWEST = 3
# Weights that are in memory at once, 32 MB of them.
MOST_WEIGHTS = 4_000_000
UNDEFINED = Score(math.nan, math.nan)


def score_mean(values: Float[np.ndarray, " dataset"]) -> Score:
    """The mean."""
    if len(values) < 2:
        return UNDEFINED
    mean = float(values.mean())
    return UNDEFINED if math.isnan(mean) else Score(mean, float(values.std(ddof=1) / math.sqrt(len(values))))


def score_share(is_true: Bool[np.ndarray, " dataset"]) -> Score:
    """The share of data sets for which something holds.

    The error is that of the Agresti-Coull estimate: shares of 0 and 1 are not certain either.
    """
    num = len(is_true)
    if num == 0:
        return UNDEFINED
    softened = (float(np.sum(is_true)) + 2) / (num + 4)
    return Score(float(np.mean(is_true)), math.sqrt(softened * (1 - softened) / (num + 4)))


def score_jackknife(statistic: Callable[[Weights], Float[np.ndarray, " repeat"]], num_datasets: int) -> Score:
    """Any statistic that can be computed with weights on the data sets.

    Args:
        statistic: takes rows of weights, one row for each time it is to be computed.
        num_datasets: how many weights a row has.
    """
    return UNDEFINED if num_datasets < FEWEST else estimate_by_jackknife(statistic, num_datasets).score


def estimate_by_jackknife(statistic: Callable[[Weights], Float[np.ndarray, " repeat"]], num_datasets: int) -> MetricEstimate:
    """The same with the pseudo-value of each data set."""
    value = float(statistic(np.ones((1, num_datasets)))[0])
    # A few rows at a time: all of them together would need memory for the square of the number of data sets.
    size = max(1, MOST_WEIGHTS // num_datasets)
    left_out = np.concatenate([statistic(_leave_out(num_datasets, first, size)) for first in range(0, num_datasets, size)])
    spread = np.sum((left_out - left_out.mean()) ** 2)
    error = math.sqrt(spread * (num_datasets - 1) / num_datasets)
    return MetricEstimate(Score(value, error), num_datasets * value - (num_datasets - 1) * left_out)


def _leave_out(num_datasets: int, first: int, size: int) -> Weights:
    """Rows of weights that leave out one data set each, up to `size` of them from the `first` on."""
    rows = np.arange(first, min(first + size, num_datasets))
    weights = np.ones((len(rows), num_datasets))
    weights[np.arange(len(rows)), rows] = 0.0
    return weights


def weighted_mean(weights: Weights, values: Float[np.ndarray, " dataset"]) -> Float[np.ndarray, " repeat"]:
    """Means of `values`, one for each row of weights."""
    return weights @ values / weights.sum(1)


def scores_as_dict(scores: Mapping[str, Score]) -> dict[str, dict[str, float | None]]:
    """Named scores for JSON."""
    return {name: score.as_dict() for name, score in scores.items()}


def scores_from_dict(records: Mapping[str, Mapping[str, float | None]]) -> dict[str, Score]:
    """What `scores_as_dict` gave."""
    return {name: Score.from_dict(record) for name, record in records.items()}
