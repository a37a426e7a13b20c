"""Hundreds of chains of NUTS through warm-up and draws, in one loop.

In every turn of the loop each chain takes one step (`designstudio.inference.nuts.turn`), so short trajectories do not wait
for long ones; only at the end of a *stretch* of draws does everybody wait for the last. When most have arrived, the few that
are late go on in a loop of their own, which costs less: one difficult data set does not hold up hundreds of others, and a
few that are sampled again do not take as long as all.

Warm-up is in windows. In all of them the step size is adapted; after all but the last the mass matrix is, too: the draws of
all chains of a data set give its posterior's skewness and covariance, in whose units the chains go on.

Where jumps are on, a trajectory is followed by an independence proposal: a draw of importance sampling, accepted or rejected
by the Metropolis-Hastings rule. Both moves leave the posterior as it is, whatever the proposal. There are no jumps in the
warm-up, so that each proposal is used once and is independent of where the chain stands.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Key

from designstudio.inference.nuts.scale import ChainScale, Whitening, adapt_scale, spread_scale
from designstudio.inference.nuts.step_size import StepSize, settle_step_size, start_step_size
from designstudio.inference.nuts.trajectory import select
from designstudio.inference.nuts.turn import (
    NUM_NUMBERS,
    Evaluate,
    Jumps,
    Lanes,
    Numbers,
    Surroundings,
    start_lanes,
    take_turn,
)
from designstudio.inference.settings import NutsSettings

# Turns of the loop after which finished draws are put in order.
NUM_TURNS = 64
# A loop over few chains is faster than one over all, if only few have something to do: one in so many, at least so many.
LATE_SHARE, FEWEST_LATE = 8, 8
# Few enough to go through that loop after each other: a few data sets that are sampled again do not take as long as all.
NUM_TIMES_LATE = 2
# Draws after which chains wait for each other: a few more turns for all, against more memory to go through.
LONGEST_STRETCH = 250


class Chains(NamedTuple):
    """Draws, and what happened on the way; axes are dataset, chain, and draw where there is one.

    Attributes:
        y: coordinates. numbers: what is noted about each draw.
        step_size: adapted. last: where each chain stands, from which another run can go on.
        has_given_up: whether its trajectories were too long on average, so that draws are missing.
        whitening: the scale of each data set.
    """

    y: Float[Array, "dataset chain draw coordinate"]
    numbers: Numbers
    step_size: Float[Array, "dataset chain"]
    last: Float[Array, "dataset chain coordinate"]
    has_given_up: Bool[Array, "dataset chain"]
    whitening: Whitening


class _Stretch(NamedTuple):
    """Some draws of all chains.

    Attributes:
        number: of the stretch. num_draws: how many.
        first: number of the first among those that are kept; negative in the warm-up.
        adapts_step: whether step sizes learn from them. adapts_scale: whether the scales of the data sets do.
        settles_step: whether the average of the step sizes so far is kept. After the first window, because its scale may be
            far off, and after the last; between others the scale hardly changes, and step sizes go on learning.
    """

    number: Any
    num_draws: Any
    first: Any
    adapts_step: Any
    adapts_scale: Any
    settles_step: Any


class _State(NamedTuple):
    """All chains between two stretches."""

    y: Float[Array, "coordinate lane"]
    step: StepSize
    num_turns: Int[Array, " lane"]
    has_given_up: Bool[Array, " lane"]
    whitening: Whitening


def run_chains(
    evaluate: Evaluate,
    data: Any,
    whitening: Whitening,
    starts: Float[Array, "dataset chain coordinate"],
    jumps: Jumps | None,
    settings: NutsSettings,
    *,
    is_wanted: Bool[Array, " dataset"],
    keys: Key[Array, "dataset chain"],
) -> Chains:
    """Sample the posteriors of some data sets.

    Args:
        evaluate: the density of one chain.
        data: what `evaluate` sees, with a leading axis for data sets.
        whitening: the first scale of each data set.
        starts: where chains begin.
        jumps: the proposals of each chain, with axes dataset, chain, draw; None for textbook NUTS.
        settings: how long and how carefully.
        is_wanted: data sets that need a meaningful result.
        keys: one for each chain.
    """
    num_datasets, num_chains, num_coordinates = starts.shape
    num_lanes = num_datasets * num_chains
    dataset = jnp.repeat(jnp.arange(num_datasets), num_chains)
    length, stretches = _plan(settings)
    lane_data = jax.tree.map(lambda array: array[dataset], data)
    bank = None if jumps is None else _lay_out(jumps, length * int((stretches.first >= 0).sum()))
    step_keys, momentum_keys = jax.vmap(jax.random.split, out_axes=1)(keys.reshape(-1))
    num_done = jnp.where(is_wanted[dataset], 0, np.iinfo(np.int32).max)

    first_step = start_step_size(jnp.full(num_lanes, np.log(settings.first_step_size), jnp.float32))

    def run_stretch(state: _State, stretch: _Stretch) -> tuple[_State, Float[Array, "draw number lane"]]:
        scale = spread_scale(state.whitening, dataset)
        momenta = jax.vmap(
            lambda key: jax.random.normal(jax.random.fold_in(key, stretch.number), (length, num_coordinates)), out_axes=-1
        )(momentum_keys)
        local = None if bank is None else _take_jumps(bank, scale, stretch.first, length)
        last_turn = state.num_turns + settings.max_mean_steps * stretch.num_draws
        around = Surroundings(lane_data, scale, momenta, local, step_keys, stretch.num_draws, stretch.adapts_step, last_turn)
        lanes = start_lanes(scale.to_units(state.y), state.step, state.num_turns, num_done, settings.max_tree_depth)
        rows = jnp.zeros((length, num_coordinates + NUM_NUMBERS, num_lanes))
        lanes, rows = _make_draws(lanes, rows, around, evaluate, settings)
        u = rows[:, :num_coordinates]
        y, log_slope = scale.to_coordinates(u)
        # Of coordinates, not of units.
        rows = rows.at[:, num_coordinates].add(-log_slope)
        adapted = adapt_scale(state.whitening, y.reshape(length, -1, num_datasets, num_chains), stretch.num_draws)
        step = select(stretch.settles_step, settle_step_size(lanes.step, num_chains), lanes.step)
        # A chain that has given up goes on from its last draw.
        at = jnp.clip(lanes.num_done, 1, stretch.num_draws) - 1
        last = jnp.where(lanes.num_done > 0, jnp.take_along_axis(y, at[None, None], axis=0)[0], state.y)
        has_given_up = state.has_given_up | ((lanes.num_done < stretch.num_draws) & (stretch.first >= 0))
        state = _State(last, step, lanes.num_turns, has_given_up, select(stretch.adapts_scale, adapted, state.whitening))
        return state, jnp.concatenate([y, rows[:, num_coordinates:]], axis=1)

    state = _State(
        starts.reshape(num_lanes, -1).T, first_step, jnp.zeros(num_lanes, jnp.int32), jnp.zeros(num_lanes, bool), whitening
    )
    state, rows = jax.lax.scan(run_stretch, state, jax.tree.map(jnp.asarray, stretches))
    kept = rows[np.flatnonzero(stretches.first >= 0)].reshape(-1, *rows.shape[2:])[: settings.num_draws]
    kept = jnp.moveaxis(kept, -1, 0).reshape(num_datasets, num_chains, settings.num_draws, -1)
    numbers = Numbers(*(kept[..., num_coordinates + k] for k in range(NUM_NUMBERS)))
    numbers = numbers._replace(
        num_steps=numbers.num_steps.astype(jnp.int32),
        is_diverging=numbers.is_diverging > 0,
        is_saturated=numbers.is_saturated > 0,
        is_jump_accepted=numbers.is_jump_accepted > 0,
    )
    step_size, last = state.step.size.reshape(num_datasets, num_chains), state.y.T.reshape(starts.shape)
    has_given_up = state.has_given_up.reshape(num_datasets, num_chains)
    return Chains(kept[..., :num_coordinates], numbers, step_size, last, has_given_up, state.whitening)


def _make_draws(
    lanes: Lanes,
    rows: Float[Array, "draw number lane"],
    around: Surroundings,
    evaluate: Evaluate,
    settings: NutsSettings,
) -> tuple[Lanes, Float[Array, "draw number lane"]]:
    """Turns until every chain has made all draws of a stretch: all together, then the few that take longer by themselves."""

    def go_on_while(most: int, lanes: Lanes, rows: Array, around: Surroundings) -> tuple[Lanes, Array]:
        def is_going_on(state: tuple[Lanes, Array]) -> Bool[Array, ""]:
            return jnp.sum(~around.is_done(state[0])) > most

        def go_on(state: tuple[Lanes, Array]) -> tuple[Lanes, Array]:
            lanes, rows = state
            after, (is_draw, new) = jax.lax.scan(
                lambda lanes, _: take_turn(lanes, around, evaluate, settings), lanes, length=NUM_TURNS
            )
            return after, _merge(rows, lanes.num_done, is_draw, new)

        return jax.lax.while_loop(is_going_on, go_on, (lanes, rows))

    num_lanes = rows.shape[-1]
    num_late = num_lanes // LATE_SHARE
    if num_late < FEWEST_LATE:
        return go_on_while(0, lanes, rows, around)

    def finish_some(state: tuple[Lanes, Array]) -> tuple[Lanes, Array]:
        lanes, rows = state
        late = jnp.argsort(around.is_done(lanes), stable=True)[:num_late]
        picked = jax.tree.map(lambda array: array[..., late], lanes)
        picked, picked_rows = go_on_while(0, picked, rows[..., late], around.pick(late))
        lanes = jax.tree.map(lambda array, new: array.at[..., late].set(new), lanes, picked)
        return lanes, rows.at[..., late].set(picked_rows)

    state = go_on_while(NUM_TIMES_LATE * num_late, lanes, rows, around)
    return jax.lax.while_loop(lambda state: jnp.any(~around.is_done(state[0])), finish_some, state)


def _plan(settings: NutsSettings) -> tuple[int, _Stretch]:
    """How many draws a stretch has at the most, and all stretches: warm-up windows, then the draws that are kept."""
    num_kept = -(-settings.num_draws // LONGEST_STRETCH)
    length = max(-(-settings.num_draws // num_kept), *settings.windows)
    last = len(settings.windows) - 1
    windows = [(num, -1, True, index < last, index in (0, last)) for index, num in enumerate(settings.windows)]
    kept = [(length, first, False, False, False) for first in range(0, settings.num_draws, length)]
    columns = [np.array(column) for column in zip(*(windows + kept), strict=True)]
    return length, _Stretch(np.arange(len(columns[0])), *columns)


def _lay_out(jumps: Jumps, num_draws: int) -> Jumps:
    """Chains on the last axis, and jumps for whole stretches: those beyond the last are impossible."""

    def arrange(array: Any, fill: float) -> Any:
        flat = array.reshape(-1, *array.shape[2:])
        missing = [(0, 0), (0, num_draws - flat.shape[1])] + [(0, 0)] * (flat.ndim - 2)
        return jnp.moveaxis(jnp.pad(flat, missing, constant_values=fill), 0, -1)

    fills = (0.0, -jnp.inf, -jnp.inf)
    return Jumps(jumps.is_on.ravel(), *(arrange(array, fill) for array, fill in zip(jumps[1:], fills, strict=True)))


def _take_jumps(bank: Jumps, scale: ChainScale, first: Int[Array, ""], length: int) -> Jumps:
    """The jumps of one stretch, in its units; none in the warm-up."""
    y, log_weight, log_density = (jax.lax.dynamic_slice_in_dim(array, jnp.maximum(first, 0), length) for array in bank[1:])
    u = scale.to_units(y)
    return Jumps(bank.is_on & (first >= 0), u, log_weight, log_density + scale.to_coordinates(u)[1])


def _merge(
    rows: Float[Array, "draw number lane"],
    num_before: Int[Array, " lane"],
    is_draw: Bool[Array, "turn lane"],
    new: Float[Array, "turn number lane"],
) -> Float[Array, "draw number lane"]:
    """Put the draws of some turns behind those that were there. By gathering: scattering takes one row at a time."""
    num_turns = len(is_draw)
    counts = jnp.cumsum(is_draw, axis=0)
    # The turn of each new draw: as many turns come before it as have no more draws than it has before it.
    turns = jnp.sum(counts[None] <= jnp.arange(num_turns)[:, None, None], axis=1)
    position = jnp.arange(len(rows))[:, None] - num_before
    source = jnp.take_along_axis(turns, jnp.clip(position, 0, num_turns - 1), axis=0)
    is_new = (position >= 0) & (position < counts[-1])
    found = jnp.take_along_axis(new, jnp.minimum(source, num_turns - 1)[:, None], axis=0)
    return jnp.where(is_new[:, None], found, rows)
