"""How carefully to fit. Defaults are what an expert would choose; every result carries the settings it was made with."""

import dataclasses
from typing import Any

from designstudio.errors import StudioError, UnknownNameError

METHODS = ("auto", "importance", "nuts")
JUMPS = ("never", "ridges", "always")
# Shares of the warm-up: a first look, the mass matrix, the step size that goes with it.
WINDOWS = (0.25, 0.5, 0.25)
# Settings of which at least one is needed.
COUNTS = (
    "batch_size",
    "chunk_size",
    "min_block_size",
    "num_components",
    "max_tree_depth",
    "num_warmup",
    "num_careful_repeats",
    "num_patient_repeats",
    "num_correction_parts",
)


@dataclasses.dataclass(frozen=True)
class ImportanceSettings:
    """Importance sampling.

    Attributes:
        num_rounds: how often the proposal is refitted.
        num_blocks: blocks of draws that are kept; they take the place of chains.
        block_size: draws in each block and round.
        num_components: t components of the proposal.
        num_refits: steps of expectation-maximisation in each round.
        chunk_size: data sets that a device works on at once.
        starts_chains: whether chains will start from the draws, which takes more than their parameters and weights.
    """

    num_rounds: int = 2
    num_blocks: int = 4
    block_size: int = 1000
    num_components: int = 3
    num_refits: int = 2
    chunk_size: int = 1
    starts_chains: bool = True


@dataclasses.dataclass(frozen=True)
class NutsSettings:
    """NUTS.

    Attributes:
        windows: draws of each window of the warm-up. Step sizes are adapted in all, the mass matrix after all but the last.
        num_draws: draws of each chain after that.
        max_tree_depth: trajectories have at most 2^depth - 1 steps.
        max_mean_steps: a chain whose trajectories are longer than this on average gives up: something is wrong with it, and
            hundreds of others would wait for it.
        target_acceptance: mean acceptance probability to which step sizes are adapted; higher is more careful.
        first_step_size: in units of the posterior's standard deviations.
        jumps: `never`, `always`, or on `ridges`: where importance sampling has found a direction that the data leave open,
            and where chains without jumps broke down, or were not good enough when they had gone on.
        min_open: from which share of its allowed range on a direction counts as open, measured by standard deviations.
        chunk_size: data sets that a device works on at once.
    """

    windows: tuple[int, ...] = (40, 80, 40)
    num_draws: int = 500
    max_tree_depth: int = 8
    max_mean_steps: int = 30
    target_acceptance: float = 0.8
    first_step_size: float = 0.8
    jumps: str = "ridges"
    min_open: float = 0.5
    chunk_size: int = 100


@dataclasses.dataclass(frozen=True)
class FitSettings:
    """How to fit, and when a fit is good enough.

    Attributes:
        method: `importance` (fast), `nuts` (careful), or `auto`: importance sampling, and NUTS where that fails.
        num_chains: chains, or blocks of importance draws, of each data set. num_draws: draws kept from each chain.
        max_rhat: largest acceptable R-hat. min_ess: fewest acceptable effective draws of any parameter. max_khat: largest
            acceptable Pareto k-hat of the importance weights. max_divergent: largest acceptable share of divergent
            trajectories, and min_ebfmi: smallest acceptable E-BFMI, both for chains that do not jump; one that jumps gets to
            where its trajectories do not. min_ess_tail: as min_ess, for the 5 % and 95 % quantiles; with 0 nobody looks at
            tails of importance draws.
        batch_size: data sets that all devices together work on at once. chunk_size: of these, on a CPU, those that one
            of its cores works on at once: the draws of a single data set fill its cache already.
        keeps_log_likelihood: whether the pointwise log likelihood is kept, which PSIS-LOO needs.
        min_block_size: importance draws of each block, however few of them are kept: proposals learn from them.
        num_draws_a_round: the same for each round of learning: where the regression tells less, proposals need more rounds,
            and more draws in each.
        num_components: t components of the proposal. num_refits: how often each round improves them.
        num_ranges: of stimuli in each condition, by whose regressions samplers see trials under a policy that bends: fast,
            however many trials there are. What that leaves out is measured on all trials and corrected.
        sees_ranges: whether fewer ranges, uncorrected, are good enough: a quick look.
        num_warmup: draws of each chain before the first is kept. max_tree_depth, target_acceptance, jumps: of NUTS; see
            `NutsSettings`.
        num_careful_repeats: how often a careful stage runs the fast stage's program, each time going on where it ended:
            nothing new to compile. num_patient_repeats: the same once more, for the few that are left; and how many times
            as many importance draws are made where they are good but too few.
        many_trials: from this many trials on, what a fast likelihood leaves out of each is too much in all.
        max_rule_error: standard deviation of the difference between fast and careful likelihood, in nats, up to which a
            correction would change nothing that matters.
        num_correction_parts: parts of the draws in which the two are compared: one to see, all if that must be corrected.
    """

    method: str = "auto"
    num_chains: int = 4
    num_draws: int = 1000
    max_rhat: float = 1.01
    min_ess: float = 400.0
    min_ess_tail: float = 400.0
    max_khat: float = 0.7
    max_divergent: float = 0.01
    min_ebfmi: float = 0.2
    batch_size: int = 100
    chunk_size: int = 1
    keeps_log_likelihood: bool = True
    min_block_size: int = 500
    num_draws_a_round: int = 0
    num_components: int = 3
    num_refits: int = 2
    num_ranges: int = 16
    sees_ranges: bool = False
    num_warmup: int = 160
    max_tree_depth: int = 8
    target_acceptance: float = 0.8
    jumps: str = "ridges"
    num_careful_repeats: int = 4
    num_patient_repeats: int = 12
    many_trials: int = 500
    max_rule_error: float = 0.05
    num_correction_parts: int = 10

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise UnknownNameError("method", self.method, METHODS)
        if self.jumps not in JUMPS:
            raise UnknownNameError("setting of jumps", self.jumps, JUMPS)
        for name in ("num_chains", "num_draws", *COUNTS):
            if getattr(self, name) < 1:
                raise StudioError(f"{name} must be at least 1, but {getattr(self, name)} was given.")
        if self.num_chains < 2:
            raise StudioError("num_chains must be at least 2, but 1 was given: convergence is judged by comparing chains.")
        if self.num_draws < 100:
            raise StudioError(f"num_draws must be at least 100, but {self.num_draws} was given: diagnostics need them.")

    def choose_importance(self, num_rounds: int) -> ImportanceSettings:
        """Importance sampling with blocks in place of chains, and as many rounds as the model's coordinates need."""
        return ImportanceSettings(
            num_rounds=num_rounds,
            num_blocks=self.num_chains,
            block_size=max(self.num_draws, self.min_block_size, num_rounds * self.num_draws_a_round),
            num_components=self.num_components,
            num_refits=self.num_refits,
            chunk_size=self.chunk_size,
            starts_chains=self.method != "importance",
        )

    def choose_nuts(self) -> NutsSettings:
        """NUTS with as many draws."""
        return NutsSettings(
            windows=tuple(max(1, round(share * self.num_warmup)) for share in WINDOWS),
            num_draws=self.num_draws,
            max_tree_depth=self.max_tree_depth,
            target_acceptance=self.target_acceptance,
            jumps=self.jumps,
        )

    def as_dict(self) -> dict[str, Any]:
        """Resolved settings, for a result's attributes."""
        return dataclasses.asdict(self)
