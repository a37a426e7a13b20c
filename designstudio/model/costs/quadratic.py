"""Quadratic cost: large misses cost much more than small ones."""

import dataclasses

import jax.numpy as jnp

from designstudio.model.costs.base import SYMMETRIC, AbstractClosedFormCost, Scalar, Values
from designstudio.model.perception import Belief


@dataclasses.dataclass(frozen=True)
class Quadratic(AbstractClosedFormCost):
    """(r - s)². Optimal: log a = log mu_post + (sigma_post² - 3 sigma_r²) / 2."""

    name = "quadratic"
    formula = "(r - s)²"
    meaning = "large errors count more"
    kind = SYMMETRIC
    parameters = ()
    num_terms = 1
    has_single_root = True

    def __call__(self, response: Scalar, stimulus: Scalar, parameters: Values) -> Scalar:
        return (response - stimulus) ** 2

    def slope(self, log_action: Scalar, belief: Belief, sigma_r: Scalar, parameters: Values) -> Scalar:
        """Derivative of the expected cost, divided by E[r]."""
        return 2 * (jnp.exp(log_action + 1.5 * sigma_r**2) - jnp.exp(belief.log_mu + belief.sigma**2 / 2))

    def log_ratio(self, belief: Belief, sigma_r: Scalar, parameters: Values) -> Scalar:
        return jnp.broadcast_to((belief.sigma**2 - 3 * sigma_r**2) / 2, jnp.shape(belief.log_mu))
