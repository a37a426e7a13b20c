"""Groups of participants: who takes part, and in what they differ from the population."""

import dataclasses
from collections.abc import Mapping, Sequence

import numpy as np

from designstudio.errors import StudioError, UnknownNameError
from designstudio.model.parameters import Parameter
from designstudio.model.priors import AbstractPrior
from designstudio.study.factor import Change, Factor

# Decisions of a whole study: by the interval of the hierarchical analysis, or by a test on posterior means.
HIERARCHICAL, T_TEST, BAYES_FACTOR = "hierarchical", "t-test", "bayes-factor"
DECISIONS = (HIERARCHICAL, T_TEST, BAYES_FACTOR)
# "Strong evidence" for an effect.
LEAST_FACTOR = 10.0
FEWEST_MEMBERS = 2


@dataclasses.dataclass(frozen=True)
class Group:
    """Participants of one kind.

    Attributes:
        name: how tables call it.
        num_participants: how many take part; by default as many as the design says.
        dropout: share of them whose data are lost.
        differs: parameters in which they differ from the population: drawn from another distribution, or multiplied by a
            factor. Only a factor can change what a design sets.
    """

    name: str
    num_participants: int | None = None
    dropout: float = 0.0
    differs: Mapping[str, Change] = dataclasses.field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.name.strip() or not self.name.isprintable():
            raise StudioError(f"A group needs a name of one line, but {self.name!r} was given.")
        if self.num_participants is not None and self.num_participants < FEWEST_MEMBERS:
            raise StudioError(
                f"Group {self.name!r} needs at least {FEWEST_MEMBERS} participants, but {self.num_participants} was given."
            )
        for name, change in self.differs.items():
            if isinstance(change, Factor) and change.spread:
                raise StudioError(f"The {name} factor of group {self.name!r} has no spread: give its people a distribution.")
        if not 0 <= self.dropout < 1:
            raise StudioError(f"The dropout of group {self.name!r} must be at least 0 and below 1, not {self.dropout:g}.")

    @property
    def priors(self) -> dict[str, AbstractPrior]:
        """Parameters that are drawn from other distributions."""
        return {name: change for name, change in self.differs.items() if isinstance(change, AbstractPrior)}

    @property
    def factors(self) -> dict[str, float]:
        """Parameters that are multiplied."""
        return {name: change.factor for name, change in self.differs.items() if isinstance(change, Factor)}

    def check(self, simulated: Sequence[Parameter]) -> None:
        """Refuse differences in what simulated participants do not have; parameters are in the unit of the study.

        Raises:
            StudioError: naming the parameter, what was given and what is allowed.
        """
        parameters = {parameter.name: parameter for parameter in simulated}
        for name, change in self.differs.items():
            if name not in parameters:
                raise UnknownNameError(f"parameter of group {self.name!r}", name, parameters)
            if isinstance(change, AbstractPrior):
                parameters[name].check(change.quantile(np.array([0.0001, 0.9999])), f"{name} of group {self.name!r}")


# Whoever takes part in a study that names no groups.
EVERYBODY = Group("everybody")
