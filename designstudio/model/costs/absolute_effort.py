"""Absolute cost with quadratic effort: accuracy is worth it up to a ceiling, then effort wins.

Without noise the best action is min(s, beta / (2 (1 - beta))): below that ceiling one goes all the way, above it an extra
unit of effort costs more than the unit of error it saves. With total noise t the corner is rounded over a width of t, and
everything depends on t and on

    w = 2 mu_post (1 - beta) / beta * exp(sigma_r² / 2),

the belief's median relative to the ceiling: z = (log a - log mu_post + sigma_r²) / t solves 1 - 2 P(z) = w exp(t z).
"""

import dataclasses
import math

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from designstudio.model.costs.absolute import Absolute
from designstudio.model.costs.base import WITH_EFFORT, AbstractBentCost, Scalar, Values, total_noise
from designstudio.model.costs.effort import BETA, add_effort, add_effort_slope
from designstudio.model.parameters import STIMULUS_UNIT
from designstudio.model.perception import Belief


@dataclasses.dataclass(frozen=True)
class AbsoluteEffort(AbstractBentCost):
    """beta |r - s| + (1 - beta) r². Optimal: the root of a closed-form slope."""

    name = "absolute_effort"
    formula = "β|r - s| + (1 - β)r²"
    meaning = "error against effort"
    kind = WITH_EFFORT
    # A length weighed against a square: the odds of beta are twice the ceiling, a length.
    parameters = (dataclasses.replace(BETA, odds_unit=STIMULUS_UNIT),)
    num_terms = 18
    has_single_root = True
    base = Absolute()

    def __call__(self, response: Scalar, stimulus: Scalar, parameters: Values) -> Scalar:
        return add_effort(self.base, response, stimulus, parameters)

    def slope(self, log_action: Scalar, belief: Belief, sigma_r: Scalar, parameters: Values) -> Scalar:
        return add_effort_slope(self.base, log_action, belief, sigma_r, parameters)

    def log_anchor(self, belief: Belief, sigma_r: Scalar, parameters: Values) -> Scalar:
        """The noise-free action with its corner rounded over half the noise."""
        width = total_noise(belief, sigma_r) / 2
        excess = self._log_relative_median(belief, sigma_r, parameters) / width
        # log(1 + w^(1/width)), plainly: its absolute error is all that matters, and likelihoods call it very often.
        rounding = jnp.where(excess > 30, excess, jnp.log(1 + jnp.exp(jnp.minimum(excess, 30.0))))
        return belief.log_mu - sigma_r**2 - width * rounding

    def position(self, belief: Belief, sigma_r: Scalar, parameters: Values) -> Scalar:
        """Where the belief's median lies relative to the ceiling, resolving the corner at the scale of the noise."""
        scale = 2 * total_noise(belief, sigma_r)
        lowest = _sigmoid(-1 / scale)
        position = _sigmoid((jnp.exp(self._log_relative_median(belief, sigma_r, parameters)) - 1) / scale)
        return (2 * position - lowest - 1) / (1 - lowest)

    def shape_inputs(self, parameters: Values) -> Float[Array, " input"]:
        # The median relative to the ceiling says all.
        return jnp.zeros(0)

    def log_unit(self, parameters: Values) -> Scalar:
        """The ceiling."""
        beta = parameters["beta"]
        return jnp.log(beta) - jnp.log(2 * (1 - beta))

    def parameters_at(self, log_unit: Scalar) -> dict[str, Scalar]:
        return {"beta": jax.nn.sigmoid(log_unit + math.log(2))}

    def _log_relative_median(self, belief: Belief, sigma_r: Scalar, parameters: Values) -> Scalar:
        beta = parameters["beta"]
        # At beta = 1 there is no ceiling, and log w is as low as numbers go.
        return jnp.log(jnp.maximum(2 * (1 - beta) / beta, 1e-30)) + belief.log_mu + sigma_r**2 / 2


def _sigmoid(x: Scalar) -> Scalar:
    """From -1 to 1, algebraic: equals tanh(asinh(x) / 2)."""
    return x / (1 + jnp.sqrt(1 + x**2))
