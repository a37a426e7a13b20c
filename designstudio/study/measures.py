"""What a search makes small or large, and what it must keep within limits: scores of a design, and its own properties."""

import dataclasses

from designstudio.errors import StudioError, UnknownNameError

# Of one or more quantities; of several, their geometric mean where they are sizes, else their mean.
RECOVERY = ("rmse", "mse", "bias", "width", "pearson", "concordance", "coverage", "contraction")
INFORMATION, CONFOUNDING, REMAINING, POWER, FAILED = "information_gain", "confounding", "remaining", "power", "failed"
# Known before anything is simulated.
MINUTES, HOURS, TRIALS, PARTICIPANTS, SMALLEST_LEVEL = "minutes", "hours", "trials", "participants", "smallest_level"
OF_DESIGN = (MINUTES, HOURS, TRIALS, PARTICIPANTS, SMALLEST_LEVEL)
SCORES = (*RECOVERY, INFORMATION, CONFOUNDING, REMAINING, POWER, FAILED, *OF_DESIGN)
LARGER_IS_BETTER = ("pearson", "concordance", "coverage", "contraction", INFORMATION, POWER, SMALLEST_LEVEL)
PRIOR_COST, ALL = "prior_cost", "all"


@dataclasses.dataclass(frozen=True)
class Measure:
    """A number that says how good a design is.

    Attributes:
        score: a recovery score (`rmse`, `mse`, `bias` without its sign, `width`, `pearson`, `concordance`, `coverage`,
            `contraction`); `information_gain` and `confounding`, on `prior_cost` or `all`; `remaining` (share of the prior's
            sd in the weakest direction); `power` to reach a goal; `failed` (share of fits); or a property of the design:
            `minutes` of a participant, `hours` of all, `trials`, `participants`, `smallest_level`.
        of: quantities; for `information_gain` and `confounding` `prior_cost` or `all`; for `power` the goal's number.
    """

    score: str
    of: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.score not in SCORES:
            raise UnknownNameError("score", self.score, SCORES)
        if self.score in RECOVERY and not self.of:
            raise StudioError(f'The score {self.score!r} needs quantities: add of = [...], such as of = ["mu_0", "beta"].')
        if self.score in (REMAINING, FAILED, *OF_DESIGN) and self.of:
            raise StudioError(f"The score {self.score!r} is of the whole design: leave out of = ....")
        if self.score in (INFORMATION, CONFOUNDING) and any(name not in (PRIOR_COST, ALL) for name in self.of):
            raise StudioError(f'The score {self.score!r} is of "prior_cost" or of "all", but {self.of[0]!r} was given.')
        if len(self.of) > 1 and self.score not in RECOVERY:
            raise StudioError(f"The score {self.score!r} takes one of = ..., but {len(self.of)} were given.")

    @property
    def is_larger_better(self) -> bool:
        """Which way is better."""
        return self.score in LARGER_IS_BETTER

    @property
    def is_of_design(self) -> bool:
        """Whether it needs no simulation."""
        return self.score in OF_DESIGN

    @property
    def label(self) -> str:
        """A few words for a table."""
        names = {PRIOR_COST: "prior and cost", ALL: "all parameters"}
        score = {"rmse": "RMSE", "mse": "MSE", "bias": "|bias|", HOURS: "hours of all"}.get(self.score, self.score)
        score = score.replace("_", " ")
        if self.score == POWER:
            return f"power, goal {self.of[0] if self.of else 1}"
        return score if not self.of else f"{score} of {', '.join(names.get(name, name) for name in self.of)}"

    @property
    def unit(self) -> str:
        """For axes; empty where there is none, or where quantities bring their own."""
        return {MINUTES: "min", HOURS: "h", INFORMATION: "nats"}.get(self.score, "")


@dataclasses.dataclass(frozen=True)
class Limit:
    """A measure that must stay within limits."""

    measure: Measure
    at_most: float | None = None
    at_least: float | None = None

    def __post_init__(self) -> None:
        if self.at_most is None and self.at_least is None:
            raise StudioError(f"The constraint on {self.measure.label} needs at_most = ... or at_least = ....")

    def exceed(self, value: float) -> float:
        """By how much a value breaks the limit; 0 or less if it does not."""
        over = -float("inf") if self.at_most is None else value - self.at_most
        under = -float("inf") if self.at_least is None else self.at_least - value
        return max(over, under)

    @property
    def label(self) -> str:
        """In a few words."""
        parts = [f"at most {self.at_most:g}"] if self.at_most is not None else []
        parts += [f"at least {self.at_least:g}"] if self.at_least is not None else []
        return f"{self.measure.label} {' and '.join(parts)}"
