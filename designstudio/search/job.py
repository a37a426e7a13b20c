"""Work that many workers share: Optuna's study, whose waiting trials are what is still to be done.

The word trial is Optuna's here: a candidate of a search, or a point of a sweep. Elsewhere it is what a participant does.
"""

import abc
import dataclasses
from collections.abc import Callable
from typing import Any

import optuna
from optuna.storages import BaseStorage
from optuna.trial import FrozenTrial, TrialState

from designstudio.errors import StudioError
from designstudio.study import SearchPlan, Study

OWNER = "worker"

Callback = Callable[[], None]


@dataclasses.dataclass(frozen=True)
class AbstractJob(abc.ABC):
    """A search or a sweep.

    Attributes:
        question: the study.
        storage: where they are kept.
        study: Optuna's.
    """

    question: Study
    storage: BaseStorage
    study: optuna.Study

    @abc.abstractmethod
    def run_trial(self, trial: optuna.Trial, *, worker: str, on_change: Callback) -> None:
        """Do one piece of the work and tell Optuna.

        Args:
            trial: one that runs.
            worker: who does it.
            on_change: called whenever something has been stored.
        """

    def is_open(self) -> bool:
        """Whether new ones may be begun beyond those that wait."""
        return False

    def list_trials(self, *states: TrialState) -> list[FrozenTrial]:
        """Trials in some states; by default all."""
        return self.study.get_trials(deepcopy=False, states=states or None)

    def count_finished(self) -> int:
        """How many are complete or were given up."""
        return len(self.list_trials(TrialState.COMPLETE, TrialState.PRUNED))

    def claim(self, worker: str) -> optuna.Trial | None:
        """The next one that waits, if there is one; nobody else gets it."""
        for waiting in self.list_trials(TrialState.WAITING):
            try:
                # Whose it is, and a sign of life, come first: one that runs without them could not be recovered.
                self.storage.set_trial_user_attr(waiting._trial_id, OWNER, worker)
                self.beat(waiting._trial_id)
                if self.storage.set_trial_state_values(waiting._trial_id, TrialState.RUNNING):
                    return optuna.Trial(self.study, waiting._trial_id)
            except optuna.exceptions.UpdateFinishedTrialError:
                continue
        return None

    def give_back(self, trial: FrozenTrial) -> None:
        """Let one that nobody works on any more wait again, under its own number."""
        self.storage.set_trial_state_values(trial._trial_id, TrialState.WAITING)

    def retry_lost(self) -> None:
        """Try again what failed without a successor: whoever found it lost was itself killed before noting that."""
        trials = self.list_trials()
        followed = {number for trial in trials for number in trial.system_attrs.get("retry_history", [])}
        for trial in trials:
            if trial.state == TrialState.FAIL and trial.number not in followed:
                optuna.storages.RetryHeartbeatStaleTrialCallback()(self.study, trial)

    @property
    def heartbeat(self) -> int | None:
        """Seconds between signs of life; None if the storage takes none."""
        storage: Any = self.storage
        return storage.get_heartbeat_interval() if hasattr(storage, "get_heartbeat_interval") else None

    def beat(self, trial_id: int) -> None:
        """A sign of life, where the storage takes one."""
        storage: Any = self.storage
        if self.heartbeat is not None:
            storage.record_heartbeat(trial_id)


def get_plan(question: Study) -> SearchPlan:
    """The study's search.

    Raises:
        StudioError: if it has none.
    """
    if question.search is None:
        raise StudioError("The study has no search: add a section [search.space] that says which designs may be tried.")
    return question.search
