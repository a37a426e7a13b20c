"""A search as work for many: its name, its candidates, and what one candidate is."""

import contextlib
import math
import re
import time
import warnings
from collections.abc import Iterator, Sequence

import optuna
from optuna.storages import BaseStorage
from optuna.study import StudyDirection
from optuna.trial import FrozenTrial, TrialState

from designstudio.core.fingerprint import as_plain, fingerprint
from designstudio.evaluate.fingerprint import describe_question
from designstudio.search.designs import Parameters, identify_design, list_distributions, suggest
from designstudio.search.estimates import list_objectives
from designstudio.search.evaluate_steps import Step, evaluate_steps
from designstudio.search.feasible import find_design
from designstudio.search.job import AbstractJob, Callback, get_plan
from designstudio.search.race import PartialResult, is_beaten
from designstudio.search.records import RECORD, read_partial, read_record, write_record
from designstudio.search.resolution import Resolution, estimate_resolution
from designstudio.search.sampling import PROPOSAL, DesignSampler
from designstudio.study import Objective, SearchPlan, Study

STARTS, UNTIL, TWIN = "starts", "until", "same_as"
# Candidates without which differences between them say little.
FEWEST_DESIGNS = 3
# How many finalists there are, and how they are scored and compared, matters neither for a score nor for a proposal.
WITHOUT_EFFECT = ("num_finalists", "verify_fidelity", "num_fresh", "first_fresh", "num_errors", "worth_having")


class SearchJob(AbstractJob):
    """A search that workers share."""

    @property
    def plan(self) -> SearchPlan:
        """How designs are searched."""
        return get_plan(self.question)

    @property
    def objectives(self) -> tuple[Objective, ...]:
        """What the search is for."""
        return list_objectives(self.question)

    def is_open(self) -> bool:
        """Whether the time for searching is not over yet; if candidates are counted, it never begins."""
        return time.time() < self.study.user_attrs.get(UNTIL, 0.0)

    def set_time(self, seconds: float) -> None:
        """Search from now on for so long, on whatever machine."""
        self.study.set_user_attr(UNTIL, time.time() + seconds)

    def add_waiting(self, num_candidates: int) -> None:
        """Have `num_candidates` candidates in all, whatever their state; those that failed are not counted."""
        num = sum(trial.state != TrialState.FAIL for trial in self.list_trials())
        for _ in range(num, num_candidates):
            self.study.enqueue_trial({})

    def measure_resolution(self) -> tuple[Resolution, ...]:
        """What the data sets of a candidate can tell apart, from those that are complete; nothing if these are too few."""
        simulated = [objective for objective in self.objectives if not objective.is_of_design]
        found = [
            read_partial(trial, self.plan.num_datasets)
            for trial in self.list_trials(TrialState.COMPLETE)
            if TWIN not in trial.user_attrs.get(RECORD, {})
        ]
        designs = [partial.pseudo_values for partial in found if partial is not None]
        return estimate_resolution(simulated, self.plan, designs) if len(designs) >= FEWEST_DESIGNS else ()

    def run_trial(self, trial: optuna.Trial, *, worker: str, on_change: Callback) -> None:
        """Try the design of a candidate on one block of data sets after the other."""
        plan = self.plan
        # In one piece, before Optuna stores one parameter after the other.
        trial.set_user_attr(PROPOSAL, trial.relative_params)
        parameters = {key: suggest(trial, key, distribution) for key, distribution in list_distributions(plan.space).items()}
        design = find_design(plan, parameters, f"candidate {trial.number}")
        assert design is not None  # noqa: S101  (the sampler proposes nothing else)
        if self._copy_twin(trial, identify_design(design)):
            return
        steps: dict[int, PartialResult] = {}
        rivals: list[int] = []

        def goes_on(step: Step) -> bool:
            steps[step.num_datasets] = step.partial
            value = step.scores[self.objectives[0]].value
            if len(self.objectives) == 1 and math.isfinite(value):
                with _taken_up_again():
                    trial.report(value, step.num_datasets)
                on_change()
            if plan.races and step.num_datasets < plan.num_datasets:
                rivals_now = self._list_rivals(step.num_datasets)
                rival = is_beaten(
                    step.partial,
                    rivals_now,
                    plan.num_datasets,
                    small_chance=plan.small_chance,
                    fewest_pairs=plan.fewest_pairs,
                )
                rivals.extend([] if rival is None else [rival])
            return not rivals

        last = evaluate_steps(
            self.question, design, plan.fidelity, block_size=plan.block_size, num_datasets=plan.num_datasets, goes_on=goes_on
        )
        # Whoever was silent for too long finds that another worker has the candidate now: then this result is one too many.
        with _taken_up_again(), contextlib.suppress(optuna.exceptions.UpdateFinishedTrialError, ValueError):
            beaten_by = rivals[0] if rivals else None
            write_record(trial, design, last, plan.all_constraints, steps, worker=worker, beaten_by=beaten_by)
            self._finish(trial, [last.scores[objective].value for objective in self.objectives], is_pruned=bool(rivals))

    def _finish(self, trial: optuna.Trial, values: list[float], *, is_pruned: bool) -> None:
        if is_pruned or not all(math.isfinite(value) for value in values):
            self.study.tell(trial, state=TrialState.PRUNED)
        else:
            self.study.tell(trial, values)

    def _list_rivals(self, num_datasets: int) -> dict[int, PartialResult]:
        """Where those stood after so many data sets that must be beaten: the best one, or all if there are several aims."""
        complete = [trial for trial in self.list_trials(TrialState.COMPLETE) if read_record(trial).is_eligible]
        if len(self.objectives) == 1 and complete:
            complete = [self._find_best(complete)]
        partials = {trial.number: read_partial(trial, num_datasets) for trial in complete}
        return {number: partial for number, partial in partials.items() if partial is not None}

    def _find_best(self, complete: list[FrozenTrial]) -> FrozenTrial:
        return min(complete, key=lambda trial: (self.objectives[0].orient(trial.values[0]), trial.number))

    def _copy_twin(self, trial: optuna.Trial, key: str) -> bool:
        """Once every design of a small space was tried, the next is one of them again: its result is copied."""
        for other in self.list_trials(TrialState.COMPLETE, TrialState.PRUNED):
            if other.user_attrs.get(RECORD, {}).get("key") == key:
                nothing_done = {"seconds": 0.0, "compiled": 0, "num_datasets": 0, "num_failed": 0, TWIN: other.number}
                record = {**other.user_attrs[RECORD], **nothing_done}
                trial.set_user_attr(RECORD, record)
                for label, over in record["exceeds"].items():
                    trial.set_constraint(label, over)
                self._finish(trial, list(other.values or []), is_pruned=other.state == TrialState.PRUNED)
                return True
        return False


@contextlib.contextmanager
def _taken_up_again() -> Iterator[None]:
    """Optuna warns about what it is told a second time: the same, by whoever takes up a candidate that was interrupted."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*already (reported|set)")
        yield


def name_search(question: Study) -> str:
    """The same for the same question, and another as soon as anything differs that matters for a score or a proposal."""
    described = {key: value for key, value in as_plain(get_plan(question)).items() if key not in WITHOUT_EFFECT}
    return f"{slugify(question)}-{fingerprint({**describe_question(question), 'search': described})[:10]}"


def slugify(question: Study) -> str:
    """A study's title as part of a name."""
    return re.sub(r"[^a-z0-9]+", "-", (question.title or "search").lower()).strip("-")[:40]


def create_search(question: Study, storage: BaseStorage, starts: Sequence[Parameters]) -> SearchJob:
    """A new search, or the one that is already there."""
    directions = [
        StudyDirection.MAXIMIZE if objective.is_larger_better else StudyDirection.MINIMIZE
        for objective in list_objectives(question)
    ]
    study = optuna.create_study(
        storage=storage, study_name=name_search(question), directions=directions, load_if_exists=True
    )
    if STARTS not in study.user_attrs:
        study.set_metric_names([objective.label for objective in list_objectives(question)])
        study.set_user_attr("title", question.title)
        study.set_user_attr(STARTS, [dict(parameters) for parameters in starts])
    return _with_sampler(SearchJob(question, storage, study))


def load_search(question: Study, storage: BaseStorage) -> SearchJob | None:
    """The search for this question that a storage holds; None if it holds none."""
    try:
        study = optuna.load_study(study_name=name_search(question), storage=storage)
    except KeyError:
        return None
    return _with_sampler(SearchJob(question, storage, study)) if STARTS in study.user_attrs else None


def _with_sampler(job: SearchJob) -> SearchJob:
    job.study.sampler = DesignSampler(job.plan, job.study.user_attrs[STARTS], job.question.seed)
    job.study.pruner = optuna.pruners.NopPruner()
    return job
