"""The best designs once more, on data sets that had no part in choosing them: a winner's score must not be luck."""

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from designstudio.core.cache import BlockCache
from designstudio.core.progress import ProgressCallback
from designstudio.evaluate.evaluate_design import evaluate_design
from designstudio.evaluate.results import Evaluation
from designstudio.metrics.monte_carlo import Score, scores_as_dict
from designstudio.metrics.paired import compare_rmse
from designstudio.search.estimates import estimate_objective, list_objectives
from designstudio.search.feasible import find_design
from designstudio.search.job import get_plan
from designstudio.search.records import CandidateRecord
from designstudio.search.screen import rank_designs
from designstudio.study import Objective, Study
from designstudio.study.design import Design
from designstudio.study.design.description import describe_design

# Number of the first fresh data set: far beyond any that a search looks at.
FIRST_FRESH = 1_000_000
# A finalist takes the lead from the search's best only if it is better by so many errors on fresh data.
CLEARLY = 2.0


@dataclasses.dataclass(frozen=True)
class Finalist:
    """A design that was scored again.

    Attributes:
        candidate: what the search knows of it.
        design: the design.
        evaluation: on fresh data sets.
        fresh: objectives on fresh data sets, by label.
    """

    candidate: CandidateRecord
    design: Design
    evaluation: Evaluation
    fresh: dict[str, Score]

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "number": self.candidate.number,
            "parameters": self.candidate.parameters,
            "design": describe_design(self.design),
            "search": scores_as_dict({label: self.candidate.scores[label] for label in self.fresh}),
            "fresh": scores_as_dict(self.fresh),
            "evaluation": self.evaluation.as_dict(),
        }


@dataclasses.dataclass(frozen=True)
class Verification:
    """Finalists and the study's own designs on the same fresh data sets.

    Attributes:
        finalists: from the search's best on.
        winner: place of the winner among them. It is the search's best unless another is clearly better on fresh data; with
            several objectives there is no single winner, and this is the first.
        references: the study's own designs.
        reference_scores: their objectives on fresh data sets, by label.
        ratios: for each of these, how many times smaller the winner's RMSE of each quantity is, paired by data set.
    """

    finalists: tuple[Finalist, ...]
    winner: int
    references: tuple[Evaluation, ...]
    reference_scores: tuple[dict[str, Score], ...]
    ratios: dict[str, dict[str, Score]]

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "finalists": [finalist.as_dict() for finalist in self.finalists],
            "winner": self.finalists[self.winner].candidate.number if self.finalists else None,
            "references": [
                {"fresh": scores_as_dict(scores), "evaluation": evaluation.as_dict()}
                for scores, evaluation in zip(self.reference_scores, self.references, strict=True)
            ],
            "rmse_ratios": {name: scores_as_dict(ratios) for name, ratios in self.ratios.items()},
        }


def choose_finalists(question: Study, records: Sequence[CandidateRecord]) -> list[CandidateRecord]:
    """The best candidates; with several objectives, the Pareto front from one end to the other."""
    plan, objectives = get_plan(question), list_objectives(question)
    candidates = [record for record in records if record.is_eligible and record.num_datasets]
    if not candidates:
        return []
    values = orient_values(objectives, candidates)
    if len(objectives) == 1:
        return [candidates[place] for place in rank_designs(values)[: plan.num_finalists]]
    front = [candidates[place] for place in find_front(values)]
    front.sort(key=lambda record: record.value(objectives[-1]))
    chosen = np.unique(np.linspace(0, len(front) - 1, min(plan.num_finalists, len(front))).round().astype(int))
    return [front[place] for place in chosen]


def orient_values(objectives: Sequence[Objective], records: Sequence[CandidateRecord]) -> np.ndarray:
    """Values over (record, objective), smaller is better."""
    values = [[objective.orient(record.value(objective)) for objective in objectives] for record in records]
    return np.array(values).reshape(len(records), len(objectives))


def find_front(values: np.ndarray) -> list[int]:
    """Places that no other beats: at least as good in everything and better in something."""
    is_beaten = [bool(((values <= row).all(1) & (values < row).any(1)).any()) or bool(np.isnan(row).any()) for row in values]
    return [place for place, beaten in enumerate(is_beaten) if not beaten]


def verify_finalists(
    question: Study,
    records: Sequence[CandidateRecord],
    *,
    cache: BlockCache | None = None,
    progress: ProgressCallback | None = None,
) -> Verification:
    """Score the best designs, and the study's own, on the same fresh data sets."""
    plan, objectives = get_plan(question), list_objectives(question)
    chosen = choose_finalists(question, records)

    def evaluate(design: Design) -> Evaluation:
        return evaluate_design(
            question, design, fidelity=plan.verify_fidelity, num_datasets=plan.num_fresh, first=FIRST_FRESH, cache=cache,
            progress=progress,
        )  # fmt: skip

    finalists = []
    for place, record in enumerate(chosen):
        design = find_design(plan, record.parameters, f"finalist-{place + 1}")
        assert design is not None  # noqa: S101  (it was evaluated)
        evaluation = evaluate(design)
        finalists.append(Finalist(record, design, evaluation, read_fresh(objectives, question, evaluation)))
    if not finalists:
        return Verification((), 0, (), (), {})
    winner = _find_winner(question, objectives[0], finalists) if len(objectives) == 1 else 0
    references = tuple(evaluate(design) for design in question.designs)
    summaries = finalists[winner].evaluation.summaries
    ratios = {reference.design.name: compare_rmse(summaries, reference.summaries) for reference in references}
    scores = tuple(read_fresh(objectives, question, reference) for reference in references)
    return Verification(tuple(finalists), winner, references, scores, ratios)


def read_fresh(objectives: Sequence[Objective], question: Study, evaluation: Evaluation) -> dict[str, Score]:
    """Objectives of an evaluation, by label."""
    scores = {}
    for objective in objectives:
        if objective.goal is not None:
            # The evaluation has simulated what the goal needs, second group included.
            scores[objective.label] = list(evaluation.power.values())[objective.goal].present
        else:
            scores[objective.label] = estimate_objective(objective, question, evaluation.design, evaluation.summaries).score
    return scores


def _find_winner(question: Study, objective: Objective, finalists: Sequence[Finalist]) -> int:
    """The search's best, unless another finalist is clearly better on fresh data."""
    if objective.goal is not None:
        return 0
    values = [estimate_objective(objective, question, f.design, f.evaluation.summaries).pseudo_values for f in finalists]
    leader = 0
    for place in range(1, len(finalists)):
        difference = values[place] - values[leader]
        difference = difference[np.isfinite(difference)]
        error = difference.std(ddof=1) / np.sqrt(len(difference))
        if difference.mean() < -CLEARLY * error:
            leader = place
    return leader
