"""From separate fits of the subjects of many groups to the posteriors of all groups."""

import functools
from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import Array, Float, Int

from designstudio.core.randomness import make_generator
from designstudio.inference.batches import local_mesh, run_on_devices
from designstudio.inference.hierarchical.fitted_particles import weigh_fits
from designstudio.inference.hierarchical.focus import Places, draw_focused, find_focus, smooth
from designstudio.inference.hierarchical.group_model import Group, Hyperprior
from designstudio.inference.hierarchical.many_groups import start_group
from designstudio.inference.hierarchical.marginal import Particles
from designstudio.model.likelihood.model import BehaviorModel
from designstudio.model.likelihood.packing import FixedValue

# Draws of each separate fit, particles made from them that know the group, and kernels that are made of these.
NUM_FITTED, NUM_FOCUSED, NUM_KEPT = 2000, 2000, 250
# Of expectation-maximisation, before and after particles know the group.
NUM_STEPS = 25
# Particles reach farther than the group: it is uncertain, too.
REACH = 1.3


def make_particles(
    model: BehaviorModel,
    trials: xr.Dataset,
    fixed: Mapping[str, FixedValue],
    posterior: xr.DataTree,
    groups: Int[np.ndarray, "group subject"],
    hyperprior: Hyperprior,
    *,
    predictors: Float[np.ndarray, "group subject predictor"] | None = None,
    seed: int = 0,
) -> Particles:
    """Particles of the subjects of many groups, each where its own group is.

    Args:
        model: that was fitted. trials: that it was fitted to. fixed: values of its fixed parameters.
        posterior: what `fit_datasets` made of them; who has no good fit takes an empty place.
        groups: who belongs to each group, by their place in the data; -1 for an empty place.
        hyperprior: of each group.
        predictors: of each subject; by default a 1.
        seed: of all random numbers.
    """
    is_good: Any = posterior["diagnostics"]["is_good"].values
    is_there = (groups >= 0) & is_good[groups]
    rows, columns = np.nonzero(is_there)
    chosen = groups[rows, columns]
    x = np.ones((*groups.shape, 1), np.float32) if predictors is None else predictors.astype(np.float32)
    fitted = posterior["posterior"].to_dataset().isel(dataset=chosen)
    points, log_weight = weigh_fits(model, fitted, min(NUM_FITTED, fitted.sizes["chain"] * fitted.sizes["draw"]))

    def lay_out(points: np.ndarray, log_weight: np.ndarray) -> Particles:
        has = np.broadcast_to(is_there[..., None], (*groups.shape, points.shape[-1]))
        return Particles.without_size(place(points), place(log_weight), has, x)

    def place(values: np.ndarray) -> np.ndarray:
        everybody = np.zeros((*groups.shape, *values.shape[1:]), np.float32)
        everybody[rows, columns] = values
        return everybody

    def find_places(particles: Particles) -> Places:
        mode, errors, widest = find_modes(particles, hyperprior)
        shape, own = (len(groups), x.shape[-1], -1), x[rows, columns]
        mean = np.einsum("sp,spe->se", own, mode.location.reshape(shape)[rows])
        variance = np.einsum("sp,spe->se", own**2, errors.reshape(shape)[rows] ** 2)
        return Places(mean, np.sqrt((REACH * widest[rows]) ** 2 + variance))

    focus = find_focus(points, log_weight, find_places(lay_out(points, log_weight)))
    mine = trials.isel(dataset=chosen)
    known = {name: value.isel(dataset=chosen) if isinstance(value, xr.DataArray) else value for name, value in fixed.items()}
    points, log_weight = draw_focused(model, mine, known, focus, num_particles=NUM_FOCUSED, seed=seed)
    rngs = [make_generator(seed, "relevant particles", int(number)) for number in mine["dataset"].values]
    places = find_places(lay_out(points, log_weight))
    kernels, size = smooth(points, log_weight, places, NUM_KEPT, rngs)
    particles = lay_out(kernels, np.zeros(kernels.shape[:-1]))
    return particles._replace(size=place(size), middle=place(places.mean), precision=place(places.sd**-2))


def find_modes(
    particles: Particles, hyperprior: Hyperprior
) -> tuple[Group, Float[np.ndarray, "group coefficient"], Float[np.ndarray, "group entry"]]:
    """Where each group is, roughly, the errors of its locations, and how large its spreads may well be."""
    num = len(particles.points)
    size = -(-num // local_mesh().size) * local_mesh().size
    filled = np.minimum(np.arange(size), num - 1)
    batch = Particles(*(array[filled] for array in particles))
    found = run_on_devices(_modes_program(), hyperprior, None, batch)
    return jax.tree.map(lambda array: np.asarray(array, float)[:num], found)


@functools.cache
def _modes_program() -> Any:
    def one(hyperprior: Hyperprior, particles: Particles) -> tuple[Group, Array, Array]:
        affine, _ = start_group(particles, hyperprior, NUM_STEPS)
        widest = jnp.exp(affine.log_spread + affine.log_spread_scale)
        return Group(affine.location, jnp.exp(affine.log_spread)), affine.location_scale, widest

    def program(hyperprior: Hyperprior, is_wanted: Array, particles: Particles) -> tuple[Group, Array, Array]:
        return jax.lax.map(lambda group: one(hyperprior, group), particles)

    return program
