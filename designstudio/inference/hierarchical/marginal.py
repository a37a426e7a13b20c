"""The group with its subjects integrated out: importance sampling over locations and spreads alone.

Given weighted particles of every subject (`proposals.py`), the likelihood of a group is, for each subject, the mean weight
of its particles under that group. So the group has its own posterior, of a dozen dimensions or two and nearly Gaussian in
locations and log spreads; a mixture that learns from its weighted draws samples it, as it does the posterior of a subject.
Samplers that move group and subjects in turn would be slow here: where people are alike and data say little, neither can
move far without the other.
"""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Key

from designstudio.inference.hierarchical.group_model import Group, Hyperprior
from designstudio.inference.importance import temper
from designstudio.inference.mixture import (
    Mixture,
    draw_from_mixture,
    mixture_log_density,
    place_components,
    prepare_mixture,
    refit_mixture,
)

# Groups that are weighed at once.
AT_ONCE = 50
NUM_REFITS = 2
# Relative to the scale of the spread's prior. A group whose subjects are still more alike cannot be told from one of equals.
SMALLEST_SPREAD, LARGEST_SPREAD = 0.02, 5.0


class Particles(NamedTuple):
    """Weighted draws of where each subject might be.

    Attributes:
        points: on the scale of the group; anything for entries that a subject does not have.
        log_weight: log likelihood over the density they came from.
        has: which entries each subject has.
    """

    points: Float[np.ndarray, "subject draw entry"]
    log_weight: Float[np.ndarray, "subject draw"]
    has: Bool[np.ndarray, "subject entry"]


class Affine(NamedTuple):
    """The affine map from standard coordinates to the group: where it is expected, and how surely.

    Attributes:
        location, log_spread: centres. location_scale, log_spread_scale: units.
    """

    location: Float[np.ndarray, " entry"]
    log_spread: Float[np.ndarray, " entry"]
    location_scale: Float[np.ndarray, " entry"]
    log_spread_scale: Float[np.ndarray, " entry"]

    def apply(self, coordinates: Float[Array, "*draw coordinate"]) -> Group:
        """The group at coordinates."""
        location, log_spread = jnp.split(coordinates, 2, axis=-1)
        return Group(
            self.location + self.location_scale * location, jnp.exp(self.log_spread + self.log_spread_scale * log_spread)
        )


class WeightedGroups(NamedTuple):
    """Draws of the group."""

    group: Group
    log_weight: Float[Array, " draw"]


@eqx.filter_jit
def improve(
    particles: Particles, hyperprior: Hyperprior, affine: Affine, mixture: Mixture, num_draws: int, key: Key[Array, ""]
) -> Mixture:
    """One round of learning."""
    draw_key, place_key = jax.random.split(key)
    points, log_weight = _draw(particles, hyperprior, affine, mixture, num_draws, draw_key)
    weights = temper(log_weight, num_draws // 8)
    is_unidentified = (False,) * points.shape[1]
    placed = place_components(mixture, points, weights, key=place_key)
    is_fresh = mixture.log_share[1] == -jnp.inf
    mixture = jax.tree.map(lambda new, old: jnp.where(is_fresh, new, old), placed, mixture)
    for _ in range(NUM_REFITS):
        mixture = refit_mixture(mixture, is_unidentified, points, weights)
    return mixture


@eqx.filter_jit
def draw_groups(
    particles: Particles, hyperprior: Hyperprior, affine: Affine, mixture: Mixture, num_draws: int, key: Key[Array, ""]
) -> WeightedGroups:
    """Weighted draws of the group."""
    points, log_weight = _draw(particles, hyperprior, affine, mixture, num_draws, key)
    return WeightedGroups(affine.apply(points), log_weight)


@eqx.filter_jit
def choose_particles(
    particles: Particles, groups: Group, key: Key[Array, ""]
) -> tuple[Int[Array, "draw subject"], Float[Array, " subject"]]:
    """A particle of every subject given each group, and from how many of them it was effectively chosen."""
    num_draws = len(groups.location)

    def some(given: tuple[Group, Key[Array, ""]]) -> tuple[Array, Array]:
        group, key = given

        def one(points: Array, log_weight: Array, has: Array, key: Key[Array, ""]) -> tuple[Array, Array]:
            logs = _agree(points, log_weight, has, group)
            weights = jnp.exp(logs - jnp.max(logs, axis=0))
            ends = jnp.cumsum(weights, axis=0)
            threshold = jax.random.uniform(key, ends.shape[1:]) * ends[-1]
            chosen = jnp.minimum(jnp.sum(ends < threshold, axis=0), len(points) - 1)
            return chosen, ends[-1] ** 2 / jnp.sum(weights**2, axis=0)

        chosen, support = jax.lax.map(
            lambda subject: one(*subject), (*particles, jax.random.split(key, len(particles.log_weight)))
        )
        return chosen.T, support.T

    chunks = jax.tree.map(lambda array: array.reshape(-1, AT_ONCE, *array.shape[1:]), groups)
    chosen, support = jax.lax.map(some, (chunks, jax.random.split(key, num_draws // AT_ONCE)))
    return chosen.reshape(num_draws, -1), jnp.mean(support.reshape(num_draws, -1), axis=0)


def _draw(
    particles: Particles, hyperprior: Hyperprior, affine: Affine, mixture: Mixture, num_draws: int, key: Key[Array, ""]
) -> tuple[Float[Array, "draw coordinate"], Float[Array, " draw"]]:
    """Coordinates of groups, with their weights."""
    is_unidentified = (False,) * mixture.mean.shape[-1]
    points = draw_from_mixture(mixture, is_unidentified, num_draws, key=key)
    groups = affine.apply(points)
    log_weight = weigh_groups(particles, hyperprior, groups) - mixture_log_density(
        prepare_mixture(mixture), is_unidentified, points
    )
    return points, jnp.where(jnp.isnan(log_weight), -jnp.inf, log_weight)


def weigh_groups(particles: Particles, hyperprior: Hyperprior, groups: Group) -> Float[Array, " draw"]:
    """Log posterior density of each group's location and log spread, up to a constant."""

    def some(group: Group) -> Array:
        def one(subject: tuple[Array, Array, Array]) -> Array:
            points, log_weight, has = subject
            normalised = jnp.sum(jnp.where(has, jnp.log(group.spread), 0.0), axis=-1)
            return jax.nn.logsumexp(_agree(points, log_weight, has, group), axis=0) - normalised

        return jnp.sum(jax.lax.map(one, particles), axis=0)

    chunks = jax.tree.map(lambda array: array.reshape(-1, AT_ONCE, *array.shape[1:]), groups)
    likelihood = jax.lax.map(some, chunks).ravel()
    ratio = groups.spread / hyperprior.spread
    # The coordinate of a spread is its logarithm.
    prior = jnp.log(ratio) - ratio**2 / 2 - ((groups.location - hyperprior.centre) / hyperprior.scale) ** 2 / 2
    is_possible = jnp.all((ratio > SMALLEST_SPREAD) & (ratio < LARGEST_SPREAD), axis=-1)
    return jnp.where(is_possible, likelihood + jnp.sum(prior, axis=-1), -jnp.inf)


def _agree(points: Array, log_weight: Array, has: Array, group: Group) -> Float[Array, "particle draw"]:
    """What the particles of one subject weigh under each group."""
    precision = jnp.where(has, group.spread**-2, 0.0)
    # The square of a difference, multiplied out: a product of matrices, not a loop over particles, groups and entries.
    squares = points**2 @ precision.T - 2 * points @ (precision * group.location).T
    return log_weight[:, None] - (squares + jnp.sum(precision * group.location**2, axis=-1)) / 2
