"""`schedule`: randomised trial lists for the laboratory."""

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from designstudio.core.files import check_file
from designstudio.lab.formats.save_schedule import save_schedule
from designstudio.lab.schedule import Schedule, ScheduleOptions, make_schedule, suit_order
from designstudio.runs.folder import resolve_study, use_cost_file
from designstudio.study import Study


@dataclasses.dataclass(frozen=True)
class ScheduleRequest:
    """Which lists are to be written.

    Attributes:
        study: the question, or its file.
        folder: where the lists are written; nothing in it is overwritten.
        design: name of the design to run; by default the study's first.
        num_participants: how many lists; by default the design's participants.
        seed: of everything random, in place of the study's.
        order: `blocked` or `interleaved`; by default what suits the design.
        max_repeats: most trials in a row of the same condition or stimulus.
        unit: of stimuli and responses, where the study names none.
        simulates: whether simulated responses are filled in.
        formats: names of formats; by default all that are registered.
        cost_file: a user's file of costs, which is executed.
    """

    study: Study | Path | str
    folder: Path
    design: str | None = None
    num_participants: int | None = None
    seed: int | None = None
    order: str | None = None
    max_repeats: int | None = None
    unit: str | None = None
    simulates: bool = False
    formats: Sequence[str] | None = None
    cost_file: Path | None = None


def run_schedule(request: ScheduleRequest) -> tuple[Schedule, dict[str, Any]]:
    """Make the lists and write their folder; returns them, and what schedule.json says."""
    use_cost_file(request.cost_file)
    check_file(request.folder)
    study = resolve_study(request.study).replace(seed=request.seed)
    design = study.choose_design(request.design)
    order = suit_order(design) if request.order is None else request.order
    options = ScheduleOptions(order, request.max_repeats, request.unit, request.simulates)
    schedule = make_schedule(study, design, options, num_participants=request.num_participants)
    return schedule, save_schedule(schedule, request.folder, request.formats)
