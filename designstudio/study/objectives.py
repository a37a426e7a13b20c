"""What a search makes small or large, and what it must keep within bounds: metrics, and what they are of."""

import dataclasses
from collections.abc import Sequence

from designstudio.errors import StudioError, UnknownNameError
from designstudio.metrics import AbstractDesignMetric, AbstractMetric, AbstractPosteriorMetric, get_metric
from designstudio.metrics.base import GOAL, PART_NAMES, QUANTITY
from designstudio.metrics.monte_carlo import Score
from designstudio.metrics.power import CLEARLY, FalsePositives
from designstudio.metrics.registry import list_objective_names


@dataclasses.dataclass(frozen=True)
class Objective:
    """A metric of something.

    Attributes:
        score: name of a metric with a better and a worse; see `designstudio.metrics.registry`.
        of: for metrics of a quantity one or more quantities (of several, the geometric mean where they are sizes, else the
            mean); for metrics of all parameters `prior_cost` or `all`, for those of a goal its name (or its number, counted
            from 1), by default the first of these; nothing for metrics of the whole design.
    """

    score: str
    of: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.score not in list_objective_names():
            raise UnknownNameError("score", self.score, list_objective_names())
        metric, parts = self.metric, list_parts(self.metric)
        if metric.scope == QUANTITY:
            if not self.of:
                raise StudioError(
                    f'The score {self.score!r} needs quantities: add of = [...], such as of = ["mu_0", "beta"].'
                )
            return
        if metric.scope != GOAL and not parts and self.of:
            raise StudioError(f"The score {self.score!r} is of the whole design: leave out of = ....")
        if parts and any(name not in parts for name in self.of):
            allowed = " or of ".join(f'"{part}"' for part in parts)
            raise StudioError(f"The score {self.score!r} is of {allowed}, but {self.of[0]!r} was given.")
        if len(self.of) > 1:
            raise StudioError(f"The score {self.score!r} takes one of = ..., but {len(self.of)} were given.")

    @property
    def metric(self) -> AbstractMetric:
        """What is computed."""
        return get_metric(self.score)

    @property
    def is_larger_better(self) -> bool:
        """Which way is better."""
        return self.metric.is_larger_better

    @property
    def is_of_design(self) -> bool:
        """Whether it needs no simulation."""
        return isinstance(self.metric, AbstractDesignMetric)

    @property
    def is_of_goal(self) -> bool:
        """Whether it is of a goal."""
        return self.metric.scope == GOAL

    @property
    def label(self) -> str:
        """A few words for a table."""
        symbol = self.metric.symbol
        if self.is_of_goal and self.of:
            return f"{symbol}: {self.of[0]}"
        return symbol if not self.of else f"{symbol} of {', '.join(PART_NAMES.get(name, name) for name in self.of)}"

    def format_score(self, score: Score) -> str:
        """A value of it with its error: a chance as all chances, anything else to the digit that the error leaves it."""
        return score.chance if self.is_of_goal else str(score)

    def orient(self, value: float) -> float:
        """A value turned so that smaller is better."""
        return -value if self.is_larger_better else value

    def complete(self) -> "Objective":
        """The same, saying what it is of where that is understood without the study."""
        return Objective(self.score, self.of or list_parts(self.metric)[:1])

    def name_goal(self, goals: Sequence[str]) -> "Objective":
        """The same, with the name of its goal in place of its number, or of nothing for the first.

        Raises:
            StudioError: if there is no such goal.
        """
        if not self.is_of_goal:
            return self
        if not goals:
            raise StudioError("The study has no goals, so there is no power to search for: add [[goals]].")
        given = (self.of or ("1",))[0]
        if given in goals:
            return Objective(self.score, (given,))
        if not given.isdecimal():
            raise UnknownNameError("goal", given, goals)
        if not 1 <= int(given) <= len(goals):
            raise StudioError(f"There is no goal number {given}: the study has {len(goals)}.")
        return Objective(self.score, (goals[int(given) - 1],))


@dataclasses.dataclass(frozen=True)
class Constraint:
    """A metric that must stay within bounds."""

    objective: Objective
    at_most: float | None = None
    at_least: float | None = None

    def __post_init__(self) -> None:
        if self.at_most is None and self.at_least is None:
            raise StudioError(f"The constraint on {self.objective.label} needs at_most = ... or at_least = ....")

    def exceed(self, value: float, mcse: float = 0.0) -> float:
        """By how much a value breaks the constraint; 0 or less if it does not.

        Args:
            value: of the metric.
            mcse: its error; a false-positive rate is granted `CLEARLY` many, for few data sets cannot tell 6 % from 9 %.
        """
        value -= CLEARLY * mcse if isinstance(self.objective.metric, FalsePositives) else 0.0
        over = -float("inf") if self.at_most is None else value - self.at_most
        under = -float("inf") if self.at_least is None else self.at_least - value
        return max(over, under)

    @property
    def label(self) -> str:
        """In a few words."""
        parts = [f"at most {self.at_most:g}"] if self.at_most is not None else []
        parts += [f"at least {self.at_least:g}"] if self.at_least is not None else []
        return f"{self.objective.label} {' and '.join(parts)}"


def list_parts(metric: AbstractMetric) -> tuple[str, ...]:
    """Which of all parameters a metric may be of; empty if there is no choice."""
    return metric.parts if isinstance(metric, AbstractPosteriorMetric) else ()
