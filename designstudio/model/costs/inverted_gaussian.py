"""Inverted Gaussian cost: a miss is a miss; beyond a few gamma it no longer matters by how much."""

import dataclasses
import math

import jax.numpy as jnp
from jaxtyping import Array, Float

from designstudio.model.costs.base import SYMMETRIC, AbstractCost, Scalar, Values, saturate, total_noise
from designstudio.model.parameters import STIMULUS_UNIT, cost_parameter
from designstudio.model.perception import Belief
from designstudio.model.priors import Interval, LogNormal


@dataclasses.dataclass(frozen=True)
class InvertedGaussian(AbstractCost):
    """1 - exp(-(r - s)² / (2 gamma²)). Integrated numerically.

    Far from the optimum the expected cost is not convex, but it still falls towards it.
    """

    name = "inverted_gaussian"
    formula = "1 - exp(-(r - s)² / 2γ²)"
    meaning = "beyond about γ, a miss is a miss"
    kind = SYMMETRIC
    parameters = (
        cost_parameter(
            "gamma",
            LogNormal(2.5, 0.5),
            symbol="γ",
            meaning="tolerance: errors beyond it count alike",
            unit=STIMULUS_UNIT,
            support=Interval(0.0, math.inf),
            box=Interval(0.5, 12.0),
        ),
    )
    num_terms = 12
    has_single_root = True
    has_smooth_policy = True

    def __call__(self, response: Scalar, stimulus: Scalar, parameters: Values) -> Scalar:
        return -jnp.expm1(-(((response - stimulus) / parameters["gamma"]) ** 2) / 2)

    def position(self, belief: Belief, sigma_r: Scalar, parameters: Values) -> Scalar:
        """The noise in units of gamma: small is a quadratic cost, large is all or nothing."""
        noise = jnp.exp(belief.log_mu) * total_noise(belief, sigma_r)
        return saturate(noise / parameters["gamma"], middle=2.0)

    def shape_inputs(self, parameters: Values) -> Float[Array, " input"]:
        # Only the stimulus in units of gamma matters, and that is the position.
        return jnp.zeros(0)
