"""Where the fits of all subjects under all costs stand."""

from collections.abc import Callable
from typing import NamedTuple


class FitProgress(NamedTuple):
    """Where the fits stand.

    Attributes:
        num_done: subjects that are finished, counted once for each cost.
        num_datasets: subjects times costs.
        seconds: time since the start.
        seconds_left: estimate.
        stage: the cost that is being fitted, and how many there are.
    """

    num_done: int
    num_datasets: int
    seconds: float
    seconds_left: float
    stage: str


FitCallback = Callable[[FitProgress], None]
