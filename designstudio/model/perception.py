"""What a participant perceives: a noisy measurement, and the belief it leads to.

The measurement of a stimulus s is log-normal around it, log m ~ Normal(log s, sigma). With the participant's log-normal
prior (mu_0, sigma_0) the belief about s is again log-normal, with median `exp(log_mu)` and log standard deviation `sigma`.
Everything stays in logarithms, so the belief is positive whatever a sampler proposes.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Key


class Belief(eqx.Module):
    """A log-normal belief about the stimulus: log s ~ Normal(log_mu, sigma)."""

    log_mu: Float[Array, "..."]
    sigma: Float[Array, "..."]


def measure(stimuli: Float[Array, "..."], sigma: Float[Array, "..."], *, key: Key[Array, ""]) -> Float[Array, "..."]:
    """Draw one noisy measurement for each stimulus."""
    return stimuli * jnp.exp(sigma * jax.random.normal(key, jnp.shape(stimuli)))


def posterior_sigma(sigma_0: Float[Array, "..."], sigma: Float[Array, "..."]) -> Float[Array, "..."]:
    """Uncertainty of the belief: sigma_0 and sigma combined by their precisions."""
    return sigma_0 * sigma / jnp.hypot(sigma_0, sigma)


def measurement_weight(sigma_0: Float[Array, "..."], sigma: Float[Array, "..."]) -> Float[Array, "..."]:
    """How much the measurement counts against the prior, w_m between 0 and 1."""
    return sigma_0**2 / (sigma_0**2 + sigma**2)


def form_belief(
    log_measurement: Float[Array, "..."],
    mu_0: Float[Array, "..."],
    sigma_0: Float[Array, "..."],
    sigma: Float[Array, "..."],
) -> Belief:
    """Combine prior and measurement by Bayes' rule."""
    weight = measurement_weight(sigma_0, sigma)
    log_mu = weight * log_measurement + (1 - weight) * jnp.log(mu_0)
    return Belief(log_mu, posterior_sigma(sigma_0, sigma))
