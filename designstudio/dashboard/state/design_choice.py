"""The design that a visitor is working on, and the study that it is part of."""

import dataclasses
from typing import Any

import numpy as np
import param

from designstudio.errors import StudioError
from designstudio.model.costs import PAPER_COST_NAMES, get_cost
from designstudio.model.family import DEFAULT_FAMILY
from designstudio.model.parameters import Parameter
from designstudio.model.priors import AbstractPrior, Constant, LogNormal
from designstudio.study import Analysis, Goal, Known, Population, Study
from designstudio.study.design import PRESETS, Condition, Design, Stimuli
from designstudio.study.stimuli import DISTRIBUTIONS, LIST, UNIFORM
from designstudio.study.study import AMORTIZED, EXACT

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
    `base`, the study that was opened last, and is kept.
    """

    cost = param.Selector(default="quadratic_effort", objects=list(PAPER_COST_NAMES), doc="Cost that people minimise.")
    sigmas = param.List(default=[0.1, 0.2], item_type=float, doc="Perceptual uncertainty of each level.")
    trials = param.List(default=[45, 45], item_type=int, doc="Trials of each level.")
    distribution = param.String(default=UNIFORM, doc="Which stimuli are shown.")
    low = param.Number(default=0.25, bounds=(0.01, None), doc="Smallest stimulus.")
    high = param.Number(default=5.0, bounds=(0.01, None), doc="Largest stimulus.")
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
    def parameters(self) -> tuple[Parameter, ...]:
        """Those that the population has values for: sigma is the design's."""
        return tuple(parameter for parameter in get_cost(self.cost).all_parameters if parameter.name != NOISE.name)

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
            value = float(self.values.get(parameter.name, suggest_value(parameter)))
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
        return Study(cost=self.cost, title=TITLE, **changes)

    def take_preset(self, name: str) -> None:
        """A published design; participants stay as they are."""
        self._take_design(PRESETS[name])

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
        if study.actor not in (AMORTIZED, EXACT):
            # Who opens a file in a browser may not be who owns the files of the server.
            raise StudioError("This study has an actor of its own: evaluate it with the command line.")
        if chosen.own_parameters or any(condition.stimuli for condition in chosen.conditions):
            raise StudioError(
                f"{chosen.name!r} has blocks with stimuli or priors of their own: evaluate it with the command line."
            )
        values = {name: _typical(prior) for name, prior in study.population.priors.items()}
        with param.parameterized.batch_call_watchers(self):
            self.base = study
            self.cost = study.cost
            self.values = {**{p.name: suggest_value(p) for p in get_cost(study.cost).all_parameters}, **values}
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
    """Where a slider starts: in the middle of the paper's participants."""
    value = FIRST_VALUES.get(parameter.name)
    return value if value is not None else _typical(parameter.population)


def _typical(prior: AbstractPrior) -> float:
    return float(prior.quantile(np.array(0.5)))


def _name_level(place: int, num_levels: int) -> str:
    names = {1: ("all trials",), 2: ("low uncertainty", "high uncertainty"), 3: ("low", "middle", "high")}
    return names[num_levels][place] if num_levels in names else f"level {place + 1}"
