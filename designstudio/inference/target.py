"""What is sampled: the posterior density of one data set in the coordinates of its family."""

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from designstudio.inference.coordinates import Constrained, Start, constrain
from designstudio.model.likelihood.model import BehaviorModel
from designstudio.model.likelihood.observations import Observations

Scalar = Float[Array, ""]


class Evaluated(NamedTuple):
    """Log posterior density, up to a constant, of the coordinates that were given, and where they lie."""

    log_density: Scalar
    constrained: Constrained


def evaluate_posterior(
    model: BehaviorModel,
    given: Float[Array, " coordinate"],
    observations: Observations,
    expected: Start,
    *,
    is_unbounded: bool = False,
) -> Evaluated:
    """Log posterior density of coordinates, by the model's fast rule; minus infinity outside their bounds.

    Args:
        model: the behaviour model.
        given: coordinates z, or y if they are unbounded: then the density is that of y.
        observations: one data set. expected: where its posterior is expected.
        is_unbounded: see `designstudio.inference.coordinates.base`.
    """
    constrained = constrain(model, given, observations, expected, is_unbounded=is_unbounded)
    likelihood = model.log_likelihood(constrained.values, observations, is_fast=True)
    density = model.log_prior(constrained.values) + likelihood + constrained.log_det
    if is_unbounded:
        density += constrained.log_slope
    return Evaluated(jnp.where(constrained.is_inside & ~jnp.isnan(density), density, -jnp.inf), constrained)
