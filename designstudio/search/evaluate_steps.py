"""One trial: a design on more and more data sets, until all are done or it is given up."""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import xarray as xr

from designstudio.core.configuration import Programs, count_programs
from designstudio.evaluate.evaluate_design import join_blocks
from designstudio.evaluate.fidelities import summarize_datasets
from designstudio.evaluate.goals import list_populations
from designstudio.metrics.monte_carlo import Score
from designstudio.metrics.power import FalsePositives
from designstudio.search.estimates import estimate_objective, list_objectives
from designstudio.search.feasible import measure_design
from designstudio.search.race import PartialResult
from designstudio.study import Objective, Study
from designstudio.study.design import Design

NUM_DIGITS = 7


class Step(NamedTuple):
    """A design after some data sets.

    Attributes:
        num_datasets: how many.
        scores: of all objectives and constraints.
        partial: for races.
        num_failed: fits that failed.
        seconds: since the beginning.
        programs: that had to be made ready since the beginning.
    """

    num_datasets: int
    scores: dict[Objective, Score]
    partial: PartialResult
    num_failed: int
    seconds: float
    programs: Programs


def evaluate_steps(
    study: Study, design: Design, fidelity: str, *, block_size: int, num_datasets: int, goes_on: Callable[[Step], bool]
) -> Step:
    """Evaluate a design block by block, as long as `goes_on` says so; returns the last step."""
    objectives, started, before = list_objectives(study), time.monotonic(), count_programs()
    all_objectives = list_all_objectives(study)
    populations = Populations(study, design, all_objectives)
    for first in range(0, num_datasets, block_size):
        wanted = min(block_size, num_datasets - first)
        populations.add_block(fidelity, first, wanted)
        estimates = {
            objective: estimate_objective(objective, study, design, *populations.join(objective))
            for objective in all_objectives
        }
        summaries = populations.join()[0]
        partial = PartialResult(
            tuple(np.round(estimates[o].pseudo_values, NUM_DIGITS) for o in objectives if not o.is_of_design),
            tuple(o.orient(measure_design(o, design)) for o in objectives if o.is_of_design),
        )
        step = Step(
            first + wanted,
            {objective: estimate.score for objective, estimate in estimates.items()},
            partial,
            int((~summaries["is_good"].values).sum()),
            time.monotonic() - started,
            count_programs() - before,
        )
        if not goes_on(step):
            break
    return step


def list_all_objectives(study: Study) -> list[Objective]:
    """All that is estimated of a design: objectives, then what is only constrained."""
    assert study.search is not None  # noqa: S101  (only called while searching)
    return list(dict.fromkeys([*list_objectives(study), *(c.objective for c in study.search.all_constraints)]))


class Populations:
    """Data sets of everybody whom objectives are about: the study's participants, second groups, those without an effect."""

    def __init__(self, study: Study, design: Design, objectives: Sequence[Objective]) -> None:
        self._asked: list[tuple[Study, Design]] = [(study, design)]
        self._places: dict[Objective, list[int]] = {}
        for objective in objectives:
            self._places[objective] = [self._find(*population) for population in _list_asked(study, design, objective)]
        self._blocks: list[list[xr.Dataset]] = [[] for _ in self._asked]

    def _find(self, study: Study, design: Design) -> int:
        if (study, design) not in self._asked:
            self._asked.append((study, design))
        return self._asked.index((study, design))

    def add_block(self, fidelity: str, first: int, num_datasets: int) -> None:
        """Simulate and summarize more data sets of everybody."""
        for (study, design), blocks in zip(self._asked, self._blocks, strict=True):
            blocks.append(summarize_datasets(study, design, fidelity, first=first, num_datasets=num_datasets))

    def join(self, objective: Objective | None = None) -> list[xr.Dataset]:
        """Summaries that an objective is estimated from, of one population or of two; by default the study's."""
        return [join_blocks(self._blocks[place]) for place in ([0] if objective is None else self._places[objective])]


def _list_asked(study: Study, design: Design, objective: Objective) -> list[tuple[Study, Design]]:
    if not objective.is_of_goal:
        return [(study, design)]
    is_absent = isinstance(objective.metric, FalsePositives)
    return list_populations(study, design, study.find_goal(objective), is_absent=is_absent)


def scores_as_json(scores: Mapping[Objective, Score]) -> dict[str, dict[str, float | None]]:
    """Scores by the objectives' labels."""
    return {objective.label: score.as_dict() for objective, score in scores.items()}
