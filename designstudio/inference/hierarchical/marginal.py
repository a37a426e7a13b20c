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


class Kernels(NamedTuple):
    """Normal kernels around draws of each subject, which were made where a normal place is.

    Attributes:
        factor: Cholesky factor of their covariance.
        middle, precision: of the place.
    """

    factor: Float[AnyArray, "subject entry entry"]
    middle: Float[AnyArray, "subject entry"]
    precision: Float[AnyArray, "subject entry"]


class Particles(NamedTuple):
    """Weighted draws of where each subject might be, or kernels around such draws.

    With kernels, the likelihood of a subject is their sum, divided by the density of the place.

    Attributes:
        points: on the scale of the group, with kernels from the middle of the place; anything for entries that a subject
            does not have.
        log_weight: log likelihood over the density they came from.
        has: which entries each subject has.
        predictors: by which the group's location is multiplied for each subject; a single 1 where all have the same. With
            several, locations are coefficients: those of all entries for the first predictor, then for the next.
        kernels: around the points; None for points as such.
    """

    points: Float[AnyArray, "subject draw entry"]
    log_weight: Float[AnyArray, "subject draw"]
    has: Bool[AnyArray, "subject entry"]
    predictors: Float[AnyArray, "subject predictor"]
    kernels: Kernels | None = None


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
    """What the particles of one subject weigh under each group; those of kernels are normal integrals."""
    # The square of a difference, multiplied out: a product of matrices, not a loop over particles, groups and entries.
    if subject.kernels is None:
        points, precision = subject.points, jnp.where(subject.has, group.spread**-2, 0.0)
        location = locate_subject(subject.predictors, group.location)
        squares = points**2 @ precision.T - 2 * points @ (precision * location).T
        return subject.log_weight[:, None] - (squares + jnp.sum(precision * location**2, axis=-1)) / 2
    met = meet_group(subject, group)
    narrowed = met.root * met.gained[..., None, :]
    moved = jnp.sum(met.root * met.pulled[..., None, :], axis=-1)
    linear = met.pulled - jnp.sum(moved[..., None] * narrowed, axis=-2)
    num = met.gained.shape[-1]
    curved = jnp.sum(narrowed[..., :, None] * narrowed[..., None, :], axis=-3) - met.gained[..., None] * jnp.eye(num)
    products = subject.points[:, :, None] * subject.points[:, None] / 2
    constant = (jnp.sum(moved**2, axis=-1) - met.log_volume - jnp.sum(met.pulled * met.offset, axis=-1)) / 2
    exponent = products.reshape(-1, num * num) @ curved.reshape(-1, num * num).T + subject.points @ linear.T
    return subject.log_weight[:, None] + exponent + constant


class Met(NamedTuple):
    """What becomes of a subject's kernels under a group.

    A kernel at x gets the covariance C = root' root and the mean x + C (pulled - gained x), from the middle of the place.

    Attributes:
        offset: where the group expects the subject, from the middle of the place.
        gained: precision that the group has, but the place had not. pulled: the group's precision times the offset.
        root: a root of the covariance.
        log_volume: logarithm of how much the determinant of the covariance has shrunk.
    """

    offset: Float[Array, "*draw entry"]
    gained: Float[Array, "*draw entry"]
    pulled: Float[Array, "*draw entry"]
    root: Float[Array, "*draw entry entry"]
    log_volume: Float[Array, "*draw"]


def meet_group(subject: Particles, group: Group) -> Met:
    """Kernels of one subject under each group."""
    kernels: Any = subject.kernels
    precision = jnp.where(subject.has, group.spread**-2, 0.0)
    gained = jnp.where(subject.has, precision - kernels.precision, 0.0)
    offset = locate_subject(subject.predictors, group.location) - kernels.middle
    # The identity and factor' gained factor, as one product of matrices.
    num = gained.shape[-1]
    products = (kernels.factor[:, :, None] * kernels.factor[:, None]).reshape(num, num * num)
    scaled = jnp.eye(num) + (gained @ products).reshape(*gained.shape, num)
    root, log_volume = _whiten(scaled, kernels.factor.T)
    return Met(offset, gained, precision * offset, root, log_volume)


def _whiten(
    matrix: Float[Array, "*draw entry entry"], right: Float[Array, "entry entry"]
) -> tuple[Float[Array, "*draw entry entry"], Float[Array, "*draw"]]:
    """The Cholesky factor of small matrices, inverted, times another matrix; and the logarithms of their determinants.

    Written out: for small matrices LAPACK, one after the other, takes several times as long.
    """
    columns: list[Array] = []
    rows: list[Array] = []
    log_determinant = jnp.zeros(matrix.shape[:-2])
    for k in range(matrix.shape[-1]):
        column = matrix[..., k] - sum(other * other[..., k, None] for other in columns)
        pivot = column[..., k, None]
        rows.append((right[k] - sum(o[..., k, None] * row for o, row in zip(columns, rows, strict=True))) / jnp.sqrt(pivot))
        columns.append(column / jnp.sqrt(pivot))
        log_determinant += jnp.log(pivot[..., 0])
    return jnp.stack(rows, axis=-2), log_determinant


def locate_subject(
    predictors: Float[Array, " predictor"], location: Float[Array, "*draw coefficient"]
) -> Float[Array, "*draw entry"]:
    """Where the group expects a subject."""
    coefficients = location.reshape(*location.shape[:-1], len(predictors), -1)
    return jnp.sum(coefficients * predictors[:, None], axis=-2)
