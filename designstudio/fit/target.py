"""What is sampled: the posterior density of one data set in observable coordinates."""

import jax.numpy as jnp
from jaxtyping import Array, Float

from designstudio.behavior.model import BehaviorModel
from designstudio.behavior.observations import Observations
from designstudio.fit.coordinates import locate


def log_posterior(
    model: BehaviorModel, z: Float[Array, " coordinate"], observations: Observations, *, folds: bool
) -> Float[Array, ""]:
    """Log posterior density of the coordinates, up to a constant, by the model's fast rule.

    Args:
        model: the behaviour model.
        z: coordinates.
        observations: one data set.
        folds: whether walls are mirrors (for samplers that move) or the end of the world (for weights).
    """
    located = locate(model, z, observations, folds=folds)
    likelihood = model.log_likelihood(located.values, observations, is_fast=True)
    density = model.log_prior(located.values) + likelihood + located.log_jacobian
    return jnp.where(located.is_inside & ~jnp.isnan(density), density, -jnp.inf)
