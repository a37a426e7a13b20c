"""What a fit assumes: priors, and which parameters it takes as known, shared or different in every condition."""

import dataclasses
import math
from collections.abc import Mapping, Sequence

import numpy as np
import xarray as xr

from designstudio.errors import StudioError, UnknownNameError
from designstudio.inference.hierarchical.pooling_settings import PoolingSettings
from designstudio.model.actors import AbstractActor
from designstudio.model.costs import AbstractCost
from designstudio.model.likelihood.lapses import LAPSE_RATE, NO_LAPSES, Lapses, check_lapses
from designstudio.model.likelihood.model import BehaviorModel
from designstudio.model.parameters import Parameter, analysis_priors, check_prior_in_box
from designstudio.model.priors import AbstractPrior, Constant
from designstudio.model.scale import OWN_UNIT, Scale
from designstudio.study.design import Design

# Width of a prior, as a share of its upper end: 32-bit numbers have seven digits.
NARROWEST_PRIOR = 1e-4


@dataclasses.dataclass(frozen=True)
class Known:
    """What a fit takes a parameter to be: by default the truth.

    Attributes:
        value: one number for everyone, right or wrong.
        factor: the truth times this: a measurement that is off.
    """

    value: float | None = None
    factor: float = 1.0

    def __post_init__(self) -> None:
        if self.value is not None and self.factor != 1:
            raise StudioError("A known parameter takes a value or a factor, not both.")
        for number in (self.value, self.factor):
            if number is not None and not 0 < number < math.inf:
                raise StudioError(f"A known parameter must be positive, but {number:g} was given.")


@dataclasses.dataclass(frozen=True)
class Analysis:
    """What a fit assumes.

    Parameters that a design sets (its levels) or draws anew in a block are estimated for each condition; all others are
    shared by the conditions.

    Attributes:
        priors: as far as they differ from the paper's.
        known: parameters that are not estimated, and what they are taken to be.
        per_condition: further parameters that get one value for each condition.
        shared: parameters that the fit takes as equal in all conditions although the design changes them.
        lapses: whether the fit has room for responses that have nothing to do with their stimulus: `off`, `free` (their
            share is estimated) or a known share. See `designstudio.model.likelihood.lapses`.
        pools: whether fits of data also pool the subjects partially.
        group_spread: scale of the prior of the standard deviation over a group's people, as a share of that of the analysis
            prior; where people are pooled, and in goals of whole groups. group_spreads: the same for single parameters.
    """

    priors: Mapping[str, AbstractPrior] = dataclasses.field(default_factory=dict)
    known: Mapping[str, Known] = dataclasses.field(default_factory=dict)
    per_condition: tuple[str, ...] = ()
    shared: tuple[str, ...] = ()
    lapses: Lapses = NO_LAPSES
    pools: bool = False
    group_spread: float = PoolingSettings.spread_share
    group_spreads: Mapping[str, float] = dataclasses.field(default_factory=dict)

    @property
    def pooling(self) -> PoolingSettings:
        """What is assumed of a group."""
        return PoolingSettings(spread_share=self.group_spread, spread_shares=dict(self.group_spreads))

    @property
    def known_lapse_rate(self) -> float | None:
        """The share of lapses, if it is known."""
        return None if isinstance(self.lapses, str) else float(self.lapses)

    def check(self, cost: AbstractCost, *, is_exact: bool = False, scale: Scale = OWN_UNIT) -> None:
        """Refuse what no fit with this cost could assume, or no actor but an exact one could serve.

        Args:
            cost: that is fitted.
            is_exact: whether the actor is.
            scale: of the study, in whose unit priors and known values are.

        Raises:
            StudioError: naming the parameter, what was given and what is allowed.
        """
        check_lapses(self.lapses, "lapses of the analysis")
        parameters = {parameter.name: scale.restate(parameter) for parameter in cost.all_parameters}
        for name in (*self.priors, *self.known, *self.per_condition, *self.shared, *self.group_spreads):
            if name not in parameters:
                raise UnknownNameError(f"parameter of the analysis (cost {cost.name})", name, parameters)
        for share in (self.group_spread, *self.group_spreads.values()):
            if not 0 < share < math.inf:
                raise StudioError(f"The spread of a group must be a share above 0, but {share:g} was given.")
        for name in self.per_condition:
            if name in self.shared or name in self.known:
                raise StudioError(f"The analysis names {name!r} as per condition, and also as shared or known: choose one.")
        for name, prior in self.priors.items():
            ends = prior.quantile(np.array([0.0001, 0.9999]))
            parameters[name].check(ends, f"The analysis prior of {name}")
            if not is_exact:
                check_prior_in_box(f"The analysis prior of {name}", prior, parameters[name].box)
            if not isinstance(prior, Constant) and ends[1] - ends[0] < NARROWEST_PRIOR * abs(ends[1]):
                raise StudioError(
                    f"The analysis prior of {name}, {prior}, is too narrow to be computed with: what is known so well "
                    "belongs in [analysis.known]."
                )
        for name, known in self.known.items():
            if known.value is not None:
                parameters[name].check(known.value, f"The known {name}")
        if set(self.known) == set(parameters):
            raise StudioError(f"All of {', '.join(parameters)} are known: leave at least one to be estimated.")

    def build_model(self, actor: AbstractActor, design: Design, scale: Scale = OWN_UNIT) -> BehaviorModel:
        """The model that is fitted to the data of a design, in the actor's unit.

        Args:
            actor: of the cost that is fitted.
            design: which conditions there are, and what they change.
            scale: of the study, in whose unit the priors are.
        """
        boxes, parameters = actor.parameter_boxes, {parameter.name: parameter for parameter in actor.parameters}
        for name, prior in self.priors.items():
            if name in boxes:
                box = boxes[name].stretch(scale.size_of(parameters[name]))
                check_prior_in_box(f"The analysis prior of {name}", prior, box)
            if isinstance(prior, Constant):
                raise StudioError(
                    f"The analysis prior of {name!r} is the constant {prior.value:g}: a fit needs a range; make it known."
                )
        own = {name: scale.shrink(prior, parameters[name]) for name, prior in self.priors.items() if name in parameters}
        changed = [n for n in (*design.levels, *design.own_parameters, *self.per_condition) if n not in self.shared]
        return BehaviorModel(
            actor,
            num_conditions=len(design.conditions),
            per_condition=tuple(name for name in dict.fromkeys(changed) if name not in self.known),
            fixed=(*self.known, *([] if self.known_lapse_rate is None else [LAPSE_RATE.name])),
            priors=analysis_priors(actor.cost.all_parameters).replace(**own),
            has_lapses=self.lapses != NO_LAPSES,
        )

    def fix_values(
        self, participants: xr.Dataset, scale: Scale = OWN_UNIT, parameters: Sequence[Parameter] = ()
    ) -> dict[str, xr.DataArray]:
        """Values of the known parameters, for each simulated participant, in the actor's unit.

        Args:
            participants: in the actor's unit.
            scale: of the study, in whose unit known values are.
            parameters: of the model that is fitted; in the actor's own unit they do not matter.

        Raises:
            StudioError: if the truth of a known parameter does not exist in the population.
        """
        values, sizes = {}, {parameter.name: scale.size_of(parameter) for parameter in parameters}
        one_each = next(iter(participants.data_vars.values())).isel(condition=0, missing_dims="ignore")
        if self.known_lapse_rate is not None:
            values[LAPSE_RATE.name] = xr.full_like(one_each, self.known_lapse_rate)
        for name, known in self.known.items():
            if known.value is not None:
                values[name] = xr.full_like(one_each, known.value / sizes.get(name, 1.0))
            elif name in participants:
                values[name] = participants[name] * known.factor
            else:
                raise StudioError(
                    f"{name!r} is known to the fit, but simulated participants have no {name!r}: give its value."
                )
        return values
