"""NUTS in whitened observable coordinates, one chain; vmapped over chains and data sets it runs them all in step.

Chains that run in step wait for the longest trajectory among them, so trajectories must be short: importance sampling has
already found the posterior's centre and covariance, in whose units a few steps cross it, and it provides the starting
points. Behind the prior's bounds the density is small but smooth, so a trajectory there comes back instead of diverging.

Between two trajectories the chain is offered one independent draw from the importance proposal, taken or left by the
Metropolis-Hastings rule. Both moves leave the posterior as it is, whatever the proposal. Trajectories find what the
proposal missed; offers jump along confounded ridges, whose walls force trajectories to take tiny steps.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, Key
from numpyro.infer.hmc import HMCState, hmc

from designstudio.behavior.model import BehaviorModel
from designstudio.behavior.observations import Observations
from designstudio.fit.coordinates import locate
from designstudio.fit.importance import Proposal
from designstudio.fit.settings import NutsSettings
from designstudio.fit.target import walled_log_posterior

Scalar = Float[Array, ""]
Point = Float[Array, " coordinate"]


class Whitening(NamedTuple):
    """Centre and factor of the posterior's covariance: z = centre + factor u."""

    centre: Float[Array, "*set coordinate"]
    factor: Float[Array, "*set coordinate coordinate"]


class Chain(NamedTuple):
    """Draws of one chain, or of many along leading axes.

    Attributes:
        values: parameters.
        log_density: log posterior density of the coordinates.
        is_diverging: whether the trajectory broke down.
        num_steps: length of the trajectory.
        acceptance: mean acceptance probability along the trajectory.
        is_offer_taken: whether the independent draw was taken.
        last: coordinates of the last draw, from which another run can go on.
    """

    values: dict[str, Float[Array, "draw ..."]]
    log_density: Float[Array, "*set draw"]
    is_diverging: Bool[Array, "*set draw"]
    num_steps: Int[Array, "*set draw"]
    acceptance: Float[Array, "*set draw"]
    is_offer_taken: Bool[Array, "*set draw"]
    last: Float[Array, "*set coordinate"]


def run_chain(
    model: BehaviorModel,
    observations: Observations,
    proposal: Proposal,
    whitening: Whitening,
    start: Point,
    settings: NutsSettings,
    *,
    key: Key[Array, ""],
) -> Chain:
    """Sample one data set's posterior.

    Args:
        model: the behaviour model.
        observations: one data set.
        proposal: what importance sampling has learnt.
        whitening: the scale on which trajectories move.
        start: where the chain begins, in coordinates.
        settings: how long and how carefully.
        key: random key of this chain.
    """

    # Traced once, however often the sampler mentions it.
    @jax.jit
    def potential(u: Point) -> Scalar:
        return -walled_log_posterior(model, whitening.centre + whitening.factor @ u, observations)

    @jax.jit
    def log_weight(u: Point, potential_energy: Scalar) -> Scalar:
        z = locate(model, whitening.centre + whitening.factor @ u, observations, folds=True).z
        return -potential_energy - proposal.log_density(z[None])[0]

    initialise, move = hmc(potential, algo="NUTS")
    nuts_key, offer_key = jax.random.split(key)
    state = initialise(
        whiten(whitening, start),
        settings.num_warmup,
        step_size=settings.first_step_size,
        adapt_step_size=settings.adapts,
        adapt_mass_matrix=settings.adapts,
        dense_mass=settings.adapts,
        target_accept_prob=settings.target_acceptance,
        max_tree_depth=settings.max_tree_depth,
        rng_key=nuts_key,
    )

    def step(state: HMCState, index: Array) -> tuple[HMCState, Chain]:
        state = trajectory = move(state)
        draw_key, accept_key = jax.random.split(jax.random.fold_in(offer_key, index))
        z = proposal.draw(1, key=draw_key)[0]
        is_possible = locate(model, z, observations, folds=False).is_inside
        u = whiten(whitening, z)
        energy, slope = jax.value_and_grad(potential)(u)
        log_ratio = log_weight(u, energy) - log_weight(state.z, state.potential_energy)
        is_taken = is_possible & (jnp.log(jax.random.uniform(accept_key)) < log_ratio)
        state = state._replace(
            z=jnp.where(is_taken, u, state.z),
            potential_energy=jnp.where(is_taken, energy, state.potential_energy),
            z_grad=jnp.where(is_taken, slope, state.z_grad),
        )
        z = whitening.centre + whitening.factor @ state.z
        return state, Chain(
            {"z": z},
            -state.potential_energy,
            trajectory.diverging,
            trajectory.num_steps,
            trajectory.accept_prob,
            is_taken,
            z,
        )

    _, chain = jax.lax.scan(step, state, jnp.arange(settings.num_warmup + settings.num_draws))
    chain = jax.tree.map(lambda array: array[settings.num_warmup :], chain)
    values = jax.vmap(lambda z: locate(model, z, observations, folds=True).values)(chain.values["z"])
    return chain._replace(values=values, last=chain.last[-1])


def whiten(whitening: Whitening, z: Point) -> Point:
    """Coordinates in units of the posterior."""
    return jax.scipy.linalg.solve_triangular(whitening.factor, z - whitening.centre, lower=True)
