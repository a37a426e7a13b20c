"""Trials that are left out for real: those whose influence is so large that importance weights cannot tell the fit without.

Each such trial makes a data set of its own, its subject's without it; all are fitted in one batch, and predict it.
"""

import operator
from collections.abc import Mapping
from typing import NamedTuple

import equinox as eqx
import jax
import numpy as np
import xarray as xr
from jaxtyping import Bool, Float
from scipy.special import logsumexp

from designstudio.fitting.comparison import LARGEST_KHAT
from designstudio.inference.batches import compute_pointwise, iterate_batches
from designstudio.inference.fit_datasets import sample_datasets
from designstudio.inference.settings import FitSettings
from designstudio.metrics.comparison import PointwiseLeaveOneOut
from designstudio.model.likelihood.model import BehaviorModel
from designstudio.model.likelihood.packing import pack_trials, unpack_pointwise

# Of one cost; if more have so much influence, the model does not describe these data, and the worst are left out.
MOST_LEFT_OUT = 100
# Numbers of data sets that do not meet those of subjects, whose random numbers are others.
FIRST_NUMBER = 1_000_000


class LeftOut(NamedTuple):
    """How well trials are predicted by fits that have not seen them.

    Attributes:
        elpd: log predictive density. khat: Pareto k-hat; 0 where the trial was left out for real.
        is_left_out: whether it was.
        mcse: Monte Carlo error of the sum over a subject's trials.
    """

    elpd: Float[np.ndarray, "dataset trial"]
    khat: Float[np.ndarray, "dataset trial"]
    is_left_out: Bool[np.ndarray, "dataset trial"]
    mcse: Float[np.ndarray, " dataset"]


def leave_out_for_real(
    model: BehaviorModel,
    trials: xr.Dataset,
    loo: PointwiseLeaveOneOut,
    num_effective: Float[np.ndarray, " dataset"],
    fixed: Mapping[str, xr.DataArray],
    settings: FitSettings,
    seed: int,
) -> LeftOut:
    """Replace what importance weights say about influential trials by fits without them.

    A fit without a trial that fails leaves its k-hat as it is, above the threshold.

    Args:
        model: what was fitted. trials: to what. loo: what importance weights say.
        num_effective: draws that each fit is worth.
        fixed: values that were known. settings: of the fits. seed: of all random numbers.
    """
    elpd, khat = loo.elpd.copy(), loo.khat.copy()
    is_left_out = np.zeros(elpd.shape, bool)
    error = loo.influence**2 / np.maximum(num_effective, 1.0)
    places = _choose_trials(trials, loo)
    if len(places):
        found, variance, is_good = _predict(model, trials, places, fixed, settings, seed)
        row, trial = places[is_good].T
        elpd[row, trial], khat[row, trial], is_left_out[row, trial] = found[is_good], 0.0, True
        np.add.at(error, row, variance[is_good])
    return LeftOut(elpd, khat, is_left_out, np.sqrt(error))


def _choose_trials(trials: xr.Dataset, loo: PointwiseLeaveOneOut) -> np.ndarray:
    """Rows (data set, trial), the most influential first; a condition's only trial cannot be left out."""
    with np.errstate(invalid="ignore"):
        places = np.argwhere(~np.isnan(loo.elpd) & ~(loo.khat <= LARGEST_KHAT))
    index, present = trials["condition_index"].values, trials["is_present"].values
    counts = np.array([((index[i] == index[i, t]) & present[i]).sum() for i, t in places])
    places = places[counts > 1] if len(places) else places
    order = np.argsort(-np.nan_to_num(loo.khat[tuple(places.T)], nan=np.inf), kind="stable")
    return places[order][:MOST_LEFT_OUT]


def _predict(
    model: BehaviorModel,
    trials: xr.Dataset,
    places: np.ndarray,
    fixed: Mapping[str, xr.DataArray],
    settings: FitSettings,
    seed: int,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Log predictive density of each left-out trial, its Monte Carlo variance, and whether its fit can be used."""
    row, trial = places.T
    whole = trials.isel(dataset=row)
    numbers = FIRST_NUMBER + np.arange(len(places))
    whole = whole.assign_coords(dataset=numbers, subject=("dataset", [f"without {k}" for k in range(len(places))]))
    is_out = xr.DataArray(np.arange(trials.sizes["trial"]) == trial[:, None], dims=("dataset", "trial"))
    part, alone = _keep(whole, ~is_out), _keep(whole, is_out)
    known = {name: array.isel(dataset=row).drop_vars("dataset", errors="ignore") for name, array in fixed.items()}
    seen, observations = pack_trials(part, model, known), pack_trials(alone, model, known)
    if model.has_lapses:
        # The range of lapses is that of all trials, here as in importance weights: a narrower one would be another model.
        broad = pack_trials(whole, model, known).log_broad
        seen, observations = (eqx.tree_at(lambda o: o.log_broad, data, broad) for data in (seen, observations))
    fits = sample_datasets(model, part, seen, settings=settings, seed=seed)
    draws, verdicts = fits.draws, fits.diagnostics
    densities = np.full((len(places), settings.num_chains * settings.num_draws), np.nan)
    for chosen, is_wanted in iterate_batches(len(places), settings.batch_size):
        batch = jax.tree.map(operator.itemgetter(chosen), observations)
        values = {name: array[chosen] for name, array in draws.items()}
        pointwise = compute_pointwise(model, batch, values, chunk_size=settings.chunk_size, is_wanted=is_wanted)
        at = chosen[is_wanted]
        mine = unpack_pointwise(np.asarray(pointwise)[is_wanted], alone.isel(dataset=at))
        densities[at] = np.stack([one[..., t].ravel() for one, t in zip(mine, trial[at], strict=True)])
    log_mean = logsumexp(densities, axis=1) - np.log(densities.shape[1])
    relative = np.exp(densities - log_mean[:, None])
    variance = relative.var(axis=1) / np.maximum(verdicts["ess"], 1.0)
    return log_mean, variance, verdicts["is_good"] & np.isfinite(log_mean)


def _keep(trials: xr.Dataset, is_kept: xr.DataArray) -> xr.Dataset:
    """The same trials without the others."""
    kept = {name: trials[name].where(is_kept) for name in ("stimulus", "response")}
    return trials.assign({"is_present": trials["is_present"] & is_kept, **kept})
