"""Exact actors: the optimal action from the decision problem itself.

Closed forms where they exist, otherwise the root of the expected cost's slope. A cost whose slope may have several roots
is first scanned for its lowest expected cost. Exact actors work everywhere, so their box is empty: it excludes nothing.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from designstudio.model.actors.base import Box
from designstudio.model.actors.belief import AbstractBeliefActor, AbstractStrategy
from designstudio.model.actors.root import find_root
from designstudio.model.costs import quadrature
from designstudio.model.costs.base import SEARCH_REACH, AbstractClosedFormCost, AbstractCost, total_noise
from designstudio.model.perception import Belief
from designstudio.model.perception.base import Participant, Scalar

# For costs that are scanned: offsets from the anchor in units of the noise, dense near it, out to a factor of 100.
SCAN_REACH = 4.6
NUM_SCANNED = 61


class ExactActor(AbstractBeliefActor):
    """Solves the decision problem for every belief it is asked about."""

    cost: AbstractCost = eqx.field(static=True)
    box: Box = eqx.field(static=True, default=())

    def strategy(self, sigma_post: Scalar, sigma_r: Scalar, cost_parameters: Participant) -> "ExactStrategy":
        return ExactStrategy(self.cost, sigma_post, sigma_r, dict(cost_parameters))


class ExactStrategy(AbstractStrategy):
    """The optimal action for every belief at one uncertainty."""

    cost: AbstractCost = eqx.field(static=True)
    sigma_post: Scalar
    sigma_r: Scalar
    cost_parameters: dict[str, Scalar]

    def __call__(self, log_mu: Scalar) -> Scalar:
        belief = Belief(log_mu, self.sigma_post)
        if isinstance(self.cost, AbstractClosedFormCost):
            return log_mu + self.cost.log_ratio(belief, self.sigma_r, self.cost_parameters)
        return solve(self.cost, belief, self.sigma_r, self.cost_parameters)


def solve(cost: AbstractCost, belief: Belief, sigma_r: Scalar, cost_parameters: Participant) -> Scalar:
    """Logarithm of the optimal action, as the root of the expected cost's slope."""
    arguments = (belief, sigma_r, dict(cost_parameters))
    anchor = cost.log_anchor(*arguments)
    if cost.has_single_root:
        noise = total_noise(belief, sigma_r)
        reach = SEARCH_REACH * noise * (1 + noise)
        low, high, guess = anchor - reach, anchor + reach, anchor
    else:
        low, high, guess = _scan(cost, jax.lax.stop_gradient(anchor), jax.lax.stop_gradient(arguments))
    return find_root(lambda log_action, args: cost.slope(log_action, *args), arguments, low, high, guess)


def _scan(
    cost: AbstractCost, anchor: Scalar, arguments: tuple[Belief, Scalar, dict[str, Scalar]]
) -> tuple[Scalar, Scalar, Scalar]:
    """The neighbours of the scanned action with the lowest expected cost, and that action."""
    belief, sigma_r, _ = arguments
    noise = total_noise(belief, sigma_r)
    spread = jnp.arcsinh(SCAN_REACH / noise)
    offsets = noise * jnp.sinh(spread * np.linspace(-1, 1, NUM_SCANNED))
    expected = jax.vmap(lambda offset: quadrature.coarse_expected_cost(cost, anchor + offset, *arguments))(offsets)
    best = jnp.clip(jnp.argmin(expected), 1, NUM_SCANNED - 2)
    return anchor + offsets[best - 1], anchor + offsets[best + 1], anchor + offsets[best]
