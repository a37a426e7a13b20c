"""A design: conditions, trials and stimuli, and what they take in time."""

import dataclasses
from collections.abc import Mapping

from designstudio.errors import StudioError, UnknownNameError
from designstudio.metrics import DesignFacts
from designstudio.model.priors import AbstractPrior
from designstudio.study.factor import Change, Factor
from designstudio.study.stimuli import Stimuli

# Of trials and participants: counts are 32-bit numbers.
MOST = 2**31 - 1
MOST_CONDITIONS = 100
# Files are called by it.
LONGEST_NAME = 80


@dataclasses.dataclass(frozen=True)
class Condition:
    """One condition: an uncertainty level, or a block with a prior or cost of its own.

    Attributes:
        name: how tables and figures call it.
        num_trials: how often a participant responds in it.
        levels: parameters that the experimenter sets here, such as sigma by the contrast of the stimulus.
        population: parameters that people have otherwise in this block: drawn anew, and from what, for example mu_0 after
            other stimuli; or their own value times a factor, for example after a training.
        stimuli: what is shown; by default the design's.
    """

    name: str
    num_trials: int
    levels: Mapping[str, float] = dataclasses.field(default_factory=dict)
    population: Mapping[str, Change] = dataclasses.field(default_factory=dict)
    stimuli: Stimuli | None = None

    def __post_init__(self) -> None:
        if not self.name:
            raise StudioError("A condition needs a name.")
        if self.num_trials < 1:
            raise StudioError(f"Condition {self.name!r} needs at least 1 trial, but {self.num_trials} was given.")
        if self.num_trials > MOST:
            raise StudioError(f"Condition {self.name!r} takes up to {MOST:,} trials, but {self.num_trials:.3g} were given.")
        for name, value in self.levels.items():
            if not value > 0:
                raise StudioError(f"Condition {self.name!r} sets {name} to {value:g}, but it must be positive.")
        both = sorted(set(self.levels) & set(self.population))
        if both:
            raise StudioError(f"Condition {self.name!r} sets {both[0]!r} and also draws it: do one of both.")

    @property
    def drawn(self) -> dict[str, AbstractPrior]:
        """Parameters that are drawn anew."""
        return {name: change for name, change in self.population.items() if isinstance(change, AbstractPrior)}

    @property
    def factors(self) -> dict[str, Factor]:
        """Parameters of which everybody's own value is multiplied."""
        return {name: change for name, change in self.population.items() if isinstance(change, Factor)}


@dataclasses.dataclass(frozen=True)
class Design:
    """An experiment that might be run.

    Attributes:
        name: how tables and figures call it.
        conditions: in the order in which they are reported.
        stimuli: what is shown, where a condition does not say otherwise.
        seconds_per_trial: how long a trial takes.
        num_participants: how many people take part.
    """

    name: str
    conditions: tuple[Condition, ...]
    stimuli: Stimuli
    seconds_per_trial: float = 5.0
    num_participants: int = 1

    def __post_init__(self) -> None:
        if not self.name:
            raise StudioError("A design needs a name.")
        if len(self.name) > LONGEST_NAME:
            raise StudioError(
                f"The name of a design takes up to {LONGEST_NAME} characters, but {self.name[:20]!r}... has more."
            )
        if not self.conditions:
            raise StudioError(f"Design {self.name!r} needs at least one condition.")
        names = [condition.name for condition in self.conditions]
        repeated = [name for name in names if names.count(name) > 1]
        if repeated:
            raise StudioError(f"Design {self.name!r} has two conditions called {repeated[0]!r}: give each its own name.")
        if not self.seconds_per_trial > 0:
            raise StudioError(f"Design {self.name!r} needs seconds_per_trial > 0, but it is {self.seconds_per_trial:g}.")
        if self.num_participants < 1:
            raise StudioError(f"Design {self.name!r} needs at least 1 participant, but {self.num_participants} was given.")
        if self.num_participants > MOST:
            raise StudioError(
                f"Design {self.name!r} takes up to {MOST:,} participants, but {self.num_participants:.3g} were given."
            )
        if len(self.conditions) > MOST_CONDITIONS:
            raise StudioError(
                f"Design {self.name!r} takes up to {MOST_CONDITIONS} conditions, but {len(self.conditions)} were given: it "
                "would take minutes to prepare programs for so many."
            )
        levels = {name for condition in self.conditions for name in condition.levels}
        for condition in self.conditions:
            missing = sorted(levels - set(condition.levels))
            if missing:
                raise StudioError(
                    f"Design {self.name!r} sets {missing[0]!r} in some conditions but not in {condition.name!r}: "
                    "set it in all or in none."
                )

    @property
    def num_trials(self) -> int:
        """Trials of one participant."""
        return sum(condition.num_trials for condition in self.conditions)

    @property
    def minutes(self) -> float:
        """Time of one participant."""
        return self.num_trials * self.seconds_per_trial / 60

    @property
    def facts(self) -> DesignFacts:
        """What metrics of the design alone are computed from."""
        levels = tuple(value for condition in self.conditions for value in condition.levels.values())
        return DesignFacts(self.minutes, self.num_trials, self.num_participants, levels)

    @property
    def levels(self) -> tuple[str, ...]:
        """Parameters that the experimenter sets."""
        return tuple(self.conditions[0].levels)

    @property
    def own_parameters(self) -> tuple[str, ...]:
        """Parameters that some block draws anew or multiplies."""
        return tuple(dict.fromkeys(name for condition in self.conditions for name in condition.population))

    @property
    def drawn_parameters(self) -> tuple[str, ...]:
        """Parameters that some block draws anew."""
        return tuple(dict.fromkeys(name for condition in self.conditions for name in condition.drawn))

    def stimuli_of(self, condition: Condition) -> Stimuli:
        """What is shown in a condition."""
        return condition.stimuli or self.stimuli

    def check_parameters(self, known: list[str]) -> None:
        """Refuse parameters that the model does not have.

        Raises:
            UnknownNameError: naming those that it has.
        """
        for name in (*self.levels, *self.own_parameters):
            if name not in known:
                raise UnknownNameError("parameter", name, known)
