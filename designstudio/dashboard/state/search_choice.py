"""The search that a visitor wants to run: among which designs, for what, and for how long."""

import dataclasses
from typing import Any

import param

from designstudio.dashboard.state.design_choice import DesignChoice
from designstudio.errors import StudioError
from designstudio.metrics.design.minutes import Minutes
from designstudio.metrics.posterior.information_gain import InformationGain
from designstudio.metrics.quantity.rmse import RootMeanSquaredError
from designstudio.model.costs import get_cost
from designstudio.model.family import DEFAULT_FAMILY
from designstudio.search.run_search import Budget
from designstudio.study import Choice, Constraint, Objective, Range, SearchPlan, Space, Study
from designstudio.study.space import Variable
from designstudio.study.stimuli import LOG_UNIFORM, UNIFORM

NOISE = DEFAULT_FAMILY.perceptual_noise
INFORMATION, RMSE, FRONT = InformationGain.name, RootMeanSquaredError.name, "rmse and minutes"
DESIGNS_BUDGET, MINUTES_BUDGET = "designs", "minutes"
MOST_TRIALS = 400
# Stimuli that the page offers.
LOWEST, HIGHEST = 0.1, 10.0


class SearchChoice(param.Parameterized):
    """All that the search page asks for; participants, cost and analysis are those of the design page.

    Of each range both ends may be the same: then the variable is fixed.
    """

    levels = param.Range(default=(1, 4), bounds=(1, 4), doc="Number of uncertainty levels.")
    sigma = param.Range(default=(0.05, 0.35), bounds=(NOISE.box.low, NOISE.box.high), doc="Where levels may lie.")
    low_share = param.Range(default=(0.2, 0.8), bounds=(0.05, 0.95), doc="Share of trials at the lowest level.")
    trials = param.Range(default=(90, 90), bounds=(5, MOST_TRIALS), doc="Trials of a participant.")
    low = param.Range(default=(0.25, 0.25), bounds=(LOWEST, HIGHEST), doc="Smallest stimulus.")
    high = param.Range(default=(5.0, 5.0), bounds=(LOWEST, HIGHEST), doc="Largest stimulus.")
    distributions = param.List(default=[UNIFORM, LOG_UNIFORM], item_type=str, doc="Spacings of stimuli to choose from.")
    most_minutes = param.Number(default=10.0, bounds=(0.1, None), allow_None=True, doc="Longest session; None for any.")
    objective = param.Selector(default=INFORMATION, objects=[INFORMATION, RMSE, FRONT], doc="What the search is for.")
    quantities = param.List(default=["mu_0", "beta"], item_type=str, doc="Parameters whose error is to be small.")
    budget = param.Selector(default=DESIGNS_BUDGET, objects=[DESIGNS_BUDGET, MINUTES_BUDGET], doc="What ends the search.")
    num_designs = param.Integer(default=60, bounds=(1, 10_000), doc="Designs to try.")
    minutes = param.Number(default=10.0, bounds=(0.1, 10_000), doc="Minutes to search for.")
    workers = param.Integer(default=1, bounds=(1, 64), doc="Processes that search at the same time.")
    num_datasets = param.Integer(default=64, bounds=(16, 1000), doc="Simulated participants for each design.")
    num_screened = param.Integer(default=256, bounds=(0, 10_000), doc="Designs to look at first, quickly; 0 for none.")
    verify_fidelity = param.Selector(default="nuts", objects=["importance", "nuts"], doc="How the finalists are checked.")
    num_fresh = param.Integer(default=200, bounds=(10, 5000), doc="Fresh data sets for each finalist.")

    def __init__(self, design: DesignChoice, **params: Any) -> None:
        # As the design is now, where that is possible.
        total = min(max(sum(design.trials), 5), MOST_TRIALS)
        size = float(design.factor)
        low, high = (min(max(float(end), LOWEST * size), HIGHEST * size) for end in (design.low, design.high))
        super().__init__(**{"trials": (total, total), **params})
        self.design, self._factor = design, size
        self._limit_stimuli(**{"low": (low, low), "high": (high, high), **params})
        self.follow_cost()
        design.param.watch(self._follow_unit, ["factor"])

    def _follow_unit(self, *_: param.parameterized.Event) -> None:
        """The same stimuli in another unit."""
        ratio = float(self.design.factor) / self._factor
        self._factor = float(self.design.factor)
        self._limit_stimuli(**{name: tuple(end * ratio for end in getattr(self, name)) for name in ("low", "high")})

    def _limit_stimuli(self, *, low: tuple[float, ...], high: tuple[float, ...], **_: Any) -> None:
        """New ends of stimuli, within what the actor's range is in their unit."""
        bounds = (LOWEST * self._factor, HIGHEST * self._factor)
        for name, ends in (("low", low), ("high", high)):
            self.param[name].bounds = None
            setattr(self, name, tuple(min(max(end, bounds[0]), bounds[1]) for end in ends))
            self.param[name].bounds = bounds

    def list_quantities(self) -> list[str]:
        """What can have an error: parameters that are estimated, and quantities of the study that was opened."""
        study = self.design.to_study()
        names = [parameter.name for parameter in get_cost(study.cost).all_parameters]
        return [name for name in names if name not in study.analysis.known] + [q.name for q in study.quantities]

    def to_study(self) -> Study:
        """The study of the design page, with this search; its design is what the search has to beat.

        Raises:
            StudioError: if there can be no such search.
        """
        study = self.design.to_study()
        self._check()
        constraints = (
            () if self.most_minutes is None else (Constraint(Objective(Minutes.name), at_most=float(self.most_minutes)),)
        )
        plan = SearchPlan(
            self.to_space(),
            objectives=self._list_objectives(),
            constraints=constraints,
            num_datasets=int(self.num_datasets),
            num_screened=int(self.num_screened),
            verify_fidelity=self.verify_fidelity,
            num_fresh=int(self.num_fresh),
        )
        return dataclasses.replace(study, search=plan)

    def to_space(self) -> Space:
        """The designs to choose from."""
        if not self.distributions:
            raise StudioError("Choose at least one spacing of stimuli.")
        spacings = tuple(self.distributions)
        if self.levels[1] > 1 and self.sigma[0] == self.sigma[1]:
            raise StudioError(f"Levels that are all {self.sigma[0]:g} are one level: give σ a range, or allow 1 level only.")
        variables: dict[str, Variable] = {
            "levels": _vary(self.levels, is_whole=True),
            "low_share": _vary(self.low_share),
            "trials": _vary(self.trials, is_whole=True),
            "participants": int(self.design.num_participants),
            "stimuli.distribution": spacings[0] if len(spacings) == 1 else Choice(spacings),
            "stimuli.low": _vary(self.low),
            "stimuli.high": _vary(self.high),
        }
        return Space(variables, NOISE.name, _vary(self.sigma), float(self.design.seconds_per_trial))

    def to_settings(self) -> dict[str, Any]:
        """What the job needs to know besides the study."""
        budget = (
            Budget(num_candidates=int(self.num_designs))
            if self.budget == DESIGNS_BUDGET
            else Budget(minutes=float(self.minutes))
        )
        return {"candidates": budget.num_candidates, "minutes": budget.minutes, "workers": int(self.workers)}

    def _check(self) -> None:
        """Refuse what is impossible at first sight; the job looks closer."""
        shortest = self.trials[0] * float(self.design.seconds_per_trial) / 60
        if self.most_minutes is not None and shortest > self.most_minutes:
            raise StudioError(
                f"{self.trials[0]} trials take {shortest:.3g} minutes, but a session may take {self.most_minutes:g}: allow "
                "fewer trials, or a longer session."
            )
        if self.low[0] >= self.high[1]:
            raise StudioError(
                f"Stimuli cannot begin at {self.low[0]:g} and end at {self.high[1]:g}: let the largest be larger."
            )

    def _list_objectives(self) -> tuple[Objective, ...]:
        if self.objective == INFORMATION:
            # The plan's own default knows what is left to learn where prior or cost is known.
            return ()
        available = self.list_quantities()
        chosen = [name for name in self.quantities if name in available]
        if not chosen:
            raise StudioError(f"Choose parameters whose error should be small: {', '.join(available)}.")
        error = Objective(RMSE, tuple(chosen))
        if self.objective == RMSE:
            return (error,)
        if self.trials[0] == self.trials[1]:
            raise StudioError(
                f"With {self.trials[0]} trials every session takes the same time: give the number of trials a range."
            )
        return error, Objective(Minutes.name)

    def follow_cost(self) -> None:
        """Choose anew if another cost lacks a parameter: the mean of the prior, and what the cost adds."""
        available = self.list_quantities()
        if not set(self.quantities) <= set(available):
            wanted = [
                DEFAULT_FAMILY.prior_location.name,
                *(parameter.name for parameter in get_cost(self.design.cost).parameters),
            ]
            self.quantities = [name for name in wanted if name in available] or available[:1]


def _vary(ends: tuple[float, float], *, is_whole: bool = False) -> Variable:
    kind = int if is_whole else float
    low, high = (kind(end) for end in ends)
    return low if low == high else Range(low, high)
