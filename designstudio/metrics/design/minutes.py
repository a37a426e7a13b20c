"""Time of one participant."""

from designstudio.metrics.base import SMALLER, AbstractDesignMetric
from designstudio.metrics.samples import DesignFacts


class Minutes(AbstractDesignMetric):
    """Minutes that one participant spends on trials."""

    name = "minutes"
    label = "time of a participant"
    explanation = "minutes that one participant spends on trials"
    caveat = "breaks and instructions are not counted"
    direction = SMALLER
    unit = "min"

    def value(self, design: DesignFacts) -> float:
        """Minutes."""
        return design.minutes
