"""NUTS in whitened observable coordinates, one chain; vmapped over chains and data sets it runs them all in step.

Chains that run in step wait for the longest trajectory among them, so trajectories must be short: importance sampling has
already found the posterior's centre and covariance, in whose units a few steps cross it, and it provides the starting
points. Behind the prior's bounds the density is small but smooth, so a trajectory there comes back instead of diverging.

Between two trajectories the chain may jump: a few independence proposals from the importance proposal, one after the other,
are each accepted or rejected by the Metropolis-Hastings rule. Both moves leave the posterior as it is, whatever the
proposal. Trajectories find what the proposal missed; jumps move along confounded ridges, whose bounds force trajectories to
take tiny steps.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, Key
from numpyro.infer.hmc import HMCState, hmc

from designstudio.inference.coordinates import constrain
from designstudio.inference.importance import Proposal
from designstudio.inference.settings import NutsSettings
from designstudio.inference.target import bounded_log_posterior
from designstudio.model.likelihood.model import BehaviorModel
from designstudio.model.likelihood.observations import Observations

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
        is_jump_accepted: whether an independence proposal was accepted.
        last: coordinates of the last draw, from which another run can go on.
    """

    values: dict[str, Float[Array, "draw ..."]]
    log_density: Float[Array, "*set draw"]
    is_diverging: Bool[Array, "*set draw"]
    num_steps: Int[Array, "*set draw"]
    acceptance: Float[Array, "*set draw"]
    is_jump_accepted: Bool[Array, "*set draw"]
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
        return -bounded_log_posterior(model, whitening.centre + whitening.factor @ u, observations)

    initialise, move = hmc(potential, algo="NUTS")
    nuts_key, jump_key = jax.random.split(key)
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
        draw_key, accept_key = jax.random.split(jax.random.fold_in(jump_key, index))
        jumps = proposal.draw(settings.num_jumps, key=draw_key)
        points = jax.vmap(lambda z: whiten(whitening, z))(jumps)
        energies = jax.vmap(potential)(points)
        u, energy = state.z, state.potential_energy
        here = whitening.centre + whitening.factor @ u
        log_proposal = proposal.log_density(jnp.concatenate([here[None], jumps]))
        log_weight, log_weights = -energy - log_proposal[0], -energies - log_proposal[1:]
        thresholds = jnp.log(jax.random.uniform(accept_key, (settings.num_jumps,)))
        is_jumped = jnp.zeros((), bool)
        for k in range(settings.num_jumps):
            is_accepted = thresholds[k] < log_weights[k] - log_weight
            u, energy, log_weight = (
                jnp.where(is_accepted, new, old)
                for new, old in ((points[k], u), (energies[k], energy), (log_weights[k], log_weight))
            )
            is_jumped |= is_accepted
        # Trajectories go on from the gradient where the chain now stands.
        state = state._replace(z=u, potential_energy=energy, z_grad=jax.grad(potential)(u))
        z = whitening.centre + whitening.factor @ u
        return state, Chain(
            {"z": z},
            -state.potential_energy,
            trajectory.diverging,
            trajectory.num_steps,
            trajectory.accept_prob,
            is_jumped,
            z,
        )

    _, chain = jax.lax.scan(step, state, jnp.arange(settings.num_warmup + settings.num_draws))
    chain = jax.tree.map(lambda array: array[settings.num_warmup :], chain)
    values = jax.vmap(lambda z: constrain(model, z, observations, reflects=True).values)(chain.values["z"])
    return chain._replace(values=values, last=chain.last[-1])


def whiten(whitening: Whitening, z: Point) -> Point:
    """Coordinates in units of the posterior."""
    return jax.scipy.linalg.solve_triangular(whitening.factor, z - whitening.centre, lower=True)
