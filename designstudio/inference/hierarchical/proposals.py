"""Particles: weighted draws of where a subject might be, whatever the group; what groups are weighed by.

Subjects are sampled as separate fits are: in observable coordinates, by importance sampling from a mixture that learns. Only
the density differs, with the group in place of the analysis prior. What a particle weighs without the group (its likelihood,
over the density it came from) is computed once; the group's opinion is then a sum of a few squares.
"""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import Array, Float, Int, Key

from designstudio.inference.condition_groups import ConditionGroup
from designstudio.inference.coordinates import constrain, find_start
from designstudio.inference.hierarchical.group_model import Entry, Group, list_entries, stretch
from designstudio.inference.importance import Evaluated, Proposal, draw_weighted
from designstudio.inference.mixture import Mixture, start_mixture
from designstudio.inference.settings import ImportanceSettings
from designstudio.model.likelihood.condense import condense
from designstudio.model.likelihood.lapses import lay_out_ranges
from designstudio.model.likelihood.model import BehaviorModel
from designstudio.model.likelihood.observations import Observations, drop_trials, sort_by_noise
from designstudio.model.likelihood.packing import pack_trials

# On the host while a group is prepared, on a device while it is sampled.
AnyArray = Any
# Of each learning step.
LEARNING = ImportanceSettings(num_rounds=2, num_blocks=2, block_size=1000)
# Particles that are computed at once.
BLOCK = 500
# Of stimuli in each condition, where trials may be lapses.
NUM_RANGES = 16


class Part(eqx.Module):
    """Subjects with equally many conditions.

    Attributes:
        model: for as many conditions. entries: their own numbers.
        positions: where each subject stands in the group.
        targets: for each subject and entry of its own, which entry of the group that is.
        observations: with the noisiest condition first.
    """

    model: BehaviorModel
    entries: tuple[Entry, ...] = eqx.field(static=True)
    positions: Int[AnyArray, " subject"]
    targets: Int[AnyArray, "subject own"]
    observations: Observations

    def begin(self) -> Mixture:
        """Proposals that have learnt nothing."""
        fresh = start_mixture(self.model.num_free, LEARNING.num_components)
        return jax.tree.map(lambda array: np.broadcast_to(array, (len(self.positions), *array.shape)), fresh)


def make_part(
    model: BehaviorModel,
    subjects: ConditionGroup,
    trials: xr.Dataset,
    fixed: dict[str, xr.DataArray],
    entries: tuple[Entry, ...],
) -> Part:
    """Subjects with equally many conditions, as the sampler sees them."""
    narrow = subjects.narrow(model)
    packed = pack_trials(subjects.take_trials(trials), narrow, subjects.take_fixed(fixed))
    observations, order = sort_by_noise(packed)
    # A few nodes in place of thousands of trials are off by hundredths of a nat, of which a group sees nothing.
    if model.has_lapses:
        seen = lay_out_ranges(observations, NUM_RANGES)
    else:
        seen = drop_trials(observations) if model.is_linear else condense(observations)
    own, number = list_entries(narrow), {(entry.name, entry.condition): k for k, entry in enumerate(entries)}
    conditions = np.take_along_axis(subjects.conditions, order, axis=1)

    def find(entry: Entry, row: np.ndarray) -> int:
        # With one condition, what differs between conditions is called shared.
        is_shared = entry.name not in model.per_condition
        return number[entry.name, None if is_shared else int(row[entry.condition or 0])]

    targets = np.array([[find(entry, row) for entry in own] for row in conditions])
    return Part(narrow, own, subjects.datasets, targets, seen)


@eqx.filter_jit
def learn(
    part: Part, group: Group, state: Mixture, keys: Key[Array, " subject"]
) -> tuple[Mixture, Float[Array, "subject draw own"], Float[Array, "subject draw"]]:
    """Proposals that know the group, and weighted draws of their subjects."""

    def one(data: Observations, targets: Array, state: Mixture, key: Key[Array, ""]) -> tuple[Mixture, Array, Array]:
        location, spread = group.location[targets], group.spread[targets]

        def evaluate(z: Array) -> Evaluated:
            point, weight = _weigh(part, data, z)
            return weight - jnp.sum(((point - location) / spread) ** 2) / 2, point

        draws, proposal = draw_weighted(part.model, data, LEARNING, state, key=key, evaluate=evaluate)
        points = draws.found.reshape(-1, len(targets))
        return proposal.mixture, points, jax.nn.softmax(draws.log_weight.ravel())

    return jax.vmap(one)(part.observations, part.targets, state, keys)


@eqx.filter_jit
def draw_particles(
    part: Part, state: Mixture, keys: Key[Array, " subject"], num_draws: int
) -> tuple[Float[Array, "subject draw own"], Float[Array, "subject draw"]]:
    """Independent particles of every subject, with their weights."""

    def one(data: Observations, state: Mixture, key: Key[Array, ""]) -> tuple[Array, Array]:
        proposal = Proposal(find_start(part.model, data), state)

        def block(key: Key[Array, ""]) -> tuple[Array, Array]:
            z = proposal.draw(BLOCK, key=key)
            points, weights = jax.vmap(lambda one: _weigh(part, data, one))(z)
            return points, weights - proposal.log_density(z)

        points, weights = jax.lax.map(block, jax.random.split(key, -(-num_draws // BLOCK)))
        return points.reshape(-1, points.shape[-1])[:num_draws], weights.reshape(-1)[:num_draws]

    return jax.vmap(one)(part.observations, state, keys)


def name_keys(key: Key[Array, ""], positions: np.ndarray) -> Key[Array, " subject"]:
    """One key for each subject, whatever other subjects there are."""
    return jax.vmap(lambda position: jax.random.fold_in(key, position))(positions)


def _weigh(part: Part, data: Observations, z: Float[Array, " coordinate"]) -> tuple[Float[Array, " own"], Float[Array, ""]]:
    """Where coordinates put a subject, and their log likelihood per volume of coordinates."""
    constrained = constrain(part.model, z, data, find_start(part.model, data))
    point, log_volume = stretch(part.entries, constrained.values)
    density = part.model.log_likelihood(constrained.values, data) + constrained.log_det + log_volume
    return point, jnp.where(constrained.is_inside & ~jnp.isnan(density), density, -jnp.inf)
