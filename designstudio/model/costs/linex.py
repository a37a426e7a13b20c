"""Linex cost: exponential on one side, linear on the other.

Under log-normal noise the expected cost is infinite, because E exp(alpha r) is. So for this cost, and for no other, the
actor takes its belief and its motor noise to be truncated to their central 99.8 % (within 3.09 standard deviations), and
then the optimum exists. It solves

    log E[r exp(alpha r)] + log E[exp(-alpha s)] = log E[r],

which is evaluated in logarithms throughout: in the prior's own range exp(alpha r) overflows 32-bit floats.
"""

import dataclasses
import functools
import math

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from designstudio.model.costs.base import ASYMMETRIC, AbstractCost, Scalar, Values, saturate, total_noise
from designstudio.model.parameters import PER_STIMULUS_UNIT, cost_parameter
from designstudio.model.perception import Belief
from designstudio.model.priors import Interval, LogNormal

TRUNCATION = 3.09
NUM_NODES = 64


@dataclasses.dataclass(frozen=True)
class Linex(AbstractCost):
    """(2 / alpha²) (exp(alpha (r - s)) - alpha (r - s) - 1), with noise truncated to its central 99.8 %."""

    name = "linex"
    formula = "2/α² (exp(α(r - s)) - α(r - s) - 1)"
    meaning = "one side grows exponentially, the other linearly"
    kind = ASYMMETRIC
    parameters = (
        cost_parameter(
            "alpha",
            LogNormal(0.5, 1.0),
            symbol="α",
            meaning="steepness of the exponential side",
            unit=PER_STIMULUS_UNIT,
            support=Interval(0.0, math.inf),
            box=Interval(0.05, 5.0),
            neutral=0.0,
        ),
    )
    num_terms = 12
    has_single_root = True
    has_smooth_policy = True
    note = "The actor's noise is truncated to its central 99.8 %: the expected linex cost is infinite otherwise."

    def __call__(self, response: Scalar, stimulus: Scalar, parameters: Values) -> Scalar:
        alpha = parameters["alpha"]
        scaled = alpha * (response - stimulus)
        return 2 / alpha**2 * (jnp.expm1(scaled) - scaled)

    def slope(self, log_action: Scalar, belief: Belief, sigma_r: Scalar, parameters: Values) -> Scalar:
        """log E[r exp(alpha (r - s))] - log E[r]: zero at the optimum, increasing in the action."""
        alpha = parameters["alpha"]
        nodes, weights = (jnp.asarray(x, jnp.result_type(log_action)) for x in _truncated_normal_nodes(NUM_NODES))
        # Exponents are taken relative to the largest one, which keeps them below zero; expm1 and log1p then keep the
        # small differences that decide the root when alpha is small.
        largest = jnp.exp(log_action + sigma_r * TRUNCATION)
        response = jnp.exp(log_action + sigma_r * nodes)
        response_weights = weights * response / jnp.sum(weights * response)
        smallest = jnp.exp(belief.log_mu - belief.sigma * TRUNCATION)
        stimulus = jnp.exp(belief.log_mu + belief.sigma * nodes)
        log_gain = jnp.log1p(jnp.sum(response_weights * jnp.expm1(alpha * (response - largest))))
        log_loss = jnp.log1p(jnp.sum(weights * jnp.expm1(-alpha * (stimulus - smallest))))
        return alpha * (largest - smallest) + log_gain + log_loss

    def position(self, belief: Belief, sigma_r: Scalar, parameters: Values) -> Scalar:
        """The noise in units of the cost's own length, 1 / alpha."""
        noise = jnp.exp(belief.log_mu) * total_noise(belief, sigma_r)
        return saturate(parameters["alpha"] * noise, middle=4.0)

    def shape_inputs(self, parameters: Values) -> Float[Array, " input"]:
        # Only alpha times the stimulus matters, and that is the position.
        return jnp.zeros(0)


@functools.cache
def _truncated_normal_nodes(num_nodes: int) -> tuple[np.ndarray, np.ndarray]:
    """Gauss-Legendre nodes and probabilities of a standard normal truncated to +-TRUNCATION."""
    legendre, weights = np.polynomial.legendre.leggauss(num_nodes)
    nodes = TRUNCATION * legendre
    weights = weights * np.exp(-(nodes**2) / 2)
    return nodes, weights / weights.sum()
