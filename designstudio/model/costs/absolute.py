"""Absolute cost: every missed unit costs the same."""

import dataclasses

import jax.numpy as jnp
from jax.scipy.special import ndtr

from designstudio.model.costs.base import SYMMETRIC, AbstractClosedFormCost, Scalar, Values, total_noise
from designstudio.model.perception import Belief


@dataclasses.dataclass(frozen=True)
class Absolute(AbstractClosedFormCost):
    """|r - s|. Optimal: log a = log mu_post - sigma_r²."""

    name = "absolute"
    formula = "|r - s|"
    meaning = "every error counts by its size"
    kind = SYMMETRIC
    parameters = ()
    num_terms = 1
    has_single_root = True

    def __call__(self, response: Scalar, stimulus: Scalar, parameters: Values) -> Scalar:
        return jnp.abs(response - stimulus)

    def slope(self, log_action: Scalar, belief: Belief, sigma_r: Scalar, parameters: Values) -> Scalar:
        """Derivative of the expected cost, divided by E[r]."""
        offset = log_action - belief.log_mu + sigma_r**2
        return 2 * ndtr(offset / total_noise(belief, sigma_r)) - 1

    def log_ratio(self, belief: Belief, sigma_r: Scalar, parameters: Values) -> Scalar:
        return jnp.broadcast_to(-(sigma_r**2), jnp.shape(belief.log_mu))
