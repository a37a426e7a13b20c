"""Fits that failed: their share, and how much the scores that leave them out may be off."""

import math
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool

from designstudio.core.numbers import format_fixed
from designstudio.metrics.base import SMALLER, WHOLE, AbstractMetric
from designstudio.metrics.monte_carlo import MetricEstimate, score_share

# Share of failed fits above which scores are bounded.
MANY_FAILED = 0.01


class Bounds(NamedTuple):
    """Between what a share of data sets lies, whatever the failed fits would have said."""

    low: float
    high: float

    def __str__(self) -> str:
        return f"{format_fixed(self.low, 2)} to {format_fixed(self.high, 2)}"

    @property
    def in_words(self) -> str:
        """After the word between."""
        return f"{format_fixed(self.low, 2)} and {format_fixed(self.high, 2)}"


class Failed(AbstractMetric):
    """Share of fits that failed."""

    name = "failed"
    label = "share of failed fits"
    explanation = "share of data sets without a usable fit"
    caveat = "why they failed: see `convergence` in the JSON"
    scope = WHOLE
    direction = SMALLER

    def estimate(self, is_good: Bool[np.ndarray, " dataset"]) -> MetricEstimate:
        """The share; of all data sets, not of good ones as other metrics."""
        return MetricEstimate(score_share(~is_good), np.where(is_good, 0.0, 1.0))


def say_most_often(is_good: Bool[np.ndarray, " dataset"], reasons: np.ndarray) -> str:
    """The most frequent reason why fits failed, in brackets after a space; empty if none failed."""
    found, counts = np.unique(reasons[~is_good].astype(str), return_counts=True)
    return f" (most often: {found[np.argmax(counts)]})" if len(found) else ""


def are_many(num_failed: int, num_datasets: int) -> bool:
    """Whether so many fits failed that scores without them need bounds."""
    return num_failed > MANY_FAILED * num_datasets


def bound_share(share: float, num_failed: int, num_datasets: int) -> Bounds | None:
    """A share of the good fits, with all failed ones counted as misses and as hits; None if there is nothing to bound.

    Args:
        share: of the good fits; NaN if it has no value.
        num_failed: failed fits, which the share leaves out.
        num_datasets: all of them.
    """
    if math.isnan(share) or not are_many(num_failed, num_datasets) or num_failed == num_datasets:
        return None
    hits = share * (num_datasets - num_failed)
    return Bounds(hits / num_datasets, (hits + num_failed) / num_datasets)
