"""One turn of all chains: each has one density evaluated, and goes on.

That density is at the next point of its trajectory, or where it has just jumped to. A chain whose trajectory ends makes its
draw, jumps if that is accepted, and begins its next trajectory in the same turn. Chains are the last axis of all arrays.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Key

from designstudio.inference.nuts.scale import ChainScale
from designstudio.inference.nuts.step_size import StepSize, adapt_step_size
from designstudio.inference.nuts.trajectory import (
    Count,
    Flag,
    Place,
    Scalar,
    Step,
    Trajectory,
    Vector,
    apply_step,
    judge_step,
    next_position,
    select,
    start_trajectory,
)
from designstudio.inference.settings import NutsSettings

Result = TypeVar("Result")
# Log density of y, and the same minus that of the proposal of jumps, for one chain and its data.
Evaluate = Callable[[Any, Float[Array, " coordinate"]], tuple[Float[Array, ""], Float[Array, ""]]]
# What is noted about each draw, behind its position: see `Numbers`.
NUM_NUMBERS = 7


class Numbers(NamedTuple):
    """What is noted about each draw.

    Attributes:
        log_density: of the draw.
        energy: at the start of the trajectory. num_steps: of the trajectory. acceptance: mean over its steps.
        is_diverging: whether it broke down. is_saturated: whether it was as long as allowed.
        is_jump_accepted: whether a jump followed it.
    """

    log_density: Any
    energy: Any
    num_steps: Any
    acceptance: Any
    is_diverging: Any
    is_saturated: Any
    is_jump_accepted: Any


class Jumps(NamedTuple):
    """Independence proposals of each chain, one for each draw.

    Attributes:
        is_on: whether they are made.
        position: in coordinates, or in units of the posterior.
        log_weight: log posterior density minus that of the proposal. log_density: of the unbounded coordinates.
    """

    is_on: Flag
    position: Float[Array, "draw coordinate chain"]
    log_weight: Float[Array, "draw chain"]
    log_density: Float[Array, "draw chain"]


class Lanes(NamedTuple):
    """All chains between two turns.

    Attributes:
        trajectory: under construction. wanted: where it wants the density.
        is_arriving: whether that is where the next trajectory starts.
        step: step sizes. num_done: draws of this stretch.
        num_turns: of each chain, which number its random numbers.
    """

    trajectory: Trajectory
    wanted: Vector
    is_arriving: Flag
    step: StepSize
    num_done: Count
    num_turns: Count


class Surroundings(NamedTuple):
    """What does not change during a stretch of draws.

    Attributes:
        data: of each chain, along the first axis. scale: on which chains move.
        momenta: with which trajectories start. jumps: that may follow them.
        keys: of the chains. num_draws: that each must make. adapts_step: whether step sizes learn.
        last_turn: of each chain; whoever has not made all draws by then gives up.
    """

    data: Any
    scale: ChainScale
    momenta: Float[Array, "draw coordinate chain"]
    jumps: Jumps | None
    keys: Key[Array, " chain"]
    num_draws: Any
    adapts_step: Any
    last_turn: Count

    def is_done(self, lanes: Lanes) -> Flag:
        """Which chains have made all draws, or have given up."""
        return (lanes.num_done >= self.num_draws) | (lanes.num_turns >= self.last_turn)

    def pick(self, chosen: Count) -> "Surroundings":
        """The surroundings of some chains."""
        data = jax.tree.map(lambda array: array[chosen], self.data)
        scale, momenta, jumps, last_turn = jax.tree.map(
            lambda array: array[..., chosen], (self.scale, self.momenta, self.jumps, self.last_turn)
        )
        return Surroundings(data, scale, momenta, jumps, self.keys[chosen], self.num_draws, self.adapts_step, last_turn)


def start_lanes(u: Vector, step: StepSize, num_turns: Count, num_done: Count, max_depth: int) -> Lanes:
    """Chains that want to know the density where they stand."""
    nothing = jnp.zeros_like(step.log_size)
    nowhere = Place(u, nothing, jnp.zeros_like(u), nothing)
    here = jnp.ones(nothing.shape, bool)
    return Lanes(start_trajectory(nowhere, jnp.zeros_like(u), here, max_depth), u, here, step, num_done, num_turns)


class _Decision(NamedTuple):
    """What a turn does to each chain.

    Attributes:
        step: of its trajectory. acceptance: mean of that trajectory.
        is_draw: whether the trajectory has ended with a draw. is_start: whether the next one starts.
        is_jump: whether the draw is that of a jump. is_done: whether the chain only waits.
        size: step size, adapted.
    """

    step: Step
    acceptance: Scalar
    is_draw: Flag
    is_start: Flag
    is_jump: Flag
    is_done: Flag
    size: StepSize


def take_turn(
    lanes: Lanes, around: Surroundings, evaluate: Evaluate, settings: NutsSettings
) -> tuple[Lanes, tuple[Flag, Float[Array, "number chain"]]]:
    """One turn.

    Returns:
        The chains after it, which of them have made a draw, and the draw with its `Numbers`.
    """
    place = _evaluate(lanes.wanted, around, evaluate)
    uniforms = _draw_uniforms(around.keys, lanes.num_turns)
    decision = _compute_once(lambda: _decide(lanes, around, place, uniforms, settings), around.num_draws > 0)
    grown = apply_step(lanes.trajectory, place, decision.step)
    chosen = grown.tree.chosen
    num_done = lanes.num_done + decision.is_draw
    momentum = _take(around.momenta, num_done)
    fresh = start_trajectory(
        select(lanes.is_arriving, place, chosen), momentum, decision.step.goes_forward, settings.max_tree_depth
    )
    trajectory = select(decision.is_start, fresh, grown)
    wanted = next_position(trajectory, decision.size.size)
    u, log_density = chosen.u, -chosen.potential
    if around.jumps is not None:
        target = _take(around.jumps.position, lanes.num_done)
        u, wanted = jnp.where(decision.is_jump, target, u), jnp.where(decision.is_jump, target, wanted)
        log_density = jnp.where(decision.is_jump, _take(around.jumps.log_density, lanes.num_done), log_density)
    after = Lanes(trajectory, wanted, decision.is_jump, decision.size, num_done, lanes.num_turns + 1)
    numbers = Numbers(
        log_density,
        grown.start_energy,
        grown.num_steps,
        decision.acceptance,
        decision.step.is_diverging,
        decision.step.is_saturated,
        decision.is_jump,
    )
    row = jnp.concatenate([u, jnp.stack([jnp.asarray(number, jnp.float32) for number in numbers])])
    # Who has all draws is not changed by waiting for the others.
    return select(decision.is_done, lanes, after), (decision.is_draw & ~decision.is_done, row)


def _compute_once(function: Callable[[], Result], always: Bool[Array, ""]) -> Result:
    """What a function returns, under a condition that always holds.

    Without it compilers would merge what decides about many arrays into the computation of each of them.
    """
    shape = jax.eval_shape(function)
    return jax.lax.cond(always, function, lambda: jax.tree.map(lambda x: jnp.zeros(x.shape, x.dtype), shape))


def _decide(
    lanes: Lanes, around: Surroundings, place: Place, uniforms: Float[Array, "4 chain"], settings: NutsSettings
) -> _Decision:
    trajectory = lanes.trajectory
    step = judge_step(trajectory, place, lanes.step.size, uniforms[:3], settings.max_tree_depth)
    is_draw = ~lanes.is_arriving & step.is_over
    acceptance = (trajectory.sum_acceptance + step.acceptance) / (trajectory.num_steps + 1)
    adapted = adapt_step_size(lanes.step, acceptance, settings.target_acceptance)
    is_jump = jnp.zeros_like(is_draw)
    if around.jumps is not None:
        log_weight = jnp.where(
            step.takes_subtree,
            jnp.where(step.takes_leaf, place.log_weight, trajectory.subtree.chosen.log_weight),
            trajectory.tree.chosen.log_weight,
        )
        is_accepted = jnp.log(uniforms[3]) < _take(around.jumps.log_weight, lanes.num_done) - log_weight
        is_jump = is_draw & around.jumps.is_on & is_accepted
    return _Decision(
        step,
        acceptance,
        is_draw,
        is_draw | lanes.is_arriving,
        is_jump,
        around.is_done(lanes),
        select(is_draw & around.adapts_step, adapted, lanes.step),
    )


def _evaluate(u: Vector, around: Surroundings, evaluate: Evaluate) -> Place:
    def potential(y: Float[Array, " coordinate"], data: Any) -> tuple[Float[Array, ""], Float[Array, ""]]:
        log_density, log_weight = evaluate(data, y)
        return -log_density, log_weight

    find = jax.vmap(jax.value_and_grad(potential, has_aux=True), in_axes=(-1, 0), out_axes=((0, 0), -1))
    (y, log_slope), pull_back = jax.vjp(around.scale.to_coordinates, u)
    (energy, log_weight), gradient = find(y, around.data)
    (by_units,) = pull_back((gradient, -jnp.ones_like(log_slope)))
    return Place(u, energy - log_slope, by_units, log_weight)


def _draw_uniforms(keys: Key[Array, " chain"], num_turns: Count) -> Float[Array, "4 chain"]:
    """Uniform numbers between 0 and 1: for all that a turn might need, in one go."""
    return jax.vmap(lambda key, number: jax.random.uniform(jax.random.fold_in(key, number), (4,)), out_axes=-1)(
        keys, num_turns
    )


def _take(array: Float[Array, "draw ... chain"], number: Count) -> Float[Array, "... chain"]:
    """What belongs to this number of each chain, or to the last one."""
    index = jnp.minimum(number, array.shape[0] - 1).reshape((1,) * (array.ndim - 1) + (-1,))
    return jnp.take_along_axis(array, index, axis=0)[0]
