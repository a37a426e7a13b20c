"""Where a fit stands."""

from collections.abc import Callable
from typing import NamedTuple


class Progress(NamedTuple):
    """Where a fit stands.

    Attributes:
        num_done: data sets that are finished.
        num_datasets: data sets in all.
        num_draws: posterior draws made so far.
        seconds: time since the start.
        seconds_left: estimate.
        stage: what is being done.
    """

    num_done: int
    num_datasets: int
    num_draws: int
    seconds: float
    seconds_left: float
    stage: str


ProgressCallback = Callable[[Progress], None]
