"""A worker: takes candidates that wait and does them; as many workers as there are, on any machine."""

import contextlib
import threading
import time
from collections.abc import Callable, Iterator

import optuna
from optuna.trial import TrialState

from designstudio.search.job import OWNER, AbstractJob, Callback

# Seconds between looks whether another worker's candidate was lost, once there is nothing else to do.
PAUSE = 0.5


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
