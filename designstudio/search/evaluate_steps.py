"""One trial: a design on more and more data sets, until all are done or it is given up."""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import xarray as xr

from designstudio.core.configuration import Programs, count_programs
from designstudio.evaluate.evaluate_design import join_blocks
from designstudio.evaluate.fidelities import summarize_datasets
from designstudio.evaluate.goals import second_group
from designstudio.metrics.monte_carlo import Score
from designstudio.search.estimates import estimate_objective, list_objectives
from designstudio.search.feasible import measure_design
from designstudio.search.race import PartialResult
from designstudio.study import Objective, Study
from designstudio.study.design import Design
from designstudio.study.goals import GROUPS_DIFFER

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
    blocks: list[xr.Dataset] = []
    of_groups: dict[int, list[xr.Dataset]] = {goal: [] for goal in list_group_goals(study, all_objectives)}
    for first in range(0, num_datasets, block_size):
        wanted = min(block_size, num_datasets - first)
        blocks.append(summarize_datasets(study, design, fidelity, first=first, num_datasets=wanted))
        for goal, others in of_groups.items():
            group = second_group(study, study.goals[goal])
            others.append(summarize_datasets(group, design, fidelity, first=first, num_datasets=wanted))
        summaries = join_blocks(blocks)
        estimates = {
            objective: estimate_objective(objective, study, design, summaries, _join_group(of_groups, objective))
            for objective in all_objectives
        }
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


def list_group_goals(study: Study, objectives: Sequence[Objective]) -> list[int]:
    """Places of goals whose power needs a second group of participants."""
    return [o.goal for o in objectives if o.goal is not None and study.goals[o.goal].kind == GROUPS_DIFFER]


def _join_group(of_groups: Mapping[int, list[xr.Dataset]], objective: Objective) -> xr.Dataset | None:
    """Summaries of the second group that an objective needs, if it needs one."""
    blocks = [] if objective.goal is None else of_groups.get(objective.goal, [])
    return join_blocks(blocks) if blocks else None


def scores_as_json(scores: Mapping[Objective, Score]) -> dict[str, dict[str, float | None]]:
    """Scores by the objectives' labels."""
    return {objective.label: score.as_dict() for objective, score in scores.items()}
