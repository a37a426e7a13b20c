"""Whether a search has enough data sets to see a difference worth having, said as early as it is known.

All designs see the same data sets, so the error of a difference between two of them follows from the spread of their paired
differences. That spread is known from the designs that screening puts first, and later from the candidates themselves.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from designstudio.errors import StudioError
from designstudio.search.designs import Parameters
from designstudio.search.estimates import estimate_objective, list_objectives
from designstudio.search.evaluate_steps import Populations
from designstudio.search.feasible import find_design
from designstudio.search.job import get_plan
from designstudio.search.race import PseudoValues
from designstudio.search.ranking import compare_pseudo_values
from designstudio.study import Objective, SearchPlan, Study

# Designs that are compared with the best: those that a search has to choose among.
NUM_COMPARED = 5


class Resolution(NamedTuple):
    """What a number of data sets can tell apart.

    Attributes:
        label: of the objective.
        is_size: whether differences are shares of the value.
        error: typical Monte Carlo error of a difference between two good designs.
        worth_having: the difference that matters.
        num_datasets: of each design of the search.
        num_needed: data sets with which that difference is so many errors as a design must be ahead.
    """

    label: str
    is_size: bool
    error: float
    worth_having: float
    num_datasets: int
    num_needed: int

    @property
    def is_enough(self) -> bool:
        """Whether the search can see the difference that matters."""
        return self.num_needed <= self.num_datasets

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {**self._asdict(), "is_enough": self.is_enough}


def read_resolution(entry: Mapping[str, Any]) -> Resolution:
    """From JSON."""
    return Resolution(**{name: entry[name] for name in Resolution._fields})


def describe_resolution(found: Resolution) -> str:
    """What the search can and cannot tell apart, in one sentence."""
    if found.is_size:
        worth, error = f"{found.worth_having:.0%}", f"{found.error:.1%}"
    else:
        worth, error = f"{found.worth_having:g}", f"{found.error:.2g}"
    known = f"with {found.num_datasets} data sets the {found.label} of two good designs differs with an error of {error}"
    if found.is_enough:
        return f"A difference of {worth} can be seen while searching: {known}."
    return (
        f"A difference of {worth} cannot be seen while searching: {known}; it takes {found.num_needed:,} (datasets in "
        "[search]), or trust the fresh data alone."
    )


def estimate_resolution(
    objectives: Sequence[Objective], plan: SearchPlan, designs: Sequence[Sequence[PseudoValues]]
) -> tuple[Resolution, ...]:
    """From the pseudo-values of some good designs on the same data sets.

    Args:
        objectives: those that are simulated.
        plan: of the search.
        designs: for each design the pseudo-values of each of these objectives, smaller is better.
    """
    found = []
    for place, objective in enumerate(objectives):
        values = [np.asarray(design[place], float) for design in designs]
        means = [float(np.nanmean(row)) if np.isfinite(row).any() else math.inf for row in values]
        best, *others = np.argsort(means)[: NUM_COMPARED + 1]
        leads = [compare_pseudo_values(values[best], values[other]) for other in others]
        spreads = [lead.score.mcse * math.sqrt(lead.num_pairs) for lead in leads if math.isfinite(lead.score.mcse)]
        if not spreads:
            continue
        spread = float(np.median(spreads))
        worth = math.log1p(plan.worth_having) if objective.metric.is_size else plan.worth_having
        needed = math.ceil((plan.num_errors * spread / worth) ** 2)
        error = spread / math.sqrt(plan.num_datasets)
        found.append(
            Resolution(objective.label, objective.metric.is_size, error, plan.worth_having, plan.num_datasets, needed)
        )
    return tuple(found)


def predict_resolution(question: Study, starts: Sequence[Parameters]) -> tuple[Resolution, ...]:
    """Before a search: from the designs that screening puts first, by what the expected information predicts."""
    plan = get_plan(question)
    objectives = [objective for objective in list_objectives(question) if not objective.is_of_design]
    designs = [find_design(plan, parameters) for parameters in starts[: NUM_COMPARED + 1]]
    values = []
    for design in designs:
        if design is None:
            continue
        populations = Populations(question, design, objectives)
        try:
            populations.add_block("information", 0, plan.num_datasets)
        except StudioError:
            return ()
        found = [estimate_objective(o, question, design, *populations.join(o)) for o in objectives]
        values.append([estimate.pseudo_values for estimate in found])
    return estimate_resolution(objectives, plan, values) if len(values) > 1 else ()
