"""The parameters of a Bayesian actor: names, symbols, supports, units and the paper's three sets of priors.

Parameters belong to the parts of a model: to a perception, a response, a likelihood or a cost, in whose files they stand.
Each has a *role*, by which everyone else finds it: a figure that draws the participant's prior asks for the prior's
location, not for a name.

Three sets of priors answer three questions. *Training*: where must the amortized actor be accurate? *Analysis*: what does
a fit assume? *Population*: who are the simulated participants? The last two start as in appendix D of the paper (Straub,
Niehues, Peters & Rothkopf, ICLR 2025) and are changed with `PriorSet.replace`. Training covers more than the paper's box,
so that an analysis can be widened to people whom the paper's priors exclude.
"""

import dataclasses
import enum
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from jaxtyping import ArrayLike

from designstudio.errors import ValueOutsideSupportError
from designstudio.model.priors import AbstractPrior, HalfNormal, Interval, LogNormal, PriorSet, Uniform

STIMULUS_UNIT = "stimulus unit"
PER_STIMULUS_UNIT = "1 / stimulus unit"
LOG_UNIT = "log units"
NO_UNIT = "no unit"
# A share whose odds have a unit is said to be "stimuli in 500 ms" in a study of which these are the unit of the actor.
IN_ACTOR_UNIT = "stimuli in "
# Beyond these, squares or exponentials of 32-bit numbers overflow; a standard deviation in log units is in an exponent.
SMALLEST, LARGEST, LARGEST_NOISE = 1e-9, 1e9, 5.0
# How numbers in a unit change when every stimulus is multiplied by a factor: by this power of it.
UNIT_POWERS = {STIMULUS_UNIT: 1, PER_STIMULUS_UNIT: -1, LOG_UNIT: 0, NO_UNIT: 0}
# Where the paper trained its actors, and where fits look unless a study says otherwise.
PAPER_NOISE_BOX = Interval(0.01, 0.5)
NOISE_BOX = Interval(0.005, 1.0)
# Ends of priors and boxes are compared with this room.
ROUNDING = 1e-6


class Role(enum.StrEnum):
    """What a parameter is for, whatever it is called."""

    PRIOR_LOCATION = "prior location"
    PRIOR_SPREAD = "prior spread"
    PERCEPTUAL_NOISE = "perceptual noise"
    MOTOR_NOISE = "motor noise"
    COST = "cost"
    LIKELIHOOD = "likelihood"

    @property
    def is_prior(self) -> bool:
        """Whether it belongs to what the participant expects before they measure."""
        return self in (Role.PRIOR_LOCATION, Role.PRIOR_SPREAD)


@dataclasses.dataclass(frozen=True)
class Parameter:
    """One parameter of the model.

    Attributes:
        name: how code and files call it.
        symbol: how people write it.
        meaning: a few words for tables and axes.
        unit: what it is measured in.
        support: where the mathematics allows it.
        box: where amortized actors are trained; inside the support.
        training: prior of the actor's training examples.
        analysis: prior that a fit assumes.
        population: where simulated participants come from.
        neutral: the value at which a cost parameter has no effect, if there is one.
        odds_unit: what value / (1 - value) is measured in, for a share that weighs things of different units.
        role: what it is for.
        explanation: what it is, in one line of a report; by default its meaning.
    """

    name: str
    symbol: str
    meaning: str
    unit: str
    support: Interval
    box: Interval
    training: AbstractPrior
    analysis: AbstractPrior
    population: AbstractPrior
    neutral: float | None = None
    odds_unit: str = NO_UNIT
    role: Role = Role.COST
    explanation: str = ""

    def __post_init__(self) -> None:
        # Frozen, so set in this way.
        object.__setattr__(self, "explanation", self.explanation or self.meaning)

    @property
    def label(self) -> str:
        """Symbol and unit, for an axis."""
        return self.symbol if self.unit == NO_UNIT else f"{self.symbol} ({self.unit})"

    def check(self, values: ArrayLike, what: str = "") -> None:
        """Refuse values that are impossible, or with which nothing can be computed.

        Args:
            values: one or many.
            what: how a message calls them; by default by the parameter's name.

        Raises:
            ValueOutsideSupportError: saying what is allowed.
        """
        what = what or self.name
        check_within(what, values, self.support, excludes_zero=True)
        sizes = np.abs(np.atleast_1d(np.asarray(values, dtype=float)))
        largest = LARGEST_NOISE if self.unit == LOG_UNIT else LARGEST
        for size in sizes[(sizes > largest) | ((sizes > 0) & (sizes < SMALLEST))]:
            raise ValueOutsideSupportError(
                f"{what} must be from {SMALLEST:g} to {largest:g}, but {size:g} was given: nothing can be computed beyond."
            )

    def rescale(self, values: Any, factor: float) -> Any:
        """The same participants after a change of unit that multiplies every stimulus by `factor`.

        Raises:
            ValueOutsideSupportError: if the parameter has a unit that is not known to depend on the stimulus or not.
        """
        for unit in (self.unit, self.odds_unit):
            if unit not in UNIT_POWERS:
                raise ValueOutsideSupportError(
                    f"Parameter {self.name!r} is in {unit!r}, but to change the unit of the stimulus it must be in one of "
                    f"{', '.join(map(repr, UNIT_POWERS))}: declare it so."
                )
        odds_factor = factor ** UNIT_POWERS[self.odds_unit]
        if odds_factor != 1:
            # The odds times the factor, without dividing by zero where the share is 1.
            values = odds_factor * values / (1 - values + odds_factor * values)
        return values * factor ** UNIT_POWERS[self.unit]


def cost_parameter(
    name: str,
    prior: AbstractPrior,
    *,
    support: Interval,
    symbol: str | None = None,
    meaning: str = "cost parameter",
    unit: str = NO_UNIT,
    box: Interval | None = None,
    neutral: float | None = None,
    odds_unit: str = NO_UNIT,
) -> Parameter:
    """A parameter of a cost; as in the paper, one prior serves training, analysis and population.

    If it has a length, say so (`unit`, or `odds_unit` for a share): nobody else knows when the stimulus changes its unit.
    """
    box = prior.support if box is None else box
    if not (math.isfinite(box.low) and math.isfinite(box.high)):
        raise ValueOutsideSupportError(
            f"Parameter {name!r} has a training box of {box}: an actor can only be trained on a finite range; "
            "give box=Interval(low, high)."
        )
    if box.low not in support or box.high not in support:
        raise ValueOutsideSupportError(f"Parameter {name!r} has a training box of {box}, but only {support} is supported.")
    prior = prior.within(box)
    return Parameter(name, symbol or name, meaning, unit, support, box, prior, prior, prior, neutral, odds_unit)


def noise_parameter(name: str, symbol: str, meaning: str, explanation: str, role: Role) -> Parameter:
    """A standard deviation in log units, with the paper's priors of analysis and population."""
    return Parameter(
        name,
        symbol,
        meaning,
        LOG_UNIT,
        support=Interval(0.0, math.inf),
        box=NOISE_BOX,
        training=Uniform(NOISE_BOX.low, NOISE_BOX.high),
        analysis=HalfNormal(0.25).within(PAPER_NOISE_BOX),
        population=Uniform(0.1, 0.25),
        role=role,
        explanation=explanation,
    )


def spread_evenly(box: Interval) -> AbstractPrior:
    """A prior that reaches every part of a box: even in the logarithm if the box spans more than a factor of ten."""
    if box.low > 0 and box.high > 10 * box.low:
        # A very wide log-normal is even in the logarithm.
        return LogNormal(1.0, 100.0).within(box)
    return Uniform(box.low, box.high)


def training_priors(parameters: Sequence[Parameter]) -> PriorSet:
    """Where the amortized actor is trained."""
    return PriorSet({parameter.name: parameter.training for parameter in parameters})


def analysis_priors(parameters: Sequence[Parameter]) -> PriorSet:
    """What a fit assumes before it sees data."""
    return PriorSet({parameter.name: parameter.analysis for parameter in parameters})


def population_priors(parameters: Sequence[Parameter]) -> PriorSet:
    """Where simulated participants come from."""
    return PriorSet({parameter.name: parameter.population for parameter in parameters})


def check_parameters(values: Mapping[str, ArrayLike], parameters: Sequence[Parameter]) -> None:
    """Refuse missing, unknown, non-finite or impossible parameter values with a sentence.

    Raises:
        ValueOutsideSupportError: if anything is wrong; the message names the parameter, the value and what is allowed.
    """
    expected = [parameter.name for parameter in parameters]
    for name in values:
        if name not in expected:
            raise ValueOutsideSupportError(f"Unknown parameter {name!r}. This model has: {', '.join(expected)}.")
    for parameter in parameters:
        if parameter.name not in values:
            raise ValueOutsideSupportError(
                f"Parameter {parameter.name!r} ({parameter.meaning}) is missing. This model needs: {', '.join(expected)}."
            )
        parameter.check(values[parameter.name])


def check_within(name: str, values: ArrayLike, support: Interval, *, excludes_zero: bool = False) -> None:
    """Refuse values that are not numbers, not finite or outside `support`."""
    try:
        numbers = np.atleast_1d(np.asarray(values, dtype=float))
    except (TypeError, ValueError):
        raise ValueOutsideSupportError(f"{name} must be a number, but {values!r} was given.") from None
    is_wrong = ~np.isfinite(numbers) | (numbers < support.low) | (numbers > support.high)
    if excludes_zero:
        is_wrong |= (numbers == 0) & (support.low == 0)
    if not is_wrong.any():
        return
    position = int(np.flatnonzero(is_wrong.ravel())[0])
    allowed = _describe_support(support, excludes_zero=excludes_zero)
    where = f" at position {position}" if numbers.size > 1 else ""
    raise ValueOutsideSupportError(f"{name} must be {allowed}, but {numbers.ravel()[position]:g} was given{where}.")


def check_prior_in_box(label: str, prior: AbstractPrior, box: Interval) -> None:
    """Refuse a prior that says that it ends beyond the box, or that hardly touches it.

    The tails of families without an end may lie outside: the model cuts them off.

    Raises:
        ValueOutsideSupportError: saying what was given and where actors are trained.
    """
    support = prior.support
    is_below = 0 < support.low < box.low * (1 - ROUNDING)
    is_above = math.isfinite(support.high) and support.high > box.high * (1 + ROUNDING)
    low, high = prior.quantile(np.array([0.0001, 0.9999]))
    if is_below or is_above or high <= box.low or low >= box.high:
        raise ValueOutsideSupportError(
            f"{label}, {prior}, reaches beyond {box}, where the actor was trained: end it there, or take an exact actor."
        )


def _describe_support(support: Interval, *, excludes_zero: bool) -> str:
    is_positive = excludes_zero and support.low == 0
    if math.isinf(support.high):
        if math.isinf(support.low):
            return "a finite number"
        return "a positive number" if is_positive else f"at least {support.low:g}"
    return f"above 0 and at most {support.high:g}" if is_positive else f"from {support.low:g} to {support.high:g}"
