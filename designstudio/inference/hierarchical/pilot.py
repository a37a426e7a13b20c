"""Where the group is, roughly, and proposals for its subjects that know it: EM with weighted draws.

Proposals learn with the group in place of the analysis prior, then the group is what their draws say, and again. This only
makes sampling efficient; it never decides what is sampled.
"""

from typing import NamedTuple

import jax
import numpy as np
from jaxtyping import Array, Float, Key

from designstudio.inference.hierarchical.entries import Group, Hyperprior
from designstudio.inference.hierarchical.proposals import Part, learn
from designstudio.inference.mixture import Mixture

# Spreads of the pilot are at least this, relative to the scale of their prior.
SMALLEST_SPREAD = 0.15
# Proposals reach farther than the group: it is uncertain too.
REACH = 1.3


class Pilot(NamedTuple):
    """The group, and a proposal for every subject of every part."""

    group: Group
    state: list[Mixture]


def find_pilot(
    parts: list[Part], hyperprior: Hyperprior, points: np.ndarray, has: np.ndarray, num_rounds: int, *, key: Key[Array, ""]
) -> Pilot:
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
        state, draws = focus(parts, group, state, key=jax.random.fold_in(key, number))
        for part, (own, weights) in zip(parts, draws, strict=True):
            at = (part.positions[:, None], part.targets)
            means[at] = np.einsum("sde,sd->se", own, weights)
            squares[at] = np.einsum("sde,sd->se", own**2, weights)
        location = means.sum(axis=0) / count
        variance = squares.sum(axis=0) / count - location**2
        spread = np.sqrt(np.maximum(variance, (SMALLEST_SPREAD * hyperprior.spread) ** 2))
        group = Group(location.astype(np.float32), spread.astype(np.float32))
    return Pilot(group, state)


def focus(
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


def name_keys(key: Key[Array, ""], positions: np.ndarray) -> Key[Array, " subject"]:
    """One key for each subject, whatever other subjects there are."""
    return jax.vmap(lambda position: jax.random.fold_in(key, position))(positions)


def _narrow(points: np.ndarray, weights: np.ndarray, part: Part, group: Group) -> np.ndarray:
    """Weights under the group itself, of draws that were weighted under a wider one."""
    location, spread = (np.asarray(array)[part.targets][:, None] for array in group)
    logs = np.log(np.maximum(weights, 1e-30)) - (1 - REACH**-2) * (((points - location) / spread) ** 2).sum(axis=-1) / 2
    changed = np.exp(logs - logs.max(axis=1, keepdims=True))
    return changed / changed.sum(axis=1, keepdims=True)
