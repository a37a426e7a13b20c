"""Number of trials."""

from designstudio.metrics.base import SMALLER, AbstractDesignMetric
from designstudio.metrics.samples import DesignFacts


class Trials(AbstractDesignMetric):
    """Trials of one participant, over all conditions."""

    name = "trials"
    label = "number of trials"
    explanation = "trials of one participant, over all conditions"
    caveat = "how long a trial takes"
    direction = SMALLER

    def value(self, design: DesignFacts) -> float:
        """Their number."""
        return float(design.num_trials)
