"""What one part of a study file must know of the others."""

import dataclasses
from pathlib import Path

from designstudio.model.costs import AbstractCost, available_costs
from designstudio.model.parameters import Parameter
from designstudio.model.scale import OWN_UNIT, Scale
from designstudio.study.goals import Goal
from designstudio.study.quantities import Quantity
from designstudio.study.stimuli import Stimuli

Parameters = dict[str, Parameter]


@dataclasses.dataclass(frozen=True)
class Context:
    """The parts of a study that decide what others may say.

    Attributes:
        fitted: parameters of the cost that is fitted.
        simulated: parameters of the cost that simulated participants minimise.
        quantities: functions of the parameters; None if they are not known.
        goals: of the study; None if they are not known.
        stimuli: what designs show that have none of their own.
        unit: what stimuli are measured in; "" if nothing is said.
        folder: where the file is.
    """

    fitted: Parameters
    simulated: Parameters
    quantities: tuple[Quantity, ...] | None = ()
    goals: tuple[Goal, ...] | None = ()
    stimuli: Stimuli | None = None
    unit: str = ""
    folder: Path = Path()

    @classmethod
    def any(cls) -> "Context":
        """Any file: the parameters of all costs, and whatever quantities and goals there may be."""
        parameters = {p.name: p for cost in available_costs().values() for p in cost.all_parameters}
        return cls(parameters, parameters, quantities=None, goals=None)

    @property
    def scored(self) -> list[str] | None:
        """Names of all that is scored; None if they are not known."""
        return None if self.quantities is None else [*self.fitted, *(quantity.name for quantity in self.quantities)]


def parameters_by_name(cost: AbstractCost, scale: Scale = OWN_UNIT) -> Parameters:
    """All parameters of a cost's model, in the unit of a study."""
    return {parameter.name: scale.restate(parameter) for parameter in cost.all_parameters}
