"""Several workers on this machine: started, watched, replaced if they die, and stopped."""

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from optuna.trial import TrialState

from designstudio.core.processes import OwnProcess
from designstudio.errors import StudioError
from designstudio.search.job import OWNER, AbstractJob
from designstudio.search.run_folder import RunFolder

# Seconds between looks.
PAUSE = 0.3
# Workers that died are replaced so often; then something is wrong with what they do.
MOST_REPLACED = 10


class Source(NamedTuple):
    """Where another process finds the study."""

    path: Path
    seed: int | None = None
    cost_file: Path | None = None


class WorkerPool:
    """Worker processes of one search, each with its share of the cores."""

    def __init__(self, source: Source, folder: RunFolder, num_workers: int, storage: str, job: str) -> None:
        self._source, self._folder, self._storage, self._job = source, folder, storage, job
        self._num_workers = num_workers
        self._workers: dict[int, OwnProcess] = {}

    def run(
        self, job: AbstractJob, *, should_stop: Callable[[], bool], deadline: float | None, on_change: Callable[[], None]
    ) -> None:
        """Work until nothing is left to do, or it should stop."""
        num_replaced = 0
        try:
            for number in range(self._num_workers):
                self._start(number, deadline)
            while self._workers:
                time.sleep(PAUSE)
                on_change()
                if should_stop() or (deadline is not None and time.monotonic() > deadline):
                    self._stop()
                for number, worker in list(self._workers.items()):
                    if worker.code is None:
                        continue
                    del self._workers[number]
                    self._give_back(job, number)
                    if worker.code == 2:
                        raise StudioError(f"A worker could not begin: {_read_last(worker)}")
                    is_needed = not should_stop() and (worker.code != 0 or job.list_trials(TrialState.WAITING))
                    if is_needed and (deadline is None or time.monotonic() < deadline):
                        num_replaced += 1
                        if num_replaced > MOST_REPLACED:
                            raise RuntimeError(f"Workers keep dying; the last one said: {_read_last(worker)}")
                        self._start(number, deadline)
        finally:
            self._stop()
            for worker in self._workers.values():
                worker.wait()

    def _start(self, number: int, deadline: float | None) -> None:
        # Each has its own cores: together they would only wait for each other.
        cores = max(1, len(os.sched_getaffinity(0)) // self._num_workers) if hasattr(os, "sched_getaffinity") else 1
        source = self._source
        arguments = ["worker", str(source.path), "--storage", self._storage, "--job", self._job]
        arguments += ["--run", str(self._folder.path), "--number", str(number)]
        arguments += [] if source.seed is None else ["--seed", str(source.seed)]
        arguments += [] if source.cost_file is None else ["--cost-file", str(source.cost_file)]
        arguments += [] if deadline is None else ["--minutes", f"{max(0.001, deadline - time.monotonic()) / 60:.4f}"]
        log = self._folder.path / f"worker-{number}.log"
        self._workers[number] = OwnProcess(
            "designstudio", *arguments, log=log, environment={"DESIGNSTUDIO_CORES": str(cores)}
        )

    def _stop(self) -> None:
        """Ask all to leave after their candidate."""
        for worker in self._workers.values():
            worker.ask_to_stop()

    def _give_back(self, job: AbstractJob, number: int) -> None:
        """Let the candidate of a worker that died wait again."""
        name = self._folder.name_worker(number)
        for trial in job.list_trials(TrialState.RUNNING):
            if trial.user_attrs.get(OWNER) == name:
                job.give_back(trial)


def _read_last(worker: OwnProcess) -> str:
    lines = [line for line in worker.read_log().splitlines() if line.strip()]
    return lines[-1].removeprefix("Error: ") if lines else "nothing"
