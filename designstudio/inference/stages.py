"""The stages of a fit: importance sampling and NUTS, plain or with more care, writing into the same results.

Draws that were made with a fast likelihood are brought to the careful one of all trials.
"""

from typing import Any

import jax
import numpy as np
from scipy.special import logsumexp

from designstudio.core.progress import Counter, ProgressCallback
from designstudio.inference.batches import ImportanceBatch, compute_correction, run_importance, run_nuts
from designstudio.inference.coordinates import choose_coordinates
from designstudio.inference.diagnostics import (
    Draws,
    check_chains,
    check_weights,
    explain_chains,
    explain_weights,
    resample,
    take_draws,
)
from designstudio.inference.nuts import ChainBatch, ChainStart
from designstudio.inference.task import Results, Task, pick
from designstudio.model.likelihood.observations import Observations

LIKELIHOOD_IS_OFF = "the fast likelihood is off by"
# Standard deviation of log weights, in nats, up to which they are nearly equal.
SMALL_ERROR = 0.3
# With many trials the two likelihoods are compared at so many times fewer draws.
FEWER_SEEN = 4
# What is noted about each draw of a chain: ArviZ's names, and ours.
STATS = {
    "lp": "log_density",
    "energy": "energy",
    "n_steps": "num_steps",
    "acceptance_rate": "acceptance",
    "diverging": "is_diverging",
    "reached_max_treedepth": "is_saturated",
    "jumped": "is_jump_accepted",
}


class Stages:
    """What can be done with the data sets of a task; each method returns those that it could not fit."""

    def __init__(self, task: Task, results: Results, progress: ProgressCallback | None) -> None:
        self._task, self._results = task, results
        num_rounds = choose_coordinates(task.model).choose_num_rounds(task.model)
        self._importance, self._nuts = task.settings.choose_importance(num_rounds), task.settings.choose_nuts()
        self._counter, self._num_draws = Counter(progress, len(results.diagnostics["stage"])), 0

    def sample_weighted(self, stage: str, datasets: np.ndarray, num_repeats: int = 1) -> np.ndarray:
        """Importance sampling of these data sets; returns those it could not fit.

        With repeats, the proposal goes on learning; the draws of the last repeat are used.
        """
        failed: list[int] = []
        for chosen, is_wanted in self._task.iterate_batches(datasets):
            observations = pick(self._task.sampled, chosen)
            batch = self._learn(stage, observations, chosen, is_wanted, num_repeats)
            at = chosen[is_wanted]
            rngs = self._task.make_generators(at, stage)
            # From all blocks together: weights are known up to a constant, and many draws tell it better than few.
            check = check_weights(_join_blocks(np.asarray(batch.draws.log_weight)[is_wanted]))
            shape = (self._task.settings.num_chains, self._task.settings.num_draws)
            indices = resample(check.log_weight, shape[0] * shape[1], rngs)
            found = batch.draws.found.values
            draws = {name: _join_blocks(np.asarray(values)[is_wanted]) for name, values in found.items()}
            draws = {name: take_draws(values, indices) for name, values in draws.items()}
            self._keep(at, {name: values.reshape(len(at), *shape, *values.shape[3:]) for name, values in draws.items()})
            diagnostics = self._results.diagnostics
            diagnostics["khat"][at], diagnostics["log_evidence"][at] = check.khat, check.log_evidence
            diagnostics["importance_ess"][at] = diagnostics["ess"][at] = check.ess
            reasons = explain_weights(check, self._task.settings)
            failed += self._finish(chosen, is_wanted, stage, rngs, reasons)
        return np.array(failed, int)

    def sample_chains(self, stage: str, datasets: np.ndarray, num_repeats: int = 1) -> np.ndarray:
        """NUTS on these data sets; returns those it could not fit.

        With repeats, the proposal is learnt for longer and chains are as many times as long, and thinned.
        """
        failed: list[int] = []
        for chosen, is_wanted in self._task.iterate_batches(datasets):
            observations = pick(self._task.sampled, chosen)
            start = self._learn(stage, observations, chosen, is_wanted, num_repeats)
            # Chains do not tell the evidence; the weighted draws that they start from do.
            log_evidence = check_weights(np.asarray(start.draws.log_weight)[is_wanted]).log_evidence
            runs: list[ChainBatch] = []
            for repeat in range(num_repeats):
                if repeat:
                    # Jumps want new draws; chains go on where they were.
                    chains = runs[-1].chains
                    fresh = self._run_importance(f"{stage}: jumps", repeat, observations, chosen, is_wanted, start)
                    start = fresh._replace(start=ChainStart(chains.whitening, chains.last))
                keys = self._task.make_keys(chosen, f"{stage}: chains, repeat {repeat}")
                runs.append(run_nuts(self._task.model, observations, start, keys, self._nuts, is_wanted=is_wanted))
            values, stats, has_jumps = _join(runs, is_wanted)
            at = chosen[is_wanted]
            check = check_chains(values, stats)
            self._keep(at, values)
            for name, numbers in stats.items():
                self._results.stats[name][at] = numbers
            for name, numbers in check.diagnostics.items():
                self._results.diagnostics[name][at] = numbers
            self._results.diagnostics["log_evidence"][at] = log_evidence
            self._results.diagnostics["has_jumps"][at] = has_jumps
            has_given_up = np.any([np.asarray(run.chains.has_given_up)[is_wanted] for run in runs], axis=(0, 2))
            reasons = [
                f"trajectories have more than {self._nuts.max_mean_steps} steps on average" if gave_up else reason
                for gave_up, reason in zip(has_given_up, explain_chains(check, has_jumps, self._task.settings), strict=True)
            ]
            failed += self._finish(chosen, is_wanted, stage, self._task.make_generators(at, stage), reasons)
        return np.array(failed, int)

    def _learn(
        self, stage: str, observations: Observations, chosen: np.ndarray, is_wanted: np.ndarray, num_repeats: int
    ) -> ImportanceBatch:
        """Importance sampling, repeated with a proposal that goes on learning: the same program, more care."""

        purpose = f"{stage}: weighted draws"
        batch = self._run_importance(purpose, 0, observations, chosen, is_wanted, None)
        for repeat in range(1, num_repeats):
            batch = self._run_importance(purpose, repeat, observations, chosen, is_wanted, batch)
        return batch

    def _run_importance(
        self,
        purpose: str,
        repeat: int,
        observations: Observations,
        chosen: np.ndarray,
        is_wanted: np.ndarray,
        earlier: ImportanceBatch | None,
    ) -> ImportanceBatch:
        keys = self._task.make_keys(chosen, f"{purpose}, repeat {repeat}")
        state = None if earlier is None else earlier.proposal.mixture
        return run_importance(self._task.model, observations, keys, self._importance, state, is_wanted=is_wanted)

    def _keep(self, at: np.ndarray, draws: Draws) -> None:
        for name, values in draws.items():
            self._results.draws[name][at] = values

    def _finish(
        self,
        chosen: np.ndarray,
        is_wanted: np.ndarray,
        stage: str,
        rngs: list[np.random.Generator],
        reasons: list[str],
    ) -> list[int]:
        """Correct the draws of a batch, note what came of it, and return the data sets that failed."""
        at, diagnostics = chosen[is_wanted], self._results.diagnostics
        reasons = _correct_draws(self._task, self._results, chosen, is_wanted, rngs, reasons)
        diagnostics["stage"][at] = stage
        diagnostics["reason"][at] = reasons
        diagnostics["is_good"][at] = [not reason for reason in reasons]
        self._report(len(at), stage)
        return [int(index) for index, reason in zip(at, reasons, strict=True) if reason]

    def _report(self, num: int, stage: str) -> None:
        self._num_draws += num * self._task.settings.num_chains * self._task.settings.num_draws
        num_done = int((self._results.diagnostics["stage"] != "").sum())
        self._counter.report(num_done, stage, num_draws=self._num_draws)


def _join_blocks(values: np.ndarray) -> np.ndarray:
    """All blocks of each data set as one."""
    return values.reshape(len(values), 1, -1, *values.shape[3:])


def _join(runs: list[ChainBatch], is_wanted: np.ndarray) -> tuple[Draws, dict[str, np.ndarray], np.ndarray]:
    """Draws and what is noted about each, of chains that went on from each other, thinned to the length of one."""

    def join(*arrays: Any) -> np.ndarray:
        return np.concatenate([np.asarray(array)[is_wanted] for array in arrays], axis=2)[:, :, :: len(runs)]

    values = jax.tree.map(join, *(run.values for run in runs))
    chains = [run.chains for run in runs]
    stats = {name: join(*(getattr(part.numbers, field) for part in chains)) for name, field in STATS.items()}
    # The step size is that of the chain, not of the draw.
    sizes = [np.broadcast_to(np.asarray(part.step_size)[..., None], part.numbers.energy.shape) for part in chains]
    return values, {**stats, "step_size": join(*sizes)}, np.asarray(runs[0].has_jumps)[is_wanted]


def _correct_draws(
    task: Task,
    results: Results,
    chosen: np.ndarray,
    is_wanted: np.ndarray,
    rngs: list[np.random.Generator],
    reasons: list[str],
) -> list[str]:
    """Correct the draws of a batch in place.

    Some draws show by how much the two likelihoods differ. Where that varies from draw to draw, all draws are weighted by
    the difference and resampled; where the weights are too uneven for that, the fit has failed. The difference is a smooth
    function of the parameters: where a regression on the draws that were seen tells it well enough, it is not computed for
    the others, which would take long with thousands of trials.

    Args:
        task: what is fitted. results: with the draws.
        chosen: data sets of the batch. is_wanted: which of them are not just filling.
        rngs: a generator for each wanted data set. reasons: why each has failed already, or nothing.

    Returns:
        The reasons, with those of fits that cannot be corrected.
    """
    # What has failed anyway is fitted again, or never used.
    is_open = np.array([not reason for reason in reasons])
    if task.is_exact or not is_open.any():
        return reasons
    at, settings = chosen[is_wanted], task.settings
    # A hundred draws are enough for a regression, and thousands of trials take their time.
    num_parts = settings.num_correction_parts * (FEWER_SEEN if task.num_trials > settings.many_trials else 1)
    stride = num_parts if settings.num_draws % num_parts == 0 else 1

    def compare(is_wanted: np.ndarray, first: int) -> np.ndarray:
        part = {name: draws[chosen][:, :, first::stride] for name, draws in results.draws.items()}
        fast, careful = pick(task.sampled, chosen), pick(task.observations, chosen)
        size = settings.chunk_size
        correction = compute_correction(task.model, fast, careful, part, chunk_size=size, is_wanted=is_wanted)
        return np.asarray(correction, float)[is_wanted]

    asked = is_wanted.copy()
    asked[is_wanted] = is_open
    seen = np.zeros((len(at), settings.num_chains, len(range(0, settings.num_draws, stride))))
    seen[is_open] = compare(asked, 0)
    error = seen.std((1, 2))
    results.diagnostics["rule_error"][at] = error
    # The evidence is corrected by the mean ratio of the likelihoods over the posterior.
    results.diagnostics["log_evidence"][at] += logsumexp(seen, axis=(1, 2)) - np.log(seen[0].size)
    needs = np.flatnonzero(~(error <= settings.max_rule_error))
    if not needs.size:
        return reasons
    draws = {name: values[at[needs]] for name, values in results.draws.items()}
    correction, left = predict_correction(draws, seen[needs], stride)
    is_told = left <= settings.max_rule_error
    if not is_told.all():
        needs_it = np.zeros(len(chosen), bool)
        needs_it[np.flatnonzero(is_wanted)[needs[~is_told]]] = True
        parts = [seen[needs[~is_told]], *(compare(needs_it, first) for first in range(1, stride))]
        correction[~is_told] = np.stack(parts, axis=-1).reshape(len(parts[0]), settings.num_chains, -1)
    # In the order of the draws, so that a chain stays a chain and what was noted about each draw stays with it.
    indices = np.sort(resample(correction, settings.num_draws, [rngs[i] for i in needs]), axis=-1)
    for arrays in (results.draws, results.stats):
        for values in arrays.values():
            values[at[needs]] = take_draws(values[at[needs]], indices)
    check = check_weights(correction)
    for k, i in enumerate(needs):
        # The tail of weights that are nearly equal says nothing about them.
        is_even = check.ess[k] > correction[0].size / 2 and (check.khat[k] < settings.max_khat or error[i] < SMALL_ERROR)
        reasons[i] = reasons[i] or ("" if is_even else f"{LIKELIHOOD_IS_OFF} {error[i]:.2f} nats")
    return reasons


def predict_correction(draws: Draws, seen: np.ndarray, stride: int) -> tuple[np.ndarray, np.ndarray]:
    """The correction of all draws by a quadratic regression on those where it was computed, and what that leaves open.

    Args:
        draws: of each data set. seen: the correction of every so many of them. stride: how many.

    Returns:
        The correction of all draws, and for each data set the standard deviation of what the regression does not tell.
    """
    columns = [values.reshape(*values.shape[:3], -1).astype(float) for values in draws.values()]
    points = np.concatenate([np.log(column) if (column > 0).all() else column for column in columns], axis=-1)
    predicted, left = np.zeros(points.shape[:3]), np.full(len(points), np.inf)
    pairs = np.triu_indices(points.shape[-1])
    for i, mine in enumerate(points):
        scaled = (mine - mine.mean((0, 1))) / np.maximum(mine.std((0, 1)), 1e-12)
        terms = [np.ones_like(scaled[..., :1]), scaled, scaled[..., pairs[0]] * scaled[..., pairs[1]]]
        features = np.concatenate(terms, axis=-1)
        known, target = features[:, ::stride].reshape(-1, features.shape[-1]), seen[i].ravel()
        num_left = len(target) - features.shape[-1]
        is_usable = np.isfinite(target).all() and np.isfinite(features).all()
        if stride == 1 or num_left < features.shape[-1] or not is_usable:
            continue
        coefficients = np.linalg.lstsq(known, target, rcond=None)[0]
        predicted[i] = features @ coefficients
        left[i] = np.sqrt(np.sum((target - known @ coefficients) ** 2) / num_left)
    return predicted, left
