"""What is known about each candidate of a search: read from Optuna's storage, which holds everything."""

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Any

import optuna
from optuna.trial import FrozenTrial

from designstudio.metrics.monte_carlo import Score, scores_from_dict
from designstudio.search.designs import identify_design
from designstudio.search.evaluate_steps import Step, scores_as_json
from designstudio.search.race import PartialResult
from designstudio.study import Constraint, Objective
from designstudio.study.design.description import describe_design

RECORD = "designstudio"
COMPLETE, PRUNED = "complete", "pruned"
# By how much a constraint is broken that has no value; finite, because Optuna adds such numbers up.
NO_VALUE = 1e9


@dataclasses.dataclass(frozen=True)
class CandidateRecord:
    """One candidate: a design that a search has tried, or is about to.

    Attributes:
        number: Optuna's number of its trial.
        state: `complete`, `pruned`, `running`, `waiting` or `fail` (and then tried again under another number).
        parameters: what Optuna chose, in canonical form.
        design: levels, trials and stimuli, as plain data.
        scores: of objectives and constraints, by label.
        num_datasets: how many the design was tried on.
        num_failed: fits of these that failed.
        exceeds: by how much each constraint is broken; 0 or less if it is not.
        beaten_by: number of the candidate that it would hardly have overtaken, if it was given up.
        seconds: what it took.
        compiled: programs that were compiled for it.
        worker: who did it.
    """

    number: int
    state: str
    parameters: dict[str, Any]
    design: dict[str, Any]
    scores: dict[str, Score]
    num_datasets: int
    num_failed: int
    exceeds: dict[str, float]
    beaten_by: int | None
    seconds: float
    compiled: int
    worker: str

    @property
    def is_feasible(self) -> bool:
        """Whether it keeps to all constraints."""
        return all(over <= 0 for over in self.exceeds.values())

    @property
    def is_eligible(self) -> bool:
        """Whether it may win."""
        return self.state == COMPLETE and self.is_feasible

    def value(self, objective: Objective) -> float:
        """Value of an objective; NaN if it has none."""
        return self.scores[objective.label].value if objective.label in self.scores else math.nan

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        scores = {label: score.as_dict() for label, score in self.scores.items()}
        return {
            "number": self.number,
            "state": self.state,
            "parameters": self.parameters,
            "design": self.design,
            "values": scores,
            "pruned_at": self.num_datasets if self.state == PRUNED else None,
            "beaten_by": self.beaten_by,
            "num_datasets": self.num_datasets,
            "num_failed": self.num_failed,
            "is_feasible": self.is_feasible if self.scores else None,
            "seconds": round(self.seconds, 3),
            "compilations": self.compiled,
            "worker": self.worker,
        }


def write_record(
    trial: optuna.Trial, design: Any, step: Step, constraints: Sequence[Constraint], steps: Mapping[int, PartialResult], *,
    worker: str, beaten_by: int | None,
) -> None:  # fmt: skip
    """Keep what a candidate has shown with the candidate itself."""
    exceeds = {c.label: c.exceed(*step.scores[c.objective]) for c in constraints}
    # What has no value, because too few fits worked, keeps to no constraint.
    exceeds = {label: over if math.isfinite(over) else NO_VALUE for label, over in exceeds.items()}
    trial.set_user_attr(
        RECORD,
        {
            "design": describe_design(design),
            "key": identify_design(design),
            "scores": scores_as_json(step.scores),
            "num_datasets": step.num_datasets,
            "num_failed": step.num_failed,
            "exceeds": exceeds,
            "beaten_by": beaten_by,
            "seconds": step.seconds,
            "compiled": step.programs.compiled,
            "worker": worker,
            "steps": {str(num): [[_plain(v) for v in values] for values in s.pseudo_values] for num, s in steps.items()},
            "known": list(step.partial.known),
        },
    )
    for label, over in exceeds.items():
        trial.set_constraint(label, over)


def read_record(trial: FrozenTrial) -> CandidateRecord:
    """What is known about a candidate."""
    kept = trial.user_attrs.get(RECORD, {})
    scores = scores_from_dict(kept.get("scores", {}))
    return CandidateRecord(
        trial.number,
        trial.state.name.lower(),
        dict(trial.params),
        kept.get("design", {}),
        scores,
        int(kept.get("num_datasets", 0)),
        int(kept.get("num_failed", 0)),
        kept.get("exceeds", {}),
        kept.get("beaten_by"),
        float(kept.get("seconds", 0.0)),
        int(kept.get("compiled", 0)),
        str(kept.get("worker", trial.user_attrs.get("worker", ""))),
    )


def read_partial(trial: FrozenTrial, num_datasets: int) -> PartialResult | None:
    """What a finished candidate had shown after so many data sets; None if it never came there."""
    kept = trial.user_attrs.get(RECORD, {})
    steps = kept.get("steps", {}).get(str(num_datasets))
    if steps is None:
        return None
    values = tuple([math.nan if value is None else value for value in objective] for objective in steps)
    return PartialResult(values, tuple(kept["known"]))


def _plain(number: float) -> float | None:
    return float(number) if math.isfinite(number) else None
