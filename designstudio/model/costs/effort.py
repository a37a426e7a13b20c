"""The effort that a response costs by itself, whatever the target: shared by the two costs with effort.

cost = beta * base + (1 - beta) * r². At beta = 1 effort costs nothing.
"""

import jax.numpy as jnp

from designstudio.model.costs.base import AbstractCost, Scalar, Values
from designstudio.model.parameters import cost_parameter
from designstudio.model.perception import Belief
from designstudio.model.priors import Interval, Uniform

BETA = cost_parameter(
    "beta",
    Uniform(0.5, 1.0),
    symbol="β",
    meaning="weight of accuracy against effort",
    support=Interval(0.0, 1.0),
    neutral=1.0,
)


def add_effort(base: AbstractCost, response: Scalar, stimulus: Scalar, parameters: Values) -> Scalar:
    """The base cost weighed against quadratic effort."""
    beta = parameters["beta"]
    return beta * base(response, stimulus, parameters) + (1 - beta) * response**2


def add_effort_slope(base: AbstractCost, log_action: Scalar, belief: Belief, sigma_r: Scalar, parameters: Values) -> Scalar:
    """Derivative of the expected cost, divided by E[r]; the base's slope must be divided by E[r] too."""
    beta = parameters["beta"]
    effort_slope = 2 * jnp.exp(log_action + 1.5 * sigma_r**2)
    return beta * base.slope(log_action, belief, sigma_r, parameters) + (1 - beta) * effort_slope
