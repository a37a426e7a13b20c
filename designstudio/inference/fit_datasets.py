"""Fit many data sets at once, with escalation: what the fast stage cannot fit is fitted again with more care.

    auto, importance:  importance sampling -> the same with a better proposal -> (auto only) careful NUTS
    nuts:              NUTS from importance draws -> the same chains for longer, with a better proposal of jumps

Under a policy that bends samplers see regressions of short ranges of stimuli in place of trials; draws are brought to the
likelihood of all trials, and where that is too far off, the data set is fitted again by samplers that see every trial. What
still fails is returned with a reason and `is_good` false, and counted. Chains and proposals never see true parameters.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
import xarray as xr

from designstudio.core.configuration import configure_once
from designstudio.core.progress import ProgressCallback
from designstudio.inference.batches import compute_pointwise
from designstudio.inference.correction import LIKELIHOOD_IS_OFF
from designstudio.inference.diagnostics import Draws
from designstudio.inference.posterior import build_posterior
from designstudio.inference.preflight import check_scale, note_weak_data
from designstudio.inference.settings import FitSettings
from designstudio.inference.stages import Stages
from designstudio.inference.task import Results, Task, pick
from designstudio.model.likelihood.model import BehaviorModel
from designstudio.model.likelihood.observations import Observations, sort_by_noise
from designstudio.model.likelihood.packing import NOTHING_FIXED, FixedValue, pack_trials, unpack_pointwise

# The first stage of each method.
FIRST = {"auto": "importance", "importance": "importance", "nuts": "nuts"}


class Fits(NamedTuple):
    """Fits of all data sets, without labels; conditions are in the order of the trials'.

    Attributes:
        draws: of every parameter. stats: of each draw. diagnostics: of each data set.
        fixed: values of the known parameters.
        log_likelihood: of every draw and trial, if it is kept.
    """

    draws: Draws
    stats: dict[str, np.ndarray]
    diagnostics: dict[str, np.ndarray]
    fixed: dict[str, np.ndarray]
    log_likelihood: np.ndarray | None


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
    observations = pack_trials(trials, model, fixed)
    fits = sample_datasets(model, trials, observations, settings=settings, seed=seed, progress=progress)
    return build_posterior(
        model,
        trials,
        draws=fits.draws,
        sample_stats=fits.stats,
        diagnostics=fits.diagnostics,
        log_likelihood=fits.log_likelihood,
        fixed=fits.fixed,
        settings=settings,
        seed=seed,
    )


def sample_datasets(
    model: BehaviorModel,
    trials: xr.Dataset,
    observations: Observations,
    *,
    settings: FitSettings,
    seed: int = 0,
    progress: ProgressCallback | None = None,
) -> Fits:
    """The same for whoever has packed the trials already, as `pack_trials` does, and needs no labels."""
    check_scale(model, trials)
    observations, order = sort_by_noise(observations)
    num_datasets = trials.sizes["dataset"]
    task = Task.prepare(model, observations, trials["dataset"].values, settings, seed)
    results = Results.empty(model, num_datasets, settings)
    failed = _escalate(task, results, np.arange(num_datasets), progress)
    is_off = _find_off(results, failed)
    if not task.sees_trials and is_off.any():
        # No more draws help where regressions of ranges do not tell the likelihood well enough.
        shown = Task.prepare_trials(task.model, task.observations, task.numbers, settings, seed)
        _escalate(shown, results, failed[is_off], progress, suffix=", all trials")
    note_weak_data(results, trials)
    keeps = settings.keeps_log_likelihood
    log_likelihood = _compute_log_likelihood(task, results.draws, trials, order) if keeps else None
    return Fits(
        {name: _restore(values, order) for name, values in results.draws.items()},
        results.stats,
        results.diagnostics,
        {name: _restore(np.asarray(values), order) for name, values in observations.fixed.items()},
        log_likelihood,
    )


def _escalate(
    task: Task, results: Results, datasets: np.ndarray, progress: ProgressCallback | None, *, suffix: str = ""
) -> np.ndarray:
    """Fit data sets, with more and more care where that is needed; returns those that failed.

    More care does not help where what samplers see is too far from the likelihood of all trials: those are not tried again.
    """
    settings, stages, off = task.settings, Stages(task, results, progress), np.zeros(0, int)
    first = stages.sample_chains if settings.method == "nuts" else stages.sample_weighted
    steps: list[tuple[Callable[..., np.ndarray], str, int]] = [(first, FIRST[settings.method], 1)]
    if settings.method != "nuts":
        steps.append((stages.sample_weighted, "importance, more care", settings.num_careful_repeats))
    if settings.method == "auto":
        # Nothing to compile for it, which chains need, and few are left.
        steps.append((stages.sample_weighted, "importance, more care", settings.num_patient_repeats))
    if settings.method != "importance":
        # Most need only a little more: an R-hat above the threshold by chance.
        steps.append((stages.sample_chains, "nuts, more care", 2))
    if settings.method == "nuts":
        steps.append((stages.sample_chains, "nuts, more care", settings.num_careful_repeats))
    for sample, stage, num_repeats in steps:
        datasets = sample(f"{stage}{suffix}", datasets, num_repeats=num_repeats)
        is_off = _find_off(results, datasets)
        off, datasets = np.concatenate([off, datasets[is_off]]), datasets[~is_off]
    return np.sort(np.concatenate([off, datasets]))


def _find_off(results: Results, datasets: np.ndarray) -> np.ndarray:
    """Whether data sets failed because what samplers see is too far from the likelihood of all trials."""
    reasons = results.diagnostics["reason"][datasets]
    return np.array([str(reason).startswith(LIKELIHOOD_IS_OFF) for reason in reasons], bool)


def _compute_log_likelihood(task: Task, draws: Draws, trials: xr.Dataset, order: np.ndarray) -> np.ndarray:
    """Pointwise log likelihood of all draws, in the order of the trials."""
    num_datasets, settings = trials.sizes["dataset"], task.settings
    result = np.empty((num_datasets, settings.num_chains, settings.num_draws, trials.sizes["trial"]), np.float32)
    for chosen, is_wanted in task.iterate_batches(np.arange(num_datasets)):
        values = {name: array[chosen] for name, array in draws.items()}
        found = compute_pointwise(
            task.model, pick(task.observations, chosen), values, chunk_size=settings.chunk_size, is_wanted=is_wanted
        )
        at = chosen[is_wanted]
        by_condition = np.argsort(order[at], axis=-1)[:, None, None, :, None]
        restored = np.take_along_axis(np.asarray(found)[is_wanted], by_condition, axis=3)
        result[at] = unpack_pointwise(restored, trials.isel(dataset=at))
    return result


def _restore(values: np.ndarray, order: np.ndarray) -> np.ndarray:
    """Values for each condition in the order of the trials' conditions."""
    if values.ndim not in (2, 4):
        return values
    inverse = np.argsort(order, axis=-1)
    return np.take_along_axis(values, inverse.reshape(len(order), *(1,) * (values.ndim - 2), -1), axis=-1)
