"""The group with its subjects integrated out: importance sampling over locations and spreads alone.

Given weighted particles of every subject (`proposals.py`), the likelihood of a group is, for each subject, the mean weight
of its particles under that group. So the group has its own posterior, of a dozen dimensions or two and nearly Gaussian in
locations and log spreads; a mixture that learns from its weighted draws samples it, as it does the posterior of a subject.
Samplers that move group and subjects in turn would be slow here: where people are alike and data say little, neither can
move far without the other.
"""

import math
from typing import Any, NamedTuple

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

# On the host while a group is prepared, on a device while it is sampled.
AnyArray = Any
# Groups that are weighed at once.
AT_ONCE = 50
NUM_REFITS = 2
# Relative to the scale of the spread's prior. A group whose subjects are still more alike cannot be told from one of equals.
SMALLEST_SPREAD, LARGEST_SPREAD = 0.02, 5.0


class Particles(NamedTuple):
    """Weighted draws of where each subject might be, or normal kernels around such draws.

    A subject's likelihood is the sum of the kernels, divided by the density of a normal place in which they were drawn.
    Particles of no size, drawn nowhere in particular, have neither.

    Attributes:
        points: on the scale of the group, from the middle of the place; anything for entries that a subject does not have.
        log_weight: log likelihood over the density they came from.
        has: which entries each subject has.
        predictors: by which the group's location is multiplied for each subject; a single 1 where all have the same. With
            several, locations are coefficients: those of all entries for the first predictor, then for the next.
        size: variance of the kernels, 0 for particles.
        middle, precision: of the place; 0 for no place.
    """

    points: Float[AnyArray, "subject draw entry"]
    log_weight: Float[AnyArray, "subject draw"]
    has: Bool[AnyArray, "subject entry"]
    predictors: Float[AnyArray, "subject predictor"]
    size: Float[AnyArray, "subject entry"]
    middle: Float[AnyArray, "subject entry"]
    precision: Float[AnyArray, "subject entry"]

    @classmethod
    def without_size(cls, points: Any, log_weight: Any, has: Any, predictors: Any) -> "Particles":
        """Weighted draws as such."""
        nothing = np.zeros(np.shape(has), np.float32)
        return cls(points, log_weight, has, predictors, nothing, nothing, nothing)


class Affine(NamedTuple):
    """The affine map from standard coordinates to the group: where it is expected, and how surely.

    Attributes:
        location, log_spread: centres. location_scale, log_spread_scale: units.
    """

    location: Float[AnyArray, " coefficient"]
    log_spread: Float[AnyArray, " entry"]
    location_scale: Float[AnyArray, " coefficient"]
    log_spread_scale: Float[AnyArray, " entry"]

    def apply(self, coordinates: Float[Array, "*draw coordinate"]) -> Group:
        """The group at coordinates."""
        location, log_spread = jnp.split(coordinates, [self.location.shape[-1]], axis=-1)
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

        def one(subject: Particles, key: Key[Array, ""]) -> tuple[Array, Array]:
            logs = weigh_particles(subject, group)
            # Computed once, not by each of those who need them.
            weights = jax.lax.optimization_barrier(jnp.exp(logs - jnp.max(logs, axis=0)))
            return _choose(weights, jax.random.uniform(key, weights.shape[1:]))

        chosen, support = jax.lax.map(
            lambda given: one(*given), (particles, jax.random.split(key, len(particles.log_weight)))
        )
        return chosen.T, support.T

    chunks = jax.tree.map(lambda array: array.reshape(-1, AT_ONCE, *array.shape[1:]), groups)
    chosen, support = jax.lax.map(some, (chunks, jax.random.split(key, num_draws // AT_ONCE)))
    return chosen.reshape(num_draws, -1), jnp.mean(support.reshape(num_draws, -1), axis=0)


def _choose(
    weights: Float[Array, "particle draw"], uniforms: Float[Array, " draw"]
) -> tuple[Int[Array, " draw"], Float[Array, " draw"]]:
    """A row of each column, by the weights in it, and how many rows count.

    First a block of rows, then a row of the block: cumulative sums over all rows would take longer than the weights.
    """
    num_draws = weights.shape[1]
    size = math.isqrt(len(weights))
    blocks = jnp.pad(weights, ((0, -len(weights) % size), (0, 0))).reshape(-1, size, num_draws)
    sums = jnp.sum(blocks, axis=1)
    ends = jnp.cumsum(sums, axis=0)
    threshold = uniforms * ends[-1]
    block = jnp.sum(ends < threshold, axis=0)
    column = jnp.arange(num_draws)
    inner = jnp.cumsum(blocks[block, :, column], axis=1)
    # Rounding must not lead beyond the block.
    rest = jnp.minimum(threshold - (ends - sums)[block, column], inner[:, -1])
    row = jnp.sum(inner < rest[:, None], axis=1)
    return block * size + row, ends[-1] ** 2 / jnp.sum(weights**2, axis=0)


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
        def one(subject: Particles) -> Array:
            normalised = jnp.sum(jnp.where(subject.has, jnp.log(group.spread), 0.0), axis=-1)
            return jax.nn.logsumexp(weigh_particles(subject, group), axis=0) - normalised

        def one_if_there(subject: Particles) -> Array:
            # Groups of several sizes share a program, in which the smaller ones have empty places.
            return jax.lax.cond(jnp.any(subject.has), one, lambda _: jnp.zeros(len(group.spread)), subject)

        return jnp.sum(jax.lax.map(one_if_there, particles), axis=0)

    chunks = jax.tree.map(lambda array: array.reshape(-1, AT_ONCE, *array.shape[1:]), groups)
    likelihood = jax.lax.map(some, chunks).ravel()
    ratio = groups.spread / hyperprior.spread
    # The coordinate of a spread is its logarithm.
    prior = jnp.sum(jnp.log(ratio) - ratio**2 / 2, axis=-1)
    prior -= jnp.sum(((groups.location - hyperprior.centre) / hyperprior.scale) ** 2, axis=-1) / 2
    is_possible = jnp.all((ratio > SMALLEST_SPREAD) & (ratio < LARGEST_SPREAD), axis=-1)
    return jnp.where(is_possible, likelihood + prior, -jnp.inf)


def weigh_particles(subject: Particles, group: Group) -> Float[Array, "particle draw"]:
    """What the particles of one subject weigh under each group: a normal integral over each kernel."""
    gained, pulled, shrunk = meet_group(subject, group)
    offset = _find_offset(subject, group)
    constant = jnp.sum(jnp.log(shrunk) + (subject.size * shrunk * pulled - offset) * pulled, axis=-1) / 2
    # The square of a difference, multiplied out: a product of matrices, not a loop over particles, groups and entries.
    squares = subject.points**2 @ (shrunk * gained).T - 2 * subject.points @ (shrunk * pulled).T
    return subject.log_weight[:, None] - squares / 2 + constant


def meet_group(subject: Particles, group: Group) -> tuple[Array, Array, Array]:
    """What a group adds to the precision of a subject's kernels, where it pulls them, and by how much they shrink for that.

    A kernel at x becomes a normal with the mean (x + size * pulled) * shrunk, from the middle of the place, and with the
    variance size * shrunk.
    """
    precision = jnp.where(subject.has, group.spread**-2, 0.0)
    gained = jnp.where(subject.has, precision - subject.precision, 0.0)
    return gained, precision * _find_offset(subject, group), 1 / (1 + subject.size * gained)


def _find_offset(subject: Particles, group: Group) -> Float[Array, "*draw entry"]:
    """Where the group expects a subject, from the middle of its place."""
    return locate_subject(subject.predictors, group.location) - subject.middle


def locate_subject(
    predictors: Float[Array, " predictor"], location: Float[Array, "*draw coefficient"]
) -> Float[Array, "*draw entry"]:
    """Where the group expects a subject."""
    coefficients = location.reshape(*location.shape[:-1], len(predictors), -1)
    return jnp.sum(coefficients * predictors[:, None], axis=-2)
