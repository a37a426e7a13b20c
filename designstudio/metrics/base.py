"""What a metric is, and how to add one.

A metric is a number that says how good a design is, with words about itself. To add one, write a file with a class that
derives from one of the abstract classes below, and register an instance:

    import numpy as np
    from designstudio.metrics import SMALLER, AbstractQuantityMetric, register_metric, weighted_mean

    class RelativeError(AbstractQuantityMetric):
        name = "relative_error"
        label = "relative error"
        explanation = "root of the mean squared error over the mean truth"
        caveat = "meaningless where truths have both signs"
        direction = SMALLER
        is_size = True

        def statistic(self, sample):
            squares, truth = sample.error**2, sample.truth
            return lambda weights: np.sqrt(weighted_mean(weights, squares)) / weighted_mean(weights, truth)

    register_metric(RelativeError())

That is all: tables, `result.json`, `scores.csv`, the objectives and constraints of a search and the table of the
documentation read the registry. Metrics of the package are listed in `designstudio/metrics/registry.py` instead.

One weighted statistic defines a metric. It takes rows of weights, one weight for each data set, and returns one value for
each row. With equal weights it is the value; with one data set left out at a time it gives the Monte Carlo error and the
pseudo-values by which designs race (see `designstudio.metrics.monte_carlo`). A metric that is a mean over data sets derives
from `AbstractQuantityMean` and says only what is averaged.

What a metric is of (its `scope`) decides which class it derives from, and what its statistic is given:

- `AbstractQuantityMetric`: a parameter or quantity; a `QuantitySample` of the posteriors of all good fits.
- `AbstractPosteriorMetric`: all parameters together, or prior and cost; a `PosteriorShape`.
- `AbstractDesignMetric`: the whole design, known before anything is simulated; `DesignFacts`.

Two metrics of the package are like no others: `designstudio.metrics.power`, of a goal, and `designstudio.metrics.failed`.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import ClassVar, Literal

import numpy as np
from jaxtyping import Float

from designstudio.core.numbers import format_percent
from designstudio.metrics.monte_carlo import (
    UNDEFINED,
    Score,
    Weights,
    score_jackknife,
    score_mean,
    score_share,
    weighted_mean,
)
from designstudio.metrics.samples import DesignFacts, PosteriorShape, QuantitySample
from designstudio.model.parameters import IN_ACTOR_UNIT, NO_UNIT

Statistic = Callable[[Weights], Float[np.ndarray, " repeat"]]
Direction = Literal["smaller", "larger"]
Scope = Literal["quantity", "parameters", "goal", "whole"]

SMALLER: Direction = "smaller"
LARGER: Direction = "larger"
QUANTITY: Scope = "quantity"
PARAMETERS: Scope = "parameters"
GOAL: Scope = "goal"
WHOLE: Scope = "whole"
# Parts of all parameters that a metric with the scope PARAMETERS may be of.
PRIOR_COST, ALL = "prior_cost", "all"
PART_NAMES = {PRIOR_COST: "prior and cost", ALL: "all parameters"}


class AbstractMetric(ABC):
    """A number that says how good a design is.

    Attributes:
        name: how study files, JSON and code call it.
        label: a few words, for the head of a table or an axis.
        symbol: how it is written before "of": RMSE of beta. By default the name without underscores.
        explanation: what it is, in a few plain words.
        caveat: what it does not say.
        scope: what it is of.
        direction: which way is better; None if neither is, and then no search can have it as an objective.
        unit: what it is measured in, unless that depends on the quantity.
        is_size: whether it is a positive size. Sizes are compared, and averaged over quantities, by their logarithms.
        number_format: how a table writes the value if there is no room for its error; `.0%` for shares.
    """

    name: ClassVar[str]
    label: ClassVar[str]
    symbol: ClassVar[str]
    explanation: ClassVar[str]
    caveat: ClassVar[str]
    scope: ClassVar[Scope]
    direction: ClassVar[Direction | None] = None
    unit: ClassVar[str] = NO_UNIT
    is_size: ClassVar[bool] = False
    number_format: ClassVar[str] = ".3g"

    def __init_subclass__(cls, **kwargs: object) -> None:
        super().__init_subclass__(**kwargs)
        if "name" in vars(cls) and "symbol" not in vars(cls):
            cls.symbol = cls.name.replace("_", " ")

    @property
    def is_larger_better(self) -> bool:
        """Which way is better."""
        return self.direction == LARGER

    def unit_of(self, quantity_unit: str) -> str:
        """The unit, for a quantity with this unit."""
        return self.unit

    def format_number(self, value: float) -> str:
        """The value as `number_format` says."""
        share = self.number_format.removesuffix("%")
        return format(value, share) if share == self.number_format else format_percent(value, int(share.lstrip(".")))


class AbstractQuantityMetric(AbstractMetric):
    """A metric of one quantity, over the data sets whose fit is good.

    Attributes:
        in_units: the power of the quantity's unit that it is measured in; 0 for none.
        needs_truth: whether it compares with the truth, and is undefined without.
        is_of_interval: whether it depends on how wide the study's intervals are.
        in_overview: how the table of `designstudio evaluate` shows it: `each` quantity in a row of its own, the `range` over
            the quantities in one row, or not at all (`no`).
        in_report: whether reports show it.
    """

    scope = QUANTITY
    in_units: ClassVar[int] = 0
    needs_truth: ClassVar[bool] = True
    is_of_interval: ClassVar[bool] = False
    in_overview: ClassVar[Literal["each", "range", "no"]] = "range"
    in_report: ClassVar[bool] = True

    @abstractmethod
    def statistic(self, sample: QuantitySample) -> Statistic:
        """The value, as a function of weights on the data sets."""

    def compared(self, sample: QuantitySample) -> Statistic:
        """The statistic on the scale on which designs are compared and quantities averaged."""
        statistic = self.statistic(sample)
        return (lambda weights: np.log(statistic(weights))) if self.is_size else statistic

    def score(self, sample: QuantitySample) -> Score:
        """The value with its Monte Carlo error."""
        return score_jackknife(self.statistic(sample), sample.num_datasets) if self.is_defined(sample) else UNDEFINED

    def is_defined(self, sample: QuantitySample) -> bool:
        """Whether the data sets have what it takes."""
        return not self.needs_truth or (sample.num_datasets > 1 and not bool(np.isnan(sample.truth).any()))

    def unit_of(self, quantity_unit: str) -> str:
        """A power of the quantity's unit, or none."""
        if self.in_units == 0 or quantity_unit == NO_UNIT:
            return self.unit
        return quantity_unit if self.in_units == 1 or quantity_unit.startswith(IN_ACTOR_UNIT) else f"{quantity_unit}²"


class AbstractQuantityMean(AbstractQuantityMetric):
    """A mean over data sets, with the textbook error of a mean; of a share if all values are true or false."""

    @abstractmethod
    def values(self, sample: QuantitySample) -> np.ndarray:
        """What is averaged: a number, or true or false, for each data set."""

    def statistic(self, sample: QuantitySample) -> Statistic:
        """The weighted mean."""
        values = self.values(sample).astype(float)
        return lambda weights: weighted_mean(weights, values)

    def score(self, sample: QuantitySample) -> Score:
        """The mean with its error."""
        if not self.is_defined(sample):
            return UNDEFINED
        values = self.values(sample)
        return score_share(values) if values.dtype == bool else score_mean(values)


class AbstractPosteriorMetric(AbstractMetric):
    """A mean over data sets of something about the shape of a posterior.

    Attributes:
        parts: which parameters it may be of, the usual ones first; empty if it is always of all of them.
    """

    scope = PARAMETERS
    parts: ClassVar[tuple[str, ...]] = (PRIOR_COST, ALL)

    @abstractmethod
    def values(self, shape: PosteriorShape) -> Float[np.ndarray, " dataset"]:
        """The number for each data set."""

    def statistic(self, shape: PosteriorShape) -> Statistic:
        """The weighted mean."""
        values = self.values(shape)
        return lambda weights: weighted_mean(weights, values)

    def score(self, shape: PosteriorShape) -> Score:
        """The mean with its error."""
        return score_mean(self.values(shape))

    def row_names(self) -> dict[str, str]:
        """The parts that tables show, and what they call them; by default all of them."""
        if len(self.parts) < 2:
            return dict.fromkeys(self.parts or (ALL,), self.label)
        return {part: f"{self.label} of {PART_NAMES[part]}" for part in self.parts}


class AbstractDesignMetric(AbstractMetric):
    """A property of a design that needs no simulation."""

    scope = WHOLE

    @abstractmethod
    def value(self, design: DesignFacts) -> float:
        """The number."""
