"""How carefully subjects are pooled."""

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

from designstudio.errors import StudioError


@dataclasses.dataclass(frozen=True)
class PoolingSettings:
    """How to pool, and when a group can be trusted.

    Attributes:
        num_draws: draws in each block. num_chains: blocks of draws, which take the place of chains.
        num_particles: of each subject in the last turn. reduction: how many times fewer there are in the turns before it.
        max_turns: how often group and particles are improved in turn, at most.
        settled: they have settled when the group moves by less than this share of its own uncertainty, and that changes by
            less than this share of itself.
        num_pilot_rounds: steps of EM that look for the group before the first turn.
        num_rounds: rounds of each turn in which the proposal of the group learns. num_last_rounds: those of the last turn.
        num_learning_draws: draws of each such round. num_components: t components of the proposal.
        surplus: weighted draws for each one that is wanted.
        spread_share: what the spread's half-normal prior has of the standard deviation of the analysis prior. An analysis
            prior covers whoever might come, in whatever experiment; the people of one group differ less than that. With a
            half the subjects of a group may still, now and then, differ as much as the analysis prior allows (two sd), while
            a few subjects cannot make the group wider than the prior; like every half-normal it has its highest density at
            no spread at all, so it does not invent differences.
        spread_shares: the same for single parameters, in place of `spread_share`.
        min_supporting: fewer particles than this cannot show what the group says about a subject.
        max_khat, min_ess: what the weights of the group must be like.
        max_particle_error: how large the error of its log likelihood may be that is due to the particles, in nats.
    """

    num_draws: int = 1000
    num_chains: int = 4
    num_particles: int = 24_000
    reduction: int = 6
    max_turns: int = 8
    settled: float = 0.35
    num_pilot_rounds: int = 8
    num_rounds: int = 5
    num_last_rounds: int = 2
    num_learning_draws: int = 2000
    num_components: int = 3
    surplus: int = 2
    spread_share: float = 0.5
    spread_shares: Mapping[str, float] = dataclasses.field(default_factory=dict)
    min_supporting: float = 50.0
    max_khat: float = 0.7
    min_ess: float = 200.0
    max_particle_error: float = 0.7

    def __post_init__(self) -> None:
        given = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        for name, share in given.pop("spread_shares").items():
            given[f"spread_shares[{name!r}]"] = share
        for name, value in given.items():
            if not 0 < value < math.inf:
                raise StudioError(f"{name} of pooling must be a number above 0, but {value:g} was given.")

    def find_share(self, name: str) -> float:
        """What the spread of a parameter over subjects has, a priori, of the sd of its analysis prior."""
        return self.spread_shares.get(name, self.spread_share)

    @property
    def sentence(self) -> str:
        """What is assumed about differences between the people of a group, for a methods section; without its end."""
        others = "".join(f", {share:g} times for {name}" for name, share in self.spread_shares.items())
        return (
            "the standard deviation of each parameter over participants had a half-normal prior with a scale of "
            f"{self.spread_share:g} times the standard deviation of that parameter's analysis prior{others}"
        )

    def as_dict(self) -> dict[str, Any]:
        """Resolved settings, for a result's attributes."""
        return {**dataclasses.asdict(self), "spread_shares": dict(self.spread_shares)}
