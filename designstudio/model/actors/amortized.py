"""The amortized actor: a small network that has learnt the optimal action.

The network sees how uncertain the decision is (belief and motor noise, and what of the cost `shape_inputs` keeps) and gives
the *coefficients* of a polynomial along the cost's `position`. So one forward pass serves a participant at one uncertainty
level, and each trial costs a polynomial. The polynomial corrects the cost's anchor in units of the total noise t:

    log a = log_anchor + t * sum_k c_k(t, motor share, shape) T_k(position)
"""

import math
from collections.abc import Mapping

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Key

from designstudio.model.actors.base import Box
from designstudio.model.actors.belief import AbstractBeliefActor, AbstractStrategy
from designstudio.model.costs.base import MU_POST_BOX, AbstractCost
from designstudio.model.perception.base import Participant, Scalar
from designstudio.model.perception.lognormal import MU_0, SIGMA, SIGMA_0, Belief
from designstudio.model.priors import Interval
from designstudio.model.response.lognormal import SIGMA_R


class AmortizedActor(AbstractBeliefActor):
    """Network from uncertainty to polynomial coefficients."""

    cost: AbstractCost = eqx.field(static=True)
    box: Box = eqx.field(static=True)
    network: eqx.nn.MLP

    def __init__(self, cost: AbstractCost, *, width: int, depth: int, box: Box | None = None, key: Key[Array, ""]) -> None:
        self.cost = cost
        self.box = belief_box(cost) if box is None else box
        neutral = {parameter.name: jnp.asarray(parameter.box.low) for parameter in cost.parameters}
        num_inputs = 3 + cost.shape_inputs(neutral).size
        network = eqx.nn.MLP(num_inputs, cost.num_terms, width, depth, jax.nn.swish, key=key)
        # Start near the anchor: the first Newton steps then begin where the expected cost is well behaved.
        last = network.layers[-1]
        self.network = eqx.tree_at(
            lambda mlp: (mlp.layers[-1].weight, mlp.layers[-1].bias),
            network,
            (last.weight * 0.3, jnp.zeros(cost.num_terms)),
        )

    @property
    def parameter_boxes(self) -> Mapping[str, Interval]:
        boxes = dict(self.box)
        mu_post, sigma_post = boxes.pop("mu_post"), boxes.pop("sigma_post")
        # The uncertainty of a belief is that of prior and perception over the root of two, if these are the same.
        noise = Interval(*(round(end * math.sqrt(2), 12) for end in (sigma_post.low, sigma_post.high)))
        return {"mu_0": MU_0.box.intersect(mu_post), "sigma_0": noise, "sigma": noise, **boxes}

    def strategy(self, sigma_post: Scalar, sigma_r: Scalar, cost_parameters: Participant) -> "PolynomialStrategy":
        coefficients = self.network(self._inputs(sigma_post, sigma_r, cost_parameters))
        medians = dict(self.box)["mu_post"]
        return PolynomialStrategy(self.cost, medians, coefficients, sigma_post, sigma_r, dict(cost_parameters))

    def _inputs(self, sigma_post: Scalar, sigma_r: Scalar, cost_parameters: Participant) -> Float[Array, " input"]:
        noise = jnp.hypot(sigma_post, sigma_r)
        box = dict(self.box)
        largest = math.hypot(box["sigma_post"].high, box["sigma_r"].high)
        smallest = math.hypot(box["sigma_post"].low, box["sigma_r"].low)
        # Amount and direction of the noise. The amount enters twice: smooth costs vary with t, cornered ones with log t.
        amount = 2 * noise / largest - 1
        log_amount = 2 * jnp.log(noise / smallest) / math.log(largest / smallest) - 1
        direction = 4 / jnp.pi * jnp.arctan2(sigma_r, sigma_post) - 1
        shape = self.cost.shape_inputs(cost_parameters)
        return jnp.concatenate([jnp.stack([amount, log_amount, direction]), shape])


class PolynomialStrategy(AbstractStrategy):
    """The anchor plus a polynomial correction."""

    cost: AbstractCost = eqx.field(static=True)
    medians: Interval = eqx.field(static=True)
    coefficients: Float[Array, " term"]
    sigma_post: Scalar
    sigma_r: Scalar
    cost_parameters: dict[str, Scalar]

    def __call__(self, log_mu: Scalar) -> Scalar:
        belief = Belief(log_mu, self.sigma_post)
        anchor = self.cost.log_anchor(belief, self.sigma_r, self.cost_parameters)
        if self.cost.num_terms == 1:
            correction = self.coefficients[0]
        else:
            correction = evaluate_chebyshev(self.coefficients, self.position(belief))
        return anchor + jnp.hypot(self.sigma_post, self.sigma_r) * correction

    def position(self, belief: Belief) -> Scalar:
        """Where the polynomial is evaluated, from -1 to 1: as the cost says, or along the logarithm of the median."""
        position = self.cost.position(belief, self.sigma_r, self.cost_parameters)
        if position is None:
            low, high = math.log(self.medians.low), math.log(self.medians.high)
            position = (2 * belief.log_mu - low - high) / (high - low)
        return position


def evaluate_chebyshev(coefficients: Float[Array, " term"], x: Scalar) -> Scalar:
    """Sum of Chebyshev polynomials by Clenshaw's recurrence."""
    following, current = jnp.zeros_like(x), jnp.zeros_like(x)
    for k in range(coefficients.shape[0] - 1, 0, -1):
        following, current = current, coefficients[k] + 2 * x * current - following
    return coefficients[0] + x * current - following


def belief_box(cost: AbstractCost) -> Box:
    """Where an actor that sees beliefs is trained: the parameters' boxes, in terms of the belief."""
    sigma_post = Interval(
        1 / math.hypot(1 / SIGMA.box.low, 1 / SIGMA_0.box.low),
        1 / math.hypot(1 / SIGMA.box.high, 1 / SIGMA_0.box.high),
    )
    return (
        ("mu_post", MU_POST_BOX),
        ("sigma_post", sigma_post),
        ("sigma_r", SIGMA_R.box),
        *((parameter.name, parameter.box) for parameter in cost.parameters),
    )
