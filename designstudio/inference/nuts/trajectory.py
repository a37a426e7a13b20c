"""The trajectories of many chains of NUTS, as a state that takes one leapfrog step at a time.

This is the no-U-turn sampler of Hoffman & Gelman (2014) with multinomial weights (Betancourt, 2017): the trajectory doubles
forwards or backwards in time until it turns back on itself, and the next draw is one of its points, by their weights. The
recursion over subtrees is unrolled: a subtree grows leaf by leaf, and a leaf that ends a smaller subtree is compared with
the leaf that began it, of which only the logarithm of their number has to be remembered (Phan, Pradhan & Jankowiak, 2019).

Because a state takes one step, and what to do next is a matter of selecting between arrays, no chain waits for another's
trajectory. Positions u are whitened, so momenta are standard normal and the mass matrix is the identity; the mass is adapted
by whitening again (`designstudio.inference.nuts.chains`).

Chains are the last axis of all arrays, not a vmapped first one: what belongs to a chain then broadcasts against its
coordinates, and loops over chains are those that processors are fast at.
"""

from typing import NamedTuple, TypeVar

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

Scalar = Float[Array, " chain"]
Vector = Float[Array, "coordinate chain"]
Flag = Bool[Array, " chain"]
Count = Int[Array, " chain"]
State = TypeVar("State")
# By how much the energy may grow before a trajectory counts as divergent, in nats: Stan's value.
LARGEST_ENERGY_GAIN = 1000.0


class Place(NamedTuple):
    """Where the density was evaluated.

    Attributes:
        u: position. potential: minus the log density. gradient: of the potential.
        log_weight: log density minus that of the proposal of jumps.
    """

    u: Vector
    potential: Scalar
    gradient: Vector
    log_weight: Scalar


class Edge(NamedTuple):
    """An end of a trajectory, from which it can go on."""

    u: Vector
    momentum: Vector
    gradient: Vector


class Branch(NamedTuple):
    """Some consecutive points: the whole trajectory, or the subtree that it grows now.

    Attributes:
        log_weight: log of the sum of the points' weights.
        momentum_sum: of the points.
        chosen: one of them, by their weights.
    """

    log_weight: Scalar
    momentum_sum: Vector
    chosen: Place


class Trajectory(NamedTuple):
    """A trajectory, and the subtree that it grows now.

    Attributes:
        left: the earliest point. right: the latest.
        tree: all finished subtrees. depth: how often it has doubled.
        direction: in time, of the subtree. edge: its newest point. num_leaves: how many it has.
        subtree: those points.
        first_momenta: momenta at the leaves that began the smaller subtrees which are still open, by their level.
        first_sums: sums of momenta up to and with those leaves.
        start_energy: at the start of the trajectory.
        sum_acceptance: of the acceptance probabilities of all steps. num_steps: how many there were.
    """

    left: Edge
    right: Edge
    tree: Branch
    depth: Count
    direction: Scalar
    edge: Edge
    num_leaves: Count
    subtree: Branch
    first_momenta: Float[Array, "level coordinate chain"]
    first_sums: Float[Array, "level coordinate chain"]
    start_energy: Scalar
    sum_acceptance: Scalar
    num_steps: Count


class Step(NamedTuple):
    """What a step does to each trajectory; the trajectory itself is changed by `apply_step`.

    Attributes:
        momentum: after the step.
        takes_leaf: whether the new point becomes the subtree's choice.
        is_complete: whether the subtree is; then it joins the tree.
        takes_subtree: whether the subtree's choice then becomes that of the tree.
        goes_forward: whether the next subtree grows forward in time.
        subtree_log_weight, subtree_sum: with the new point. tree_log_weight, tree_sum: with the subtree.
        acceptance: probability of the step.
        is_over: whether the trajectory is. is_diverging: because it broke down. is_saturated: because it is too long.
    """

    momentum: Vector
    takes_leaf: Flag
    is_complete: Flag
    takes_subtree: Flag
    goes_forward: Flag
    subtree_log_weight: Scalar
    subtree_sum: Vector
    tree_log_weight: Scalar
    tree_sum: Vector
    acceptance: Scalar
    is_over: Flag
    is_diverging: Flag
    is_saturated: Flag


def start_trajectory(place: Place, momentum: Vector, is_forward: Flag, max_depth: int) -> Trajectory:
    """A trajectory of one point."""
    edge = Edge(place.u, momentum, place.gradient)
    nothing = jnp.zeros_like(place.potential)
    none = jnp.zeros(nothing.shape, jnp.int32)
    tree = Branch(nothing, momentum, place)
    levels = jnp.zeros((max_depth, *place.u.shape))
    return Trajectory(
        left=edge,
        right=edge,
        tree=tree,
        depth=none,
        direction=jnp.where(is_forward, 1.0, -1.0),
        edge=edge,
        num_leaves=none,
        subtree=_empty(tree),
        first_momenta=levels,
        first_sums=levels,
        start_energy=place.potential + _dot(momentum, momentum) / 2,
        sum_acceptance=nothing,
        num_steps=none,
    )


def next_position(trajectory: Trajectory, step_size: Scalar) -> Vector:
    """Where the trajectory goes next, and wants to know the density."""
    return trajectory.edge.u + trajectory.direction * step_size * _half_step(trajectory, step_size)


def judge_step(
    trajectory: Trajectory, place: Place, step_size: Scalar, uniforms: Float[Array, "3 chain"], max_depth: int
) -> Step:
    """What the step to `next_position`, where the density has been evaluated, does to the trajectory.

    Args:
        trajectory: before the step.
        place: what was found.
        step_size: as for `next_position`.
        uniforms: random numbers, for the choice in the subtree, the choice between it and the tree, and the direction.
        max_depth: how often it may double.
    """
    momentum = _half_step(trajectory, step_size) - trajectory.direction * step_size / 2 * place.gradient
    gain = place.potential + _dot(momentum, momentum) / 2 - trajectory.start_energy
    gain = jnp.where(jnp.isnan(gain), jnp.inf, gain)
    is_diverging = gain > LARGEST_ENERGY_GAIN
    # Every point of a subtree is chosen with a probability proportional to its weight.
    subtree, tree = trajectory.subtree, trajectory.tree
    subtree_log_weight = jnp.logaddexp(subtree.log_weight, -gain)
    subtree_sum, tree_sum = subtree.momentum_sum + momentum, tree.momentum_sum + subtree.momentum_sum + momentum
    is_broken = is_diverging | _closes_turning(trajectory, momentum, subtree_sum)
    is_complete = ~is_broken & (trajectory.num_leaves + 1 == 1 << trajectory.depth)
    is_forward = trajectory.direction > 0
    first = jnp.where(is_forward, trajectory.left.momentum, momentum)
    last = jnp.where(is_forward, momentum, trajectory.right.momentum)
    is_turning = is_complete & _is_turning(first, last, tree_sum)
    is_saturated = is_complete & ~is_turning & (trajectory.depth + 1 == max_depth)
    return Step(
        momentum=momentum,
        takes_leaf=uniforms[0] < jnp.exp(-gain - subtree_log_weight),
        is_complete=is_complete,
        # In favour of the new half: the farther the better.
        takes_subtree=is_complete & (uniforms[1] < jnp.exp(subtree_log_weight - tree.log_weight)),
        goes_forward=uniforms[2] < 0.5,
        subtree_log_weight=subtree_log_weight,
        subtree_sum=subtree_sum,
        tree_log_weight=jnp.logaddexp(tree.log_weight, subtree_log_weight),
        tree_sum=tree_sum,
        acceptance=jnp.exp(-jnp.maximum(gain, 0.0)),
        is_over=is_broken | is_turning | is_saturated,
        is_diverging=is_diverging,
        is_saturated=is_saturated,
    )


def apply_step(trajectory: Trajectory, place: Place, step: Step) -> Trajectory:
    """The trajectory after the step; if its subtree is complete, with the next one begun."""
    is_complete, is_forward = step.is_complete, trajectory.direction > 0
    leaf = Edge(place.u, step.momentum, place.gradient)
    chosen = select(step.takes_leaf, place, trajectory.subtree.chosen)
    left = select(is_complete & ~is_forward, leaf, trajectory.left)
    right = select(is_complete & is_forward, leaf, trajectory.right)
    grown = Branch(step.subtree_log_weight, step.subtree_sum, chosen)
    # The first leaf of a subtree, and every second after it, may begin smaller ones.
    number = trajectory.num_leaves
    levels = jnp.arange(trajectory.first_momenta.shape[0])[:, None]
    is_noted = ((levels == jax.lax.population_count(number >> 1)) & ((number & 1) == 0))[:, None]
    return Trajectory(
        left=left,
        right=right,
        tree=Branch(
            jnp.where(is_complete, step.tree_log_weight, trajectory.tree.log_weight),
            jnp.where(is_complete, step.tree_sum, trajectory.tree.momentum_sum),
            select(step.takes_subtree, chosen, trajectory.tree.chosen),
        ),
        depth=trajectory.depth + is_complete,
        direction=jnp.where(is_complete, jnp.where(step.goes_forward, 1.0, -1.0), trajectory.direction),
        edge=select(is_complete, select(step.goes_forward, right, left), leaf),
        num_leaves=jnp.where(is_complete, 0, number + 1),
        subtree=select(is_complete, _empty(grown), grown),
        first_momenta=jnp.where(is_noted, step.momentum, trajectory.first_momenta),
        first_sums=jnp.where(is_noted, step.subtree_sum, trajectory.first_sums),
        start_energy=trajectory.start_energy,
        sum_acceptance=trajectory.sum_acceptance + step.acceptance,
        num_steps=trajectory.num_steps + 1,
    )


def select(condition: Flag, one: State, other: State) -> State:
    """For each chain, one of two states."""
    return jax.tree.map(lambda a, b: jnp.where(condition, a, b), one, other)


def _dot(one: Vector, other: Vector) -> Scalar:
    return jnp.sum(one * other, axis=-2)


def _half_step(trajectory: Trajectory, step_size: Scalar) -> Vector:
    return trajectory.edge.momentum - trajectory.direction * step_size / 2 * trajectory.edge.gradient


def _empty(like: Branch) -> Branch:
    return like._replace(log_weight=jnp.full_like(like.log_weight, -jnp.inf), momentum_sum=jnp.zeros_like(like.momentum_sum))


def _closes_turning(trajectory: Trajectory, momentum: Vector, momentum_sum: Vector) -> Flag:
    """Whether the newest leaf ends a subtree within the subtree that turns back.

    Leaves are numbered from 0. An even leaf begins subtrees; the number of ones in the binary digits before its last says at
    which level to remember it. An odd leaf ends as many subtrees as its number has ones at the end.
    """
    number = trajectory.num_leaves
    level = jax.lax.population_count(number >> 1)
    num_closed = jax.lax.population_count(number ^ (number + 1)) - 1
    levels = jnp.arange(trajectory.first_momenta.shape[0])[:, None]
    sums = momentum_sum - trajectory.first_sums + trajectory.first_momenta
    is_closed = (levels <= level) & (levels > level - num_closed)
    return jnp.any(is_closed & _is_turning(trajectory.first_momenta, momentum, sums), axis=0)


def _is_turning(first: Vector, last: Vector, momentum_sum: Vector) -> Flag:
    """Whether one end moves towards the other.

    The way between the ends is the integral of the momentum; by the trapezoidal rule, the ends count half.
    """
    way = momentum_sum - (first + last) / 2
    return (_dot(first, way) <= 0) | (_dot(last, way) <= 0)
