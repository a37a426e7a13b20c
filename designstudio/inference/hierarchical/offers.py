"""Places where a subject might be, whatever the group: what groups are weighed by.

Subjects are sampled as separate fits are: in observable coordinates, by importance sampling from a mixture that learns. Only
the density differs, with the group in place of the analysis prior. What an offer weighs without the group (its likelihood,
over the density it came from) is computed once; the group's opinion is then a sum of a few squares.
"""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import Array, Float, Int, Key

from designstudio.inference.coordinates import guess, locate
from designstudio.inference.hierarchical.entries import Entry, Group, list_entries, stretch
from designstudio.inference.importance import Evaluated, Proposal, draw_weighted
from designstudio.inference.mixture import Mixture, start_mixture
from designstudio.inference.portions import Portion
from designstudio.inference.settings import ImportanceSettings
from designstudio.model.likelihood.condense import condense
from designstudio.model.likelihood.model import BehaviorModel
from designstudio.model.likelihood.observations import Observations, drop_trials, sort_by_noise
from designstudio.model.likelihood.packing import pack_trials

# On the host while a group is prepared, on a device while it is sampled.
AnyArray = Any
# Of each learning step.
LEARNING = ImportanceSettings(num_rounds=2, num_blocks=2, block_size=1000)
# Offers that are computed at once.
BLOCK = 500


class Part(eqx.Module):
    """Subjects with equally many conditions.

    Attributes:
        model: for as many conditions. entries: their own numbers.
        places: where each subject stands in the group.
        targets: for each subject and entry of its own, which entry of the group that is.
        observations: with the noisiest condition first.
    """

    model: BehaviorModel
    entries: tuple[Entry, ...] = eqx.field(static=True)
    places: Int[AnyArray, " subject"]
    targets: Int[AnyArray, "subject own"]
    observations: Observations

    def begin(self) -> Mixture:
        """Proposals that have learnt nothing."""
        fresh = start_mixture(self.model.num_free, LEARNING.num_components)
        return jax.tree.map(lambda array: np.broadcast_to(array, (len(self.places), *array.shape)), fresh)


def make_part(
    model: BehaviorModel, portion: Portion, trials: xr.Dataset, fixed: dict[str, xr.DataArray], entries: tuple[Entry, ...]
) -> Part:
    """The subjects of a portion, as the sampler sees them."""
    narrow = portion.narrow(model)
    packed = pack_trials(portion.take_trials(trials), narrow, portion.take_fixed(fixed))
    observations, order = sort_by_noise(packed)
    # A few nodes in place of thousands of trials are off by hundredths of a nat, of which a group sees nothing.
    seen = drop_trials(observations) if model.is_power_law else condense(observations)
    own, number = list_entries(narrow), {(entry.name, entry.condition): k for k, entry in enumerate(entries)}
    conditions = np.take_along_axis(portion.conditions, order, axis=1)

    def find(entry: Entry, row: np.ndarray) -> int:
        # With one condition, what differs between conditions is called shared.
        is_shared = entry.name not in model.per_condition
        return number[entry.name, None if is_shared else int(row[entry.condition or 0])]

    targets = np.array([[find(entry, row) for entry in own] for row in conditions])
    return Part(narrow, own, portion.places, targets, seen)


@eqx.filter_jit
def learn(
    part: Part, group: Group, learnt: Mixture, keys: Key[Array, " subject"]
) -> tuple[Mixture, Float[Array, "subject draw own"], Float[Array, "subject draw"]]:
    """Proposals that know the group, and weighted draws of their subjects."""

    def one(data: Observations, targets: Array, learnt: Mixture, key: Key[Array, ""]) -> tuple[Mixture, Array, Array]:
        location, spread = group.location[targets], group.spread[targets]

        def evaluate(z: Array) -> Evaluated:
            point, weight = _weigh(part, data, z)
            return weight - jnp.sum(((point - location) / spread) ** 2) / 2, {"point": point}

        draws, proposal = draw_weighted(part.model, data, LEARNING, learnt, key=key, evaluate=evaluate)
        points = draws.values["point"].reshape(-1, len(targets))
        return proposal.mixture, points, jax.nn.softmax(draws.log_weight.ravel())

    return jax.vmap(one)(part.observations, part.targets, learnt, keys)


@eqx.filter_jit
def make_offers(
    part: Part, learnt: Mixture, keys: Key[Array, " subject"], num_draws: int
) -> tuple[Float[Array, "subject draw own"], Float[Array, "subject draw"]]:
    """Independent offers for every subject, with their weights."""

    def one(data: Observations, learnt: Mixture, key: Key[Array, ""]) -> tuple[Array, Array]:
        proposal = Proposal(guess(part.model, data), learnt)

        def block(key: Key[Array, ""]) -> tuple[Array, Array]:
            z = proposal.draw(BLOCK, key=key)
            points, weights = jax.vmap(lambda one: _weigh(part, data, one))(z)
            return points, weights - proposal.log_density(z)

        points, weights = jax.lax.map(block, jax.random.split(key, -(-num_draws // BLOCK)))
        return points.reshape(-1, points.shape[-1])[:num_draws], weights.reshape(-1)[:num_draws]

    return jax.vmap(one)(part.observations, learnt, keys)


def _weigh(part: Part, data: Observations, z: Float[Array, " coordinate"]) -> tuple[Float[Array, " own"], Float[Array, ""]]:
    """Where coordinates put a subject, and their log likelihood per volume of coordinates."""
    located = locate(part.model, z, data, folds=False)
    point, log_volume = stretch(part.entries, located.values)
    density = part.model.log_likelihood(located.values, data) + located.log_jacobian + log_volume
    return point, jnp.where(located.is_inside & ~jnp.isnan(density), density, -jnp.inf)
