"""Fit many data sets at once, with escalation: what the fast stage cannot fit is fitted again with more care.

    auto, importance:  importance sampling -> the same with a better proposal -> (auto only) careful NUTS
    nuts:              NUTS from importance draws -> longer NUTS with a better proposal

What still fails is returned with a reason and `is_good` false, and counted. Chains and proposals never see true parameters.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import Array, Key

from designstudio.core.configuration import configure_once
from designstudio.core.progress import Counter, ProgressCallback
from designstudio.inference.batches import (
    ImportanceBatch,
    compute_correction,
    compute_pointwise,
    iterate_batches,
    local_mesh,
    run_importance,
    run_nuts,
)
from designstudio.inference.coordinates import choose_coordinates
from designstudio.inference.diagnostics import Draws, check_chains, check_weights, judge_chains, judge_weights, resample
from designstudio.inference.nuts import Chain
from designstudio.inference.posterior import build_posterior
from designstudio.inference.preflight import check_scale, note_weak_data
from designstudio.inference.results import Results
from designstudio.inference.settings import FitSettings, ImportanceSettings, NutsSettings
from designstudio.model.likelihood.condense import condense
from designstudio.model.likelihood.model import BehaviorModel
from designstudio.model.likelihood.observations import Observations, drop_trials, sort_by_noise
from designstudio.model.likelihood.packing import NOTHING_FIXED, FixedValue, pack_trials, unpack_pointwise

STAGES = ("importance", "importance, more care", "nuts", "nuts, more care")
# A careful stage runs the fast stage's program this often, each time going on where it ended: nothing new to compile.
NUM_CAREFUL_REPEATS = 4
# The same once more, for the few that are left.
NUM_PATIENT_REPEATS = 12
# Parts of the draws in which fast and careful likelihood are compared: one to see, all if that must be corrected.
NUM_CORRECTION_PARTS = 4
# Standard deviation of the difference, in nats, up to which a correction would change nothing that matters.
LARGEST_RULE_ERROR = 0.03
# From this many trials on, what a fast rule leaves out of each is too much in all.
MANY_TRIALS = 500
# Importance draws of each block, however few of them are kept: proposals learn from them.
SMALLEST_BLOCK = 500


def fit_datasets(
    model: BehaviorModel,
    trials: xr.Dataset,
    *,
    fixed: Mapping[str, FixedValue] = NOTHING_FIXED,
    settings: FitSettings | None = None,
    seed: int = 0,
    progress: ProgressCallback | None = None,
) -> xr.DataTree:
    """Posterior of every data set.

    Args:
        model: what is fitted.
        trials: one or many data sets, in the schema of `designstudio.model.trials`.
        fixed: values of the model's fixed parameters; see `pack_trials`.
        settings: how carefully.
        seed: of all random numbers; each data set has its own, by its number (the coordinate `dataset`), so adding data
            sets changes nothing for the others.
        progress: called with a `Progress` after every batch.

    Returns:
        A DataTree; see `designstudio.inference.posterior`.
    """
    configure_once()
    settings = FitSettings() if settings is None else settings
    check_scale(model, trials)
    observations, order = sort_by_noise(pack_trials(trials, model, fixed))
    num_datasets = trials.sizes["dataset"]
    results = Results.empty(model, num_datasets, settings)
    run = _Run(model, observations, trials["dataset"].values, settings, seed, results, progress)
    everything = np.arange(num_datasets)
    if settings.method == "nuts":
        failed = run.sample_chains("nuts", everything)
    else:
        failed = run.sample_weighted("importance", everything)
        failed = run.sample_weighted("importance, more care", failed, num_repeats=NUM_CAREFUL_REPEATS)
        if settings.method == "auto":
            # Nothing to compile for it, which chains need, and few are left.
            failed = run.sample_weighted("importance, more care", failed, num_repeats=NUM_PATIENT_REPEATS)
    if settings.method != "importance":
        # Most need only a little more: an R-hat above the threshold by chance.
        for num_repeats in (2, NUM_CAREFUL_REPEATS):
            failed = run.sample_chains("nuts, more care", failed, num_repeats=num_repeats)
    note_weak_data(results, trials)
    log_likelihood = run.pointwise(trials, order) if settings.keeps_log_likelihood else None
    return build_posterior(
        model,
        trials,
        draws={name: _restore(values, order) for name, values in results.draws.items()},
        sample_stats=results.stats,
        diagnostics=results.diagnostics,
        log_likelihood=log_likelihood,
        fixed={name: _restore(np.asarray(values), order) for name, values in observations.fixed.items()},
        settings=settings,
        seed=seed,
    )


class _Run:
    """One call of `fit_datasets`: stages that write into the same results."""

    def __init__(
        self,
        model: BehaviorModel,
        observations: Observations,
        numbers: np.ndarray,
        settings: FitSettings,
        seed: int,
        results: Results,
        progress: ProgressCallback | None,
    ) -> None:
        self.observations, self.numbers, self.settings = observations, numbers, settings
        # What samplers see: under a power law the same shape for every number of trials, so designs share one program.
        self._sampled = drop_trials(observations) if model.is_linear else condense(observations)
        is_condensed = not model.is_linear and self._sampled is not observations
        num_trials = float(np.max(np.sum(observations.moments.count, axis=-1)))
        # What a fast rule leaves out adds up over trials; with a few nodes in place of many of them it saves little.
        self.model = model.change(is_careful=True) if is_condensed and num_trials > MANY_TRIALS else model
        self._is_exact = self.model.fast_rule == self.model.rule and not is_condensed
        self.seed, self.results = seed, results
        self._importance = choose_importance(model, settings)
        self._nuts = NutsSettings(num_draws=settings.num_draws)
        self._counter, self._num_draws = Counter(progress, len(results.diagnostics["stage"])), 0

    def keys(self, chosen: np.ndarray, stage: str) -> Key[Array, " dataset"]:
        """One key for each data set and stage, whatever else is fitted."""
        root = jax.random.fold_in(jax.random.key(self.seed), STAGES.index(stage))
        return jax.vmap(lambda index: jax.random.fold_in(root, index))(jnp.asarray(self.numbers[chosen]))

    def sample_weighted(self, stage: str, datasets: np.ndarray, num_repeats: int = 1) -> np.ndarray:
        """Importance sampling of these data sets; returns those it could not fit.

        With repeats, the proposal goes on learning; the draws of the last repeat are used.
        """
        failed: list[int] = []
        for chosen, is_wanted in self._batches(datasets):
            batch = self._learn(_pick(self._sampled, chosen), self.keys(chosen, stage), is_wanted, num_repeats)
            check = check_weights(np.asarray(batch.log_weight)[is_wanted])
            at = chosen[is_wanted]
            rngs = self._rngs(at, stage)
            indices = resample(check.log_weight, self.settings.num_draws, rngs)
            self._keep(at, {name: _take(np.asarray(values)[is_wanted], indices) for name, values in batch.values.items()})
            diagnostics = self.results.diagnostics
            diagnostics["khat"][at], diagnostics["log_evidence"][at] = check.khat, check.log_evidence
            diagnostics["importance_ess"][at] = diagnostics["ess"][at] = check.ess
            failed += self._judge(at, stage, self._correct(chosen, is_wanted, rngs, judge_weights(check, self.settings)))
            self._report(len(at), stage)
        return np.array(failed, int)

    def sample_chains(self, stage: str, datasets: np.ndarray, num_repeats: int = 1) -> np.ndarray:
        """NUTS on these data sets; returns those it could not fit.

        With repeats, the proposal is learnt for longer and chains are as many times as long, and thinned.
        """
        failed: list[int] = []
        for chosen, is_wanted in self._batches(datasets):
            observations, keys = _pick(self._sampled, chosen), self.keys(chosen, stage)
            start = self._learn(observations, keys, is_wanted, num_repeats)
            runs: list[Chain] = []
            for repeat in range(num_repeats):
                run_keys = _fold(keys, repeat)
                runs.append(run_nuts(self.model, observations, start, run_keys, self._nuts, is_wanted=is_wanted))
                start = start._replace(starts=runs[-1].last)
            chains = _join(runs, is_wanted)
            at = chosen[is_wanted]
            check = check_chains(chains.values)
            self._keep(at, chains.values)
            stats, diagnostics = self.results.stats, self.results.diagnostics
            stats["lp"][at], stats["diverging"][at] = chains.log_density, chains.is_diverging
            stats["n_steps"][at], stats["acceptance_rate"][at] = chains.num_steps, chains.acceptance
            diagnostics["rhat"][at], diagnostics["ess"][at] = check.rhat, check.ess
            diagnostics["num_divergent"][at] = chains.is_diverging.sum((1, 2))
            reasons = judge_chains(check, chains.is_diverging.mean((1, 2)), self.settings)
            failed += self._judge(at, stage, self._correct(chosen, is_wanted, self._rngs(at, stage), reasons))
            self._report(len(at), stage)
        return np.array(failed, int)

    def _correct(
        self, chosen: np.ndarray, is_wanted: np.ndarray, rngs: list[np.random.Generator], reasons: list[str]
    ) -> list[str]:
        """Bring draws that were made with the fast likelihood to the careful one of all trials.

        Every fourth draw shows by how much the two differ. Where that varies from draw to draw, all draws are weighted by
        the difference and resampled; where the weights are too uneven for that, the fit has failed.
        """
        # What has failed anyway is fitted again, or never used.
        is_open = np.array([not reason for reason in reasons])
        if self._is_exact or not is_open.any():
            return reasons
        at = chosen[is_wanted]
        stride = NUM_CORRECTION_PARTS if self.settings.num_draws % NUM_CORRECTION_PARTS == 0 else 1

        def compare(is_wanted: np.ndarray, first: int) -> np.ndarray:
            part = {name: draws[chosen][:, :, first::stride] for name, draws in self.results.draws.items()}
            fast, careful = _pick(self._sampled, chosen), _pick(self.observations, chosen)
            correction = compute_correction(self.model, fast, careful, part, is_wanted=is_wanted)
            return np.asarray(correction, float)[is_wanted]

        asked = is_wanted.copy()
        asked[is_wanted] = is_open
        seen = np.zeros((len(at), self.settings.num_chains, len(range(0, self.settings.num_draws, stride))))
        seen[is_open] = compare(asked, 0)
        error = seen.std((1, 2))
        self.results.diagnostics["rule_error"][at] = error
        needs = np.flatnonzero(~(error <= LARGEST_RULE_ERROR))
        if not needs.size:
            return reasons
        needs_it = np.zeros(len(chosen), bool)
        needs_it[np.flatnonzero(is_wanted)[needs]] = True
        parts = [seen[needs], *(compare(needs_it, first) for first in range(1, stride))]
        correction = np.stack(parts, axis=-1).reshape(len(needs), self.settings.num_chains, -1)
        # In the order of the draws, so that a chain stays a chain and what was noted about each draw stays with it.
        indices = np.sort(resample(correction, self.settings.num_draws, [rngs[i] for i in needs]), axis=-1)
        for arrays in (self.results.draws, self.results.stats):
            for values in arrays.values():
                values[at[needs]] = _take(values[at[needs]], indices)
        check = check_weights(correction)
        for place, i in enumerate(needs):
            is_even = check.ess[place] > correction[0].size / 2 and check.khat[place] < self.settings.max_khat
            reasons[i] = reasons[i] or ("" if is_even else f"the fast likelihood is off by {error[i]:.2f} nats")
        return reasons

    def _rngs(self, at: np.ndarray, stage: str) -> list[np.random.Generator]:
        """One generator for each data set and stage."""
        return [np.random.default_rng((self.seed, int(number), STAGES.index(stage))) for number in self.numbers[at]]

    def _learn(
        self, observations: Observations, keys: Key[Array, " dataset"], is_wanted: np.ndarray, num_repeats: int
    ) -> ImportanceBatch:
        """Importance sampling, repeated with a proposal that goes on learning: the same program, more care."""
        batch = run_importance(self.model, observations, keys, self._importance, is_wanted=is_wanted)
        for repeat in range(1, num_repeats):
            state = batch.proposal.mixture
            keys_now = _fold(keys, repeat)
            batch = run_importance(self.model, observations, keys_now, self._importance, state, is_wanted=is_wanted)
        return batch

    def pointwise(self, trials: xr.Dataset, order: np.ndarray) -> np.ndarray:
        """Pointwise log likelihood of all draws, in the order of the trials."""
        num_datasets = trials.sizes["dataset"]
        shape = (num_datasets, self.settings.num_chains, self.settings.num_draws, trials.sizes["trial"])
        result = np.empty(shape, np.float32)
        for chosen, is_wanted in self._batches(np.arange(num_datasets)):
            values = {name: draws[chosen] for name, draws in self.results.draws.items()}
            observations = _pick(self.observations, chosen)
            pointwise = np.asarray(compute_pointwise(self.model, observations, values, is_wanted=is_wanted))[is_wanted]
            at = chosen[is_wanted]
            restored = np.take_along_axis(pointwise, np.argsort(order[at], axis=-1)[:, None, None, :, None], axis=3)
            result[at] = unpack_pointwise(restored, trials.isel(dataset=at))
        return result

    def _batches(self, datasets: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Batches of data set indices, each with which of them are not just filling."""
        num_devices = local_mesh().size
        size = -(-self.settings.batch_size // num_devices) * num_devices
        for places, is_wanted in iterate_batches(len(datasets), size):
            yield datasets[places], is_wanted

    def _keep(self, at: np.ndarray, draws: Draws) -> None:
        for name, values in draws.items():
            self.results.draws[name][at] = values

    def _judge(self, at: np.ndarray, stage: str, reasons: list[str]) -> list[int]:
        diagnostics = self.results.diagnostics
        diagnostics["stage"][at] = stage
        diagnostics["reason"][at] = reasons
        diagnostics["is_good"][at] = [not reason for reason in reasons]
        return [int(index) for index, reason in zip(at, reasons, strict=True) if reason]

    def _report(self, num: int, stage: str) -> None:
        self._num_draws += num * self.settings.num_chains * self.settings.num_draws
        num_done = int((self.results.diagnostics["stage"] != "").sum())
        self._counter.report(num_done, stage, num_draws=self._num_draws)


def choose_importance(model: BehaviorModel, settings: FitSettings) -> ImportanceSettings:
    """As many rounds as the model's coordinates need, and blocks in place of chains."""
    num_rounds = choose_coordinates(model).choose_num_rounds(model)
    block_size = max(settings.num_draws, SMALLEST_BLOCK)
    return ImportanceSettings(num_rounds=num_rounds, num_blocks=settings.num_chains, block_size=block_size)


def _pick(observations: Observations, chosen: np.ndarray) -> Observations:
    return jax.tree.map(lambda array: array[chosen], observations)


def _join(runs: list[Chain], is_wanted: np.ndarray) -> Any:
    """Chains that went on from each other, thinned to the length of one."""
    parts = [run._replace(last=run.log_density) for run in runs]
    return jax.tree.map(
        lambda *arrays: np.concatenate([np.asarray(array)[is_wanted] for array in arrays], axis=2)[:, :, :: len(runs)],
        *parts,
    )


def _fold(keys: Key[Array, " dataset"], number: int) -> Key[Array, " dataset"]:
    return jax.vmap(lambda key: jax.random.fold_in(key, number))(keys)


def _take(values: np.ndarray, indices: np.ndarray) -> np.ndarray:
    """The chosen draws of every block."""
    return np.take_along_axis(values, indices.reshape(indices.shape + (1,) * (values.ndim - 3)), axis=2)


def _restore(values: np.ndarray, order: np.ndarray) -> np.ndarray:
    """Values for each condition in the order of the trials' conditions."""
    if values.ndim not in (2, 4):
        return values
    inverse = np.argsort(order, axis=-1)
    return np.take_along_axis(values, inverse.reshape(len(order), *(1,) * (values.ndim - 2), -1), axis=-1)
