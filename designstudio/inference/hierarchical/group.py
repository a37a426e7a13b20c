"""Weighted draws of a group, and the particles of its subjects that they were weighed by.

Particles that were made for another group are few where this one is, so group and particles take turns until both have
settled. They begin at a pilot: EM with weighted draws says where the group is, roughly, and gives proposals for its subjects
that know it. This only makes sampling efficient; it never decides what is sampled.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax
import numpy as np
from jaxtyping import Array, Float, Key

from designstudio.inference.hierarchical.group_model import Group, Hyperprior
from designstudio.inference.hierarchical.marginal import (
    Affine,
    Particles,
    WeightedGroups,
    draw_groups,
    improve,
)
from designstudio.inference.hierarchical.members import Members
from designstudio.inference.hierarchical.pooling_settings import PoolingSettings
from designstudio.inference.hierarchical.proposals import Part, learn, name_keys
from designstudio.inference.mixture import Mixture, start_mixture

# Spreads of the pilot are at least this, relative to the scale of their prior.
SMALLEST_SPREAD = 0.15
# Proposals reach farther than the group: it is uncertain too.
REACH = 1.3


class SampledGroup(NamedTuple):
    """Weighted draws, and the particles that they were weighed by."""

    draws: WeightedGroups
    particles: Particles


def sample_group(
    members: Members,
    hyperprior: Hyperprior,
    separate: np.ndarray,
    settings: PoolingSettings,
    *,
    key: Key[Array, ""],
    report: Callable[[float], None],
) -> SampledGroup:
    """The posterior of a group, its subjects integrated out.

    Args:
        members: its subjects. hyperprior: of the group.
        separate: estimates of the subjects, over (subject, entry).
        settings: how carefully. key: of all random numbers.
        report: called with the share of the work that is done.
    """
    pilot_key, root = jax.random.split(key)
    group, state = _find_pilot(members.parts, hyperprior, separate, members.has, settings.num_pilot_rounds, key=pilot_key)
    report(1 / (settings.max_turns + 2))
    count = members.has.sum(axis=0)
    affine = Affine(group.location, np.log(group.spread), group.spread / np.sqrt(count), 1 / np.sqrt(2 * count))
    proposal = start_mixture(2 * len(count), settings.num_components)
    before = None
    for turn in range(settings.max_turns):
        particle_key, learn_key, draw_key, focus_key = jax.random.split(jax.random.fold_in(root, turn), 4)
        particles = members.draw_particles(state, settings.num_particles // settings.reduction, particle_key)
        for round_key in jax.random.split(learn_key, settings.num_rounds):
            proposal = improve(particles, hyperprior, affine, proposal, settings.num_learning_draws, round_key)
        found = _average(draw_groups(particles, hyperprior, affine, proposal, settings.num_learning_draws, draw_key))
        state, _ = _focus(members.parts, found.people, state, key=focus_key)
        report((turn + 2) / (settings.max_turns + 2))
        if before is not None and _has_settled(before, found, settings.settled):
            break
        before = found
    particle_key, learn_key, draw_key = jax.random.split(jax.random.fold_in(root, settings.max_turns), 3)
    particles = members.draw_particles(state, settings.num_particles, particle_key)
    for round_key in jax.random.split(learn_key, settings.num_last_rounds):
        proposal = improve(particles, hyperprior, affine, proposal, settings.num_learning_draws, round_key)
    num_weighted = settings.surplus * settings.num_chains * settings.num_draws
    return SampledGroup(draw_groups(particles, hyperprior, affine, proposal, num_weighted, draw_key), particles)


class _Found(NamedTuple):
    """What a turn has found.

    Attributes:
        people: where people of the group are, its own uncertainty included.
        mean, sd: of locations and log spreads.
    """

    people: Group
    mean: np.ndarray
    sd: np.ndarray


def _average(draws: WeightedGroups) -> _Found:
    weights = np.asarray(jax.nn.softmax(draws.log_weight), float)
    location, spread = (np.asarray(array, float) for array in draws.group)
    quantities = np.concatenate([location, np.log(spread)], axis=1)
    mean = weights @ quantities
    sd = np.sqrt(weights @ (quantities - mean) ** 2)
    centre = mean[: location.shape[1]]
    people = np.sqrt(weights @ (spread**2 + (location - centre) ** 2))
    return _Found(Group(centre.astype(np.float32), people.astype(np.float32)), mean, sd)


def _has_settled(before: _Found, now: _Found, settled: float) -> bool:
    moved = np.abs(now.mean - before.mean) / now.sd
    changed = np.abs(np.log(now.sd / before.sd))
    return bool(max(moved.max(), changed.max()) < settled)


class _Pilot(NamedTuple):
    """The group, and a proposal for every subject of every part."""

    group: Group
    state: list[Mixture]


def _find_pilot(
    parts: list[Part], hyperprior: Hyperprior, points: np.ndarray, has: np.ndarray, num_rounds: int, *, key: Key[Array, ""]
) -> _Pilot:
    """The group by EM.

    Args:
        parts: the subjects.
        hyperprior: of the group.
        points: separate estimates of the subjects, over (subject, entry).
        has: which entries each subject has.
        num_rounds: steps of EM.
        key: of all random numbers.
    """
    count = has.sum(axis=0)
    group = Group((np.sum(points * has, axis=0) / count).astype(np.float32), hyperprior.spread)
    state = [part.begin() for part in parts]
    for number in range(num_rounds):
        means, squares = np.zeros(has.shape), np.zeros(has.shape)
        state, draws = _focus(parts, group, state, key=jax.random.fold_in(key, number))
        for part, (own, weights) in zip(parts, draws, strict=True):
            at = (part.positions[:, None], part.targets)
            means[at] = np.einsum("sde,sd->se", own, weights)
            squares[at] = np.einsum("sde,sd->se", own**2, weights)
        location = means.sum(axis=0) / count
        variance = squares.sum(axis=0) / count - location**2
        spread = np.sqrt(np.maximum(variance, (SMALLEST_SPREAD * hyperprior.spread) ** 2))
        group = Group(location.astype(np.float32), spread.astype(np.float32))
    return _Pilot(group, state)


def _focus(
    parts: list[Part], group: Group, state: list[Mixture], *, key: Key[Array, ""]
) -> tuple[list[Mixture], list[tuple[Float[np.ndarray, "subject draw own"], Float[np.ndarray, "subject draw"]]]]:
    """Proposals that have learnt this group, and draws of the subjects with their weights under it."""
    wide = Group(group.location, REACH * group.spread)
    mixtures, draws = [], []
    for part, mixture in zip(parts, state, strict=True):
        improved, points, weights = learn(part, wide, mixture, name_keys(key, part.positions))
        mixtures.append(improved)
        own = np.asarray(points, float)
        draws.append((own, _narrow(own, np.asarray(weights, float), part, group)))
    return mixtures, draws


def _narrow(points: np.ndarray, weights: np.ndarray, part: Part, group: Group) -> np.ndarray:
    """Weights under the group itself, of draws that were weighted under a wider one."""
    location, spread = (np.asarray(array)[part.targets][:, None] for array in group)
    logs = np.log(np.maximum(weights, 1e-30)) - (1 - REACH**-2) * (((points - location) / spread) ** 2).sum(axis=-1) / 2
    changed = np.exp(logs - logs.max(axis=1, keepdims=True))
    return changed / changed.sum(axis=1, keepdims=True)
