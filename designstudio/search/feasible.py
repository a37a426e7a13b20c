"""Which designs are allowed, as far as that is known before anything is simulated."""

import math

import numpy as np

from designstudio.errors import StudioError
from designstudio.search.designs import Parameters, build_design, list_distributions, place_parameters
from designstudio.study import Measure, SearchPlan
from designstudio.study.design import Design
from designstudio.study.measures import HOURS, MINUTES, PARTICIPANTS, SMALLEST_LEVEL, TRIALS

NUM_TRIED = 4096


def measure_design(measure: Measure, design: Design) -> float:
    """A property that needs no simulation."""
    levels = [value for condition in design.conditions for value in condition.levels.values()]
    return {
        MINUTES: design.minutes,
        HOURS: design.minutes * design.num_participants / 60,
        TRIALS: float(design.num_trials),
        PARTICIPANTS: float(design.num_participants),
        SMALLEST_LEVEL: min(levels, default=math.inf),
    }[measure.score]


def find_design(plan: SearchPlan, parameters: Parameters, name: str = "design") -> Design | None:
    """The design that parameters describe, if there is one and it keeps to the constraints."""
    try:
        design = build_design(plan.space, parameters, name)
    except StudioError:
        return None
    is_within = all(
        limit.exceed(measure_design(limit.measure, design)) <= 0 for limit in plan.limits if limit.measure.is_of_design
    )
    return design if is_within else None


def draw_feasible(plan: SearchPlan, rng: np.random.Generator, num: int) -> list[Parameters]:
    """Random designs that are allowed, up to `num`; fewer if they are hard to find."""
    width = len(list_distributions(plan.space))
    found: list[Parameters] = []
    for row in rng.random((max(NUM_TRIED, 4 * num), width)):
        parameters = place_parameters(plan.space, row.tolist())
        if find_design(plan, parameters) is not None:
            found.append(parameters)
            if len(found) == num:
                break
    return found


def check_feasible(plan: SearchPlan) -> None:
    """Refuse a space in which no design keeps to the constraints.

    Raises:
        StudioError: naming the constraint, and how close a design comes to it.
    """
    rng = np.random.default_rng(0)
    if draw_feasible(plan, rng, 1):
        return
    width = len(list_distributions(plan.space))
    designs = []
    for row in rng.random((NUM_TRIED // 4, width)):
        try:
            designs.append(build_design(plan.space, place_parameters(plan.space, row.tolist())))
        except StudioError as error:
            reason = str(error)
    if not designs:
        raise StudioError(f"The search space holds no design that could be run: {reason}")
    for limit in plan.limits:
        if limit.measure.is_of_design:
            values = [measure_design(limit.measure, design) for design in designs]
            if min(limit.exceed(value) for value in values) > 0:
                closest = min(values, key=limit.exceed)
                raise StudioError(
                    f"No design of the search space meets the constraint '{limit.label}': the closest has {closest:.4g}. "
                    "Loosen the constraint or widen the space."
                )
    labels = " and ".join(f"'{limit.label}'" for limit in plan.limits if limit.measure.is_of_design)
    raise StudioError(f"No design of the search space meets {labels} together: loosen one of them or widen the space.")
