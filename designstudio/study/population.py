"""Who is simulated: plausible participants, and what may go wrong in their trials."""

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from designstudio.errors import UnknownNameError
from designstudio.model.costs import AbstractCost
from designstudio.model.parameters import check_within, population_priors
from designstudio.model.priors import AbstractPrior, Interval, PriorSet
from designstudio.model.scale import OWN_UNIT, Scale


@dataclasses.dataclass(frozen=True)
class Population:
    """Simulated participants.

    Attributes:
        priors: where parameters come from, as far as they differ from the paper's population.
        cost: the cost that participants minimise; by default the one that is fitted.
        follows_analysis: whether parameters that are estimated come from the prior that the fit assumes, unless `priors`
            says otherwise. Only then should intervals cover the truth exactly as often as they say.
        lapse_rate: share of trials in which the response has nothing to do with the stimulus.
        outlier_rate: share of trials whose response is off by a factor.
        outlier_scale: standard deviation of the logarithm of that factor.
        held: name of a quantity of the study and the value that it has for everybody, who are moved there the least way.
            This takes an effect away; study files do not have it.
    """

    priors: Mapping[str, AbstractPrior] = dataclasses.field(default_factory=dict)
    cost: str | None = None
    follows_analysis: bool = False
    lapse_rate: float = 0.0
    outlier_rate: float = 0.0
    outlier_scale: float = 1.0
    held: tuple[str, float] | None = None

    def __post_init__(self) -> None:
        for name in ("lapse_rate", "outlier_rate"):
            check_within(name, getattr(self, name), Interval(0.0, 1.0))
        check_within("outlier_scale", self.outlier_scale, Interval(0.0, math.inf), excludes_zero=True)

    def replace(self, **changes: Any) -> "Population":
        """The same population with some fields changed."""
        return dataclasses.replace(self, **changes)

    def resolve(self, cost: AbstractCost, scale: Scale = OWN_UNIT) -> PriorSet:
        """A prior for every parameter of the simulated cost.

        Args:
            cost: that participants minimise.
            scale: of the study, in whose unit the priors are.

        Raises:
            StudioError: if a parameter is unknown, or a prior reaches where the model has no meaning.
        """
        parameters = {parameter.name: scale.restate(parameter) for parameter in cost.all_parameters}
        for name, prior in self.priors.items():
            if name not in parameters:
                raise UnknownNameError(f"parameter of the population (cost {cost.name})", name, parameters)
            parameters[name].check(prior.quantile(np.array([0.0001, 0.9999])))
        return population_priors(tuple(parameters.values())).replace(**self.priors)

    def resolve_for_actor(self, cost: AbstractCost, scale: Scale) -> PriorSet:
        """The same priors in the actor's unit."""
        own = {p.name: scale.shrink(self.priors[p.name], p) for p in cost.all_parameters if p.name in self.priors}
        return population_priors(cost.all_parameters).replace(**own)
