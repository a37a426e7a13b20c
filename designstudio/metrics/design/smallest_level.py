"""Smallest level of what the experimenter sets."""

import math

from designstudio.metrics.base import LARGER, AbstractDesignMetric
from designstudio.metrics.samples import DesignFacts


class SmallestLevel(AbstractDesignMetric):
    """Smallest level of the parameters that the experimenter sets: small uncertainty is hard to bring about."""

    name = "smallest_level"
    label = "smallest level"
    explanation = "smallest level of the parameters that the experimenter sets, such as sigma; infinite if none is set"
    caveat = "how far apart the levels are"
    direction = LARGER

    def value(self, design: DesignFacts) -> float:
        """The level."""
        return min(design.levels, default=math.inf)
