"""Run a search, alone or with several workers; stop and go on at any time."""

import dataclasses
import time
from collections.abc import Callable
from pathlib import Path

from optuna.trial import TrialState

from designstudio.errors import StudioError
from designstudio.evaluate.progress import EvaluationProgress
from designstudio.evaluate.store import Store
from designstudio.search.crew import Crew, Source
from designstudio.search.feasible import check_feasible
from designstudio.search.finalists import choose_finalists, verify_finalists
from designstudio.search.folder import RunFolder
from designstudio.search.importance import rank_variables
from designstudio.search.job import Job, create_job, get_plan, load_job, name_search
from designstudio.search.progress import SCREENING, SEARCHING, VERIFYING, SearchCallback, SearchProgress
from designstudio.search.readings import list_objectives
from designstudio.search.records import COMPLETE, PRUNED, read_record
from designstudio.search.results import SearchResult
from designstudio.search.sampling import check_sampler
from designstudio.search.screen import screen_designs
from designstudio.search.storage import hide_password, open_storage
from designstudio.search.worker import OWNER, run_worker
from designstudio.study import Study

EMBEDDED = "its own journal"
# Best designs that are shown while searching.
NUM_SHOWN = 5


@dataclasses.dataclass(frozen=True)
class Budget:
    """How long to search: until there are so many trials, or for so many minutes."""

    num_trials: int | None = None
    minutes: float | None = None

    def __post_init__(self) -> None:
        if (self.num_trials is None) == (self.minutes is None):
            raise StudioError("A search takes either a number of trials or a number of minutes.")
        if self.num_trials is not None and self.num_trials < 1:
            raise StudioError(f"A search needs at least 1 trial, but {self.num_trials} was given.")
        if self.minutes is not None and not self.minutes > 0:
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
    store: Store | None = None,
    progress: SearchCallback | None = None,
    should_stop: Callable[[], bool] = lambda: False,
) -> SearchResult:
    """Search, or go on with a search, and score the finalists on fresh data sets.

    Args:
        question: a study with a search.
        folder: where the search keeps its trials, and finds them again.
        budget: how long; trials of earlier runs count.
        storage: address of a database to share; by default a journal in the folder.
        num_workers: processes that work at the same time. With one, the result depends on nothing but the study.
        source: where other processes read the study; needed for more than one worker.
        must_exist: whether to refuse to begin a new search.
        store: where finished evaluations are kept.
        progress: called with a `SearchProgress` as work gets done.
        should_stop: asked again and again; if true, the search ends after the trials that have begun, without finalists.

    Raises:
        StudioError: before anything is written, if there is nothing to search, or nothing to search it with.
    """
    run = _Run(question, RunFolder(Path(folder)), budget, progress, should_stop)
    plan = get_plan(question)
    check_sampler(plan, len(list_objectives(question)))
    check_feasible(plan)
    if num_workers < 1 or (num_workers > 1 and source is None):
        raise StudioError(f"A search needs 1 worker or more, and for more than 1 a study file; {num_workers} was given.")
    place = EMBEDDED if storage is None else hide_password(storage)
    is_there = run.folder.check(name_search(question), place)
    if must_exist and not is_there:
        raise StudioError(f"There is no search to resume in '{run.folder.path}': leave out --resume, or give its --out.")
    # An unreachable database is refused before the folder is made.
    opened = None if storage is None else open_storage(storage)
    run.folder.begin(name_search(question), place)
    try:
        opened = open_storage(str(run.folder.journal)) if opened is None else opened
        job = load_job(question, opened) or create_job(question, opened, run.screen())
        run.resume(job)
        if num_workers == 1:
            run.work_alone(job)
        else:
            assert source is not None  # noqa: S101  (checked above)
            run.work_together(job, Crew(source, run.folder, num_workers, storage or str(run.folder.journal)))
        return run.finish(job, store)
    finally:
        run.folder.end()


class _Run:
    """One call of `run_search`."""

    def __init__(
        self,
        question: Study,
        folder: RunFolder,
        budget: Budget,
        progress: SearchCallback | None,
        should_stop: Callable[[], bool],
    ) -> None:
        self.question, self.folder, self.budget = question, folder, budget
        self._progress, self.should_stop = progress, should_stop
        self._started = time.monotonic()
        self._done_before = 0

    @property
    def deadline(self) -> float | None:
        """When to stop, by the clock."""
        return None if self.budget.minutes is None else self._started + 60 * self.budget.minutes

    def screen(self) -> list[dict[str, object]]:
        """Where to start."""
        return [dict(parameters) for parameters in screen_designs(self.question, lambda *n: self._tell(SCREENING, *n))]

    def resume(self, job: Job) -> None:
        """Take up what earlier runs left, and line up what is still to be done."""
        for trial in job.list_trials(TrialState.RUNNING):
            is_dead = self.folder.is_dead(str(trial.user_attrs.get(OWNER, "")))
            # In a journal of its own there is nobody else; a shared database will find out by itself.
            if is_dead or (is_dead is None and self.folder.journal.exists()):
                job.give_back(trial)
        job.retry_lost()
        if self.budget.num_trials is not None:
            job.add_waiting(self.budget.num_trials)
        self._done_before = self._count(job)
        self._started = time.monotonic()

    def work_alone(self, job: Job) -> None:
        """Search in this process."""
        with self.folder.lock_worker(0):
            run_worker(
                job,
                name=self.folder.name_worker(0),
                should_stop=lambda: self.should_stop() or self._is_enough(job),
                deadline=self.deadline,
                on_change=lambda: self.tell_search(job),
            )

    def work_together(self, job: Job, crew: Crew) -> None:
        """Search in several processes, and watch them."""
        crew.run(
            job,
            should_stop=lambda: self.should_stop() or self._is_enough(job),
            deadline=self.deadline,
            on_change=lambda: self.tell_search(job),
        )

    def finish(self, job: Job, store: Store | None) -> SearchResult:
        """Score the finalists, unless the search was stopped."""
        records = tuple(read_record(trial) for trial in job.list_trials())
        verification = None
        if not self.should_stop():
            plan = get_plan(self.question)
            num_designs = len(choose_finalists(self.question, records)) + len(self.question.designs)

            def tell(of_design: EvaluationProgress) -> None:
                self._tell(VERIFYING, of_design.num_done, of_design.num_datasets)

            if num_designs:
                self._tell(VERIFYING, 0, plan.num_fresh)
            verification = verify_finalists(self.question, records, store=store, progress=tell)
        seconds = sum(record.seconds for record in records)
        screened = get_plan(self.question).num_screened if job.study.user_attrs["starts"] else 0
        return SearchResult(
            self.question, job.study.study_name, records, verification, seconds, rank_variables(job), screened
        )

    def tell_search(self, job: Job) -> None:
        """Report how far the trials are."""
        if self._progress is None:
            return
        records = [read_record(trial) for trial in job.list_trials(TrialState.COMPLETE, TrialState.PRUNED)]
        done, seconds = len(records), time.monotonic() - self._started
        left = None
        if self.deadline is not None:
            left = max(0.0, self.deadline - time.monotonic())
        elif self.budget.num_trials is not None and done > self._done_before:
            left = seconds / (done - self._done_before) * max(0, self.budget.num_trials - done)
        best = choose_finalists(
            self.question.replace(search=dataclasses.replace(job.plan, num_finalists=NUM_SHOWN)), records
        )
        num_pruned = sum(record.state == PRUNED for record in records)
        self._progress(SearchProgress(SEARCHING, done, self.budget.num_trials, seconds, left, best, num_pruned))

    def _tell(self, stage: str, num_done: int, num_wanted: int) -> None:
        if self._progress is not None:
            seconds = time.monotonic() - self._started
            left = seconds / num_done * (num_wanted - num_done) if num_done else None
            self._progress(SearchProgress(stage, num_done, num_wanted, seconds, left))

    def _is_enough(self, job: Job) -> bool:
        return self.budget.num_trials is not None and self._count(job) >= self.budget.num_trials

    def _count(self, job: Job) -> int:
        return len(job.list_trials(TrialState.COMPLETE, TrialState.PRUNED))


__all__ = ["COMPLETE", "PRUNED", "Budget", "run_search"]
