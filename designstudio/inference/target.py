"""What is sampled: the posterior density of one data set in observable coordinates."""

import jax.numpy as jnp
from jaxtyping import Array, Float

from designstudio.inference.coordinates import Located, locate
from designstudio.model.likelihood.model import BehaviorModel
from designstudio.model.likelihood.observations import Observations

# Nats that it costs to be behind a wall: no chain ever stays there, and no trajectory counts as divergent for passing.
WALL = 50.0


def log_posterior(
    model: BehaviorModel, z: Float[Array, " coordinate"], observations: Observations, *, folds: bool
) -> Float[Array, ""]:
    """Log posterior density of the coordinates, up to a constant, by the model's fast rule.

    Args:
        model: the behaviour model.
        z: coordinates.
        observations: one data set.
        folds: whether walls are mirrors (for a search that moves) or the end of the world (for weights).
    """
    return locate_with_density(model, z, observations, folds=folds)[0]


def locate_with_density(
    model: BehaviorModel, z: Float[Array, " coordinate"], observations: Observations, *, folds: bool
) -> tuple[Float[Array, ""], Located]:
    """The same, with the parameters that it was found by."""
    located = locate(model, z, observations, folds=folds)
    likelihood = model.log_likelihood(located.values, observations, is_fast=True)
    density = model.log_prior(located.values) + likelihood + located.log_jacobian
    return jnp.where((folds | located.is_inside) & ~jnp.isnan(density), density, -jnp.inf), located


def walled_log_posterior(
    model: BehaviorModel, z: Float[Array, " coordinate"], observations: Observations
) -> Float[Array, ""]:
    """The same for samplers that move along gradients: finite behind a wall, but as good as impossible.

    A trajectory may then cross a wall and come back. Mirrors would not do: a mirror image of the posterior is only as good
    as the posterior if the sampler's own scale is mirrored too, and whitening is not.
    """
    density, located = locate_with_density(model, z, observations, folds=True)
    return density - jnp.where(located.is_inside, 0.0, WALL)
