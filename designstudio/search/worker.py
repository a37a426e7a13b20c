"""A worker: takes trials that wait, evaluates their designs, and tells; as many as there are, on any machine."""

import contextlib
import math
import threading
import time
from collections.abc import Callable, Iterator

import optuna
from optuna.trial import FrozenTrial, TrialState

from designstudio.search.designs import identify_design, list_distributions, suggest
from designstudio.search.evaluate import Step, evaluate_steps
from designstudio.search.feasible import find_design
from designstudio.search.job import Job, beat
from designstudio.search.race import Standing, is_beaten
from designstudio.search.records import RECORD, list_finished, read_record, read_standing, write_record

# Seconds between looks whether another worker's trial was lost, once there is nothing else to do.
PAUSE = 0.5
OWNER = "worker"

Callback = Callable[[], None]


def run_worker(
    job: Job,
    *,
    name: str,
    should_stop: Callable[[], bool] = lambda: False,
    deadline: float | None = None,
    on_change: Callback = lambda: None,
) -> int:
    """Work until nothing is left to do.

    Args:
        job: the search.
        name: of this worker.
        should_stop: asked before each trial; a trial that has begun is finished.
        deadline: go on with new trials until then (seconds of `time.monotonic`); by default only those that wait are done.
        on_change: called whenever something has been stored.

    Returns:
        How many trials this worker has finished.
    """
    num_finished = 0
    while not should_stop() and (deadline is None or time.monotonic() < deadline):
        optuna.storages.fail_stale_trials(job.study)
        trial = job.claim()
        if trial is None and deadline is not None:
            trial = job.study.ask()
        if trial is None:
            job.retry_lost()
            if job.list_trials(TrialState.WAITING):
                continue
            if not _may_be_lost(job):
                break
            time.sleep(PAUSE)
            continue
        trial.set_user_attr(OWNER, name)
        with _signs_of_life(job, trial):
            run_trial(job, trial, name=name, on_change=on_change)
        num_finished += 1
        on_change()
    return num_finished


def run_trial(job: Job, trial: optuna.Trial, *, name: str, on_change: Callback = lambda: None) -> None:
    """Evaluate the design of a trial and tell Optuna."""
    plan, question = job.plan, job.question
    parameters = {key: suggest(trial, key, distribution) for key, distribution in list_distributions(plan.space).items()}
    design = find_design(plan, parameters, f"trial {trial.number}")
    assert design is not None  # noqa: S101  (the sampler proposes nothing else)
    if _copy_twin(job, trial, identify_design(design)):
        return
    steps: dict[int, Standing] = {}
    rival: list[int | None] = [None]

    def goes_on(step: Step) -> bool:
        steps[step.num_datasets] = step.standing
        value = step.scores[job.objectives[0]].value
        if len(job.objectives) == 1 and math.isfinite(value):
            trial.report(value, step.num_datasets)
            on_change()
        if plan.races and step.num_datasets < plan.num_datasets:
            rival[0] = is_beaten(step.standing, _list_rivals(job, step.num_datasets), plan.num_datasets)
        return rival[0] is None

    last = evaluate_steps(
        question, design, plan.fidelity, block_size=plan.block_size, num_datasets=plan.num_datasets, goes_on=goes_on
    )
    # Whoever was silent for too long finds that another worker has the trial now: then this result is one too many.
    with contextlib.suppress(optuna.exceptions.UpdateFinishedTrialError, ValueError):
        write_record(trial, design, last, plan.limits, steps, worker=name, beaten_by=rival[0])
        _tell(job, trial, [last.scores[measure].value for measure in job.objectives], is_pruned=rival[0] is not None)


def _tell(job: Job, trial: optuna.Trial, values: list[float], *, is_pruned: bool) -> None:
    if is_pruned or not all(math.isfinite(value) for value in values):
        job.study.tell(trial, state=TrialState.PRUNED)
    else:
        job.study.tell(trial, values)


def _list_rivals(job: Job, num_datasets: int) -> dict[int, Standing]:
    """Where those stood after so many data sets that a design must beat: the best one, or all if there are several aims."""
    complete = [trial for trial in job.list_trials(TrialState.COMPLETE) if read_record(trial).is_candidate]
    if len(job.objectives) == 1 and complete:
        complete = [_find_best(job, complete)]
    standings = {trial.number: read_standing(trial, num_datasets) for trial in complete}
    return {number: standing for number, standing in standings.items() if standing is not None}


def _find_best(job: Job, complete: list[FrozenTrial]) -> FrozenTrial:
    sign = -1 if job.objectives[0].is_larger_better else 1
    return min(complete, key=lambda trial: (sign * trial.values[0], trial.number))


def _copy_twin(job: Job, trial: optuna.Trial, key: str) -> bool:
    """Once every design of a small space was tried, the next is one of them again: its result is copied, not computed."""
    for other in list_finished(job.list_trials()):
        design = find_design(job.plan, other.params)
        if RECORD in other.user_attrs and design is not None and identify_design(design) == key:
            record = {**other.user_attrs[RECORD], "seconds": 0.0, "compiled": 0, "num_datasets": 0, "same_as": other.number}
            trial.set_user_attr(RECORD, record)
            for label, over in record["exceeds"].items():
                trial.set_constraint(label, over)
            _tell(job, trial, list(other.values or []), is_pruned=other.state == TrialState.PRUNED)
            return True
    return False


def _may_be_lost(job: Job) -> bool:
    """Whether another worker's trial may yet come back: only storages with signs of life can tell."""
    has_signs = getattr(job.storage, "get_heartbeat_interval", lambda: None)() is not None
    return has_signs and bool(job.list_trials(TrialState.RUNNING))


@contextlib.contextmanager
def _signs_of_life(job: Job, trial: optuna.Trial) -> Iterator[None]:
    """Tell the storage, now and then, that the trial is still being worked on."""
    interval = getattr(job.storage, "get_heartbeat_interval", lambda: None)()
    if interval is None:
        yield
        return
    is_done = threading.Event()

    def keep_on() -> None:
        while not is_done.wait(interval):
            # A database that is away for a moment is no reason to stop the evaluation.
            with contextlib.suppress(Exception):
                beat(job.storage, trial._trial_id)

    thread = threading.Thread(target=keep_on, daemon=True)
    thread.start()
    try:
        yield
    finally:
        is_done.set()
        thread.join()
