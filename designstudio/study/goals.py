"""What a study should achieve: goals, whose chance of being reached is the study's power."""

import dataclasses
from collections.abc import Collection, Mapping

from designstudio.errors import StudioError, UnknownNameError
from designstudio.metrics.power import ALPHA
from designstudio.model.priors import AbstractPrior
from designstudio.study.groups import BAYES_FACTOR, DECISIONS, HIERARCHICAL, LEAST_FACTOR

EXCLUDES, NARROWER, GROUPS_DIFFER = "excludes", "narrower", "groups-differ"
GROUP_MEAN, CHANGES = "group-mean", "changes"
KINDS = (EXCLUDES, NARROWER, GROUPS_DIFFER, GROUP_MEAN, CHANGES)
# Those that have a value to stay away from.
WITH_VALUE = (EXCLUDES, GROUP_MEAN)
MARGIN_AT_END = 0.05


@dataclasses.dataclass(frozen=True)
class Goal:
    """One goal.

    Attributes:
        kind: `excludes` (a participant's interval lies beyond `value`), `narrower` (a participant's interval is narrower
            than `width`), `groups-differ` (two groups of participants are told apart), `group-mean` (the middle of a group
            lies beyond `value`), or `changes` (people have another value in one condition than in another).
        quantity: a parameter or a quantity of the study.
        value: for `excludes` and `group-mean`; by default the neutral value of a cost's parameter.
        margin: by how much the interval must stay away from `value`; by default 0, unless `value` is an end of the prior.
            For `groups-differ` and `changes`, by how much groups or conditions must differ at least: a region of practical
            equivalence.
        margin_at_end: the margin where `value` is an end of the prior and none is given, as a share of the prior's range:
            no interval of a posterior ever reaches the very end of its prior.
        width: for `narrower`.
        group: for `groups-differ` in a study without groups, parameters of the second group where it differs from the
            population: power then comes from a formula for t tests.
        groups: for `groups-differ`, the two groups of the study that are compared, by default its first two; for
            `group-mean` and `changes` one group, by default the first.
        conditions: for `changes`, the two conditions that are compared, by default the first two of each design.
        decision: of a whole study: `hierarchical`, by the interval of the middle of each group in the analysis that pools
            participants, or `t-test` or `bayes-factor`, on posterior means.
        least_factor: for `bayes-factor`, how large it must be at least.
        name: how tables, files and searches call it; by default its kind and quantity in a few words.
    """

    kind: str
    quantity: str
    value: float | None = None
    margin: float | None = None
    margin_at_end: float = MARGIN_AT_END
    width: float | None = None
    group: Mapping[str, AbstractPrior] = dataclasses.field(default_factory=dict)
    name: str = ""
    groups: tuple[str, ...] = ()
    decision: str = HIERARCHICAL
    conditions: tuple[str, ...] = ()
    least_factor: float = LEAST_FACTOR

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise UnknownNameError("goal", self.kind, KINDS)
        if not self.name.isprintable() or self.name != self.name.strip() or self.name.isdecimal():
            raise StudioError(f"The name of a goal is words in one line, such as 'effort', but {self.name!r} was given.")
        self._check_decision()
        needs_width = self.kind == NARROWER
        if needs_width != (self.width is not None):
            raise StudioError(f"The goal {self.kind!r} {'needs a' if needs_width else 'takes no'} width.")
        if self.group and self.kind != GROUPS_DIFFER:
            raise StudioError(f"The goal {self.kind!r} takes no second group.")
        if self.group and (self.groups or self.margin is not None or self.decision != HIERARCHICAL):
            raise StudioError(
                f"The goal {self.kind!r} has a group of its own, whose power comes from a formula: for a decision, a margin "
                "or groups with names, give the study [[groups]] in its place."
            )
        num_groups = {GROUPS_DIFFER: 2, GROUP_MEAN: 1, CHANGES: 1}.get(self.kind, 0)
        if self.groups and len(set(self.groups)) != num_groups:
            raise StudioError(
                f"The goal {self.kind!r} takes {num_groups or 'no'} groups, but {len(self.groups)} were given."
            )
        if self.conditions and (self.kind != CHANGES or len(set(self.conditions)) != 2):
            takes = "two conditions" if self.kind == CHANGES else "no conditions"
            raise StudioError(f"The goal {self.kind!r} takes {takes}, but {len(self.conditions)} were given.")
        if (self.value is not None and self.kind not in WITH_VALUE) or (self.margin is not None and needs_width):
            raise StudioError(f"The goal {self.kind!r} takes no value or margin.")
        if self.width is not None and not self.width > 0:
            raise StudioError(f"The width of a goal must be positive, but {self.width:g} was given.")
        if self.margin is not None and not self.margin >= 0:
            raise StudioError(f"The margin of a goal must be 0 or more, but {self.margin:g} was given.")
        if not 0 <= self.margin_at_end < 1:
            raise StudioError(f"margin_at_end must be at least 0 and below 1, but {self.margin_at_end:g} was given.")

    def _check_decision(self) -> None:
        if self.decision not in DECISIONS:
            raise UnknownNameError("decision", self.decision, DECISIONS)
        if not self.least_factor > 1:
            raise StudioError(f"The Bayes factor of a goal must be above 1, but {self.least_factor:g} was given.")
        if self.least_factor != LEAST_FACTOR and self.decision != BAYES_FACTOR:
            raise StudioError(f"least_factor is for the decision {BAYES_FACTOR!r}, but this goal's is {self.decision!r}.")

    @property
    def is_of_studies(self) -> bool:
        """Whether whole studies are simulated to see how often it is reached."""
        return self.kind in (GROUP_MEAN, CHANGES) or (self.kind == GROUPS_DIFFER and not self.group)

    @property
    def label(self) -> str:
        """The name, or a few words for a table."""
        if self.name:
            return self.name
        if self.is_of_studies:
            return f"{self._describe_aim()}, {self.decision}"
        if self.kind == EXCLUDES:
            return f"{self.quantity} is not {'neutral' if self.value is None else f'{self.value:g}'}"
        if self.kind == NARROWER:
            return f"{self.quantity} within {self.width:g}"
        return f"groups differ in {self.quantity}"

    def _describe_aim(self) -> str:
        if self.kind == GROUP_MEAN:
            of = f" of {self.groups[0]}" if self.groups else ""
            return f"{self.quantity}{of} is not {'neutral' if self.value is None else f'{self.value:g}'} on average"
        if self.kind == CHANGES:
            of = f" of {self.groups[0]}" if self.groups else ""
            between = f" from {self.conditions[0]} to {self.conditions[1]}" if self.conditions else ""
            return f"{self.quantity}{of} changes{between}"
        who = " and ".join(self.groups) or "groups"
        return f"{who} differ in {self.quantity}"

    def label_of(self, quantity: str) -> str:
        """The label of a goal whose quantity has a value for each condition, for one of them."""
        return f"{self.name} ({quantity})" if self.name else self.label.replace(self.quantity, quantity, 1)

    def has_effect(self, simulated: Collection[str]) -> bool:
        """Whether it is about an effect that could be absent.

        Args:
            simulated: names of the parameters of simulated participants.
        """
        return self.kind in (GROUPS_DIFFER, CHANGES) or (self.kind in WITH_VALUE and self.quantity in simulated)

    def nominal_level(self, interval: float) -> float | None:
        """How often it may be reached without its effect; None for a goal that has none.

        This is the one limit to false-positive rates, for verdicts, figures, and searches for power: the rate of intervals
        that are right, or of a t test. A rate counts as too high if it is above by more than two Monte Carlo errors.

        Args:
            interval: probability of the study's intervals.
        """
        of_interval = round(1 - interval, 12)
        if self.is_of_studies:
            return {HIERARCHICAL: of_interval, BAYES_FACTOR: 1 / self.least_factor}.get(self.decision, ALPHA)
        return {EXCLUDES: of_interval, GROUPS_DIFFER: ALPHA}.get(self.kind)

    def __str__(self) -> str:
        if self.kind == EXCLUDES:
            what = "its neutral value" if self.value is None else f"{self.value:g}"
            return f"the interval of {self.quantity} excludes {what}"
        if self.kind == NARROWER:
            return f"the interval of {self.quantity} is narrower than {self.width:g}"
        if self.is_of_studies:
            return self._describe_aim()
        other = ", ".join(f"{name} {prior}" for name, prior in self.group.items())
        return f"{self.quantity} differs from a group with {other}"
