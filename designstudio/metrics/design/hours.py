"""Time of all participants."""

from designstudio.metrics.base import SMALLER, AbstractDesignMetric
from designstudio.metrics.samples import DesignFacts


class Hours(AbstractDesignMetric):
    """Hours that all participants together spend on trials."""

    name = "hours"
    label = "time of all participants"
    symbol = "hours of all"
    explanation = "hours that all participants together spend on trials"
    caveat = "breaks and instructions are not counted"
    direction = SMALLER
    unit = "h"

    def value(self, design: DesignFacts) -> float:
        """Hours."""
        return design.minutes * design.num_participants / 60
