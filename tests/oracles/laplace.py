"""The posterior's mode and its Gaussian approximation there, for many data sets at once.

A Laplace approximation is the cheapest description of a posterior: good where the design identifies the parameters,
misleading where it does not. The mode is found in observable coordinates without bounds, by damped Newton steps from the
regression's start.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from designstudio.inference.coordinates import constrain, find_start
from designstudio.inference.target import evaluate_posterior
from designstudio.model.likelihood.model import BehaviorModel
from designstudio.model.likelihood.observations import Observations

NUM_STEPS = 40
# A mode is found when no step of the size of its standard deviations would gain more than this.
GRADIENT_TOLERANCE = 0.05


class Laplace(NamedTuple):
    """Mode and Gaussian approximation of one data set's posterior.

    Attributes:
        y: the mode, in coordinates without bounds.
        values: the parameters at the mode (the density is that of the coordinates).
        covariance: of the coordinates.
        log_evidence: Laplace's approximation of the log marginal likelihood.
        is_found: whether the gradient vanishes there and the curvature is that of a peak.
    """

    y: Float[Array, "*set coordinate"]
    values: dict[str, Array]
    covariance: Float[Array, "*set coordinate coordinate"]
    log_evidence: Float[Array, "*set"]
    is_found: Bool[Array, "*set"]


def find_mode(model: BehaviorModel, observations: Observations) -> Laplace:
    """Mode and Laplace approximation of one data set; vmap for many."""
    expected = find_start(model, observations)

    @jax.jit
    def height(u: Float[Array, " coordinate"]) -> Float[Array, ""]:
        return evaluate_posterior(model, u, observations, expected, is_unbounded=True).log_density

    slope, curvature = jax.grad(height), jax.hessian(height)
    identity = jnp.eye(model.num_free)

    def step(_: int, state: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        u, best, damping = state
        eigenvalues, vectors = jnp.linalg.eigh(-curvature(u))
        # Uphill in every direction, whatever the curvature says.
        precision = jnp.maximum(jnp.abs(eigenvalues), 1e-3) + damping
        move = vectors @ ((vectors.T @ slope(u)) / precision)
        proposed = u + move / jnp.maximum(1.0, jnp.linalg.norm(move))
        value = height(proposed)
        is_better = value > best
        return (
            jnp.where(is_better, proposed, u),
            jnp.where(is_better, value, best),
            jnp.where(is_better, damping / 4, damping * 8 + 1e-2),
        )

    start = constrain(model, expected.centre, observations, expected).y
    u, best, _ = jax.lax.fori_loop(0, NUM_STEPS, step, (start, height(start), jnp.asarray(1.0)))
    precision = -curvature(u)
    eigenvalues = jnp.linalg.eigvalsh(precision)
    is_peak = eigenvalues[0] > 0
    covariance = jnp.linalg.inv(jnp.where(is_peak, precision, precision + identity * (1e-3 - eigenvalues[0])))
    gain = jnp.sqrt(slope(u) @ covariance @ slope(u))
    constrained = constrain(model, u, observations, expected, is_unbounded=True)
    log_volume = jnp.linalg.slogdet(covariance)[1] / 2
    return Laplace(
        constrained.y,
        constrained.values,
        covariance,
        best + model.num_free / 2 * jnp.log(2 * jnp.pi) + log_volume,
        is_peak & (gain < GRADIENT_TOLERANCE),
    )
