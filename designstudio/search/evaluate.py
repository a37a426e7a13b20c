"""One trial: a design on more and more data sets, until all are done or it is given up."""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from designstudio.core.configuration import Programs, count_programs
from designstudio.evaluate.fidelities import summarize_datasets
from designstudio.evaluate.goals import second_group
from designstudio.evaluate.run import join_blocks
from designstudio.metrics.monte_carlo import Score
from designstudio.search.feasible import measure_design
from designstudio.search.race import Standing
from designstudio.search.readings import list_objectives, read_measure
from designstudio.study import Measure, Study
from designstudio.study.design import Design
from designstudio.study.goals import GROUPS_DIFFER
from designstudio.study.measures import POWER

NUM_DIGITS = 7


class Step(NamedTuple):
    """A design after some data sets.

    Attributes:
        num_datasets: how many.
        scores: of all objectives and constraints.
        standing: for races.
        num_failed: fits that failed.
        seconds: since the beginning.
        programs: that had to be made ready since the beginning.
    """

    num_datasets: int
    scores: dict[Measure, Score]
    standing: Standing
    num_failed: int
    seconds: float
    programs: Programs


def evaluate_steps(
    study: Study, design: Design, fidelity: str, *, block_size: int, num_datasets: int, goes_on: Callable[[Step], bool]
) -> Step:
    """Evaluate a design block by block, as long as `goes_on` says so; returns the last step."""
    objectives, started, before = list_objectives(study), time.monotonic(), count_programs()
    measures = list_measures(study)
    blocks: list[xr.Dataset] = []
    of_groups: dict[int, list[xr.Dataset]] = {goal: [] for goal in list_group_goals(study, measures)}
    for first in range(0, num_datasets, block_size):
        wanted = min(block_size, num_datasets - first)
        blocks.append(summarize_datasets(study, design, fidelity, first=first, num_datasets=wanted))
        for goal, others in of_groups.items():
            group = second_group(study, study.goals[goal])
            others.append(summarize_datasets(group, design, fidelity, first=first, num_datasets=wanted))
        summaries = join_blocks(blocks)
        readings = {
            measure: read_measure(measure, study, design, summaries, _join_group(of_groups, measure)) for measure in measures
        }
        standing = Standing(
            tuple(np.round(readings[m].parts, NUM_DIGITS) for m in objectives if not m.is_of_design),
            tuple(_orient(m, measure_design(m, design)) for m in objectives if m.is_of_design),
        )
        step = Step(
            first + wanted,
            {measure: reading.score for measure, reading in readings.items()},
            standing,
            int((~summaries["is_good"].values).sum()),
            time.monotonic() - started,
            count_programs() - before,
        )
        if not goes_on(step):
            break
    return step


def list_measures(study: Study) -> list[Measure]:
    """All that is read off a design: objectives, then what is only constrained."""
    assert study.search is not None  # noqa: S101  (only called while searching)
    return list(dict.fromkeys([*list_objectives(study), *(limit.measure for limit in study.search.limits)]))


def describe_design(design: Design) -> dict[str, Any]:
    """A design as plain data, for people and programs."""
    return {
        "levels": [dict(condition.levels) for condition in design.conditions],
        "trials": [condition.num_trials for condition in design.conditions],
        "stimuli": str(design.stimuli),
        "participants": design.num_participants,
        "minutes": design.minutes,
    }


def _orient(measure: Measure, value: float) -> float:
    return -value if measure.is_larger_better else value


def list_group_goals(study: Study, measures: Sequence[Measure]) -> list[int]:
    """Places of goals whose power needs a second group of participants."""
    return [g for g in map(_goal_of, measures) if g is not None and study.goals[g].kind == GROUPS_DIFFER]


def _join_group(of_groups: Mapping[int, list[xr.Dataset]], measure: Measure) -> xr.Dataset | None:
    """Summaries of the second group that a measure needs, if it needs one."""
    goal = _goal_of(measure)
    return join_blocks(of_groups[goal]) if goal is not None and goal in of_groups else None


def _goal_of(measure: Measure) -> int | None:
    return int(measure.of[0]) - 1 if measure.score == POWER else None


def scores_as_json(scores: Mapping[Measure, Score]) -> dict[str, dict[str, float | None]]:
    """Scores by the measures' labels."""
    return {measure.label: score.as_dict() for measure, score in scores.items()}
