"""Asymmetric quadratic cost: overshooting and undershooting are not equally bad."""

import dataclasses

import jax.numpy as jnp
from jax.scipy.special import ndtr

from designstudio.model.costs.base import ASYMMETRIC, AbstractCost, Scalar, Values, total_noise
from designstudio.model.parameters import cost_parameter
from designstudio.model.perception import Belief
from designstudio.model.priors import Interval, Uniform


@dataclasses.dataclass(frozen=True)
class AsymmetricQuadratic(AbstractCost):
    """2 |alpha - 1(r >= s)| (r - s)²: overshoots count 2(1 - alpha), undershoots 2 alpha."""

    name = "asymmetric_quadratic"
    formula = "2|α - 1(r ≥ s)|(r - s)²"
    meaning = "too much and too little count differently"
    kind = ASYMMETRIC
    parameters = (
        cost_parameter(
            "alpha",
            Uniform(0.1, 0.9),
            symbol="α",
            meaning="asymmetry: below 0.5 overshooting costs more",
            support=Interval(0.0, 1.0),
            neutral=0.5,
        ),
    )
    num_terms = 1
    has_single_root = True

    def __call__(self, response: Scalar, stimulus: Scalar, parameters: Values) -> Scalar:
        error = response - stimulus
        return 2 * jnp.abs(parameters["alpha"] - (error >= 0)) * error**2

    def slope(self, log_action: Scalar, belief: Belief, sigma_r: Scalar, parameters: Values) -> Scalar:
        """(1 - alpha) E[(r - s) r; r >= s] + alpha E[(r - s) r; r < s], divided by E[r] E[s]."""
        alpha = parameters["alpha"]
        noise = total_noise(belief, sigma_r)
        difference = log_action - belief.log_mu
        # E[r²] / (E[r] E[s]); the rest are the partial moments of a log-normal pair.
        ratio = jnp.exp(difference + (3 * sigma_r**2 - belief.sigma**2) / 2)
        response_z = (difference + 2 * sigma_r**2) / noise
        product_z = (difference + sigma_r**2 - belief.sigma**2) / noise
        overshoot = ratio * ndtr(response_z) - ndtr(product_z)
        undershoot = ratio * ndtr(-response_z) - ndtr(-product_z)
        return (1 - alpha) * overshoot + alpha * undershoot
