"""Where an evaluation stands."""

from collections.abc import Callable
from typing import NamedTuple


class EvaluationProgress(NamedTuple):
    """Where an evaluation stands.

    Attributes:
        num_done: data sets that are finished, of all designs.
        num_datasets: data sets in all.
        seconds: time since the start.
        seconds_left: estimate.
        stage: what is being done.
    """

    num_done: int
    num_datasets: int
    seconds: float
    seconds_left: float
    stage: str


EvaluationCallback = Callable[[EvaluationProgress], None]
