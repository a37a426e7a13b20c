"""What is sampled: the posterior density of one data set in observable coordinates."""

import jax.numpy as jnp
from jaxtyping import Array, Float

from designstudio.inference.coordinates import Constrained, constrain
from designstudio.model.likelihood.model import BehaviorModel
from designstudio.model.likelihood.observations import Observations

# Nats that it costs to be outside the bounds: no chain ever stays there, and no trajectory counts as divergent for passing.
OUTSIDE_PENALTY = 50.0


def log_posterior(
    model: BehaviorModel, z: Float[Array, " coordinate"], observations: Observations, *, reflects: bool
) -> Float[Array, ""]:
    """Log posterior density of the coordinates, up to a constant, by the model's fast rule.

    Args:
        model: the behaviour model.
        z: coordinates.
        observations: one data set.
        reflects: whether bounds are mirrors (for a search that moves) or the end of the support (for weights).
    """
    return constrain_with_density(model, z, observations, reflects=reflects)[0]


def constrain_with_density(
    model: BehaviorModel, z: Float[Array, " coordinate"], observations: Observations, *, reflects: bool
) -> tuple[Float[Array, ""], Constrained]:
    """The same, with the parameters that it was found by."""
    constrained = constrain(model, z, observations, reflects=reflects)
    likelihood = model.log_likelihood(constrained.values, observations, is_fast=True)
    density = model.log_prior(constrained.values) + likelihood + constrained.log_det
    return jnp.where((reflects | constrained.is_inside) & ~jnp.isnan(density), density, -jnp.inf), constrained


def bounded_log_posterior(
    model: BehaviorModel, z: Float[Array, " coordinate"], observations: Observations
) -> Float[Array, ""]:
    """The same for samplers that move along gradients: finite outside the bounds, but as good as impossible.

    A trajectory may then cross a bound and come back. Mirrors would not do: a mirror image of the posterior is only as good
    as the posterior if the sampler's own scale is mirrored too, and whitening is not.
    """
    density, constrained = constrain_with_density(model, z, observations, reflects=True)
    return density - jnp.where(constrained.is_inside, 0.0, OUTSIDE_PENALTY)
