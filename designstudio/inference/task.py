"""What one call of `fit_datasets` works on and what it collects.

A task has the data as samplers see them and random numbers for every data set; results are filled stage by stage.
"""

import dataclasses
from collections.abc import Iterator

import jax
import numpy as np
from jaxtyping import Array, Int, Key

from designstudio.core.randomness import make_generator, make_key
from designstudio.inference.batches import choose_batch_size, iterate_batches
from designstudio.inference.diagnostics import Draws
from designstudio.inference.settings import FitSettings
from designstudio.model.likelihood.condense import condense
from designstudio.model.likelihood.lapses import MOST_TRIALS, lay_out_ranges
from designstudio.model.likelihood.model import BehaviorModel
from designstudio.model.likelihood.observations import Observations, drop_trials
from designstudio.model.likelihood.ranges import summarize_ranges

# Of a quick look.
FEW_RANGES = 8


@dataclasses.dataclass(frozen=True)
class Task:
    """Data sets that are fitted together.

    Attributes:
        model: what is fitted.
        observations: of all data sets. sampled: what samplers see of them.
        is_exact: whether samplers see the likelihood of all trials, or of what was asked for instead, so that nothing is
            left to correct.
        numbers: of the data sets; their random numbers depend on them.
        settings: how carefully. seed: of all random numbers.
    """

    model: BehaviorModel
    observations: Observations
    sampled: Observations
    is_exact: bool
    numbers: np.ndarray
    settings: FitSettings
    seed: int

    @classmethod
    def prepare(
        cls, model: BehaviorModel, observations: Observations, numbers: np.ndarray, settings: FitSettings, seed: int
    ) -> "Task":
        """Choose what samplers see: regressions, which tell all about a linear policy and nearly all about any other."""
        if model.is_linear:
            # The same shape for every number of trials, so that designs share one program.
            return cls(model, observations, drop_trials(observations), True, numbers, settings, seed)
        if model.has_lapses and (model.is_straight or observations.weight.shape[-1] > settings.num_ranges):
            return cls._prepare_lapses(model, observations, numbers, settings, seed)
        if settings.sees_ranges:
            return cls(model, observations, summarize_ranges(observations, FEW_RANGES), True, numbers, settings, seed)
        if observations.weight.shape[-1] <= settings.num_ranges:
            return cls.prepare_trials(model, observations, numbers, settings, seed)
        ranges = summarize_ranges(observations, settings.num_ranges)
        return cls(model, observations, ranges, False, numbers, settings, seed)

    @classmethod
    def _prepare_lapses(
        cls, model: BehaviorModel, observations: Observations, numbers: np.ndarray, settings: FitSettings, seed: int
    ) -> "Task":
        """Samplers see trials within ranges: a mixture has no sufficient statistics."""
        is_whole = _count_trials(observations) <= MOST_TRIALS
        is_exact = model.is_straight and is_whole
        num_ranges = 1 if is_exact else FEW_RANGES if settings.sees_ranges else settings.num_ranges
        sampled = lay_out_ranges(observations, num_ranges)
        return cls(model, observations, sampled, is_exact or settings.sees_ranges, numbers, settings, seed)

    @classmethod
    def prepare_trials(
        cls, model: BehaviorModel, observations: Observations, numbers: np.ndarray, settings: FitSettings, seed: int
    ) -> "Task":
        """Samplers see every trial, or a few nodes in place of many with the same stimulus."""
        sampled = observations if model.has_lapses else condense(observations)
        is_condensed = sampled is not observations
        num_trials = _count_trials(observations)
        # What a fast rule leaves out adds up over trials; with a few nodes in place of many of them it saves little.
        if is_condensed and num_trials > settings.many_trials:
            model = model.change(is_careful=True)
        is_exact = model.fast_rule == model.rule and not is_condensed
        return cls(model, observations, sampled, is_exact, numbers, settings, seed)

    @property
    def num_trials(self) -> float:
        """Of the data set that has most."""
        return _count_trials(self.observations)

    @property
    def sees_trials(self) -> bool:
        """Whether samplers see trials, or what stands for each of them."""
        return self.is_exact or self.sampled.ranges is None

    def iterate_batches(self, datasets: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Batches of data set indices, each with which of them are not just filling."""
        size = choose_batch_size(self.model, self.sampled, self.settings)
        for positions, is_wanted in iterate_batches(len(datasets), size):
            yield datasets[positions], is_wanted

    def make_keys(self, chosen: np.ndarray, purpose: str) -> Key[Array, " dataset"]:
        """One key for each data set and purpose, whatever else is fitted."""
        return _fold_in(make_key(self.seed, purpose), np.asarray(self.numbers[chosen], np.int32))

    def make_generators(self, chosen: np.ndarray, stage: str) -> list[np.random.Generator]:
        """One generator for each data set and stage, for what is drawn on the host."""
        return [make_generator(self.seed, stage, int(number)) for number in self.numbers[chosen]]


@jax.jit
def _fold_in(key: Key[Array, ""], numbers: Int[Array, " dataset"]) -> Key[Array, " dataset"]:
    return jax.vmap(jax.random.fold_in, in_axes=(None, 0))(key, numbers)


def _count_trials(observations: Observations) -> float:
    return float(np.max(np.sum(observations.moments.count, axis=-1)))


def pick(observations: Observations, chosen: np.ndarray) -> Observations:
    """Some of the data sets."""
    return jax.tree.map(lambda array: array[chosen], observations)


@dataclasses.dataclass
class Results:
    """Results of all data sets, filled in stage by stage."""

    draws: Draws
    stats: dict[str, np.ndarray]
    diagnostics: dict[str, np.ndarray]

    @classmethod
    def empty(cls, model: BehaviorModel, num_datasets: int, settings: FitSettings) -> "Results":
        shape = (num_datasets, settings.num_chains, settings.num_draws)
        draws = {
            name: np.full((*shape, model.num_conditions) if name in model.per_condition else shape, np.nan, np.float32)
            for name in model.free
        }
        stats = {
            "lp": np.full(shape, np.nan, np.float32),
            "energy": np.full(shape, np.nan, np.float32),
            "n_steps": np.zeros(shape, np.int32),
            "acceptance_rate": np.full(shape, np.nan, np.float32),
            "step_size": np.full(shape, np.nan, np.float32),
            "diverging": np.zeros(shape, bool),
            "reached_max_treedepth": np.zeros(shape, bool),
            "jumped": np.zeros(shape, bool),
        }
        diagnostics: dict[str, np.ndarray] = {
            "is_good": np.zeros(num_datasets, bool),
            "stage": np.full(num_datasets, "", dtype="<U40"),
            "reason": np.full(num_datasets, "", dtype="<U160"),
            "khat": np.full(num_datasets, np.nan),
            "importance_ess": np.full(num_datasets, np.nan),
            "log_evidence": np.full(num_datasets, np.nan),
            "rhat": np.full(num_datasets, np.nan),
            "ess": np.full(num_datasets, np.nan),
            "ess_tail": np.full(num_datasets, np.nan),
            "ebfmi": np.full(num_datasets, np.nan),
            "num_divergent": np.zeros(num_datasets, int),
            "num_saturated": np.zeros(num_datasets, int),
            "mean_steps": np.full(num_datasets, np.nan),
            "mean_step_size": np.full(num_datasets, np.nan),
            "jump_rate": np.full(num_datasets, np.nan),
            "has_jumps": np.zeros(num_datasets, bool),
            "rule_error": np.zeros(num_datasets),
        }
        return cls(draws, stats, diagnostics)
