"""A search as Optuna's study: its name, what it is for, and the trials that are still to be done."""

import dataclasses
import re
from collections.abc import Sequence
from typing import Any

import optuna
from optuna.storages import BaseStorage
from optuna.study import StudyDirection
from optuna.trial import FrozenTrial, TrialState

from designstudio.errors import StudioError
from designstudio.evaluate.fingerprint import describe_question, digest, plain
from designstudio.search.designs import Parameters
from designstudio.search.readings import list_objectives
from designstudio.search.sampling import DesignSampler
from designstudio.study import Measure, SearchPlan, Study

STARTS = "starts"


@dataclasses.dataclass(frozen=True)
class Job:
    """A search that workers share.

    Attributes:
        question: the study, with its search.
        storage: where its trials are kept.
        study: Optuna's.
    """

    question: Study
    storage: BaseStorage
    study: optuna.Study

    @property
    def plan(self) -> SearchPlan:
        """How designs are searched."""
        return get_plan(self.question)

    @property
    def objectives(self) -> tuple[Measure, ...]:
        """What the search is for."""
        return list_objectives(self.question)

    def list_trials(self, *states: TrialState) -> list[FrozenTrial]:
        """Trials in some states; by default all."""
        return self.study.get_trials(deepcopy=False, states=states or None)

    def claim(self) -> optuna.Trial | None:
        """The next trial that waits, if there is one; nobody else gets it."""
        for waiting in self.list_trials(TrialState.WAITING):
            # A sign of life first: a trial that runs without one would soon count as lost.
            beat(self.storage, waiting._trial_id)
            try:
                if self.storage.set_trial_state_values(waiting._trial_id, TrialState.RUNNING):
                    return optuna.Trial(self.study, waiting._trial_id)
            except optuna.exceptions.UpdateFinishedTrialError:
                continue
        return None

    def give_back(self, trial: FrozenTrial) -> None:
        """Let a trial that nobody works on any more wait again, under its own number."""
        self.storage.set_trial_state_values(trial._trial_id, TrialState.WAITING)

    def add_waiting(self, num_trials: int) -> None:
        """Have `num_trials` trials in all, whatever their state; those that failed are not counted."""
        num = sum(trial.state != TrialState.FAIL for trial in self.list_trials())
        for _ in range(num, num_trials):
            self.study.enqueue_trial({})

    def retry_lost(self) -> None:
        """Try again what failed without a successor: whoever found it lost was itself killed before noting that."""
        trials = self.list_trials()
        followed = {number for trial in trials for number in trial.system_attrs.get("retry_history", [])}
        for trial in trials:
            if trial.state == TrialState.FAIL and trial.number not in followed:
                optuna.storages.RetryHeartbeatStaleTrialCallback()(self.study, trial)


def get_plan(question: Study) -> SearchPlan:
    """The study's search.

    Raises:
        StudioError: if it has none.
    """
    if question.search is None:
        raise StudioError("The study has no search: add a section [search.space] that says which designs may be tried.")
    return question.search


def name_search(question: Study) -> str:
    """The same for the same question, and another as soon as anything differs that matters for a score or a proposal."""
    plan = get_plan(question)
    # How many finalists there are, and how they are scored, matters for neither.
    described = {
        key: value for key, value in plain(plan).items() if key not in ("num_finalists", "verify_fidelity", "num_fresh")
    }
    fingerprint = digest({**describe_question(question), "search": described})
    slug = re.sub(r"[^a-z0-9]+", "-", (question.title or "search").lower()).strip("-")[:40]
    return f"{slug}-{fingerprint[:10]}"


def create_job(question: Study, storage: BaseStorage, starts: Sequence[Parameters]) -> Job:
    """A new search, or the one that is already there."""
    directions = [
        StudyDirection.MAXIMIZE if measure.is_larger_better else StudyDirection.MINIMIZE
        for measure in list_objectives(question)
    ]
    study = optuna.create_study(
        storage=storage, study_name=name_search(question), directions=directions, load_if_exists=True
    )
    if STARTS not in study.user_attrs:
        study.set_metric_names([measure.label for measure in list_objectives(question)])
        study.set_user_attr("title", question.title)
        study.set_user_attr(STARTS, [dict(parameters) for parameters in starts])
    return _with_sampler(Job(question, storage, study))


def load_job(question: Study, storage: BaseStorage) -> Job | None:
    """The search for this question that a storage holds; None if it holds none."""
    try:
        study = optuna.load_study(study_name=name_search(question), storage=storage)
    except KeyError:
        return None
    return _with_sampler(Job(question, storage, study)) if STARTS in study.user_attrs else None


def _with_sampler(job: Job) -> Job:
    job.study.sampler = DesignSampler(job.plan, job.study.user_attrs[STARTS], job.question.seed)
    job.study.pruner = optuna.pruners.NopPruner()
    return job


def beat(storage: Any, trial_id: int) -> None:
    """A sign of life, where the storage takes one."""
    if getattr(storage, "get_heartbeat_interval", lambda: None)() is not None:
        storage.record_heartbeat(trial_id)
