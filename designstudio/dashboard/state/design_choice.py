"""The design that a visitor is working on, and the study that it is part of."""

import dataclasses
from typing import Any

import numpy as np
import param

from designstudio.dashboard.visitors import check_study
from designstudio.errors import StudioError
from designstudio.model.costs import PAPER_COST_NAMES, get_cost
from designstudio.model.family import DEFAULT_FAMILY
from designstudio.model.parameters import STIMULUS_UNIT, Parameter
from designstudio.model.priors import AbstractPrior, Constant, LogNormal
from designstudio.model.scale import Scale
from designstudio.study import Analysis, Goal, Known, Population, Study
from designstudio.study.design import PRESET_UNITS, PRESETS, Condition, Design, Stimuli
from designstudio.study.stimuli import DISTRIBUTIONS, LIST, UNIFORM
from designstudio.study.units import resolve_scale

NOISE = DEFAULT_FAMILY.perceptual_noise
MOST_LEVELS = 4
# Trials of one level.
MOST_TRIALS = 200
NAME = "my design"
TITLE = "Designed in the studio"
# What the participants of the first page are like: the paper's example.
FIRST_VALUES = {"mu_0": 1.5, "sigma_0": 0.2, "sigma_r": 0.15, "beta": 0.9}


class DesignChoice(param.Parameterized):
    """All that the design page asks for. `to_study` and `take` turn it into a study and back.

    What the page has no widgets for (priors of the analysis, goals of its own, a population that was fitted) comes from
    `base`, the study that was opened last, and is kept. So is the unit of that study, in which all numbers here are; without
    such a study, a visitor may name one, and the numbers follow.
    """

    unit = param.String(default="", doc="What stimuli and responses are measured in; empty for the actor's unit.")
    factor = param.Number(default=1.0, bounds=(1e-9, 1e9), doc="How many of them one unit of the actor is.")

    cost = param.Selector(default="quadratic_effort", objects=list(PAPER_COST_NAMES), doc="Cost that people minimise.")
    sigmas = param.List(default=[0.1, 0.2], item_type=float, doc="Perceptual uncertainty of each level.")
    trials = param.List(default=[45, 45], item_type=int, doc="Trials of each level.")
    distribution = param.String(default=UNIFORM, doc="Which stimuli are shown.")
    low = param.Number(default=0.25, bounds=(1e-9, None), doc="Smallest stimulus.")
    high = param.Number(default=5.0, bounds=(1e-9, None), doc="Largest stimulus.")
    num_values = param.Integer(default=6, bounds=(2, 50), doc="Values of a grid.")
    listed = param.List(default=[], item_type=float, doc="Values of a list.")
    num_participants = param.Integer(default=20, bounds=(1, 1000), doc="People who take part.")
    seconds_per_trial = param.Number(default=5.0, bounds=(0.1, 600), doc="How long a trial takes.")
    values = param.Dict(default=dict(FIRST_VALUES), doc="Typical parameters of the participants.")
    spread = param.Number(default=0.0, bounds=(0, 0.5), doc="How much participants differ, in log units.")
    keeps_population = param.Boolean(default=False, doc="Take the participants of the study that was opened.")
    knows_sigma = param.Boolean(default=True, doc="Whether sigma was measured beforehand.")
    base = param.ClassSelector(class_=Study, default=None, allow_None=True, doc="The study that was opened last.")

    @property
    def scale(self) -> Scale:
        """Between this unit and the actor's."""
        return Scale(float(self.factor), self.unit or STIMULUS_UNIT)

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """Those that the population has values for, in this unit: sigma is the design's."""
        return tuple(parameter for parameter in self.list_parameters() if parameter.name != NOISE.name)

    def list_parameters(self) -> tuple[Parameter, ...]:
        """All parameters of the cost, in this unit."""
        return tuple(map(self.scale.restate, get_cost(self.cost).all_parameters))

    def suggest_value(self, name: str) -> float:
        """Where a parameter starts, in this unit."""
        parameter = next(p for p in get_cost(self.cost).all_parameters if p.name == name)
        return suggest_value(parameter) * self.scale.size_of(parameter)

    def change_unit(self, unit: str, factor: float) -> None:
        """The same design and participants in another unit.

        Raises:
            StudioError: if a study that was opened has a unit of its own, or there can be no such unit.
        """
        if (unit, factor) == (self.unit, self.factor):
            return
        if self.base is not None:
            raise StudioError("The unit is that of the study that was opened: change it in its file.")
        if not unit and factor != 1:
            raise StudioError(f"Name the unit of which one unit of the actor is {factor:g}.")
        resolve_scale(unit, factor if unit else None, (), None)
        after, size = Scale(factor), factor / self.factor
        values = {}
        for parameter in get_cost(self.cost).all_parameters:
            if parameter.name in self.values:
                ratio = after.size_of(parameter) / self.scale.size_of(parameter)
                values[parameter.name] = float(f"{self.values[parameter.name] * ratio:.9g}")
        ends = {name: float(f"{getattr(self, name) * size:.9g}") for name in ("low", "high")}
        listed = [float(f"{value * size:.9g}") for value in self.listed]
        self.param.update(unit=unit, factor=factor, values={**self.values, **values}, listed=listed, **ends)

    def to_design(self, name: str = NAME) -> Design:
        """The design.

        Raises:
            StudioError: if there can be no such design.
        """
        if len(self.sigmas) != len(self.trials):
            raise StudioError(
                f"{len(self.sigmas)} levels need as many numbers of trials, but {len(self.trials)} were given."
            )
        levels = sorted(zip(self.sigmas, self.trials, strict=True))
        conditions = tuple(
            Condition(_name_level(k, len(levels)), int(num), {NOISE.name: float(sigma)})
            for k, (sigma, num) in enumerate(levels)
        )
        return Design(name, conditions, self.to_stimuli(), float(self.seconds_per_trial), int(self.num_participants))

    def to_stimuli(self) -> Stimuli:
        """What is shown."""
        if self.distribution == LIST:
            return Stimuli(LIST, values=tuple(self.listed))
        num_values = int(self.num_values) if DISTRIBUTIONS.find(self.distribution).has_num_values else None
        return Stimuli(self.distribution, low=float(self.low), high=float(self.high), num_values=num_values)

    def to_population(self) -> Population:
        """Who is simulated."""
        if self.keeps_population and self.base is not None:
            return self.base.population
        priors: dict[str, AbstractPrior] = {}
        for parameter in self.parameters:
            value = float(self.values.get(parameter.name, self.suggest_value(parameter.name)))
            # A share cannot be spread beyond its support.
            priors[parameter.name] = (
                LogNormal(value, float(self.spread)).within(parameter.box) if self.spread > 0 else Constant(value)
            )
        return Population(priors)

    def to_study(self, *, fidelity: str = "importance", num_datasets: int = 100, name: str = NAME) -> Study:
        """A study with this design alone.

        Raises:
            StudioError: if there can be no such study.
        """
        cost = get_cost(self.cost)
        base = self.base if self.base is not None and self.base.cost == self.cost else None
        analysis = base.analysis if base is not None else Analysis()
        known = {n: k for n, k in analysis.known.items() if n != NOISE.name}
        known |= {NOISE.name: Known()} if self.knows_sigma else {}
        goals = base.goals if base is not None else ()
        if not goals:
            goals = tuple(Goal("excludes", parameter.name) for parameter in cost.parameters if parameter.neutral is not None)
        changes: dict[str, Any] = {
            "designs": (self.to_design(name),),
            "population": self.to_population(),
            "analysis": dataclasses.replace(analysis, known=known),
            "goals": goals,
            "fidelity": fidelity,
            "num_datasets": num_datasets,
        }
        if base is not None:
            return dataclasses.replace(base, **changes)
        return Study(cost=self.cost, title=TITLE, unit=self.unit, scale=float(self.factor) if self.unit else None, **changes)

    def take_preset(self, name: str) -> None:
        """A published design; participants stay as they are.

        Raises:
            StudioError: if its stimuli are in another unit.
        """
        preset, unit = PRESETS[name], PRESET_UNITS.get(name, "")
        if self.unit not in ("", unit):
            own = repr(unit) if unit else "the actor's unit"
            raise StudioError(f"The stimuli of {name!r} are in {own}, but this design is in {self.unit!r}.")
        self._take_design(preset)

    def take(self, study: Study, design: Design | None = None) -> None:
        """Work on a study that was opened, and on one of its designs.

        Raises:
            StudioError: if the page cannot show it.
        """
        chosen = design or (study.designs[0] if study.designs else None)
        if chosen is None:
            raise StudioError("This study names no designs: choose one that a search has found.")
        if study.cost not in self.param.cost.objects:
            raise StudioError(
                f"The studio in the browser knows {', '.join(self.param.cost.objects)}, but not {study.cost!r}."
            )
        check_study(study)
        if chosen.own_parameters or any(condition.stimuli for condition in chosen.conditions):
            raise StudioError(
                f"{chosen.name!r} has blocks with stimuli or priors of their own: evaluate it with the command line."
            )
        values = {name: _typical(prior) for name, prior in study.population.priors.items()}
        with param.parameterized.batch_call_watchers(self):
            self.base = study
            self.cost = study.cost
            self.unit, self.factor = study.unit, study.conversion.factor
            self.values = {**{p.name: self.suggest_value(p.name) for p in self.list_parameters()}, **values}
            # Participants who are all alike can be shown by sliders; others are kept as they are.
            self.keeps_population = any(not isinstance(prior, Constant) for prior in study.population.priors.values())
            self.spread = 0.0
            self.knows_sigma = NOISE.name in study.analysis.known
            self._take_design(chosen)

    def _take_design(self, design: Design) -> None:
        levels = [condition.levels.get(NOISE.name) for condition in design.conditions]
        if len(levels) > MOST_LEVELS:
            raise StudioError(f"{design.name!r} has {len(levels)} conditions, but the page shows at most {MOST_LEVELS}.")
        # Levels that nobody has set are placed apart, to be moved.
        guesses = [0.1 * (k + 1) for k in range(len(levels))] if len(levels) > 1 else [0.15]
        stimuli = design.stimuli
        with param.parameterized.batch_call_watchers(self):
            self.sigmas = [float(level or guess) for level, guess in zip(levels, guesses, strict=True)]
            self.trials = [condition.num_trials for condition in design.conditions]
            self.distribution = stimuli.distribution
            if stimuli.distribution == LIST:
                self.listed = list(stimuli.values)
            elif stimuli.low is not None and stimuli.high is not None:
                self.low, self.high = float(stimuli.low), float(stimuli.high)
                self.num_values = int(stimuli.num_values or self.num_values)
            self.seconds_per_trial, self.num_participants = design.seconds_per_trial, design.num_participants


def suggest_value(parameter: Parameter) -> float:
    """Where a slider starts: in the middle of the paper's participants, in the actor's unit."""
    value = FIRST_VALUES.get(parameter.name)
    return value if value is not None else _typical(parameter.population)


def _typical(prior: AbstractPrior) -> float:
    return float(prior.quantile(np.array(0.5)))


def _name_level(place: int, num_levels: int) -> str:
    names = {1: ("all trials",), 2: ("low uncertainty", "high uncertainty"), 3: ("low", "middle", "high")}
    return names[num_levels][place] if num_levels in names else f"level {place + 1}"
