"""All designs of a study, side by side."""

import dataclasses
from typing import TYPE_CHECKING, Any

from designstudio.core.cache import BlockCache
from designstudio.core.presentation import AbstractResult, Overview
from designstudio.core.progress import Counter, ProgressCallback
from designstudio.errors import StudioError
from designstudio.evaluate.evaluate_design import evaluate_design
from designstudio.evaluate.limits import check_designs
from designstudio.evaluate.model_recovery import recover_models
from designstudio.evaluate.overview import ERRORS, describe_run, frame_evaluations, tabulate_designs
from designstudio.evaluate.results import Evaluation
from designstudio.evaluate.verdict import find_verdict
from designstudio.metrics.comparison import ModelRecovery
from designstudio.study import Study

if TYPE_CHECKING:
    import pandas as pd


@dataclasses.dataclass(frozen=True, repr=False)
class StudyResult(AbstractResult):
    """Evaluations of all designs, in the study's order, and what they mean.

    Attributes:
        study: the question.
        evaluations: one for each design.
        model_recovery: how well each design tells the study's candidates apart, by the design's name.
        verdict: plain sentences.
    """

    study: Study
    evaluations: tuple[Evaluation, ...]
    model_recovery: dict[str, ModelRecovery]
    verdict: tuple[str, ...]

    def overview(self) -> Overview:
        """Designs side by side, and the verdict."""
        return Overview(
            title=self.study.title or "Designs",
            facts=f"{describe_run(self.evaluations)} {ERRORS}",
            columns=("", *(evaluation.design.name for evaluation in self.evaluations)),
            rows=tuple((row.name, *row.cells) for row in tabulate_designs(self.evaluations)),
            notes=self.verdict,
            hint="All scores: .to_frame(). Figure: .plot(). One design: .evaluations[0], with .to_datatree().",
        )

    def to_frame(self) -> "pd.DataFrame":
        """All scores of all designs; see `designstudio.evaluate.overview.frame_evaluations`."""
        return frame_evaluations(self.evaluations)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "title": self.study.title,
            "cost": self.study.cost,
            **self.study.describe_unit(),
            "designs": [self._describe(evaluation) for evaluation in self.evaluations],
            "verdict": list(self.verdict),
        }

    def _describe(self, evaluation: Evaluation) -> dict[str, Any]:
        recovery = self.model_recovery.get(evaluation.design.name)
        return evaluation.as_dict() | ({} if recovery is None else {"model_recovery": recovery.as_dict()})


def evaluate_study(
    study: Study,
    *,
    fidelity: str | None = None,
    num_datasets: int | None = None,
    cache: BlockCache | None = None,
    progress: ProgressCallback | None = None,
) -> StudyResult:
    """Evaluate every design of a study; see `evaluate_design`."""
    if not study.designs:
        raise StudioError(
            "The study names no designs to evaluate: add [[designs]], or look for some with designstudio search."
        )
    cache = BlockCache.default() if cache is None else cache
    # All of them first: a refusal should not come after hours of work on the others.
    check_designs(study, study.designs, fidelity=fidelity, num_datasets=num_datasets, block_size=cache.block_size)
    num_each = study.num_datasets if num_datasets is None else num_datasets
    counter = Counter(progress, len(study.designs) * num_each)
    evaluations: list[Evaluation] = []
    for place, design in enumerate(study.designs):
        evaluation = evaluate_design(
            study,
            design,
            fidelity=fidelity,
            num_datasets=num_datasets,
            cache=cache,
            progress=counter.of_part(place * num_each),
        )
        evaluations.append(evaluation)
    recovery = {}
    if study.candidates:
        for design in study.designs:
            recovery[design.name] = recover_models(study, design, num_datasets=num_datasets, cache=cache, progress=progress)
    return StudyResult(study, tuple(evaluations), recovery, tuple(find_verdict(evaluations, recovery)))
