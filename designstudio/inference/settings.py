"""How carefully to fit. Defaults are what an expert would choose; every result carries the settings it was made with."""

import dataclasses
from typing import Any

from designstudio.errors import StudioError, UnknownNameError

METHODS = ("auto", "importance", "nuts")


@dataclasses.dataclass(frozen=True)
class ImportanceSettings:
    """Importance sampling.

    Attributes:
        num_rounds: how often the proposal is refitted.
        num_blocks: blocks of draws that are kept; they take the place of chains.
        block_size: draws in each block and round.
        num_components: t components of the proposal.
    """

    num_rounds: int = 2
    num_blocks: int = 4
    block_size: int = 1000
    num_components: int = 3


@dataclasses.dataclass(frozen=True)
class NutsSettings:
    """NUTS.

    Attributes:
        num_warmup: steps before the first draw is kept.
        num_draws: draws of each chain after that.
        max_tree_depth: trajectories have at most 2^log_saturation - 1 steps.
        adapts: whether the warm-up tunes step size and mass matrix, beyond the whitening from importance sampling.
        first_step_size: in units of the posterior's standard deviations.
        target_acceptance: when adapting; higher is more careful.
    """

    num_warmup: int = 20
    num_draws: int = 500
    max_tree_depth: int = 1
    adapts: bool = False
    first_step_size: float = 0.9
    target_acceptance: float = 0.8


@dataclasses.dataclass(frozen=True)
class FitSettings:
    """How to fit, and when a fit is good enough.

    Attributes:
        method: `importance` (fast), `nuts` (the reference), or `auto`: importance sampling, and NUTS where that fails.
        num_chains: chains, or blocks of importance draws, of each data set. num_draws: draws kept from each chain.
        max_rhat: largest acceptable R-hat. min_ess: fewest acceptable effective draws of any parameter. max_khat: largest
        acceptable Pareto k-hat of the importance weights. max_divergent: largest acceptable share of divergent
        trajectories. Trajectories only have to be good on average: between
            two of them a chain may jump to an independent draw.
        batch_size: data sets that all devices together work on at once.
        keeps_log_likelihood: whether the pointwise log likelihood is kept, which PSIS-LOO needs.
    """

    method: str = "auto"
    num_chains: int = 4
    num_draws: int = 1000
    max_rhat: float = 1.01
    min_ess: float = 400.0
    max_khat: float = 0.7
    max_divergent: float = 0.5
    batch_size: int = 100
    keeps_log_likelihood: bool = True

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise UnknownNameError("method", self.method, METHODS)
        for name in ("num_chains", "num_draws", "batch_size"):
            if getattr(self, name) < 1:
                raise StudioError(f"{name} must be at least 1, but {getattr(self, name)} was given.")
        if self.num_chains < 2:
            raise StudioError("num_chains must be at least 2, but 1 was given: convergence is judged by comparing chains.")
        if self.num_draws < 100:
            raise StudioError(f"num_draws must be at least 100, but {self.num_draws} was given: diagnostics need them.")

    def as_dict(self) -> dict[str, Any]:
        """Resolved settings, for a result's attributes."""
        return dataclasses.asdict(self)
