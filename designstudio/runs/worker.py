"""`worker`: help with a search, on this machine or another."""

import contextlib
import dataclasses
import os
import platform
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from designstudio.errors import StudioError
from designstudio.runs.folder import resolve_study, use_cost_file
from designstudio.search.find_job import wait_for_job
from designstudio.search.run_folder import RunFolder
from designstudio.search.storage import close_storage, hide_password, open_storage
from designstudio.search.workers import run_worker
from designstudio.study import Study


@dataclasses.dataclass(frozen=True)
class WorkerRequest:
    """Whom to help.

    Attributes:
        study: of the search, or its file.
        storage: the search's database, or its journal file.
        minutes: leave after so long; by default when nothing is left to do.
        seed: the search's seed, if it was given one.
        wait: seconds to wait for work that is not lined up yet.
        heartbeat: seconds between signs of life.
        job: name of the search or sweep; by default the study's search, or a sweep with work left.
        run: folder of the run that started this worker.
        number: of this worker in that run.
        cost_file: a user's file of costs, which is executed.
    """

    study: Study | Path | str
    storage: str
    minutes: float | None = None
    seed: int | None = None
    wait: float = 60.0
    heartbeat: int = 10
    job: str | None = None
    run: Path | None = None
    number: int = 0
    cost_file: Path | None = None


class WorkerResult(NamedTuple):
    """What a worker has done."""

    worker: str
    num_finished: int


def run_worker_process(request: WorkerRequest, *, should_stop: Callable[[], bool] = lambda: False) -> WorkerResult:
    """Take candidates of a search from its storage, until none is left or it should stop.

    Raises:
        StudioError: if there is no such storage, or no such search in it.
    """
    use_cost_file(request.cost_file)
    study = resolve_study(request.study).replace(seed=request.seed)
    if "://" not in request.storage and not Path(request.storage).exists():
        raise StudioError(f"There is no journal '{request.storage}': begin the search first, or give its database.")
    storage = open_storage(request.storage, heartbeat=request.heartbeat)
    parent = os.getppid()
    job = wait_for_job(study, storage, request.job, seconds=request.wait, should_stop=should_stop)
    if job is None:
        raise StudioError(
            f"The storage '{hide_password(request.storage)}' has no search or sweep of this study file: start one with "
            "designstudio search or sweep, with the same file, seed and --storage."
        )
    folder = None if request.run is None else RunFolder(request.run)
    name = f"{platform.node()}/{os.getpid()}" if folder is None else folder.name_worker(request.number)
    with contextlib.nullcontext() if folder is None else folder.lock_worker(request.number):
        num_finished = run_worker(
            job,
            name=name,
            # A worker that a search has started must not outlive it.
            should_stop=lambda: should_stop() or (folder is not None and os.getppid() != parent),
            deadline=None if request.minutes is None else time.monotonic() + 60 * request.minutes,
            patience=request.wait if folder is None else 0.0,
        )
    close_storage(storage)
    return WorkerResult(name, num_finished)
