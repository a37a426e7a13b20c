"""How well fits predict trials that they have not seen, for subjects with few or very many trials."""

import operator
from collections.abc import Mapping

import jax
import numpy as np
import xarray as xr

from designstudio.inference.batches import compute_pointwise, iterate_batches
from designstudio.inference.settings import FitSettings
from designstudio.metrics.comparison import PointwiseLeaveOneOut, leave_each_out
from designstudio.model.likelihood.model import BehaviorModel
from designstudio.model.likelihood.packing import pack_trials, unpack_pointwise

# Numbers in the log likelihood of a subject. Beyond it draws are thinned: each of thousands of trials has so little
# influence on the posterior that a thousand draws leave an error of less than a tenth of a nat in their sum.
MOST_NUMBERS = 3_000_000
FEWEST_DRAWS = 1000


def choose_num_draws(num_trials: int, num_chains: int, num_draws: int) -> int:
    """How many draws of each chain are used."""
    wanted = max(MOST_NUMBERS // num_trials, FEWEST_DRAWS)
    stride = max(1, num_chains * num_draws // wanted)
    return len(range(0, num_draws, stride))


def leave_out(
    model: BehaviorModel,
    trials: xr.Dataset,
    posterior: xr.Dataset,
    *,
    fixed: Mapping[str, xr.DataArray],
    settings: FitSettings,
) -> PointwiseLeaveOneOut:
    """PSIS-LOO of every trial.

    Args:
        model: what was fitted. trials: to what. posterior: the draws. fixed: values that were known.
        settings: how many data sets at once.
    """
    observations = pack_trials(trials, model, fixed)
    num_chains, num_draws = posterior.sizes["chain"], posterior.sizes["draw"]
    num_trials = observations.is_present.shape[-1] * trials.sizes["condition"]
    num_used = choose_num_draws(num_trials, num_chains, num_draws)
    used = np.arange(num_used) * (num_draws // num_used)
    draws = {str(name): array.values[:, :, used] for name, array in posterior.data_vars.items()}
    parts: list[PointwiseLeaveOneOut] = []
    for places, is_wanted in iterate_batches(trials.sizes["dataset"], settings.batch_size):
        values = {name: array[places] for name, array in draws.items()}
        batch = jax.tree.map(operator.itemgetter(places), observations)
        pointwise = compute_pointwise(model, batch, values, chunk_size=settings.chunk_size, is_wanted=is_wanted)
        found = np.asarray(pointwise)[is_wanted]
        # Dealt out to the devices like cards; back in order.
        order = np.argsort(places[is_wanted])
        chosen = trials.isel(dataset=places[is_wanted][order])
        parts.append(leave_each_out(unpack_pointwise(found[order], chosen)))
    return PointwiseLeaveOneOut(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))
