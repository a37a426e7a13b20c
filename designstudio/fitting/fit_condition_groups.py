"""Fits of subjects who do not have the same conditions, or have very many trials.

A fit takes all data sets to have the same conditions, and holds the likelihood of all trials at once. Here subjects are
fitted in condition groups: subjects with equally many conditions, each with their own conditions side by side, and no more
of them than fit into memory. This changes no posterior. A parameter of a condition without trials is independent of all that
was observed, so its posterior is its prior, from which it is drawn; reports leave it out.

In place of the likelihood of every draw, each fit keeps how well it predicts every trial that it has not seen. Importance
weights tell that without fitting again, unless a trial has much influence (Pareto k-hat above 0.7): such trials are left out
for real, all of them in one batch.
"""

import dataclasses
import operator
from collections.abc import Iterator, Mapping

import jax
import numpy as np
import xarray as xr

from designstudio.core.progress import Counter, ProgressCallback
from designstudio.core.randomness import make_generator
from designstudio.fitting.leave_out import leave_out_for_real
from designstudio.fitting.units import count_trials
from designstudio.inference.batches import compute_pointwise, iterate_batches
from designstudio.inference.condition_groups import ConditionGroup, group_by_conditions, name_own
from designstudio.inference.fit_datasets import fit_datasets
from designstudio.inference.posterior import build_posterior
from designstudio.inference.settings import FitSettings
from designstudio.metrics.comparison import PointwiseLeaveOneOut, leave_each_out
from designstudio.model.likelihood.lapses import LAPSE_RATE
from designstudio.model.likelihood.model import BehaviorModel
from designstudio.model.likelihood.observations import Observations, bucket_size
from designstudio.model.likelihood.packing import pack_trials, unpack_pointwise

# Numbers in the log likelihood of a group: 400 MB, and some copies of it.
LARGEST_GROUP = 100_000_000
# Small experiments share one program, as their subjects take less time than another one to compile.
SMALLEST_SHARE, FEW_TRIALS = 6, 1000
# Draws in each round of importance sampling. A thousand may never meet a second mode with a tenth of the posterior, and no
# diagnostic sees what no draw has met; what is concluded changes with the seed then.
WIDE_SEARCH = 4000
# A stream of random numbers of its own, for what the data say nothing about.
PRIOR_STREAM = "draws of the prior"
# Numbers in the log likelihood of a subject. Beyond it draws are thinned: each of thousands of trials has so little
# influence on the posterior that a thousand draws leave an error of less than a tenth of a nat in their sum.
MOST_NUMBERS = 3_000_000
FEWEST_DRAWS = 1000


def fit_condition_groups(
    model: BehaviorModel,
    trials: xr.Dataset,
    *,
    fixed: Mapping[str, xr.DataArray],
    settings: FitSettings,
    seed: int,
    progress: ProgressCallback | None = None,
) -> xr.DataTree:
    """Posterior of every data set, as of `fit_datasets`, but for conditions that a data set may lack.

    Args:
        model: for all conditions. trials: in the actor's unit. fixed: over (dataset, condition).
        settings: how carefully. seed: of all random numbers.
        progress: called after every batch.

    Returns:
        The DataTree of `designstudio.inference.posterior`, with `loo` in place of the log likelihood: the log predictive
        density of every left-out trial (`elpd`) and its Pareto k-hat (`khat`), over (dataset, trial).
    """
    num_datasets, num_trials = trials.sizes["dataset"], trials.sizes["trial"]
    shape = (num_datasets, settings.num_chains, settings.num_draws)
    draws = {name: _draw_prior(model, name, trials["dataset"].values, shape, seed) for name in model.free}
    elpd, khat, lapse = np.full((3, num_datasets, num_trials), np.nan)
    is_left_out, mcse = np.zeros((num_datasets, num_trials), bool), np.full(num_datasets, np.nan)
    stats: dict[str, np.ndarray] = {}
    diagnostics: dict[str, np.ndarray] = {}
    counter, num_done = Counter(progress, num_datasets), 0
    for group in _divide(trials, settings):
        part = group.take_trials(trials)
        narrow, part_fixed, batch_size = group.narrow(model), group.take_fixed(fixed), _choose_batch(part, settings)
        own = dataclasses.replace(settings, batch_size=batch_size, keeps_log_likelihood=False)
        own = _search_widely(own, narrow)
        tree = fit_datasets(
            narrow,
            part,
            fixed=part_fixed,
            settings=own,
            seed=seed,
            progress=counter.of_part(num_done),
        )
        for name, array in tree["posterior"].to_dataset().data_vars.items():
            _put(draws[str(name)], array.values, group)
        loo, is_lapse = _leave_out(narrow, part, tree["posterior"].to_dataset(), fixed=part_fixed, settings=own)
        left = leave_out_for_real(narrow, part, loo, tree["diagnostics"].to_dataset()["ess"].values, part_fixed, own, seed)
        at = np.ix_(group.datasets, np.arange(part.sizes["trial"]))
        elpd[at], khat[at] = left.elpd, np.where(np.isnan(loo.elpd), np.nan, left.khat)
        is_left_out[at], mcse[group.datasets], lapse[at] = left.is_left_out, left.mcse, is_lapse
        _collect(stats, tree["sample_stats"].to_dataset(), group, num_datasets)
        _collect(diagnostics, tree["diagnostics"].to_dataset(), group, num_datasets)
        _name_conditions(diagnostics["reason"], group, trials["condition"].values.tolist())
        num_done += len(group.datasets)
    posterior = build_posterior(
        model,
        trials,
        draws=draws,
        sample_stats=stats,
        diagnostics=diagnostics,
        log_likelihood=None,
        fixed={name: array.values for name, array in fixed.items()},
        settings=settings,
        seed=seed,
    )
    dims = ("dataset", "trial")
    loo_coords = {"dataset": trials["dataset"], "subject": trials["subject"]}
    found = {"elpd": (dims, elpd), "khat": (dims, khat), "is_left_out": (dims, is_left_out), "mcse": ("dataset", mcse)}
    posterior["loo"] = xr.DataTree(xr.Dataset(found, coords=loo_coords))
    if model.has_lapses:
        posterior["lapses"] = xr.DataTree(xr.Dataset({"probability": (dims, lapse)}, coords=loo_coords))
    return posterior


def _divide(trials: xr.Dataset, settings: FitSettings) -> Iterator[ConditionGroup]:
    """Condition groups, each as large as memory allows."""
    counts = count_trials(trials)
    for group in group_by_conditions(counts):
        num_trials = bucket_size(int(counts[group.datasets].max())) * group.conditions.shape[1]
        size = num_trials * settings.num_chains * _choose_num_draws(num_trials, settings.num_chains, settings.num_draws)
        num = len(group.datasets)
        num_at_once = max(1, LARGEST_GROUP // size)
        # Equal groups share one program.
        num_at_once = -(-num // -(-num // num_at_once))
        for first in range(0, num, num_at_once):
            chosen = slice(first, first + num_at_once)
            yield ConditionGroup(group.datasets[chosen], group.conditions[chosen])


def _choose_batch(trials: xr.Dataset, settings: FitSettings) -> int:
    """As many data sets at once as there are, rounded up so that every device has equally many."""
    num_devices = jax.local_device_count()
    smallest = SMALLEST_SHARE if trials.sizes["trial"] <= FEW_TRIALS else 1
    per_device = max(smallest, -(-trials.sizes["dataset"] // num_devices))
    most = -(-settings.batch_size // num_devices) * num_devices
    return min(most, num_devices * per_device)


def _draw_prior(model: BehaviorModel, name: str, numbers: np.ndarray, shape: tuple[int, int, int], seed: int) -> np.ndarray:
    """Room for the draws of a parameter; for conditions, filled with draws of the prior, which stay where trials lack."""
    if name not in model.per_condition:
        return np.empty(shape, np.float32)
    size = (*shape[1:], model.num_conditions)
    stream = model.free.index(name)
    uniform = [make_generator(seed, PRIOR_STREAM, int(number), stream).uniform(size=size) for number in numbers]
    return model.priors[name].quantile(np.stack(uniform)).astype(np.float32)


def _search_widely(settings: FitSettings, model: BehaviorModel) -> FitSettings:
    """Enough draws a round to find a second mode, where draws cost little."""
    is_cheap = model.is_straight and model.has_lapses
    return dataclasses.replace(settings, min_block_size=max(settings.min_block_size, WIDE_SEARCH)) if is_cheap else settings


def _put(target: np.ndarray, values: np.ndarray, group: ConditionGroup) -> None:
    """Put the draws of a group where they belong."""
    if target.ndim == 3:
        target[group.datasets] = values
        return
    # A group with one condition shares all parameters.
    by_condition = values if values.ndim == 4 else values[..., None]
    for dataset, conditions, entries in zip(group.datasets, group.conditions, by_condition, strict=True):
        target[dataset][..., conditions] = entries


def _collect(found: dict[str, np.ndarray], part: xr.Dataset, group: ConditionGroup, num_datasets: int) -> None:
    for name, array in part.data_vars.items():
        values = array.values
        # Texts may become longer, when conditions get their names.
        dtype = values.dtype if values.dtype.kind in "fib" else np.dtype("<U400")
        found.setdefault(str(name), np.zeros((num_datasets, *values.shape[1:]), dtype))[group.datasets] = values


def _name_conditions(reasons: np.ndarray, group: ConditionGroup, labels: list[str]) -> None:
    """Call conditions in the reasons by their real names."""
    for dataset, conditions in zip(group.datasets, group.conditions, strict=True):
        for k, condition in enumerate(conditions):
            reasons[dataset] = str(reasons[dataset]).replace(repr(name_own(k)), repr(labels[condition]))


def _choose_num_draws(num_trials: int, num_chains: int, num_draws: int) -> int:
    """How many draws of each chain are used."""
    wanted = max(MOST_NUMBERS // num_trials, FEWEST_DRAWS)
    stride = max(1, num_chains * num_draws // wanted)
    return len(range(0, num_draws, stride))


def _leave_out(
    model: BehaviorModel,
    trials: xr.Dataset,
    posterior: xr.Dataset,
    *,
    fixed: Mapping[str, xr.DataArray],
    settings: FitSettings,
) -> tuple[PointwiseLeaveOneOut, np.ndarray]:
    """PSIS-LOO of every trial, and the probability that it is a lapse.

    Args:
        model: what was fitted. trials: to what. posterior: the draws. fixed: values that were known.
        settings: how many data sets at once.
    """
    observations = pack_trials(trials, model, fixed)
    num_chains, num_draws = posterior.sizes["chain"], posterior.sizes["draw"]
    num_trials = observations.is_present.shape[-1] * trials.sizes["condition"]
    num_used = _choose_num_draws(num_trials, num_chains, num_draws)
    used = np.arange(num_used) * (num_draws // num_used)
    draws = {str(name): array.values[:, :, used] for name, array in posterior.data_vars.items()}
    parts: list[PointwiseLeaveOneOut] = []
    lapses: list[np.ndarray] = []
    for places, is_wanted in iterate_batches(trials.sizes["dataset"], settings.batch_size):
        values = {name: array[places] for name, array in draws.items()}
        batch = jax.tree.map(operator.itemgetter(places), observations)
        pointwise = compute_pointwise(model, batch, values, chunk_size=settings.chunk_size, is_wanted=is_wanted)
        found = np.asarray(pointwise)[is_wanted]
        # Dealt out to the devices like cards; back in order.
        order = np.argsort(places[is_wanted])
        chosen = trials.isel(dataset=places[is_wanted][order])
        parts.append(leave_each_out(unpack_pointwise(found[order], chosen)))
        one_batch = jax.tree.map(operator.itemgetter(places[is_wanted][order]), observations)
        mine = {name: array[places[is_wanted][order]] for name, array in draws.items()}
        lapses.append(unpack_pointwise(_find_lapses(model, found[order], mine, one_batch), chosen))
    return PointwiseLeaveOneOut(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True))), np.concatenate(lapses)


def _find_lapses(
    model: BehaviorModel, pointwise: np.ndarray, draws: dict[str, np.ndarray], observations: Observations
) -> np.ndarray:
    """Probability of every trial to be a lapse, over (dataset, condition, trial); NaN if the model has none."""
    if not model.has_lapses:
        return np.full((len(pointwise), *pointwise.shape[3:]), np.nan)
    name = LAPSE_RATE.name
    rate = draws[name] if name in draws else np.asarray(observations.fixed[name])[:, None, None, 0]
    broad = np.asarray(observations.log_broad, float)[:, None, None, :, None]
    log_share = np.log(np.maximum(rate, 1e-12))[..., None, None] + broad - pointwise
    return np.exp(np.minimum(log_share, 0.0)).mean(axis=(1, 2))
