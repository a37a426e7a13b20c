"""Dual averaging of the step size (Hoffman & Gelman, 2014): towards a mean acceptance probability."""

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

Scalar = Float[Array, " chain"]
# The paper's constants: how fast old steps are forgotten, how much early ones count, how strongly the centre pulls.
FORGETTING, EARLY_STEPS, PULL = 0.75, 10.0, 0.05


class StepSize(NamedTuple):
    """A step size that is being adapted.

    Attributes:
        log_size: of the next trajectory. log_average: what is kept in the end.
        error: running mean of what the acceptance probability lacks. num_seen: trajectories.
        centre: towards which the logarithm is pulled.
    """

    log_size: Scalar
    log_average: Scalar
    error: Scalar
    num_seen: Scalar
    centre: Scalar

    @property
    def size(self) -> Scalar:
        """Of the next trajectory."""
        return jnp.exp(self.log_size)


def start_step_size(log_size: Scalar) -> StepSize:
    """Begin to adapt; larger steps are tried first."""
    nothing = jnp.zeros_like(log_size)
    return StepSize(log_size, nothing, nothing, nothing, log_size + jnp.log(2.0))


def adapt_step_size(step: StepSize, acceptance: Scalar, target: float) -> StepSize:
    """Learn from a trajectory's mean acceptance probability."""
    num_seen = step.num_seen + 1
    share = 1 / (num_seen + EARLY_STEPS)
    error = (1 - share) * step.error + share * (target - acceptance)
    log_size = step.centre - jnp.sqrt(num_seen) / PULL * error
    weight = num_seen**-FORGETTING
    return StepSize(log_size, weight * log_size + (1 - weight) * step.log_average, error, num_seen, step.centre)


def settle_step_size(step: StepSize, num_chains: int) -> StepSize:
    """Keep what was learnt, the upper median over the chains of a data set; nothing if nothing was.

    They sample the same posterior on the same scale, so one step size suits all. A chain that began where the posterior is
    steep may have learnt a tiny one, and would crawl ever after.
    """
    log_size = jnp.where(step.num_seen > 0, step.log_average, step.log_size)
    middle = jnp.sort(log_size.reshape(-1, num_chains), axis=1)[:, num_chains // 2]
    return start_step_size(jnp.repeat(middle, num_chains))
