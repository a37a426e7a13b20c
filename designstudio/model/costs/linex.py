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

import jax
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
    num_terms = 14
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
        # Exponents are taken relative to the largest one, which keeps them below zero.
        largest = jnp.exp(log_action + sigma_r * TRUNCATION)
        response = jnp.exp(log_action + sigma_r * nodes)
        response_weights = weights * response / jnp.sum(weights * response)
        smallest = jnp.exp(belief.log_mu - belief.sigma * TRUNCATION)
        stimulus = jnp.exp(belief.log_mu - belief.sigma * nodes)
        log_gain = _log_mean_exp(alpha * (response - largest), response_weights)
        log_loss = _log_mean_exp(-alpha * (stimulus - smallest), weights)
        return alpha * (largest - smallest) + log_gain + log_loss

    def position(self, belief: Belief, sigma_r: Scalar, parameters: Values) -> Scalar:
        """The root of the noise in units of the cost's own length, 1 / alpha.

        The root, because with much noise the change from one regime to the other takes several powers of ten.
        """
        noise = jnp.exp(belief.log_mu / 2) * jnp.sqrt(total_noise(belief, sigma_r))
        return saturate(jnp.sqrt(parameters["alpha"]) * noise, middle=2.2)

    def shape_inputs(self, parameters: Values) -> Float[Array, " input"]:
        # Only alpha times the stimulus matters, and that is the position.
        return jnp.zeros(0)


def _log_mean_exp(exponents: Float[Array, " node"], weights: Float[Array, " node"]) -> Scalar:
    """log E exp(x) for exponents of zero and less, whether all of them are tiny or most of them huge."""
    # expm1 and log1p keep the small differences that decide the root when alpha is small ...
    mean = jnp.sum(weights * jnp.expm1(exponents))
    is_small = mean > -0.5
    # ... and where hardly anything is left, only the logarithms of the exponentials do not round to zero.
    logarithm = jax.nn.logsumexp(exponents + jnp.log(weights))
    return jnp.where(is_small, jnp.log1p(jnp.where(is_small, mean, 0.0)), logarithm)


@functools.cache
def _truncated_normal_nodes(num_nodes: int) -> tuple[np.ndarray, np.ndarray]:
    """Nodes and probabilities of a standard normal truncated to +-TRUNCATION, gathered at its upper end.

    There the exponentials live when alpha is large; for the lower end, change the nodes' sign.
    """
    legendre, weights = np.polynomial.legendre.leggauss(num_nodes)
    distance = (legendre + 1) / 2
    nodes = TRUNCATION * (1 - 2 * distance**2)
    weights = weights * distance * np.exp(-(nodes**2) / 2)
    return nodes, weights / weights.sum()
