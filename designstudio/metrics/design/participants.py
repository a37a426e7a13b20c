"""Number of participants."""

from designstudio.metrics.base import SMALLER, AbstractDesignMetric
from designstudio.metrics.samples import DesignFacts


class Participants(AbstractDesignMetric):
    """How many people take part; in each group, if a goal compares two."""

    name = "participants"
    label = "number of participants"
    explanation = "how many people take part; in each group, if a goal compares two"
    caveat = "how long each of them takes"
    direction = SMALLER

    def value(self, design: DesignFacts) -> float:
        """Their number."""
        return float(design.num_participants)
