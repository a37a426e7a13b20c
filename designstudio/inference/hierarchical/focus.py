"""Particles that know their group, for the subjects of many simulated studies.

Draws of separate fits lie wherever the data of a subject allow. Where the data leave much open, few of thousands are where
the group says that people are. But their weighted moments there tell where to draw others: each subject gets independent
draws from a Student's t with these moments, and some from the group itself, wider than it is, so that no place that matters
is left out. Their weights are exact, whatever they came from.
"""

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from jax.scipy.special import gammaln
from jaxtyping import Array, Float, Key

from designstudio.core.randomness import make_key
from designstudio.inference.batches import in_chunks, local_mesh, run_on_devices
from designstudio.inference.diagnostics import resample
from designstudio.inference.hierarchical.group_model import Entry, list_entries
from designstudio.inference.hierarchical.proposals import NUM_RANGES
from designstudio.model.likelihood.condense import condense
from designstudio.model.likelihood.lapses import lay_out_ranges
from designstudio.model.likelihood.model import BehaviorModel, Values
from designstudio.model.likelihood.observations import Observations, drop_trials
from designstudio.model.likelihood.packing import FixedValue, pack_trials

# Degrees of freedom and width of the t, the share of draws from the group, and how much wider than the group these are.
DEGREES, WIDTH = 5, 1.15
SHARE_OF_GROUP, REACH = 0.2, 1.5
# Weighted draws that the group itself counts for in a subject's moments, beyond one for each entry.
PRIOR_DRAWS = 3
# Moments are taken under a group as much wider than it is, so that at least this share of the draws counts.
WIDENINGS, ENOUGH_DRAWS = (1.0, 1.4, 2.0, 2.8, 4.0), 0.1
# Of a subject's covariance, what kernels have.
SMOOTHED = 0.5
# Subjects that a device works on at once.
CHUNK = 10
# Particles that are computed at once.
BLOCK = 250


class Places(NamedTuple):
    """Where people of a group are expected, before anything is known of one of them: one place for each subject."""

    mean: Float[np.ndarray, "subject entry"]
    sd: Float[np.ndarray, "subject entry"]


class Focus(NamedTuple):
    """Where the particles of each subject are drawn: moments of their t, with its factor's inverse, and of their group."""

    mean: Float[np.ndarray, "subject entry"]
    factor: Float[np.ndarray, "subject entry entry"]
    inverse: Float[np.ndarray, "subject entry entry"]
    places: Places


def find_focus(
    points: Float[np.ndarray, "subject draw entry"], log_weight: Float[np.ndarray, "subject draw"], places: Places
) -> Focus:
    """Moments of every subject's particles, weighted by their group.

    Args:
        points, log_weight: particles of each subject, whatever they came from.
        places: of each subject's group.
    """
    squares = np.sum(((points - places.mean[:, None]) / places.sd[:, None]) ** 2, axis=-1)
    weights, widening = _weigh_widely(squares, log_weight)
    num, wide = points.shape[-1] + PRIOR_DRAWS, widening[:, None] * places.sd
    num_effective = 1 / np.sum(weights**2, axis=1)
    mean = np.einsum("sd,sde->se", weights, points)
    centred = points - mean[:, None]
    scatter = np.einsum("sde,sdf->sef", weights[:, :, None] * centred, centred)
    share = (num_effective / (num_effective + num))[:, None, None]
    covariance = share * scatter + (1 - share) * 0.5 * wide[:, :, None] ** 2 * np.eye(points.shape[-1])
    # From a normal under the wide group to the same under the group itself: precisions add up.
    precision = np.linalg.inv(covariance)
    gained = places.sd**-2.0 - wide**-2.0
    covariance = np.linalg.inv(precision + gained[:, :, None] * np.eye(points.shape[-1]))
    pulled = np.einsum("sef,sf->se", precision, mean) + gained * places.mean
    own = np.einsum("sef,sf->se", covariance, pulled)
    factor = WIDTH * np.linalg.cholesky(covariance)
    found = Focus(own, factor, np.linalg.inv(factor), places)
    return jax.tree.map(lambda array: array.astype(np.float32), found)


def smooth(
    points: Float[np.ndarray, "subject draw entry"],
    log_weight: Float[np.ndarray, "subject draw"],
    places: Places,
    num_kept: int,
    rngs: list[np.random.Generator],
) -> tuple[Float[np.ndarray, "subject kept entry"], Float[np.ndarray, "subject entry entry"]]:
    """Kernels around particles that a place makes likely: where they are, from its middle, and their covariance's factor.

    Where people hardly differ a group is narrow, and of hundreds of particles few would be in it: its likelihood would be
    rough, and its posterior the peaks of that. Kernels see narrow groups, too. Particles move towards their mean by as much
    as kernels spread them, so that mean and covariance of a subject under the place stay what they are.

    Args:
        points, log_weight: particles of each subject. places: where each is expected.
        num_kept: kernels of each subject. rngs: for each subject.
    """
    squares = np.sum(((points - places.mean[:, None]) / places.sd[:, None]) ** 2, axis=-1)
    logs = np.asarray(log_weight - squares / 2, float)
    weights = np.exp(logs - logs.max(axis=1, keepdims=True))
    weights /= weights.sum(axis=1, keepdims=True)
    mean = np.einsum("sd,sde->se", weights, points)
    centred = points - mean[:, None]
    covariance = np.matmul(np.swapaxes(weights[:, :, None] * centred, 1, 2), centred)
    # Few effective particles know less of correlations than of their scale.
    num_effective = 1 / np.sum(weights**2, axis=1)
    known = (num_effective / (num_effective + points.shape[-1] + PRIOR_DRAWS))[:, None, None]
    covariance *= known + (1 - known) * np.eye(points.shape[-1])
    # A likelihood that is one leaves nobody wider than their place.
    within = covariance / places.sd[:, :, None] / places.sd[:, None]
    factor = np.linalg.cholesky(SMOOTHED * covariance / np.maximum(np.linalg.eigvalsh(within)[:, -1], 1.0)[:, None, None])
    shrunk = np.sqrt(1 - SMOOTHED / np.maximum(np.linalg.eigvalsh(within)[:, -1], 1.0))
    chosen = resample(logs[:, None], num_kept, rngs)[:, 0]
    kept = np.take_along_axis(centred, chosen[..., None], axis=1)
    return (mean - places.mean)[:, None] + shrunk[:, None, None] * kept, factor


def _weigh_widely(
    squares: Float[np.ndarray, "subject draw"], log_weight: Float[np.ndarray, "subject draw"]
) -> tuple[Float[np.ndarray, "subject draw"], Float[np.ndarray, " subject"]]:
    """Normalised weights under a group as much wider as enough draws need to count, and by how much that is."""
    result, widening = np.empty(squares.shape), np.ones(len(squares))
    is_open = np.ones(len(squares), bool)
    for width in WIDENINGS:
        logs = np.asarray(log_weight[is_open] - squares[is_open] / (2 * width**2), float)
        weights = np.exp(logs - logs.max(axis=1, keepdims=True))
        result[is_open], widening[is_open] = weights / weights.sum(axis=1, keepdims=True), width
        is_open &= 1 / np.sum(result**2, axis=1) < ENOUGH_DRAWS * squares.shape[1]
        if not is_open.any():
            break
    return result, widening


def draw_focused(
    model: BehaviorModel,
    trials: xr.Dataset,
    fixed: dict[str, FixedValue],
    focus: Focus,
    *,
    num_particles: int,
    seed: int,
) -> tuple[Float[np.ndarray, "subject draw entry"], Float[np.ndarray, "subject draw"]]:
    """Particles of every subject and their log weights: log likelihood over the density they came from.

    Args:
        model: that is fitted, the same for all subjects.
        trials: of the subjects. fixed: values of the model's fixed parameters.
        focus: where each subject's particles are drawn.
        num_particles: of each subject.
        seed: of all random numbers; each subject has its own, by its number (the coordinate `dataset`).
    """
    observations = pack_trials(trials, model, fixed)
    if model.has_lapses:
        seen = lay_out_ranges(observations, NUM_RANGES)
    else:
        seen = drop_trials(observations) if model.is_linear else condense(observations)
    numbers = trials["dataset"].values
    # In a few sizes, so that few programs serve any number of subjects.
    size = local_mesh().size * CHUNK
    size *= 2 ** max(0, int(np.ceil(np.log2(len(numbers) / size))))
    filled = np.minimum(np.arange(size), len(numbers) - 1)
    root = make_key(seed, "focused particles")
    keys = jax.vmap(lambda number: jax.random.fold_in(root, number))(jnp.asarray(numbers[filled]))
    batch = jax.tree.map(lambda array: np.asarray(array)[filled], (seen, focus))
    is_wanted = np.arange(size) < len(numbers)
    points, log_weight = run_on_devices(_program(num_particles), model, is_wanted, *batch, keys)
    return np.asarray(points)[: len(numbers)], np.asarray(log_weight)[: len(numbers)]


@functools.cache
def _program(num_particles: int) -> Any:
    def one(model: BehaviorModel, data: Observations, focus: Focus, key: Key[Array, ""]) -> tuple[Array, Array]:
        entries = list_entries(model)

        def block(key: Key[Array, ""]) -> tuple[Array, Array]:
            points = _draw(focus, BLOCK, key)
            densities = jax.vmap(lambda point: model.log_likelihood(constrain_point(entries, point), data))(points)
            weights = densities - _log_density(focus, points)
            return points, jnp.where(jnp.isnan(weights), -jnp.inf, weights)

        points, weights = jax.lax.map(block, jax.random.split(key, -(-num_particles // BLOCK)))
        return points.reshape(-1, points.shape[-1])[:num_particles], weights.ravel()[:num_particles]

    def program(model: BehaviorModel, is_wanted: Array, *batch: Any) -> tuple[Array, Array]:
        return in_chunks(jax.vmap(lambda *subject: one(model, *subject)), CHUNK, is_wanted, batch)

    return program


def constrain_point(entries: tuple[Entry, ...], point: Float[Array, " entry"]) -> Values:
    """From the scale of the group to parameters."""
    values: dict[str, Any] = {}
    for k, entry in enumerate(entries):
        value, _ = entry.scale.constrain(point[k])
        if entry.condition is None:
            values[entry.name] = value
        else:
            values[entry.name] = jnp.append(values.get(entry.name, jnp.zeros(0)), value)
    return values


def _draw(focus: Focus, num_draws: int, key: Key[Array, ""]) -> Float[Array, "draw entry"]:
    normal_key, chi_key = jax.random.split(key)
    normal = jax.random.normal(normal_key, (num_draws, len(focus.mean)))
    stretch = jnp.sqrt(DEGREES / jnp.sum(jax.random.normal(chi_key, (num_draws, DEGREES)) ** 2, axis=1))
    own = focus.mean + stretch[:, None] * (normal @ focus.factor.T)
    everybody = focus.places.mean + REACH * focus.places.sd * normal
    # Exactly as many as their share: one source of noise less. The order of particles means nothing.
    is_own = np.arange(num_draws) >= SHARE_OF_GROUP * num_draws
    return jnp.where(is_own[:, None], own, everybody)


def _log_density(focus: Focus, points: Float[Array, "draw entry"]) -> Float[Array, " draw"]:
    num = points.shape[-1]
    scaled = (points - focus.mean) @ focus.inverse.T
    constant = gammaln((DEGREES + num) / 2) - gammaln(DEGREES / 2) - num / 2 * np.log(DEGREES * np.pi)
    own = constant - (DEGREES + num) / 2 * jnp.log1p(jnp.sum(scaled**2, axis=1) / DEGREES)
    own -= jnp.sum(jnp.log(jnp.diagonal(focus.factor)))
    sd = REACH * focus.places.sd
    squares = jnp.sum(((points - focus.places.mean) / sd) ** 2, axis=-1)
    everybody = -squares / 2 - jnp.sum(jnp.log(sd)) - num / 2 * np.log(2 * np.pi)
    return jnp.logaddexp(own + np.log(1 - SHARE_OF_GROUP), everybody + np.log(SHARE_OF_GROUP))
