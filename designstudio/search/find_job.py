"""Find the work that a storage has for a study."""

import time
from collections.abc import Callable

from optuna.storages import BaseStorage
from optuna.trial import TrialState

from designstudio.search.job import AbstractJob
from designstudio.search.search_job import load_search
from designstudio.search.sweep import load_sweeps
from designstudio.study import Study

# Seconds between looks whether there is work.
PAUSE = 0.5


def find_job(question: Study, storage: BaseStorage, name: str | None = None) -> AbstractJob | None:
    """A search or sweep of this study.

    Args:
        question: the study.
        storage: where to look.
        name: of the one that is meant; by default the search, or else a sweep with candidates that wait.
    """
    search = load_search(question, storage) if question.search is not None else None
    if search is not None and name in (None, search.study.study_name):
        return search
    for sweep in load_sweeps(question, storage):
        if sweep.study.study_name == name or (name is None and sweep.list_trials(TrialState.WAITING, TrialState.RUNNING)):
            return sweep
    return None


def wait_for_job(
    question: Study,
    storage: BaseStorage,
    name: str | None = None,
    *,
    seconds: float,
    should_stop: Callable[[], bool] = lambda: False,
) -> AbstractJob | None:
    """As `find_job`, for as long as there may be one soon."""
    deadline = time.monotonic() + seconds
    job = find_job(question, storage, name)
    while job is None and time.monotonic() < deadline and not should_stop():
        time.sleep(PAUSE)
        job = find_job(question, storage, name)
    return job
