"""The stages of a fit: importance sampling and NUTS, plain or with more care, writing into the same results.

Draws that were made with a fast likelihood are brought to the careful one of all trials; see
`designstudio.inference.correction`.
"""

from typing import Any, NamedTuple, TypeVar

import jax
import numpy as np

from designstudio.core.progress import Counter, ProgressCallback
from designstudio.inference.batches import ImportanceBatch, run_importance, run_nuts
from designstudio.inference.convergence import TAILS, compute_weighted_tail_ess
from designstudio.inference.coordinates import choose_coordinates
from designstudio.inference.correction import correct_draws
from designstudio.inference.diagnostics import (
    Draws,
    check_chains,
    check_weights,
    explain_chains,
    explain_weights,
    find_breakdowns,
    resample,
    take_draws,
)
from designstudio.inference.mixture import Mixture
from designstudio.inference.nuts import ChainBatch, ChainStart
from designstudio.inference.task import Results, Task, pick
from designstudio.model.likelihood.observations import Observations

Tree = TypeVar("Tree")
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


class _Chains(NamedTuple):
    """Chains of a data set that were not good enough, from which a later stage goes on.

    Attributes:
        run: their last. mixture: the proposal of their jumps.
        needs_jumps: whether they have not jumped, and should from now on.
    """

    run: ChainBatch
    mixture: Mixture
    needs_jumps: bool


class _Part(NamedTuple):
    """Importance draws of some data sets, all blocks as one, and their log weights."""

    values: Draws
    log_weight: np.ndarray

    def take(self, chosen: np.ndarray) -> "_Part":
        """Those of some of the data sets."""
        return _Part({name: array[chosen] for name, array in self.values.items()}, self.log_weight[chosen])


class Stages:
    """What can be done with the data sets of a task; each method returns those that it could not fit."""

    def __init__(self, task: Task, results: Results, progress: ProgressCallback | None) -> None:
        self._task, self._results = task, results
        num_rounds = choose_coordinates(task.model).choose_num_rounds(task.model)
        self._importance, self._nuts = task.settings.choose_importance(num_rounds), task.settings.choose_nuts()
        self._counter, self._num_draws = Counter(progress, len(results.diagnostics["stage"])), 0
        self._earlier: dict[int, _Chains] = {}

    def sample_weighted(self, stage: str, datasets: np.ndarray, num_repeats: int = 1) -> np.ndarray:
        """Importance sampling of these data sets; returns those it could not fit.

        With repeats, the proposal goes on learning. The draws of the last repeat are used, and while they are good but too
        few, as many again: a patient number of times.
        """
        failed: list[int] = []
        for chosen, is_wanted in self._task.iterate_batches(datasets):
            observations = pick(self._task.sampled, chosen)
            batch = self._learn(stage, observations, chosen, is_wanted, num_repeats)
            at, places = chosen[is_wanted], np.flatnonzero(is_wanted)
            parts, short = [_gather(batch, is_wanted)], np.arange(len(places))
            rngs, reasons = self._task.make_generators(at, stage), [""] * len(at)
            for more in range(1 if num_repeats == 1 else self._task.settings.num_patient_repeats):
                if more:
                    asked, mixture = np.isin(np.arange(len(chosen)), places[short]), batch.proposal.mixture
                    purpose = _name_purpose(stage)
                    batch = self._run_importance(purpose, num_repeats + more, observations, chosen, asked, mixture)
                    parts.append(_gather(batch, asked))
                found, needs_more = self._weigh(at[short], parts, [rngs[i] for i in short])
                for i, reason in zip(short, found, strict=True):
                    reasons[i] = reason
                # Each for itself: others in the batch change nothing for a data set.
                parts, short = [part.take(needs_more) for part in parts], short[needs_more]
                if not short.size:
                    break
            failed += self._finish(chosen, is_wanted, stage, rngs, reasons)
        return np.array(failed, int)

    def _weigh(self, at: np.ndarray, parts: list[_Part], rngs: list[np.random.Generator]) -> tuple[list[str], np.ndarray]:
        """Keep equally weighted draws from all parts together, and what is known of their weights.

        Weights are known up to a constant, and many draws tell it better than few.

        Returns:
            Why the draws of each data set cannot be used, and where more of them would do.
        """
        settings, diagnostics = self._task.settings, self._results.diagnostics
        check = check_weights(np.concatenate([part.log_weight for part in parts], axis=2))
        shape = (settings.num_chains, settings.num_draws)
        indices = resample(check.log_weight, shape[0] * shape[1], rngs)
        values = {name: np.concatenate([part.values[name] for part in parts], axis=2) for name in parts[0].values}
        draws = {name: take_draws(array, indices) for name, array in values.items()}
        self._keep(at, {name: array.reshape(len(at), *shape, *array.shape[3:]) for name, array in draws.items()})
        diagnostics["khat"][at], diagnostics["log_evidence"][at] = check.khat, check.log_evidence
        diagnostics["importance_ess"][at] = check.ess
        # Draws that are kept are worth no more than their number.
        diagnostics["ess"][at] = np.minimum(check.ess, shape[0] * shape[1])
        ess_tail = None
        if settings.min_ess_tail:
            ends = np.quantile(_list_entries(draws), TAILS, axis=1)
            ess_tail = compute_weighted_tail_ess(_list_entries(values), check.log_weight[:, 0], ends)
            diagnostics["ess_tail"][at] = ess_tail
        reasons = explain_weights(check, settings, ess_tail)
        return reasons, (check.khat < settings.max_khat) & np.array([bool(reason) for reason in reasons])

    def sample_chains(self, stage: str, datasets: np.ndarray, num_repeats: int = 1) -> np.ndarray:
        """NUTS on these data sets; returns those it could not fit.

        With repeats, chains are as many times as long, and thinned. Those of an earlier stage go on: once with what they
        have made so far, later without its beginning, which may have been elsewhere. Those that need jumps, and have not
        jumped so far, leave what they have made. Chains that gave up begin anew, with a proposal that learns for longer.
        """
        earlier = [self._earlier.get(index) for index in datasets]
        has_chains = np.array([one is not None for one in earlier], bool)
        needs_jumps = np.array([one is not None and one.needs_jumps for one in earlier], bool)
        failed: list[int] = []
        for goes_on, jumps in ((True, False), (True, True), (False, False)):
            group = datasets[(has_chains == goes_on) & (needs_jumps == jumps)]
            for chosen, is_wanted in self._task.iterate_batches(group):
                failed += self._sample_chains(stage, chosen, is_wanted, num_repeats, goes_on=goes_on, needs_jumps=jumps)
        return np.sort(np.array(failed, int))

    def _sample_chains(
        self,
        stage: str,
        chosen: np.ndarray,
        is_wanted: np.ndarray,
        num_repeats: int,
        *,
        goes_on: bool,
        needs_jumps: bool,
    ) -> list[int]:
        """The same for one batch."""
        observations, at = pick(self._task.sampled, chosen), chosen[is_wanted]
        runs: list[ChainBatch] = []
        if not goes_on:
            start = self._learn(stage, observations, chosen, is_wanted, num_repeats)
            # Chains do not tell the evidence; the weighted draws that they start from do.
            log_evidence = check_weights(np.asarray(start.draws.log_weight)[is_wanted]).log_evidence
            self._results.diagnostics["log_evidence"][at] = log_evidence
            num_new, mixture = num_repeats, start.proposal.mixture
        else:
            known = [self._earlier[index] for index in chosen]
            runs = [_stack([one.run for one in known])]
            num_new, mixture = max(num_repeats - 1, 1), _stack([one.mixture for one in known])
        for repeat in range(num_new):
            if runs:
                # Jumps want new draws; chains go on where they were.
                chains = runs[-1].chains
                fresh = self._run_importance(f"{stage}: jumps", repeat, observations, chosen, is_wanted, mixture)
                start = fresh._replace(start=ChainStart(chains.whitening, chains.last))
            keys = self._task.make_keys(chosen, f"{stage}: chains, repeat {repeat}")
            model, must_jump = self._task.model, np.full(len(chosen), needs_jumps)
            runs.append(run_nuts(model, observations, start, keys, self._nuts, is_wanted=is_wanted, needs_jumps=must_jump))
        runs = runs[-(num_new if needs_jumps else num_repeats) :]
        values, stats, has_jumps = _join(runs, is_wanted)
        check = check_chains(values, stats)
        self._keep(at, values)
        for name, numbers in stats.items():
            self._results.stats[name][at] = numbers
        for name, numbers in check.diagnostics.items():
            self._results.diagnostics[name][at] = numbers
        self._results.diagnostics["has_jumps"][at] = has_jumps
        has_given_up = np.any([np.asarray(run.chains.has_given_up)[is_wanted] for run in runs], axis=(0, 2))
        reasons = [
            f"trajectories have more than {self._nuts.max_mean_steps} steps on average" if gave_up else reason
            for gave_up, reason in zip(has_given_up, explain_chains(check, has_jumps, self._task.settings), strict=True)
        ]
        failed = self._finish(chosen, is_wanted, stage, self._task.make_generators(at, stage), reasons)
        # Longer chains mend what was chance, once; where trajectories break down, or twice was not enough, jumps are needed.
        lacks_jumps = ~has_jumps & (find_breakdowns(check, self._task.settings) | (len(runs) > 1))
        lacks_jumps &= self._nuts.jumps == "ridges"
        for index, place, gave_up, lacks in zip(at, np.flatnonzero(is_wanted), has_given_up, lacks_jumps, strict=True):
            self._earlier.pop(index, None)
            if index in failed and not gave_up:
                self._earlier[index] = _Chains(_take(runs[-1], place), _take(mixture, place), bool(lacks))
        return failed

    def _learn(
        self, stage: str, observations: Observations, chosen: np.ndarray, is_wanted: np.ndarray, num_repeats: int
    ) -> ImportanceBatch:
        """Importance sampling, repeated with a proposal that goes on learning: the same program, more care."""

        purpose = _name_purpose(stage)
        batch = self._run_importance(purpose, 0, observations, chosen, is_wanted, None)
        for repeat in range(1, num_repeats):
            batch = self._run_importance(purpose, repeat, observations, chosen, is_wanted, batch.proposal.mixture)
        return batch

    def _run_importance(
        self,
        purpose: str,
        repeat: int,
        observations: Observations,
        chosen: np.ndarray,
        is_wanted: np.ndarray,
        mixture: Mixture | None,
    ) -> ImportanceBatch:
        keys = self._task.make_keys(chosen, f"{purpose}, repeat {repeat}")
        return run_importance(self._task.model, observations, keys, self._importance, mixture, is_wanted=is_wanted)

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
        reasons = correct_draws(self._task, self._results, chosen, is_wanted, rngs, reasons)
        diagnostics["stage"][at] = stage
        diagnostics["reason"][at] = reasons
        diagnostics["is_good"][at] = [not reason for reason in reasons]
        self._report(len(at), stage)
        return [int(index) for index, reason in zip(at, reasons, strict=True) if reason]

    def _report(self, num: int, stage: str) -> None:
        self._num_draws += num * self._task.settings.num_chains * self._task.settings.num_draws
        num_done = int((self._results.diagnostics["stage"] != "").sum())
        self._counter.report(num_done, stage, num_draws=self._num_draws)


def _take(tree: Tree, place: Any) -> Tree:
    """What belongs to one data set of a batch, on the host."""
    return jax.tree.map(lambda array: np.asarray(array)[place], tree)


def _stack(trees: list[Tree]) -> Tree:
    """A batch of what belongs to single data sets."""
    return jax.tree.map(lambda *arrays: np.stack(arrays), *trees)


def _name_purpose(stage: str) -> str:
    """Of the random numbers of weighted draws."""
    return f"{stage}: weighted draws"


def _gather(batch: ImportanceBatch, is_wanted: np.ndarray) -> _Part:
    """What importance sampling has found of the wanted data sets."""
    values = {name: _join_blocks(np.asarray(array)[is_wanted]) for name, array in batch.draws.found.values.items()}
    return _Part(values, _join_blocks(np.asarray(batch.draws.log_weight)[is_wanted]))


def _list_entries(values: Draws) -> np.ndarray:
    """All numbers of a draw side by side; values have one block."""
    return np.concatenate([array.reshape(len(array), array.shape[2], -1) for array in values.values()], axis=-1)


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
