"""Run a search, alone or with several workers; stop and go on at any time."""

import dataclasses
import math
import time
from collections.abc import Callable
from pathlib import Path

from optuna.trial import TrialState

from designstudio.core.cache import BlockCache
from designstudio.core.progress import Progress, ProgressCallback
from designstudio.errors import StudioError
from designstudio.search.estimates import list_objectives
from designstudio.search.feasible import check_feasible, check_size
from designstudio.search.finalists import Verification, choose_finalists, verify_finalists
from designstudio.search.job import get_plan
from designstudio.search.records import PRUNED, read_record
from designstudio.search.resolution import Resolution, describe_resolution, predict_resolution
from designstudio.search.run_folder import RunFolder
from designstudio.search.sampling import check_sampler
from designstudio.search.screen import screen_designs
from designstudio.search.search_job import STARTS, SearchJob, create_search, load_search, name_search
from designstudio.search.search_result import SearchResult
from designstudio.search.storage import HEARTBEAT, close_storage
from designstudio.search.variable_importance import rank_variables
from designstudio.search.worker_pool import Source
from designstudio.search.workers import begin_run, check_workers, estimate_left, recover_stale, run_workers
from designstudio.study import Study

# Best designs that are shown while searching.
NUM_SHOWN = 5
# Samplers look at all earlier candidates for each new one.
MOST_CANDIDATES = 100_000
SCREENING, SEARCHING, VERIFYING = "screening", "searching", "verifying finalists"
DESIGNS = "designs"


@dataclasses.dataclass(frozen=True)
class Budget:
    """How long to search: until there are so many candidates, or for so many minutes."""

    num_candidates: int | None = None
    minutes: float | None = None

    def __post_init__(self) -> None:
        if (self.num_candidates is None) == (self.minutes is None):
            raise StudioError("A search takes either a number of candidates or a number of minutes.")
        if self.num_candidates is not None and self.num_candidates < 1:
            raise StudioError(f"A search needs at least 1 candidate, but {self.num_candidates} was given.")
        if self.num_candidates is not None and self.num_candidates > MOST_CANDIDATES:
            raise StudioError(
                f"A search takes up to {MOST_CANDIDATES:,} candidates, but {self.num_candidates:,} was given: say "
                "instead how many minutes it may take."
            )
        if self.minutes is not None and not 0 < self.minutes < math.inf:
            raise StudioError(f"A search needs more than 0 minutes, but {self.minutes:g} was given.")


def run_search(
    question: Study,
    folder: Path | str,
    budget: Budget,
    *,
    storage: str | None = None,
    num_workers: int = 1,
    source: Source | None = None,
    must_exist: bool = False,
    verifies: bool = True,
    heartbeat: int = HEARTBEAT,
    cache: BlockCache | None = None,
    progress: ProgressCallback | None = None,
    should_stop: Callable[[], bool] = lambda: False,
) -> SearchResult:
    """Search, or go on with a search, and score the finalists on fresh data sets.

    Args:
        question: a study with a search.
        folder: where the search keeps its candidates, and finds them again.
        budget: how long; candidates of earlier runs count.
        storage: address of a database to share; by default a journal in the folder.
        num_workers: processes that work at the same time. With one, the result depends on nothing but the study.
        source: where other processes read the study; needed for more than one worker.
        must_exist: whether to refuse to begin a new search.
        verifies: whether to score the finalists.
        heartbeat: seconds between signs of life, in a shared database.
        cache: where finished evaluations are kept.
        progress: called with a `Progress` as work gets done.
        should_stop: asked again and again; if true, the search ends after the candidates that have begun, without finalists.

    Raises:
        StudioError: before anything is written, if there is nothing to search, or nothing to search it with.
    """
    plan = get_plan(question)
    check_sampler(plan, len(list_objectives(question)))
    check_feasible(plan)
    check_size(question, plan)
    check_workers(num_workers, source)
    at = RunFolder(Path(folder))
    opened = begin_run(at, name_search(question), storage, must_exist=must_exist, heartbeat=heartbeat)
    try:
        reporter = _Reporter(question, budget, progress, should_stop)
        job = load_search(question, opened)
        if job is None:
            starts = screen_designs(question, reporter.report_screening)
            reporter.note(predict_resolution(question, starts))
            job = create_search(question, opened, starts)
        recover_stale(job, at)
        if budget.num_candidates is not None:
            job.add_waiting(budget.num_candidates)
        job.set_time(60 * (budget.minutes or 0))
        reporter.begin(job)
        run_workers(
            job, at, num_workers=num_workers, source=source, storage=storage, deadline=reporter.deadline,
            should_stop=lambda: should_stop() or _is_enough(job, budget), on_change=lambda: reporter.report_search(job),
        )  # fmt: skip
        records = tuple(read_record(trial) for trial in job.list_trials())
        verification: Verification | None = None
        if verifies and not should_stop():
            verification = verify_finalists(question, records, cache=cache, progress=reporter.report_verifying)
        return SearchResult(
            question,
            job.study.study_name,
            records,
            verification,
            seconds=sum(record.seconds for record in records),
            importance=rank_variables(job),
            screened=plan.num_screened if job.study.user_attrs[STARTS] else 0,
            resolution=job.measure_resolution(),
        )
    finally:
        close_storage(opened)
        at.end()


def _is_enough(job: SearchJob, budget: Budget) -> bool:
    return budget.num_candidates is not None and job.count_finished() >= budget.num_candidates


class _Reporter:
    """Turns what happens into `Progress`."""

    def __init__(
        self, question: Study, budget: Budget, progress: ProgressCallback | None, should_stop: Callable[[], bool]
    ) -> None:
        self._question, self._budget, self._progress, self._should_stop = question, budget, progress, should_stop
        self._started, self._num_before = time.monotonic(), 0
        self._notes: list[str] = []

    @property
    def deadline(self) -> float | None:
        """When to stop, by the clock."""
        return None if self._budget.minutes is None else self._started + 60 * self._budget.minutes

    def note(self, resolution: tuple[Resolution, ...]) -> None:
        """Say once what the data sets of a candidate cannot tell apart, as soon as it is known."""
        if resolution and not self._notes:
            self._notes = [describe_resolution(found) for found in resolution]
            if self._progress is not None:
                said = [describe_resolution(found) for found in resolution if not found.is_enough]
                self._progress(Progress(SEARCHING, unit=DESIGNS, details={"notes": said}))

    def begin(self, job: SearchJob) -> None:
        """From now on candidates are counted, and the clock runs."""
        self._started, self._num_before = time.monotonic(), job.count_finished()

    def report_screening(self, num_done: int, num_wanted: int) -> None:
        """Report how many designs were screened."""
        self._stop_if_asked()
        self._report(SCREENING, num_done, num_wanted)

    def report_verifying(self, of_design: Progress) -> None:
        """Report how many data sets of a finalist were fitted."""
        self._stop_if_asked()
        if self._progress is not None:
            self._progress(of_design._replace(stage=f"{VERIFYING}: {of_design.stage}"))

    def report_search(self, job: SearchJob) -> None:
        """Report how far the candidates are."""
        if self._progress is None:
            return
        if not self._notes:
            self.note(job.measure_resolution())
        records = [read_record(trial) for trial in job.list_trials(TrialState.COMPLETE, TrialState.PRUNED)]
        wanted = self._budget.num_candidates
        left = estimate_left(len(records), self._num_before, wanted, self._started, self.deadline)
        shown = self._question.replace(search=dataclasses.replace(job.plan, num_finalists=NUM_SHOWN))
        best = choose_finalists(shown, records)
        num_pruned = sum(record.state == PRUNED for record in records)
        seconds = time.monotonic() - self._started
        details = {"best": best, "num_pruned": num_pruned}
        self._progress(Progress(SEARCHING, len(records), wanted, seconds, left, DESIGNS, details))

    def _stop_if_asked(self) -> None:
        """Between candidates a search just ends; screening and verifying are given up, and done again by the next run."""
        if self._should_stop():
            raise KeyboardInterrupt

    def _report(self, stage: str, num_done: int, num_wanted: int) -> None:
        if self._progress is not None:
            seconds = time.monotonic() - self._started
            left = seconds / num_done * (num_wanted - num_done)
            self._progress(Progress(stage, num_done, num_wanted, seconds, left, DESIGNS))
