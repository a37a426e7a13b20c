"""The space of designs that a search may choose from: for each variable a fixed value, a range or a choice."""

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from designstudio.errors import StudioError
from designstudio.study.stimuli import DISTRIBUTIONS, UNIFORM, list_ranges

LOG, LINEAR, FREE = "log", "linear", "free"
SPACINGS = (LOG, LINEAR, FREE)
MOST_LEVELS = 4


class Dimension(NamedTuple):
    """What a variable of a search space may be.

    Attributes:
        doc: one sentence for the reference.
        default: what a design has if nothing is said.
        low: smallest number.
        high: largest number.
        is_whole: whether only whole numbers, ends included, make sense; for others the ends are excluded.
        unit: of numbers.
        list_options: the names there are, where it is no number.
    """

    doc: str
    default: "float | int | str | None" = None
    low: float = 0
    high: float = math.inf
    is_whole: bool = False
    unit: str = ""
    list_options: Callable[[], Sequence[str]] | None = None


# The variables besides the level's own parameter, in the order of tables.
DIMENSIONS: Mapping[str, Dimension] = {
    "levels": Dimension("How many levels.", 1, low=1, high=MOST_LEVELS, is_whole=True),
    "spacing": Dimension("Where levels between the outer ones lie; free: anywhere.", LOG, list_options=lambda: SPACINGS),
    "low_share": Dimension("Trials at the lowest level, as a share of those at lowest and highest.", 0.5, high=1),
    "trials": Dimension("Trials of a participant.", low=1, is_whole=True),
    "minutes": Dimension("Time of a participant, instead of trials.", unit="minutes"),
    "participants": Dimension("How many people take part.", 1, low=1, is_whole=True),
    "stimuli.distribution": Dimension("How stimuli are distributed.", UNIFORM, list_options=list_ranges),
    "stimuli.low": Dimension("Smallest stimulus.", unit="stimulus unit"),
    "stimuli.high": Dimension("Largest stimulus.", unit="stimulus unit"),
    "stimuli.num_values": Dimension("How many values a grid has.", low=2, is_whole=True),
}

Value = float | int | str


@dataclasses.dataclass(frozen=True)
class Range:
    """Anything from low to high; in steps, if there is a step."""

    low: float
    high: float
    step: float | None = None

    def __post_init__(self) -> None:
        if not (math.isfinite(self.low) and math.isfinite(self.high) and self.low < self.high):
            raise StudioError(f"A range needs its low end first, but [{self.low:g}, {self.high:g}] was given.")
        if self.step is not None and not 0 < self.step <= self.high - self.low:
            raise StudioError(f"The step of a range must be above 0 and at most its length, but {self.step:g} was given.")


@dataclasses.dataclass(frozen=True)
class Choice:
    """One of several values."""

    options: tuple[Value, ...]

    def __post_init__(self) -> None:
        if len(set(self.options)) < max(2, len(self.options)):
            raise StudioError("A choice needs two or more different options: for a single one, write the value itself.")


Variable = Range | Choice | Value


@dataclasses.dataclass(frozen=True)
class Space:
    """All designs that a search may propose.

    Attributes:
        variables: by name: `levels` (how many), `spacing` (`log`, `linear`, or `free`: levels between the outer ones lie
            anywhere), `low_share` (trials at the lowest level, as a share of those at lowest and highest; levels between
            them follow evenly), `trials` or `minutes` of a participant, `participants`, and `stimuli.distribution`,
            `stimuli.low`, `stimuli.high`, `stimuli.num_values`.
        parameter: what a level sets, such as sigma; None if designs have no levels.
        level: values that each level may have.
        seconds_per_trial: how long a trial takes.
    """

    variables: Mapping[str, Variable]
    parameter: str | None = None
    level: Variable | None = None
    seconds_per_trial: float = 5.0

    def __post_init__(self) -> None:
        if (self.parameter is None) != (self.level is None):
            raise StudioError("A search space needs both a parameter that levels set and its values, or neither.")
        given = self.variables
        if ("trials" in given) == ("minutes" in given):
            raise StudioError("A search space needs either trials or minutes: how long may a session be?")
        for name in ("stimuli.low", "stimuli.high"):
            if name not in given:
                raise StudioError(f"A search space needs {name}: which stimuli can be shown?")
        shows_grid = any(DISTRIBUTIONS.find(str(name)).has_num_values for name in self.options("stimuli.distribution"))
        if shows_grid != ("stimuli.num_values" in given):
            need = "needs" if shows_grid else "takes no"
            raise StudioError(f"A search space whose stimuli are {'' if shows_grid else 'no '}grids {need} num_values.")
        if self.level is None and self.options("levels") != (1,):
            raise StudioError(
                "A search space with several levels needs their values, such as sigma = { range = [0.05, 0.35] }."
            )
        if self.level is not None and not isinstance(self.level, Range | Choice) and self.options("levels") != (1,):
            raise StudioError(f"Levels that are all {self.level} are one level: give {self.parameter} a range or a choice.")
        if not self.searched:
            raise StudioError(
                "The search space is empty: every variable has one value, so there is nothing to search. Give at least one "
                "a { range = [low, high] } or a { choice = [...] }."
            )

    @property
    def searched(self) -> tuple[str, ...]:
        """Names of what varies."""
        names = [name for name in DIMENSIONS if isinstance(self.variables.get(name), Range | Choice)]
        return (*((self.parameter,) if self.parameter and isinstance(self.level, Range | Choice) else ()), *names)

    def get(self, name: str) -> Variable | None:
        """A variable, or its default."""
        return self.variables.get(name, DIMENSIONS[name].default)

    def options(self, name: str) -> tuple[Value, ...]:
        """All values of a variable of which there are finitely many."""
        variable = self.get(name)
        if isinstance(variable, Choice):
            return variable.options
        if isinstance(variable, Range):
            step = int(variable.step or 1)
            return tuple(range(int(variable.low), int(variable.high) + 1, step))
        return () if variable is None else (variable,)


def check_variable(name: str, variable: Variable) -> None:
    """Refuse values that a variable cannot have.

    Raises:
        StudioError: saying which are possible.
    """
    values, list_options = list_values(variable), DIMENSIONS[name].list_options
    if list_options is None:
        _check_numbers(name, values)
        return
    allowed = list_options()
    unfit = [value for value in values if name == "stimuli.distribution" and value in DISTRIBUTIONS and value not in allowed]
    if unfit:
        *others, last = allowed
        raise StudioError(f"A search chooses stimuli by their range: take {', '.join(others)} or {last}, not a {unfit[0]}.")
    for value in values:
        if isinstance(variable, Range) or value not in allowed:
            raise StudioError(f"{name} must be one of {', '.join(allowed)}, or a choice of them, but {value!r} was given.")


def _check_numbers(name: str, values: tuple[Value, ...]) -> None:
    _, _, low, high, is_whole, *_ = DIMENSIONS[name]
    limits = f"{low:g} or more" if math.isinf(high) else f"from {low:g} to {high:g}"
    for value in values:
        if isinstance(value, str):
            raise StudioError(f"{name} must be numbers, but {value!r} was given.")
        if is_whole and value != int(value):
            raise StudioError(f"{name} must be whole numbers, but {value:g} was given.")
        if not low <= value <= high or (not is_whole and value in (0, high)):
            raise StudioError(f"{name} must be {limits}{'' if is_whole else ', ends excluded'}, but {value:g} was given.")


def list_values(variable: Variable) -> tuple[Value, ...]:
    """The values that a variable names; of a range its ends and its first step."""
    if isinstance(variable, Range):
        return (variable.low, variable.high, *(() if variable.step is None else (variable.low + variable.step,)))
    return variable.options if isinstance(variable, Choice) else (variable,)
