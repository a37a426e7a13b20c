"""The Gibbs sampler of a group: a draw for each subject given the group, the group given these draws."""

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, Key

# Draws are laid out in rows of this length, and chosen first by column, then within the column: sums over columns are fast,
# running sums over thousands of draws are not.
ROW = 64
# Spreads are drawn from a fine grid of their logarithms, relative to the scale of their prior, and evenly within its cells.
# A group whose subjects are still more alike cannot be told from one of equals.
SMALLEST_SPREAD, LARGEST_SPREAD, NUM_SPREADS = 0.02, 5.0, 256


# On the host while a group is prepared, on a device while it is sampled.
AnyArray = Any


class Subjects(NamedTuple):
    """Separate draws on the scale of the group.

    Attributes:
        points: of each parameter, subject and draw; filled up to full rows.
        log_weight: minus the log density of the analysis prior, minus infinity where draws are only filling.
        num_copies: how often each draw is there; resampled draws are there several times.
    """

    points: Float[AnyArray, "parameter subject draw"]
    log_weight: Float[AnyArray, "subject draw"]
    num_copies: Float[AnyArray, "subject draw"]


class Hyperprior(NamedTuple):
    """Location is Normal(centre, scale²), spread is HalfNormal(spread)."""

    centre: Float[AnyArray, " parameter"]
    scale: Float[AnyArray, " parameter"]
    spread: Float[AnyArray, " parameter"]


class Group(NamedTuple):
    """Mean and standard deviation of the subjects, on the scale of the group."""

    location: Float[Array, "*chain parameter"]
    spread: Float[Array, "*chain parameter"]


class Sweeps(NamedTuple):
    """What every sweep leaves behind; leading axes are chain and draw.

    Attributes:
        group: the state after the sweep.
        chosen: which of its draws stands for each subject.
        num_supporting: effective number of different draws that it was chosen from.
    """

    group: Group
    chosen: Int[Array, "chain draw subject"]
    num_supporting: Float[Array, "chain draw subject"]


def start_group(subjects: Subjects, hyperprior: Hyperprior, num_chains: int) -> Group:
    """Chains that begin with groups of alike and of different subjects."""
    is_real = jnp.isfinite(subjects.log_weight)
    location = jnp.mean(subjects.points, axis=(1, 2), where=is_real[None])
    factors = jnp.geomspace(0.2, 2.0, num_chains)
    return Group(jnp.broadcast_to(location, (num_chains, *location.shape)), factors[:, None] * hyperprior.spread)


class Noise(NamedTuple):
    """Random numbers of a sweep. Drawn for many sweeps at once: inside the loop they would take most of the time.

    Attributes:
        column, row: Gumbel noise that chooses a draw.
        spread: Gumbel noise that chooses a cell of the grid of spreads. within: place in that cell.
        location: standard normal.
    """

    column: Float[Array, "subject column"]
    row: Float[Array, "subject row"]
    spread: Float[Array, "parameter cell"]
    within: Float[Array, " parameter"]
    location: Float[Array, " parameter"]


def run_sweeps(
    subjects: Subjects, hyperprior: Hyperprior, group: Group, keys: Key[Array, " chain"], *, num_sweeps: int
) -> Sweeps:
    """Go on from `group` for some sweeps, all chains at once."""
    return _compiled(num_sweeps)(subjects, hyperprior, group, keys)


@functools.cache
def _compiled(num_sweeps: int) -> Any:
    def run(subjects: Subjects, hyperprior: Hyperprior, group: Group, keys: Key[Array, " chain"]) -> Sweeps:
        def sweep(state: Group, noise: Noise) -> tuple[Group, tuple[Group, Array, Array]]:
            chosen, num_supporting = choose_draws(subjects, state, noise)
            points = jnp.take_along_axis(subjects.points, chosen[None, :, None], axis=2)[..., 0]
            state = draw_group(points, hyperprior, noise)
            return state, (state, chosen, num_supporting)

        def one_chain(state: Group, key: Key[Array, ""]) -> Sweeps:
            return Sweeps(*jax.lax.scan(sweep, state, _draw_noise(subjects, num_sweeps, key=key))[1])

        return jax.vmap(one_chain)(group, keys)

    # On CPUs LLVM's later optimisations take half of the compilation time and gain little here.
    options = {"xla_backend_optimization_level": 1} if jax.default_backend() == "cpu" else None
    return jax.jit(run, compiler_options=options)


def _draw_noise(subjects: Subjects, num_sweeps: int, *, key: Key[Array, ""]) -> Noise:
    num_parameters, num_subjects, num_draws = subjects.points.shape
    column_key, row_key, spread_key, within_key, location_key = jax.random.split(key, 5)
    return Noise(
        jax.random.gumbel(column_key, (num_sweeps, num_subjects, ROW)),
        jax.random.gumbel(row_key, (num_sweeps, num_subjects, num_draws // ROW)),
        jax.random.gumbel(spread_key, (num_sweeps, num_parameters, NUM_SPREADS)),
        jax.random.uniform(within_key, (num_sweeps, num_parameters), minval=-0.5, maxval=0.5),
        jax.random.normal(location_key, (num_sweeps, num_parameters)),
    )


def choose_draws(subjects: Subjects, group: Group, noise: Noise) -> tuple[Int[Array, " subject"], Float[Array, " subject"]]:
    """One draw of each subject, and how many different ones it was effectively chosen from."""
    log_weight = subjects.log_weight
    # One parameter after the other, finished before anything is summed: merged into one loop, it would run number by number.
    for points, location, factor in zip(subjects.points, group.location, np.sqrt(0.5) / group.spread, strict=True):
        log_weight = log_weight - ((points - location) * factor) ** 2
    log_weight = jax.lax.optimization_barrier(log_weight)
    table = log_weight.reshape(len(log_weight), -1, ROW)
    largest = jnp.max(jnp.max(table, axis=1), axis=1)
    weights = jax.lax.optimization_barrier(jnp.exp(table - largest[:, None, None]))
    # Copies of a draw are one draw with their summed weight.
    squares = jnp.sum(jnp.sum(weights**2 * subjects.num_copies.reshape(table.shape), axis=1), axis=1)
    columns = jnp.sum(weights, axis=1)
    num_supporting = jnp.sum(columns, axis=1) ** 2 / squares
    column = jnp.argmax(jnp.log(columns) + noise.column, axis=1)
    rows = jnp.take_along_axis(weights, column[:, None, None], axis=2)[..., 0]
    row = jnp.argmax(jnp.log(rows) + noise.row, axis=1)
    return row * ROW + column, num_supporting


def draw_group(points: Float[Array, "parameter subject"], hyperprior: Hyperprior, noise: Noise) -> Group:
    """Location and spread given the subjects: first the spread with the location integrated out, then the location."""
    num = points.shape[1]
    mean = jnp.mean(points, axis=1)
    squares = jnp.sum((points - mean[:, None]) ** 2, axis=1)
    log_ratios = jnp.linspace(np.log(SMALLEST_SPREAD), np.log(LARGEST_SPREAD), NUM_SPREADS)
    spreads = hyperprior.spread[:, None] * jnp.exp(log_ratios)
    variance_of_mean = hyperprior.scale[:, None] ** 2 + spreads**2 / num
    log_density = (
        # Of the spread, per unit of its logarithm; of the squares around the mean; of the mean.
        (log_ratios - jnp.exp(2 * log_ratios) / 2)
        - ((num - 1) * jnp.log(spreads) + squares[:, None] / (2 * spreads**2))
        - (jnp.log(variance_of_mean) + (mean - hyperprior.centre)[:, None] ** 2 / variance_of_mean) / 2
    )
    cell = jnp.argmax(log_density + noise.spread, axis=1)
    width = log_ratios[1] - log_ratios[0]
    log_ratio = log_ratios[cell] + width * noise.within
    spread = hyperprior.spread * jnp.exp(log_ratio)
    precision = num / spread**2 + hyperprior.scale**-2
    centre = (num * mean / spread**2 + hyperprior.centre / hyperprior.scale**2) / precision
    return Group(centre + noise.location / jnp.sqrt(precision), spread)
