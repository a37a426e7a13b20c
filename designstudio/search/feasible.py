"""Which designs are allowed, as far as that is known before anything is simulated."""

import numpy as np

from designstudio.core.memory import check_memory
from designstudio.errors import StudioError
from designstudio.evaluate.limits import check_designs
from designstudio.metrics import AbstractDesignMetric
from designstudio.search.designs import Parameters, build_design, list_distributions, place_parameters
from designstudio.study import Constraint, Objective, SearchPlan, Study
from designstudio.study.design import Design

NUM_TRIED = 4096
# Random designs of which the longest must fit into memory.
NUM_WEIGHED = 64
# Of a design that is screened: its parameters, and the random numbers among which they were found.
BYTES_A_SCREENED = 3000


def measure_design(objective: Objective, design: Design) -> float:
    """The value of an objective that needs no simulation."""
    metric = objective.metric
    assert isinstance(metric, AbstractDesignMetric)  # noqa: S101  (only asked for such objectives)
    return metric.value(design.facts)


def find_design(plan: SearchPlan, parameters: Parameters, name: str = "design") -> Design | None:
    """The design that parameters describe, if there is one and it keeps to the constraints."""
    try:
        design = build_design(plan.space, parameters, name)
    except StudioError:
        return None
    is_within = all(c.exceed(measure_design(c.objective, design)) <= 0 for c in _list_constraints(plan))
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
    constraints = _list_constraints(plan)
    for constraint in constraints:
        values = [measure_design(constraint.objective, design) for design in designs]
        if min(constraint.exceed(value) for value in values) > 0:
            closest = min(values, key=constraint.exceed)
            raise StudioError(
                f"No design of the search space meets the constraint '{constraint.label}': the closest has {closest:.4g}. "
                "Loosen the constraint or widen the space."
            )
    labels = " and ".join(f"'{constraint.label}'" for constraint in constraints)
    raise StudioError(f"No design of the search space meets {labels} together: loosen one of them or widen the space.")


def check_size(question: Study, plan: SearchPlan) -> None:
    """Refuse a space whose longest designs do not fit into memory, as far as a few random ones show, and too wide a screen.

    Raises:
        StudioError: saying what would be needed.
    """
    check_memory(plan.num_screened * BYTES_A_SCREENED, f"A screen of {plan.num_screened:,} designs", "screen fewer")
    drawn = (find_design(plan, parameters) for parameters in draw_feasible(plan, np.random.default_rng(0), NUM_WEIGHED))
    longest = max((design for design in drawn if design is not None), key=lambda design: design.num_trials)
    check_designs(question, [longest], fidelity=plan.fidelity, num_datasets=plan.num_datasets, block_size=plan.block_size)
    check_designs(question, [longest], fidelity=plan.verify_fidelity, num_datasets=plan.num_fresh)


def _list_constraints(plan: SearchPlan) -> list[Constraint]:
    """Constraints that need no simulation."""
    return [constraint for constraint in plan.all_constraints if constraint.objective.is_of_design]
