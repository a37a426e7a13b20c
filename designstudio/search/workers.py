"""Get a job done in a run folder, alone or with several workers; what earlier runs left undone is recovered first.

A worker takes candidates that wait and does them; there may be as many as one likes, on any machine.
"""

import contextlib
import threading
import time
from collections.abc import Callable, Iterator

import optuna
from optuna.storages import BaseStorage
from optuna.trial import TrialState

from designstudio.errors import StudioError
from designstudio.search.job import OWNER, AbstractJob, Callback
from designstudio.search.run_folder import RunFolder
from designstudio.search.storage import HEARTBEAT, hide_password, open_storage
from designstudio.search.worker_pool import Source, WorkerPool

EMBEDDED = "its own journal"
# Seconds between looks whether another worker's candidate was lost, once there is nothing else to do.
PAUSE = 0.5


def begin_run(
    folder: RunFolder, name: str, storage: str | None, *, must_exist: bool = False, heartbeat: int = HEARTBEAT
) -> BaseStorage:
    """Open the storage of a run and take possession of its folder.

    Args:
        folder: of the run.
        name: of the job.
        storage: address of a database; by default a journal in the folder.
        must_exist: whether to refuse a new run.
        heartbeat: seconds between signs of life, where the storage takes them.

    Raises:
        StudioError: before anything is written, if the folder is another job's or the database cannot be reached.
    """
    place = EMBEDDED if storage is None else hide_password(storage)
    is_there = folder.check(name, place)
    if must_exist and not is_there:
        raise StudioError(f"There is nothing to resume in '{folder.path}': leave out --resume, or give the right --out.")
    opened = None if storage is None else open_storage(storage, heartbeat=heartbeat)
    folder.begin(name, place)
    return open_storage(str(folder.journal)) if opened is None else opened


def check_workers(num_workers: int, source: Source | None) -> None:
    """Refuse an impossible number of workers."""
    if num_workers < 1 or (num_workers > 1 and source is None):
        raise StudioError(f"Give 1 worker or more, and for more than 1 a study file; {num_workers} was given.")


def recover_stale(job: AbstractJob, folder: RunFolder) -> None:
    """Let candidates wait again whose workers are gone."""
    for trial in job.list_trials(TrialState.RUNNING):
        is_dead = folder.is_dead(str(trial.user_attrs.get(OWNER, "")))
        # In a journal of its own there is nobody else; a shared database will find out by itself.
        if is_dead or (is_dead is None and folder.journal.exists()):
            job.give_back(trial)
    job.retry_lost()


def run_workers(
    job: AbstractJob,
    folder: RunFolder,
    *,
    num_workers: int,
    source: Source | None,
    storage: str | None,
    deadline: float | None,
    should_stop: Callable[[], bool],
    on_change: Callback,
) -> None:
    """Work until nothing is left to do, the time is over, or it should stop."""
    if num_workers > 1 and source is not None:
        pool = WorkerPool(source, folder, num_workers, storage or str(folder.journal), job.study.study_name)
        pool.run(job, should_stop=should_stop, deadline=deadline, on_change=on_change)
        return
    with folder.lock_worker(0):
        run_worker(job, name=folder.name_worker(0), should_stop=should_stop, deadline=deadline, on_change=on_change)


def estimate_left(
    num_done: int, num_before: int, num_wanted: int | None, started: float, deadline: float | None
) -> float | None:
    """Seconds that are left, by the clock or by how fast candidates were finished so far."""
    if deadline is not None:
        return max(0.0, deadline - time.monotonic())
    if num_wanted is None or num_done <= num_before:
        return None
    return (time.monotonic() - started) / (num_done - num_before) * max(0, num_wanted - num_done)


def run_worker(
    job: AbstractJob,
    *,
    name: str,
    should_stop: Callable[[], bool] = lambda: False,
    deadline: float | None = None,
    patience: float = 0.0,
    on_change: Callback = lambda: None,
) -> int:
    """Work until nothing is left to do.

    Args:
        job: what is to be done.
        name: of this worker.
        should_stop: asked before each candidate; a candidate that has begun is finished.
        deadline: begin no candidate after that (seconds of `time.monotonic`).
        patience: seconds to wait for the first candidate, where work may not be lined up yet.
        on_change: called whenever something has been stored.

    Returns:
        How many candidates this worker has finished.
    """
    num_finished, started = 0, time.monotonic()
    while not should_stop() and (deadline is None or time.monotonic() < deadline):
        optuna.storages.fail_stale_trials(job.study)
        trial = job.claim(name)
        if trial is None and job.is_open():
            # Not Optuna's `ask`, whose trial runs before it has an owner: killed then, nobody would ever recover it.
            job.study.enqueue_trial({})
            trial = job.claim(name)
        if trial is None:
            job.retry_lost()
            if job.list_trials(TrialState.WAITING):
                continue
            may_begin = num_finished == 0 and time.monotonic() - started < patience
            # Only where workers give signs of life can a candidate that still runs turn out to be lost.
            may_be_lost = job.heartbeat is not None and bool(job.list_trials(TrialState.RUNNING))
            if not may_begin and not may_be_lost:
                break
            time.sleep(PAUSE)
            continue
        # Again: whoever wanted the candidate at the same moment may have written over it.
        trial.set_user_attr(OWNER, name)
        with _signs_of_life(job, trial):
            job.run_trial(trial, worker=name, on_change=on_change)
        num_finished += 1
        on_change()
    return num_finished


@contextlib.contextmanager
def _signs_of_life(job: AbstractJob, trial: optuna.Trial) -> Iterator[None]:
    """Tell the storage, now and then, that the candidate is still being worked on."""
    if job.heartbeat is None:
        yield
        return
    is_done = threading.Event()

    def keep_on() -> None:
        while not is_done.wait(job.heartbeat):
            # A database that is away for a moment is no reason to stop the evaluation.
            with contextlib.suppress(Exception):
                job.beat(trial._trial_id)

    thread = threading.Thread(target=keep_on, daemon=True)
    thread.start()
    try:
        yield
    finally:
        is_done.set()
        thread.join()
