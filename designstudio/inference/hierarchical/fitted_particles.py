"""Particles from separate fits: draws of each subject's posterior, with the analysis prior divided out."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import Array, Float

from designstudio.inference.hierarchical.group_model import list_entries, stretch
from designstudio.model.likelihood.model import BehaviorModel


def weigh_fits(
    model: BehaviorModel, posterior: xr.Dataset, num_particles: int
) -> tuple[Float[np.ndarray, "dataset draw entry"], Float[np.ndarray, "dataset draw"]]:
    """Particles of every data set, and their log weights.

    Args:
        model: that was fitted.
        posterior: equally weighted draws.
        num_particles: how many of the draws, evenly from all of them.
    """
    values: dict[str, Any] = {}
    for name in model.free:
        array = posterior[name].transpose("dataset", "chain", "draw", ...).values
        flat = array.reshape(array.shape[0], -1, *array.shape[3:])
        chosen = np.linspace(0, flat.shape[1] - 1, num_particles).round().astype(int)
        values[name] = flat[:, chosen].astype(np.float32)
    points, log_weight = _weigh(model, values)
    return np.asarray(points), np.asarray(log_weight)


@eqx.filter_jit
def _weigh(
    model: BehaviorModel, values: dict[str, Float[Array, "dataset draw ..."]]
) -> tuple[Float[Array, "dataset draw entry"], Float[Array, "dataset draw"]]:
    entries = list_entries(model)

    def one(values: dict[str, Array]) -> tuple[Array, Array]:
        points, log_volume = stretch(entries, values)
        density = sum(jnp.sum(model.priors[name].distribution().log_prob(value)) for name, value in values.items())
        return points, log_volume - density

    return jax.vmap(jax.vmap(one))(values)
