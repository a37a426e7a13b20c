"""From separate fits of the subjects of many groups to the posteriors of all groups."""

import functools
from collections.abc import Mapping
from typing import Any, NamedTuple

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
from designstudio.inference.hierarchical.marginal import Kernels, Particles
from designstudio.model.likelihood.model import BehaviorModel
from designstudio.model.likelihood.packing import FixedValue

# Draws of each separate fit, particles made from them that know the group, and kernels that are made of these.
NUM_FITTED, NUM_FOCUSED, NUM_KEPT = 2000, 2000, 300
# Of expectation-maximisation, before and after particles know the group.
NUM_STEPS = 25
# Particles reach farther than the group: it is uncertain, too. Kernels have a size, and reach beyond their places anyway.
REACH_OF_PARTICLES, REACH_OF_KERNELS = 1.3, 1.0


class FocusedParticles(NamedTuple):
    """Particles of the subjects of many groups, drawn where the groups are.

    Attributes:
        points, log_weight: of each subject.
        numbers: of the subjects.
        rows, columns: the group of each subject, and its place there.
        predictors: over group, place and predictor.
    """

    points: Float[np.ndarray, "subject draw entry"]
    log_weight: Float[np.ndarray, "subject draw"]
    numbers: Int[np.ndarray, " subject"]
    rows: Int[np.ndarray, " subject"]
    columns: Int[np.ndarray, " subject"]
    predictors: Float[np.ndarray, "group place predictor"]

    def lay_out(self) -> Particles:
        """By group and place."""
        is_there = np.zeros(self.predictors.shape[:2], bool)
        is_there[self.rows, self.columns] = True
        has = np.broadcast_to(is_there[..., None], (*is_there.shape, self.points.shape[-1]))
        return Particles(self.place(self.points), self.place(self.log_weight), has, self.predictors)

    def place(self, values: np.ndarray) -> np.ndarray:
        """Anything of each subject by group and place."""
        everybody = np.zeros((*self.predictors.shape[:2], *values.shape[1:]), np.float32)
        everybody[self.rows, self.columns] = values
        return everybody

    def first(self, num: int) -> "FocusedParticles":
        """Of those in the first places; groups keep their empty ones, and with them their program."""
        is_kept = self.columns < num
        points, log_weight, numbers, rows, columns = (array[is_kept] for array in self[:-1])
        return FocusedParticles(points, log_weight, numbers, rows, columns, self.predictors)

    def find_places(self, hyperprior: Hyperprior, reach: float) -> Places:
        """Where the groups expect the subjects."""
        mode, errors, widest = find_modes(self.lay_out(), hyperprior)
        shape = (len(self.predictors), self.predictors.shape[-1], -1)
        own = self.predictors[self.rows, self.columns]
        mean = np.einsum("sp,spe->se", own, mode.location.reshape(shape)[self.rows])
        variance = np.einsum("sp,spe->se", own**2, errors.reshape(shape)[self.rows] ** 2)
        return Places(mean, np.sqrt((reach * widest[self.rows]) ** 2 + variance))


def focus_particles(
    model: BehaviorModel,
    trials: xr.Dataset,
    fixed: Mapping[str, FixedValue],
    posterior: xr.DataTree,
    groups: Int[np.ndarray, "group subject"],
    hyperprior: Hyperprior,
    *,
    predictors: Float[np.ndarray, "group subject predictor"] | None = None,
    seed: int = 0,
) -> FocusedParticles:
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
    rows, columns = np.nonzero((groups >= 0) & is_good[groups])
    chosen = groups[rows, columns]
    x = np.ones((*groups.shape, 1), np.float32) if predictors is None else predictors.astype(np.float32)
    fitted = posterior["posterior"].to_dataset().isel(dataset=chosen)
    points, log_weight = weigh_fits(model, fitted, min(NUM_FITTED, fitted.sizes["chain"] * fitted.sizes["draw"]))
    numbers = trials["dataset"].values[chosen]
    separate = FocusedParticles(points, log_weight, numbers, rows, columns, x)
    focus = find_focus(points, log_weight, separate.find_places(hyperprior, REACH_OF_PARTICLES))
    mine = trials.isel(dataset=chosen)
    known = {name: value.isel(dataset=chosen) if isinstance(value, xr.DataArray) else value for name, value in fixed.items()}
    points, log_weight = draw_focused(model, mine, known, focus, num_particles=NUM_FOCUSED, seed=seed)
    return separate._replace(points=points, log_weight=log_weight)


def make_kernels(focused: FocusedParticles, hyperprior: Hyperprior, *, seed: int = 0) -> Particles:
    """What `sample_many_groups` weighs groups by.

    Args:
        focused: particles of each subject. hyperprior: of each group.
        seed: of all random numbers.
    """
    places = focused.find_places(hyperprior, REACH_OF_KERNELS)
    rngs = [make_generator(seed, "relevant particles", int(number)) for number in focused.numbers]
    points, factor = smooth(focused.points, focused.log_weight, places, NUM_KEPT, rngs)
    particles = focused._replace(points=points, log_weight=np.zeros(points.shape[:-1], np.float32)).lay_out()
    around = (factor, places.mean, places.sd**-2)
    return particles._replace(kernels=Kernels(*(focused.place(array) for array in around)))


def find_modes(
    particles: Particles, hyperprior: Hyperprior
) -> tuple[Group, Float[np.ndarray, "group coefficient"], Float[np.ndarray, "group entry"]]:
    """Where each group is, roughly, the errors of its locations, and how large its spreads may well be."""
    num = len(particles.points)
    size = -(-num // local_mesh().size) * local_mesh().size
    filled = np.minimum(np.arange(size), num - 1)
    batch = jax.tree.map(lambda array: array[filled], particles)
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
