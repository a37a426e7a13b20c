"""NUTS on the posteriors of data sets: from weighted draws of importance sampling to chains of parameters.

The weighted draws give three things: the first scale on which chains move, where they start, and the proposals of jumps.
Adaptation makes the first irrelevant; starts are wider than the posterior; and where jumps are off, nothing of importance
sampling is left in the draws.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Key

from designstudio.inference.coordinates import Start, constrain
from designstudio.inference.importance import PreparedProposal, Proposal, WeightedDraws
from designstudio.inference.mixture import weighted_moments
from designstudio.inference.nuts.chains import Chains, run_chains
from designstudio.inference.nuts.scale import Whitening, start_whitening
from designstudio.inference.nuts.turn import Jumps
from designstudio.inference.settings import NutsSettings
from designstudio.inference.target import evaluate_posterior
from designstudio.model.likelihood.model import BehaviorModel
from designstudio.model.likelihood.observations import Observations

# To what power weights are taken when starts are drawn: 1 would give posterior draws, 0 those of the proposal.
START_POWER = 0.25
# Standard deviation of a uniform distribution between -1 and 1.
UNIFORM_SD = 1 / np.sqrt(3)


class ChainStart(NamedTuple):
    """The first scale of a data set's chains, and where each begins."""

    whitening: Whitening
    y: Float[Array, "*set chain coordinate"]


class ChainBatch(NamedTuple):
    """Chains, the parameters of their draws, and whether chains of a data set were made to jump."""

    chains: Chains
    values: dict[str, Float[Array, "dataset chain draw ..."]]
    has_jumps: Bool[Array, " dataset"]


def sample_posteriors(
    model: BehaviorModel,
    observations: Observations,
    draws: WeightedDraws,
    proposal: Proposal,
    start: ChainStart,
    keys: Key[Array, " dataset"],
    settings: NutsSettings,
    *,
    is_wanted: Bool[Array, " dataset"],
    needs_jumps: Bool[Array, " dataset"],
) -> ChainBatch:
    """Sample the posteriors of some data sets.

    Args:
        model: the behaviour model.
        observations: of data sets along a leading axis.
        draws: of importance sampling, a block for each chain. proposal: from which they came.
        start: of each data set's chains.
        keys: one for each data set.
        settings: how long and how carefully.
        is_wanted: data sets that need a meaningful result.
        needs_jumps: those that jump although no direction stays open, unless the settings say that none does.
    """
    chain_keys = jax.vmap(lambda key: jax.random.split(key, draws.log_weight.shape[1]))(keys)
    has_jumps = {
        "never": jnp.zeros(len(keys), bool),
        "ridges": needs_jumps | jax.vmap(_is_ridge, in_axes=(0, 0, None))(draws, proposal, settings.min_open),
        "always": jnp.ones(len(keys), bool),
    }[settings.jumps]
    jumps = None if settings.jumps == "never" else _make_jumps(draws, has_jumps, settings.num_draws)

    def evaluate(data: tuple[Observations, PreparedProposal], y: Float[Array, " coordinate"]) -> tuple[Array, Array]:
        log_density, constrained = evaluate_posterior(model, y, data[0], data[1].expected, is_unbounded=True)
        if jumps is None:
            return log_density, jnp.zeros(())
        proposed = data[1].log_density(constrained.z[None])[0]
        return log_density, jax.lax.stop_gradient(log_density - constrained.log_slope - proposed)

    prepared = jax.vmap(Proposal.prepare)(proposal)
    chains = run_chains(evaluate, (observations, prepared), *start, jumps, settings, is_wanted=is_wanted, keys=chain_keys)

    def find_values(observations: Observations, expected: Start, y: Array) -> dict[str, Array]:
        return jax.vmap(jax.vmap(lambda y: constrain(model, y, observations, expected, is_unbounded=True).values))(y)

    return ChainBatch(chains, jax.vmap(find_values)(observations, proposal.expected, chains.y), has_jumps)


def start_chains(draws: WeightedDraws, *, key: Key[Array, ""]) -> ChainStart:
    """Where the chains of one data set begin: a draw of each block, by tempered weights, and the scale of all draws.

    Starts are wider than the posterior, but not where nothing is.
    """
    # Impossible draws have no weight, and need not be numbers.
    y = jnp.where(jnp.isfinite(draws.found.y), draws.found.y, 0.0)
    centre, covariance = weighted_moments(y.reshape(-1, y.shape[-1]), _weights(draws))
    # Few draws may carry all the weight.
    covariance += jnp.diag(1e-4 + 1e-2 * jnp.diagonal(covariance))
    keys = jax.random.split(key, len(draws.log_weight))
    chosen = jax.vmap(jax.random.categorical)(keys, jnp.maximum(START_POWER * draws.log_weight, -1e30))
    starts = jnp.take_along_axis(y, chosen[:, None, None], axis=1)[:, 0]
    return ChainStart(start_whitening(centre, covariance), starts)


def _weights(draws: WeightedDraws) -> Float[Array, " draw"]:
    """Normalised weights of all draws of a data set; equal ones if none counts."""
    log_weight = draws.log_weight.ravel()
    weights = jax.nn.softmax(jnp.where(jnp.isfinite(log_weight), log_weight, -jnp.inf))
    return jnp.where(jnp.isnan(weights), 1 / weights.size, weights)


def _is_ridge(draws: WeightedDraws, proposal: Proposal, min_open: float) -> Bool[Array, ""]:
    """Whether a direction that may be unidentified is: its posterior is nearly as wide as its allowed range."""
    points = (draws.z.reshape(-1, draws.z.shape[-1]) - proposal.expected.centre) / proposal.expected.scale
    _, covariance = weighted_moments(points, _weights(draws))
    sd = jnp.sqrt(jnp.diagonal(covariance)) / UNIFORM_SD
    return jnp.any(jnp.where(np.array(proposal.expected.is_unidentified), sd, 0.0) > min_open)


def _make_jumps(draws: WeightedDraws, is_on: Bool[Array, " dataset"], num_draws: int) -> Jumps:
    """Each chain's block of draws, one for each draw of the chain."""

    def take(array: Any) -> Any:
        return array[:, :, :num_draws]

    log_weight = take(jnp.where(jnp.isnan(draws.log_weight), -jnp.inf, draws.log_weight))
    is_on = jnp.broadcast_to(is_on[:, None], log_weight.shape[:2])
    return Jumps(is_on, take(draws.found.y), log_weight, take(draws.found.log_density))
