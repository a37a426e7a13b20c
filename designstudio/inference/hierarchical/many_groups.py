"""The groups of many simulated studies at once: the group model of `pool_subjects`, in one program for hundreds of groups.

Subjects of simulated studies are fitted one by one anyway. Their weighted draws, with the analysis prior divided out, are
all that a group needs to know of them: the likelihood of a subject under a group is the mean weight of these particles
there. Each group is sampled as one of real subjects is (`marginal.py`), but begins at Laplace's approximation in place of a
pilot: a few steps of expectation-maximisation find its mode, and Louis' formula, from moments of the particles, the
curvature there. All of it is an array program that groups go through one after the other, on all devices.

Groups of any size share it: empty places have no entries and cost nothing. A location may depend on predictors of the
subjects, such as a covariate; two groups are two groups, each with its own locations and spreads, as real ones would be.
"""

import dataclasses
import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Key

from designstudio.core.randomness import make_generator, make_key
from designstudio.inference.batches import local_mesh, run_on_devices
from designstudio.inference.diagnostics import check_weights, resample
from designstudio.inference.hierarchical.group_model import Group, Hyperprior
from designstudio.inference.hierarchical.marginal import (
    Affine,
    Particles,
    choose_particles,
    draw_groups,
    improve,
    locate_subject,
    meet_group,
    weigh_particles,
)
from designstudio.inference.mixture import Mixture

# While the mode is looked for, spreads are at least this, relative to the scale of their prior.
SMALLEST_SPREAD = 0.1
# Of the curvature at the mode, relative to that of known subjects: data that say little leave it flat, or bent wrongly.
FLATTEST, STEEPEST = 0.01, 2.0
# Shares of the regression-like component and of those that start with Laplace's covariance, and how wide these are.
SHARES, WIDTHS = (0.1, 0.5, 0.25, 0.15), (1.1, 1.1, 1.8)
# How much wider than what was learnt the last proposal is: tails that are too light would spoil the weights.
LAST_WIDTH = 1.3
# Draws of the group by which the particles that count are counted.
NUM_COUNTED = 50


@dataclasses.dataclass(frozen=True)
class GroupsSettings:
    """How carefully many groups are sampled, and when one can be trusted.

    Attributes:
        num_steps: of expectation-maximisation.
        num_rounds: in which the proposal learns. num_learning_draws: draws of each.
        num_weighted: weighted draws of each group; num_draws: equally weighted ones that are made of them.
        num_patient_rounds: of groups that could not be trusted. num_attempts: how often these are sampled again.
        max_khat, min_ess: what the weights of a group must be like.
        min_supporting: fewer effective particles than this cannot show what a group says about a subject.
    """

    num_steps: int = 25
    num_rounds: int = 3
    num_learning_draws: int = 1000
    num_weighted: int = 2000
    num_draws: int = 500
    num_patient_rounds: int = 9
    num_attempts: int = 3
    max_khat: float = 0.7
    min_ess: float = 40.0
    min_supporting: float = 10.0


class ManyGroups(NamedTuple):
    """Posteriors of many groups.

    Attributes:
        group: equally weighted draws of locations and spreads.
        khat, ess: of their weights. support: effective particles of each subject; infinite for empty places.
        is_good: whether the weights can be trusted.
    """

    group: Group
    khat: Float[np.ndarray, " group"]
    ess: Float[np.ndarray, " group"]
    support: Float[np.ndarray, "group subject"]
    is_good: np.ndarray

    @property
    def particle_error(self) -> Float[np.ndarray, " group"]:
        """The error of each group's log likelihood that is due to the number of particles, in nats."""
        return np.sqrt(np.sum(1 / self.support, axis=1))


def sample_many_groups(
    particles: Particles,
    hyperprior: Hyperprior,
    numbers: np.ndarray,
    *,
    settings: GroupsSettings | None = None,
    seed: int = 0,
) -> ManyGroups:
    """Posteriors of many groups, each with its subjects integrated out.

    Args:
        particles: of all groups, with a first axis for the group.
        hyperprior: of each group; they share it.
        numbers: of the groups; their random numbers depend on them.
        settings: how carefully.
        seed: of all random numbers.
    """
    settings = GroupsSettings() if settings is None else settings
    num_groups = len(numbers)
    found = _run(particles, hyperprior, numbers, settings, np.full(num_groups, settings.num_rounds, np.int32), seed)
    for attempt in range(settings.num_attempts):
        again = np.flatnonzero(~_is_good(found, settings))
        if not again.size:
            break
        # As many as before, of which those that need no more care are left out at once: one program.
        rounds = np.zeros(num_groups, np.int32)
        rounds[again] = settings.num_patient_rounds + attempt
        some = _run(particles, hyperprior, numbers, settings, rounds, seed)
        for old, new in zip(jax.tree.leaves(found), jax.tree.leaves(some), strict=True):
            old[again] = new[again]
    check = check_weights(found.log_weight[:, None])
    rngs = [make_generator(seed, "groups", int(number)) for number in numbers]
    chosen = resample(check.log_weight, settings.num_draws, rngs)[:, 0]
    at = np.arange(num_groups)[:, None]
    group = Group(*(np.asarray(array, float)[at, chosen] for array in found.group))
    support = np.where(particles.has.any(axis=-1), found.support, np.inf)
    return ManyGroups(group, check.khat, check.ess, support, _is_good(found, settings))


class _Found(NamedTuple):
    """Weighted draws of many groups, and the particles that count of each subject."""

    group: Group
    log_weight: Any
    support: Any


def _is_good(found: _Found, settings: GroupsSettings) -> np.ndarray:
    check = check_weights(found.log_weight[:, None])
    return (check.khat < settings.max_khat) & (check.ess >= settings.min_ess)


def _pick(particles: Particles, chosen: np.ndarray) -> Particles:
    return jax.tree.map(lambda array: array[chosen], particles)


def _run(
    particles: Particles,
    hyperprior: Hyperprior,
    numbers: np.ndarray,
    settings: GroupsSettings,
    num_rounds: np.ndarray,
    seed: int,
) -> _Found:
    """All groups on all devices, filled up with copies of the last; those with no rounds are left out."""
    size = -(-len(numbers) // local_mesh().size) * local_mesh().size
    filled = np.minimum(np.arange(size), len(numbers) - 1)
    root = make_key(seed, f"groups, up to {num_rounds.max()} rounds")
    keys = jax.vmap(lambda number: jax.random.fold_in(root, number))(jnp.asarray(numbers[filled]))
    # The number of rounds is data: more care is nothing new to compile.
    batch = (num_rounds[filled], _pick(particles, filled), keys)
    found = run_on_devices(_groups_program(settings), hyperprior, None, *batch)
    # Copied: what comes from a device cannot be written to.
    return jax.tree.map(lambda array: np.array(array)[: len(numbers)], found)


@functools.cache
def _groups_program(settings: GroupsSettings) -> Any:
    def one(hyperprior: Hyperprior, num_rounds: Array, particles: Particles, key: Key[Array, ""]) -> _Found:
        learn_key, draw_key, count_key = jax.random.split(key, 3)
        affine, proposal = start_group(particles, hyperprior, settings.num_steps)

        def learn(index: Array, old: Mixture) -> Mixture:
            round_key = jax.random.fold_in(learn_key, index)
            return improve(particles, hyperprior, affine, old, settings.num_learning_draws, round_key)

        proposal = jax.lax.fori_loop(0, num_rounds, learn, proposal)
        proposal = proposal._replace(factor=LAST_WIDTH * proposal.factor)
        draws = draw_groups(particles, hyperprior, affine, proposal, settings.num_weighted, draw_key)
        pick_key, choose_key = jax.random.split(count_key)
        chosen = jax.random.categorical(pick_key, draws.log_weight, shape=(NUM_COUNTED,))
        _, support = choose_particles(particles, Group(*(array[chosen] for array in draws.group)), choose_key)
        return _Found(draws.group, draws.log_weight, support)

    def program(hyperprior: Hyperprior, is_wanted: Array, *batch: Any) -> _Found:
        shape = jax.eval_shape(one, hyperprior, *jax.tree.map(lambda array: array[0], batch))

        def skip(_: Any) -> _Found:
            return jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), shape)

        def step(group: tuple[Any, ...]) -> _Found:
            return jax.lax.cond(group[0] > 0, lambda group: one(hyperprior, *group), skip, group)

        return jax.lax.map(step, batch)

    return program


def start_group(particles: Particles, hyperprior: Hyperprior, num_steps: int) -> tuple[Affine, Mixture]:
    """Laplace's approximation of a group in locations and log spreads, as units and a proposal in them."""
    num_coefficients, num_entries = len(hyperprior.centre), len(hyperprior.spread)
    first = Group(jnp.asarray(hyperprior.centre), jnp.asarray(hyperprior.spread))
    group = jax.lax.fori_loop(0, num_steps, lambda _, old: _step(particles, hyperprior, old), first)
    count = jnp.sum(particles.has, axis=0)
    squares = jnp.sum(particles.predictors[:, :, None] ** 2 * particles.has[:, None], axis=0)
    units = jnp.concatenate(
        [
            1 / jnp.sqrt(squares / group.spread**2 + hyperprior.scale.reshape(squares.shape) ** -2).ravel(),
            1 / jnp.sqrt(2 * count + 1.0),
        ]
    )
    precision = units[:, None] * _find_curvature(particles, hyperprior, group) * units
    values, vectors = jnp.linalg.eigh(precision)
    covariance = (vectors / jnp.clip(values, FLATTEST, STEEPEST)) @ vectors.T
    # In units of the marginal standard deviations, which also say how far particles have to reach.
    sds = jnp.sqrt(jnp.diagonal(covariance))
    factor, units = jnp.linalg.cholesky(covariance / sds[:, None] / sds), units * sds
    affine = Affine(group.location, jnp.log(group.spread), units[:num_coefficients], units[num_coefficients:])
    widths, num = jnp.array(WIDTHS), num_coefficients + num_entries
    return affine, Mixture(jnp.log(jnp.array(SHARES)), jnp.zeros((len(WIDTHS), num)), widths[:, None, None] * factor)


def _meet(particles: Particles, group: Group) -> tuple[Array, Array, Array]:
    """Under one group: normalised weights of every subject's particles, and the mean and covariance of each."""
    stacked = Group(*(array[None] for array in group))

    def one(subject: Particles) -> tuple[Array, Array, Array]:
        weights = jax.nn.softmax(weigh_particles(subject, stacked)[:, 0])
        num = subject.points.shape[-1]
        if subject.kernels is None:
            return weights, subject.points, jnp.zeros((num, num))
        met = meet_group(subject, group)
        covariance = met.root.T @ met.root
        moved = subject.points + (met.pulled - met.gained * subject.points) @ covariance
        return weights, subject.kernels.middle + moved, covariance

    return jax.vmap(one)(particles)


def _step(particles: Particles, hyperprior: Hyperprior, group: Group) -> Group:
    """One step of expectation-maximisation, with the priors of location and spread."""
    (weights, points, covariances), has = _meet(particles, group), particles.has
    mean, square = (jnp.einsum("sp,spe->se", weights, points**power) for power in (1, 2))
    square += jnp.diagonal(covariances, axis1=1, axis2=2)
    x = particles.predictors
    centre, scale = (array.reshape(x.shape[1], -1) for array in (hyperprior.centre, hyperprior.scale))

    def solve(mean: Array, has: Array, spread: Array, centre: Array, scale: Array) -> Array:
        ridge = (spread / scale) ** 2
        return jnp.linalg.solve((x * has[:, None]).T @ x + jnp.diag(ridge), x.T @ (has * mean) + ridge * centre)

    coefficients = jax.vmap(solve, in_axes=(1, 1, 0, 1, 1), out_axes=1)(mean, has, group.spread, centre, scale)
    location = x @ coefficients
    # Of people who are all at the location, rounding leaves less than nothing, which has no root.
    squares = jnp.maximum(jnp.sum(has * (square - 2 * mean * location + location**2), axis=0), 0.0)
    # A half-normal counts for little unless the spread is large against it.
    variance = squares / (jnp.sum(has, axis=0) + (group.spread / hyperprior.spread) ** 2)
    spread = jnp.maximum(jnp.sqrt(variance), SMALLEST_SPREAD * hyperprior.spread)
    return Group(coefficients.ravel(), spread)


def _find_curvature(particles: Particles, hyperprior: Hyperprior, group: Group) -> Float[Array, "coordinate coordinate"]:
    """Minus the second derivative of the log posterior in locations and log spreads, by Louis' formula."""
    (weights, points, covariances), num = _meet(particles, group), len(group.spread)

    def one(points: Array, weights: Array, covariance: Array, has: Array, predictors: Array) -> Array:
        distance = jnp.where(has, (points - locate_subject(predictors, group.location)) / group.spread, 0.0)
        within = jnp.where(has[:, None] & has, covariance / group.spread[:, None] / group.spread, 0.0)
        variance = jnp.diagonal(within)
        gradient = jnp.concatenate([distance / group.spread, jnp.where(has, distance**2 + variance - 1, 0.0)], axis=1)
        centred = gradient - weights @ gradient
        mean, products = weights @ distance, (distance * weights[:, None]).T @ distance
        expected = jnp.concatenate([has / group.spread**2, 2 * (jnp.diagonal(products) + variance)])
        crossed = jnp.diag(2 * mean / group.spread)
        zero = jnp.zeros((num, num))
        complete = jnp.diag(expected) + jnp.block([[zero, crossed], [crossed, zero]])
        # Within a kernel the gradient has the moments of a normal and its square.
        across = 2 * within / group.spread[:, None] * mean
        inner = [[within / group.spread[:, None] / group.spread, across], [across.T, (4 * products + 2 * within) * within]]
        own = complete - (centred * weights[:, None]).T @ centred - jnp.block(inner)
        # From the subject's own location to the coefficients.
        spread_out = jnp.kron(predictors[:, None], jnp.eye(num))
        slopes = jnp.block([[spread_out, jnp.zeros((len(spread_out), num))], [zero, jnp.eye(num)]])
        return slopes @ own @ slopes.T

    total = jnp.sum(jax.vmap(one)(points, weights, covariances, particles.has, particles.predictors), axis=0)
    prior = jnp.concatenate([hyperprior.scale**-2.0, 2 * (group.spread / hyperprior.spread) ** 2])
    return total + jnp.diag(prior)
