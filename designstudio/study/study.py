"""A study: one question to several designs."""

import dataclasses
import functools
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from designstudio.core.fingerprint import fingerprint
from designstudio.errors import StudioError, UnknownNameError
from designstudio.metrics.intervals import INTERVAL
from designstudio.model.actors import AbstractActor, ExactActor, load_actor
from designstudio.model.costs import get_cost
from designstudio.model.likelihood.model import BehaviorModel
from designstudio.model.parameters import STIMULUS_UNIT, Parameter
from designstudio.model.scale import Scale
from designstudio.study.analysis import Analysis
from designstudio.study.design import Design
from designstudio.study.goals import CHANGES, GROUPS_DIFFER, Goal
from designstudio.study.groups import EVERYBODY, Group
from designstudio.study.objectives import Objective
from designstudio.study.population import Population
from designstudio.study.quantities import Quantity
from designstudio.study.search_plan import SearchPlan
from designstudio.study.units import resolve_scale

FIDELITIES = ("information", "importance", "nuts", "paper")
AMORTIZED, EXACT = "amortized", "exact"
# Some ten of the draws that fits have lie beyond each of its ends.
WIDEST_INTERVAL = 0.99
FEWEST_STUDIES = 10


@dataclasses.dataclass(frozen=True)
class Study:
    """Designs that compete, the participants they are tried on, and how their data would be analysed.

    Attributes:
        cost: the cost that is fitted, and that participants minimise unless the population has its own.
        designs: in the order in which they are reported; each has a name of its own. A search is measured against them, and
            needs none.
        title: stands above tables and figures.
        actor: `amortized` (the package's own), `exact`, or an actor file.
        unit: what stimuli, responses and every number that shares their unit are measured in; by default the actor's own.
        scale: how many of them one unit of the actor is; see `designstudio.study.units`. Simulations and fits run in the
            actor's unit; whatever a person gives or gets is in the study's.
        population: who is simulated.
        analysis: what the fit assumes.
        quantities: functions of the parameters, scored like parameters.
        goals: whose chance of being reached is reported.
        groups: of participants, for goals of whole studies; none if there is only the population.
        candidates: costs between which the data should decide, for model recovery.
        fidelity: `information` (milliseconds), `importance` (below a second), `nuts` (seconds), or `paper` (NUTS with as
            many draws as the paper's).
        num_datasets: simulated participants for each design.
        num_studies: simulated studies for each design, for goals of whole studies.
        interval: probability of the intervals.
        seed: of all random numbers.
        search: which other designs may be tried, and for what.
    """

    cost: str
    designs: tuple[Design, ...]
    title: str = ""
    actor: str = AMORTIZED
    unit: str = ""
    scale: float | None = None
    population: Population = dataclasses.field(default_factory=Population)
    analysis: Analysis = dataclasses.field(default_factory=Analysis)
    quantities: tuple[Quantity, ...] = ()
    goals: tuple[Goal, ...] = ()
    candidates: tuple[str, ...] = ()
    fidelity: str = "importance"
    num_datasets: int = 100
    interval: float = INTERVAL
    seed: int = 1
    search: SearchPlan | None = None
    groups: tuple[Group, ...] = ()
    num_studies: int = 200

    def __post_init__(self) -> None:
        if not self.designs and self.search is None:
            raise StudioError("A study needs at least one design.")
        _refuse_repeated("design", [design.name for design in self.designs])
        _refuse_repeated("quantity", [quantity.name for quantity in self.quantities])
        self._check_settings()
        object.__setattr__(self, "scale", resolve_scale(self.unit, self.scale, self.designs, self.search))
        fitted, simulated = get_cost(self.cost), get_cost(self.population.cost or self.cost)
        for cost in self.candidates:
            get_cost(cost)
        _refuse_repeated("candidate", self.candidates)
        if len(self.candidates) == 1:
            raise StudioError(
                f"Data decide between two or more candidates, but only {self.candidates[0]!r} was given: name those that it "
                "competes with, or leave candidates out."
            )
        self.population.resolve(simulated, self.conversion)
        self._check_groups()
        for design in self.designs:
            design.check_parameters([parameter.name for parameter in simulated.all_parameters])
            self.check_values(design)
            _refuse_equal_levels(design)
        self.analysis.check(fitted, is_exact=self.actor == EXACT, scale=self.conversion)
        names = [parameter.name for parameter in fitted.all_parameters]
        for quantity in self.quantities:
            if quantity.name in names:
                raise StudioError(f"The quantity {quantity.name!r} is called like a parameter: give it another name.")
        for goal in self.goals:
            self._check_goal(goal, [*names, *(quantity.name for quantity in self.quantities)])
            for design in self.designs:
                self.choose_conditions(goal, design)
        _refuse_repeated("goal", [goal.label for goal in self.goals])
        self._name_goals([parameter.name for parameter in simulated.all_parameters])

    def _check_settings(self) -> None:
        if self.fidelity not in FIDELITIES:
            raise UnknownNameError("fidelity", self.fidelity, FIDELITIES)
        if self.num_datasets < 10:
            raise StudioError(f"A study needs at least 10 data sets, but {self.num_datasets} was given.")
        if self.num_studies < FEWEST_STUDIES:
            raise StudioError(
                f"A study needs at least {FEWEST_STUDIES} simulated studies, but {self.num_studies} was given."
            )
        if not 0.5 <= self.interval < 1:
            raise StudioError(f"The interval's probability must be at least 0.5 and below 1, but it is {self.interval:g}.")
        if self.interval > WIDEST_INTERVAL:
            raise StudioError(
                f"The interval's probability must be at most {WIDEST_INTERVAL:g}, but it is {self.interval:.12g}: the ends "
                "of wider ones are single draws."
            )
        if self.seed < 0:
            raise StudioError(f"The seed must be 0 or more, but {self.seed} was given.")

    def _check_groups(self) -> None:
        if self.num_studies < FEWEST_STUDIES:
            raise StudioError(
                f"A study needs at least {FEWEST_STUDIES} simulated studies, but {self.num_studies} was given."
            )
        _refuse_repeated("group", [group.name for group in self.groups])
        for group in self.groups:
            group.check(self.list_parameters(self.population.cost))

    def _name_goals(self, simulated: list[str]) -> None:
        """A search for goals has their names, also where older files have their numbers, and limits to false positives."""
        if self.search is not None:
            levels = {
                goal.label: goal.nominal_level(self.interval) if goal.has_effect(simulated) else None for goal in self.goals
            }
            object.__setattr__(self, "search", self.search.name_goals(levels))

    def check_values(self, design: Design) -> None:
        """Refuse a design, which need not be one of the study's own, whose values of parameters cannot be computed with.

        Raises:
            StudioError: naming the parameter, what was given and what is allowed.
        """
        parameters = {parameter.name: parameter for parameter in self.list_parameters(self.population.cost)}
        for condition in design.conditions:
            for name, value in condition.levels.items():
                parameters[name].check(value, f"{name} of condition {condition.name!r}")
            for name, prior in condition.drawn.items():
                parameters[name].check(prior.quantile(np.array([0.0001, 0.9999])), f"{name} of condition {condition.name!r}")
        for group in self.groups:
            refuse_set_by_design(f"group {group.name!r}", group.priors, design)

    def _check_goal(self, goal: Goal, names: list[str]) -> None:
        if goal.quantity not in names:
            raise UnknownNameError("quantity of a goal", goal.quantity, names)
        if goal.quantity in self.analysis.known:
            raise StudioError(f"The goal that {goal} cannot be reached: the fit takes {goal.quantity!r} as known.")
        simulated = get_cost(self.population.cost or self.cost)
        self.population.replace(priors={**self.population.priors, **goal.group}).resolve(simulated, self.conversion)
        if not goal.is_of_studies:
            return
        names = [group.name for group in self.groups]
        for name in goal.groups:
            if name not in names:
                raise UnknownNameError("group of a goal", name, names)
        if goal.kind == GROUPS_DIFFER and len(self.groups) < 2:
            raise StudioError(f"The goal {goal.kind!r} needs a second group: give the study two [[groups]].")
        if self.search is not None:
            raise StudioError(
                f"A search cannot aim at whole studies, as the goal {goal.label!r} does: keep [search] in a study file "
                "without it, and evaluate what it finds with this one."
            )

    def choose_groups(self, goal: Goal) -> tuple[Group, ...]:
        """The groups that a goal of whole studies is about: two that are compared, or one."""
        groups = {group.name: group for group in self.groups}
        chosen = goal.groups or tuple(groups)[: 2 if goal.kind == GROUPS_DIFFER else 1]
        return tuple(groups[name] for name in chosen) or (EVERYBODY,)

    def choose_conditions(self, goal: Goal, design: Design) -> tuple[int, int] | None:
        """Places of the two conditions of a design that a goal compares within participants; None for other goals.

        Raises:
            StudioError: if the design does not have them, or the fit estimates no value of the quantity for each.
        """
        if goal.kind != CHANGES:
            return None
        name, analysis = goal.quantity, self.analysis
        if name in [quantity.name for quantity in self.quantities]:
            raise StudioError(
                f"The goal that {goal} is about a parameter: for a quantity, make the change itself one, such as "
                'change = "mu_0[1] - mu_0[0]", with a goal of the kind group-mean and value = 0.'
            )
        conditions = [condition.name for condition in design.conditions]
        for condition in goal.conditions:
            if condition not in conditions:
                raise UnknownNameError(f"condition of a goal (design {design.name!r})", condition, conditions)
        if len(conditions) < 2:
            raise StudioError(f"The goal that {goal} needs two conditions, but design {design.name!r} has one.")
        own = (*design.levels, *design.own_parameters, *analysis.per_condition)
        if name not in own or name in analysis.shared:
            raise StudioError(
                f"The goal that {goal} needs an estimate of {name} in each condition of design {design.name!r}, but the fit "
                f"shares one: let a condition change it, as in {name} = {{ factor = 1.2 }}, or name it in per_condition of "
                "[analysis]."
            )
        first, second = goal.conditions or conditions[:2]
        return conditions.index(first), conditions.index(second)

    @functools.cached_property
    def identity(self) -> str:
        """A short text that equal studies share, and others do not: results are kept by it."""
        return fingerprint(self)

    @functools.cached_property
    def conversion(self) -> Scale:
        """Between the study's unit and the actor's."""
        return Scale(1.0 if self.scale is None else self.scale, self.unit or STIMULUS_UNIT)

    def describe_unit(self) -> dict[str, Any]:
        """For JSON: the unit of its numbers, and how many of it are the actor's; nothing if it is the actor's own."""
        return {"unit": self.unit, "scale": self.scale} if self.unit else {}

    def list_parameters(self, cost: str | None = None) -> tuple[Parameter, ...]:
        """All parameters of a cost, by default the one that is fitted, in the study's unit."""
        return tuple(map(self.conversion.restate, get_cost(cost or self.cost).all_parameters))

    def build_model(self, design: Design) -> BehaviorModel:
        """The model that is fitted to the data of a design, in the actor's unit."""
        return self.analysis.build_model(self.load_actor(self.cost), design, self.conversion)

    def replace(self, **changes: Any) -> "Study":
        """The same study with some answers changed; None changes nothing."""
        return dataclasses.replace(self, **{name: value for name, value in changes.items() if value is not None})

    def load_actor(self, cost: str) -> AbstractActor:
        """The actor for a cost, of the study's kind."""
        if self.actor == EXACT:
            return ExactActor(get_cost(cost))
        if self.actor == AMORTIZED or cost != self.cost:
            return _read_actor(cost, 0)
        path = Path(self.actor)
        actor = _read_actor(path, path.stat().st_mtime_ns if path.exists() else 0)
        if actor.cost.name != cost:
            raise StudioError(f"The actor {self.actor!r} was trained for {actor.cost.name!r}, not for {cost!r}.")
        return actor

    def find_goal(self, objective: Objective) -> Goal:
        """The goal that an objective is of; by default the first.

        Raises:
            StudioError: if there is no such goal.
        """
        (label,) = objective.name_goal([goal.label for goal in self.goals]).of
        return next(goal for goal in self.goals if goal.label == label)

    def design(self, name: str) -> Design:
        """The design called `name`."""
        for design in self.designs:
            if design.name == name:
                return design
        raise UnknownNameError("design", name, [design.name for design in self.designs])

    def choose_design(self, name: str | None) -> Design:
        """The design called `name`, or the first one.

        Raises:
            StudioError: if there is no such design, or none at all.
        """
        if name is None and self.designs:
            return self.designs[0]
        if not self.designs:
            raise StudioError("The study names no designs: add [[designs]] to it.")
        return self.design(name or "")


def refuse_set_by_design(who: str, drawn: Iterable[str], design: Design) -> None:
    """What a design sets for everybody, in all conditions, would silently win over what a group draws."""
    for name in drawn:
        if all(name in condition.levels or name in condition.drawn for condition in design.conditions):
            raise StudioError(
                f"Design {design.name!r} sets {name} in its conditions, so {who} cannot have a value or distribution of its "
                f"own for it: let [[groups]] multiply what the design sets, as in {name} = {{ factor = 1.5 }}."
            )


def _refuse_equal_levels(design: Design) -> None:
    """Conditions with levels that differ in nothing are a mistake; without levels, what they change may have no number."""
    kinds: dict[str, str] = {}
    for condition in design.conditions:
        kind = repr(dataclasses.replace(condition, name="any", num_trials=1))
        if condition.levels and kind in kinds:
            raise StudioError(
                f"Conditions {kinds[kind]!r} and {condition.name!r} of design {design.name!r} differ in nothing but their "
                "names: give them different levels, or make them one."
            )
        kinds[kind] = condition.name


@functools.cache
def _read_actor(source: str | Path, _: int) -> AbstractActor:
    """An actor, read once as long as its file does not change."""
    return load_actor(source)


def _refuse_repeated(kind: str, names: Sequence[str]) -> None:
    for name in names:
        if list(names).count(name) > 1:
            raise StudioError(f"The {kind} {name!r} appears twice: give each a name of its own.")
