"""What a visitor wants the power of: an effect, and the sizes of the experiment that are compared."""

import dataclasses
import math
from typing import Any

import numpy as np
import param

from designstudio.dashboard.state.design_choice import DesignChoice
from designstudio.errors import StudioError
from designstudio.model.parameters import NO_UNIT, Parameter, Role
from designstudio.model.priors import AbstractPrior, Constant, LogNormal
from designstudio.study import Goal, Study
from designstudio.study.goals import EXCLUDES, GROUPS_DIFFER, NARROWER

TRIALS, PARTICIPANTS, BOTH = "trials", "participants", "participants and trials"
INFORMATION = "information"
MOST_TRIALS, MOST_PARTICIPANTS = 400, 200
# Log units below which participants count as alike.
ALIKE = 1e-6


class PowerChoice(param.Parameterized):
    """All that the power page asks for; the design, the participants and the analysis are those of the design page."""

    kind = param.Selector(default=EXCLUDES, objects=[EXCLUDES, NARROWER, GROUPS_DIFFER], doc="What should be shown.")
    quantity = param.String(default="beta", doc="About which parameter.")
    width = param.Number(default=0.1, bounds=(0.0001, None), doc="Widest interval that is narrow enough.")
    other_value = param.Number(default=0.8, doc="Of the second group.")
    along = param.Selector(default=TRIALS, objects=[TRIALS, PARTICIPANTS, BOTH], doc="What varies.")
    trials = param.Range(default=(20, 320), bounds=(2, MOST_TRIALS), doc="Trials of a participant, from and to.")
    participants = param.Range(default=(5, 60), bounds=(2, MOST_PARTICIPANTS), doc="Participants of a group, from and to.")
    num_points = param.Integer(default=7, bounds=(2, 25), doc="Sizes that are tried along each variable.")
    fidelity = param.Selector(default=INFORMATION, objects=[INFORMATION, "importance", "nuts"], doc="How.")
    num_datasets = param.Integer(default=200, bounds=(10, 5000), doc="Simulated participants for each size.")
    target = param.Number(default=0.8, bounds=(0.05, 0.99), doc="Power that one wants.")

    def __init__(self, design: DesignChoice, **params: Any) -> None:
        super().__init__(**params)
        self.design = design
        self.follow_design()

    def list_kinds(self) -> list[str]:
        """Goals that make sense: only a cost with a neutral value can be shown not to be neutral."""
        has_neutral = bool(self._list_parameters(EXCLUDES))
        return [EXCLUDES, NARROWER, GROUPS_DIFFER] if has_neutral else [NARROWER, GROUPS_DIFFER]

    def list_quantities(self) -> list[str]:
        """Parameters that the goal may be about."""
        return [parameter.name for parameter in self._list_parameters(self.kind)]

    def list_variables(self) -> list[str]:
        """What matters for the goal: other participants say nothing about the interval of one."""
        return [TRIALS, PARTICIPANTS, BOTH] if self.kind == GROUPS_DIFFER else [TRIALS]

    def follow_design(self) -> None:
        """Choose anew what the cost does not have, or what has become pointless."""
        if self.kind not in self.list_kinds():
            self.kind = self.list_kinds()[0]
        if self.quantity not in self.list_quantities():
            self.quantity = self.list_quantities()[-1]
        if self.along not in self.list_variables():
            self.along = TRIALS

    def is_spread(self) -> bool:
        """Whether participants differ from each other in what the goal is about."""
        return self._measure_spread() > ALIKE

    def name_unit(self) -> str:
        """The unit of the quantity in brackets, after a space; empty if it has none."""
        unit = self._find(self.quantity).unit
        return "" if unit == NO_UNIT else f" ({unit})"

    def suggest_other(self) -> float:
        """A second group that differs by a tenth."""
        parameter = self._find(self.quantity)
        value = float(self.design.values.get(parameter.name, self.design.suggest_value(parameter.name)))
        box = parameter.box
        smaller = 0.9 * value if value > 0 else value - 0.1 * (box.high - box.low)
        return round(float(np.clip(smaller, box.low, box.high)), 4)

    def to_goal(self) -> Goal:
        """The effect.

        Raises:
            StudioError: if there can be no such goal.
        """
        if self.quantity not in self.list_quantities():
            raise StudioError(f"Choose what the goal is about: {', '.join(self.list_quantities())}.")
        if self.kind == EXCLUDES:
            return Goal(EXCLUDES, self.quantity)
        if self.kind == NARROWER:
            return Goal(NARROWER, self.quantity, width=float(self.width))
        return Goal(GROUPS_DIFFER, self.quantity, group={self.quantity: self._describe_group()})

    def to_study(self) -> Study:
        """The study of the design page with this goal alone.

        Raises:
            StudioError: if there can be no such study.
        """
        study = self.design.to_study(fidelity=self.fidelity, num_datasets=int(self.num_datasets))
        return dataclasses.replace(study, goals=(self.to_goal(),))

    def to_settings(self) -> dict[str, Any]:
        """What the job needs to know besides the study."""
        name = self.to_study().designs[0].name
        if self.along == BOTH:
            return {
                "design": name,
                "along": TRIALS,
                "values": self._spread(self.trials),
                "participants": self._spread(self.participants),
            }
        ends = self.trials if self.along == TRIALS else self.participants
        return {"design": name, "along": self.along, "values": self._spread(ends)}

    def _spread(self, ends: tuple[int, int]) -> list[int]:
        """Whole numbers from one end to the other, each once."""
        return sorted({round(value) for value in np.linspace(*ends, int(self.num_points))})

    def _describe_group(self) -> AbstractPrior:
        """People who differ among each other as those of the first group do."""
        parameter = self._find(self.quantity)
        value, box = float(self.other_value), parameter.box
        if not box.low <= value <= box.high:
            raise StudioError(
                f"{self.quantity} of the second group must be from {box.low:g} to {box.high:g}, not {value:g}."
            )
        spread = self._measure_spread()
        return LogNormal(value, spread).within(box) if spread > ALIKE and value > 0 else Constant(value)

    def _measure_spread(self) -> float:
        """Half of the distance, in log units, between those who are above and below two thirds of the participants."""
        prior = self.design.to_population().priors.get(self.quantity, self._find(self.quantity).population)
        low, high = (float(end) for end in prior.quantile(np.array([0.16, 0.84])))
        return math.log(high / low) / 2 if low > 0 else 0.0

    def _list_parameters(self, kind: str) -> list[Parameter]:
        known = self.design.to_study().analysis.known
        parameters = self.design.list_parameters()
        if kind == EXCLUDES:
            return [p for p in parameters if p.role == Role.COST and p.neutral is not None and p.name not in known]
        return [p for p in parameters if p.name not in known and p.name not in self.design.to_design().levels]

    def _find(self, name: str) -> Parameter:
        return next(p for p in self.design.list_parameters() if p.name == name)
