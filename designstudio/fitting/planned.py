"""An analysis that was planned before the data came: its goals, as a fit judges them.

What a record or a study says about an analysis is brought into this form by `designstudio.lab.planned_fit`; a fit carries
it, and its files keep it.
"""

import dataclasses
from collections.abc import Mapping
from typing import Any

RECORD, STUDY = "record", "study"


@dataclasses.dataclass(frozen=True)
class PlannedGoal:
    """One goal, with its numbers resolved.

    Attributes:
        name: how tables call it.
        kind: see `designstudio.study.goals`.
        quantity: a parameter, or a quantity of the plan.
        value, margin: for `excludes`; for goals of whole studies, where there is no effect, and how far it reaches.
        width: for `narrower`.
        alpha: for `groups-differ` in a study without groups.
        decision: of a whole study; "" for goals about participants, and in a study without groups.
        groups: whom the goal of a whole study is about; everybody, if there are none.
        conditions: that it compares within people.
        least_factor: where a Bayes factor decides, how large it must be at least.
        nominal: how often it may be reached without its effect; None for a goal that has none.
    """

    name: str
    kind: str
    quantity: str
    value: float | None = None
    margin: float = 0.0
    width: float | None = None
    alpha: float | None = None
    nominal: float | None = None
    decision: str = ""
    groups: tuple[str, ...] = ()
    conditions: tuple[str, ...] = ()
    least_factor: float | None = None

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> "PlannedGoal":
        """What `dataclasses.asdict` has written, or JSON has made of it; plans of before say less."""
        several = {name: tuple(record.get(name, ())) for name in ("groups", "conditions")}
        return cls(**{**record, **several})


@dataclasses.dataclass(frozen=True)
class PlannedAnalysis:
    """What was planned, and what the data made of it.

    Attributes:
        source: `record` or `study`.
        fingerprint: of the record, or of the one that the study would give.
        design: its name.
        cost: under which goals are judged.
        goals: in their order.
        quantities: formulas by name.
        power: what the record says about it; see `designstudio.lab.record_power`.
        rules: in the researcher's own words, which no program can apply.
        deviations: of the data and of the actors from the plan, in sentences.
        notes: what a person should know besides.
        groups: of the subjects, where the data say it.
    """

    source: str
    fingerprint: str
    design: str
    cost: str
    goals: tuple[PlannedGoal, ...] = ()
    quantities: Mapping[str, str] = dataclasses.field(default_factory=dict)
    power: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    rules: tuple[str, ...] = ()
    deviations: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    groups: Mapping[str, str] = dataclasses.field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return dataclasses.asdict(self)

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> "PlannedAnalysis":
        """What `as_dict` has written."""
        goals = tuple(PlannedGoal.from_dict(goal) for goal in record["goals"])
        texts = {name: tuple(record[name]) for name in ("rules", "deviations", "notes")}
        return cls(**{**record, **texts, "goals": goals})

    def find_power(self, label: str) -> Mapping[str, Any] | None:
        """What was planned about a goal, by its label; None if nothing was computed."""
        goals: list[Mapping[str, Any]] = list(self.power.get("goals", ()))
        return next((goal for goal in goals if goal["name"] == label), None)

    def label_goal(self, goal: PlannedGoal, quantity: str) -> str:
        """How the plan calls a goal whose quantity has a value for each condition, for one of them."""
        if quantity == goal.quantity:
            return goal.name
        own, replaced = f"{goal.name} ({quantity})", goal.name.replace(goal.quantity, quantity, 1)
        # A name that was made from the quantity has it in it; which of both it was, power tells.
        is_made = goal.name.startswith((f"{goal.quantity} ", f"groups differ in {goal.quantity}"))
        return next((label for label in (own, replaced) if self.find_power(label)), replaced if is_made else own)
