"""Get a job done in a run folder, alone or with several workers; what earlier runs left undone is recovered first."""

import time
from collections.abc import Callable

from optuna.storages import BaseStorage
from optuna.trial import TrialState

from designstudio.errors import StudioError
from designstudio.search.folder import RunFolder
from designstudio.search.job import OWNER, AbstractJob, Callback
from designstudio.search.pool import Source, WorkerPool
from designstudio.search.storage import HEARTBEAT, hide_password, open_storage
from designstudio.search.worker import run_worker

EMBEDDED = "its own journal"


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
