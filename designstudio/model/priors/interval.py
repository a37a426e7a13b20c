"""Closed intervals of the real line."""

import dataclasses
import math

from designstudio.errors import StudioError


@dataclasses.dataclass(frozen=True)
class Interval:
    """A closed interval of the real line; an end may be infinite."""

    low: float
    high: float

    def __post_init__(self) -> None:
        if not self.low < self.high:
            raise StudioError(f"An interval needs low < high, but low is {self.low:g} and high is {self.high:g}.")

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high

    def __str__(self) -> str:
        return f"{self.low:g} to {self.high:g}"

    def intersect(self, other: "Interval") -> "Interval":
        """The part that both intervals share."""
        return Interval(max(self.low, other.low), min(self.high, other.high))

    def stretch(self, factor: float) -> "Interval":
        """The interval of a positive factor times what lies in this one."""
        return Interval(self.low * factor, self.high * factor)


POSITIVE_NUMBERS = Interval(0.0, math.inf)
