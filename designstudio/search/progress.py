"""How far a search is."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from designstudio.search.records import TrialRecord

SCREENING, SEARCHING, VERIFYING = "screening", "searching", "verifying finalists"


class SearchProgress(NamedTuple):
    """How far a search is.

    Attributes:
        stage: `screening`, `searching` or `verifying finalists`.
        num_done: designs screened, trials finished, or data sets fitted, depending on the stage.
        num_wanted: how many there will be; None if time decides.
        seconds: since the beginning of this run.
        seconds_left: about how long it still takes; None if that is not known yet.
        best: the best designs so far.
        num_pruned: designs that were given up.
    """

    stage: str
    num_done: int
    num_wanted: int | None
    seconds: float
    seconds_left: float | None
    best: Sequence[TrialRecord] = ()
    num_pruned: int = 0


SearchCallback = Callable[[SearchProgress], None]
