"""The best designs once more, on data sets that had no part in choosing them: a winner's score must not be luck."""

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from designstudio.core.cache import BlockCache
from designstudio.core.progress import ProgressCallback
from designstudio.evaluate.evaluate_design import evaluate_design
from designstudio.metrics.monte_carlo import Score, scores_as_dict
from designstudio.metrics.paired import compare_rmse
from designstudio.search.estimates import list_objectives
from designstudio.search.feasible import find_design
from designstudio.search.job import get_plan
from designstudio.search.ranking import Contender, Ranking, build_contender, rank_contenders
from designstudio.search.records import CandidateRecord
from designstudio.search.screen import rank_designs
from designstudio.study import Objective, Study
from designstudio.study.design import Design
from designstudio.study.design.description import describe_design


@dataclasses.dataclass(frozen=True)
class Verification:
    """Finalists and the study's own designs on the same fresh data sets.

    Attributes:
        finalists: the search's best, in the search's order.
        references: the study's own designs, which are to be beaten.
        ranking: all of them by the objective on fresh data; None if there are several objectives, or no designs.
        ratios: for each of the study's own designs, how many times smaller the winner's RMSE of each quantity is, paired by
            data set; empty without a winner.
    """

    finalists: tuple[Contender, ...]
    references: tuple[Contender, ...]
    ranking: Ranking | None
    ratios: dict[str, dict[str, Score]]

    @property
    def winner(self) -> Contender | None:
        """The design to take: a finalist, or one of the study's own that nothing beats."""
        chosen = None if self.ranking is None else self.ranking.winner
        return next((c for c in (*self.finalists, *self.references) if c.name == chosen), None)

    @property
    def ranked(self) -> list[Contender]:
        """All designs from best to worst on fresh data; without a ranking, finalists first."""
        everyone = [*self.finalists, *self.references]
        if self.ranking is None:
            return everyone
        places = {place.name: number for number, place in enumerate(self.ranking.places)}
        return sorted(everyone, key=lambda contender: places[contender.name])

    def as_dict(self) -> dict[str, Any]:
        """For JSON; `winner` is the number of a candidate, and null if the winner is one of the study's own designs."""
        winner = self.winner
        return {
            "finalists": [_describe_finalist(finalist) for finalist in self.finalists],
            "winner": winner.candidate.number if winner is not None and winner.candidate is not None else None,
            "references": [_describe_contender(reference) for reference in self.references],
            "ranking": None if self.ranking is None else self.ranking.as_dict(),
            "rmse_ratios": {name: scores_as_dict(ratios) for name, ratios in self.ratios.items()},
        }


def _describe_finalist(finalist: Contender) -> dict[str, Any]:
    candidate = finalist.candidate
    assert candidate is not None  # noqa: S101  (finalists were candidates)
    return {
        "number": candidate.number,
        "parameters": candidate.parameters,
        "design": describe_design(finalist.design),
        "search": scores_as_dict({label: candidate.scores[label] for label in finalist.fresh}),
        **_describe_contender(finalist),
    }


def _describe_contender(contender: Contender) -> dict[str, Any]:
    return {
        "fresh": scores_as_dict(contender.fresh),
        "breaks": list(contender.breaks),
        "warnings": contender.warnings,
        "evaluation": contender.evaluation.as_dict(),
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
    plan, chosen = get_plan(question), choose_finalists(question, records)

    def evaluate(design: Design, candidate: CandidateRecord | None = None) -> Contender:
        evaluation = evaluate_design(
            question,
            design,
            fidelity=plan.verify_fidelity,
            num_datasets=plan.num_fresh,
            first=plan.first_fresh,
            cache=cache,
            progress=progress,
        )
        return build_contender(question, evaluation, candidate)

    finalists = []
    for place, record in enumerate(chosen):
        design = find_design(plan, record.parameters, f"finalist-{place + 1}")
        assert design is not None  # noqa: S101  (it was evaluated)
        finalists.append(evaluate(design, record))
    # Also if no candidate came so far: then one of these may be what to take.
    references = [evaluate(design) for design in question.designs]
    return compare_contenders(question, finalists, references)


def compare_contenders(question: Study, finalists: Sequence[Contender], references: Sequence[Contender]) -> Verification:
    """Rank designs that were scored on the same fresh data sets."""
    objectives = list_objectives(question)
    has_ranking = len(objectives) == 1 and bool(finalists or references)
    ranking = rank_contenders(question, objectives[0], finalists, references) if has_ranking else None
    found = Verification(tuple(finalists), tuple(references), ranking, {})
    winner = found.winner
    if winner is None:
        return found
    others = [reference for reference in references if reference is not winner]
    ratios = {c.name: compare_rmse(winner.evaluation.summaries, c.evaluation.summaries) for c in others}
    return dataclasses.replace(found, ratios=ratios)
