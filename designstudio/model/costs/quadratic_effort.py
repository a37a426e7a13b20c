"""Quadratic cost with quadratic effort: the paper's example of a cost that looks like a prior."""

import dataclasses

import jax.numpy as jnp
from jaxtyping import Array, Float

from designstudio.model.costs.base import WITH_EFFORT, AbstractClosedFormCost, Scalar, Values
from designstudio.model.costs.effort import BETA, add_effort, add_effort_slope
from designstudio.model.costs.quadratic import Quadratic
from designstudio.model.perception import Belief


@dataclasses.dataclass(frozen=True)
class QuadraticEffort(AbstractClosedFormCost):
    """beta (r - s)² + (1 - beta) r². Optimal: beta times the optimum of the quadratic cost."""

    name = "quadratic_effort"
    formula = "β(r - s)² + (1 - β)r²"
    meaning = "error against effort"
    kind = WITH_EFFORT
    parameters = (BETA,)
    num_terms = 1
    has_single_root = True
    base = Quadratic()

    def __call__(self, response: Scalar, stimulus: Scalar, parameters: Values) -> Scalar:
        return add_effort(self.base, response, stimulus, parameters)

    def slope(self, log_action: Scalar, belief: Belief, sigma_r: Scalar, parameters: Values) -> Scalar:
        return add_effort_slope(self.base, log_action, belief, sigma_r, parameters)

    def log_ratio(self, belief: Belief, sigma_r: Scalar, parameters: Values) -> Scalar:
        return self.base.log_ratio(belief, sigma_r, parameters) + jnp.log(parameters["beta"])

    def log_anchor(self, belief: Belief, sigma_r: Scalar, parameters: Values) -> Scalar:
        return belief.log_mu + jnp.log(parameters["beta"])

    def shape_inputs(self, parameters: Values) -> Float[Array, " input"]:
        # Beyond the anchor beta changes nothing.
        return jnp.zeros(0)
