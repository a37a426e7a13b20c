"""How far a piece of work is: one record for fits, evaluations, searches, trainings and jobs, and how parts count on.

Work takes `progress: ProgressCallback | None` and counts with a `Counter`. Work that consists of parts hands each of them
the callback that `Counter.of_part` returns.
"""

import time
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

DATASETS = "data sets"
_NOTHING: Mapping[str, Any] = MappingProxyType({})


class Progress(NamedTuple):
    """How far a piece of work is.

    Attributes:
        stage: what is being done.
        num_done: how many are finished.
        num_total: how many there will be; None if nobody knows.
        seconds: time since the start.
        seconds_left: estimate; None if nobody knows.
        unit: what is counted.
        details: what a piece of work has to say besides, by name: `num_draws` of a fit, `best`, `num_pruned` and `notes` of
            a search, `accuracy` of a training.
    """

    stage: str = "starting"
    num_done: int = 0
    num_total: int | None = None
    seconds: float = 0.0
    seconds_left: float | None = None
    unit: str = DATASETS
    details: Mapping[str, Any] = _NOTHING

    @property
    def percent(self) -> int:
        """For a bar; -1 if nobody knows."""
        return int(100 * self.num_done / self.num_total) if self.num_total else -1

    @property
    def is_done(self) -> bool:
        """Whether all are finished."""
        return self.num_total is not None and self.num_done >= self.num_total


ProgressCallback = Callable[[Progress], None]


def report_stage(progress: ProgressCallback | None, stage: str) -> None:
    """Tell that something begins of which nothing is counted."""
    if progress is not None:
        progress(Progress(stage))


def estimate_left(num_done: int, num_total: int | None, seconds: float) -> float | None:
    """Seconds left, if the rest takes as long as what was done."""
    return None if num_total is None else seconds / max(num_done, 1) * (num_total - num_done)


class Counter:
    """Counts what is done since it was made, and reports it.

    Attributes:
        callback: what is told; nothing is, if it is None.
        num_total: how many there will be; None if nobody knows.
        unit: what is counted.
    """

    def __init__(self, callback: ProgressCallback | None, num_total: int | None, *, unit: str = DATASETS) -> None:
        self.callback, self.num_total, self.unit = callback, num_total, unit
        self._started = time.monotonic()

    def report(self, num_done: int, stage: str, **details: Any) -> None:
        """Tell that so many are done."""
        if self.callback is not None:
            seconds = time.monotonic() - self._started
            left = estimate_left(num_done, self.num_total, seconds)
            self.callback(Progress(stage, num_done, self.num_total, seconds, left, self.unit, details))

    def of_part(self, num_before: int, stage: str = "", *, is_alone: bool = False) -> ProgressCallback | None:
        """A callback for a part of the work, which counts on from what was done before it.

        Args:
            num_before: how many were done before the part.
            stage: is put in front of the stages of the part.
            is_alone: whether the stages of the part are left out.
        """
        if self.callback is None:
            return None

        def report(part: Progress) -> None:
            self.report(
                num_before + part.num_done,
                stage if is_alone else ", ".join(filter(None, (stage, part.stage))),
                **part.details,
            )

        return report
