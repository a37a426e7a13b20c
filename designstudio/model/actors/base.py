"""What an actor is: from a participant to a policy, from a measurement to an action.

A *participant* maps parameter names to values: mu_0, sigma_0, sigma, sigma_r and the cost's own. A *policy* is what one
participant does at one uncertainty level: a function from the logarithm of the measurement to the logarithm of the
action. Making the policy may be costly (a network's forward pass), calling it is cheap, so a fit makes one policy per
participant and level and calls it for every trial.

Every actor has a *box*, the range in which its actions can be trusted; `is_inside` says for each action whether it is.
"""

from abc import abstractmethod
from collections.abc import Mapping

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from designstudio.model.costs.base import AbstractCost
from designstudio.model.perception import Belief, form_belief, measurement_weight, posterior_sigma
from designstudio.model.priors import Interval

Scalar = Float[Array, ""]
Participant = Mapping[str, Scalar]
Box = tuple[tuple[str, Interval], ...]


class AbstractPolicy(eqx.Module):
    """What one participant does with a measurement."""

    @abstractmethod
    def __call__(self, log_measurement: Scalar) -> Scalar:
        """Logarithm of the action."""


class AbstractActor(eqx.Module):
    """Something that acts optimally, exactly or nearly, under a cost."""

    cost: eqx.AbstractVar[AbstractCost]
    box: eqx.AbstractVar[Box]

    @abstractmethod
    def policy(self, participant: Participant) -> AbstractPolicy:
        """The participant's policy."""

    @abstractmethod
    def is_inside(self, participant: Participant, log_measurement: Scalar) -> Bool[Array, ""]:
        """Whether the actor can be trusted for this participant and measurement."""


class AbstractStrategy(eqx.Module):
    """A policy in terms of the belief: from log mu_post to log action, at one sigma_post."""

    @abstractmethod
    def __call__(self, log_mu: Scalar) -> Scalar:
        """Logarithm of the action for a belief with median exp(log_mu)."""


class BeliefPolicy(AbstractPolicy):
    """Form the belief, then follow the strategy."""

    log_mu_0: Scalar
    weight: Scalar
    strategy: AbstractStrategy

    def __call__(self, log_measurement: Scalar) -> Scalar:
        return self.strategy(self.weight * log_measurement + (1 - self.weight) * self.log_mu_0)


class AbstractBeliefActor(AbstractActor):
    """An actor that sees only the belief: mu_post and sigma_post stand for measurement, prior and perceptual noise."""

    @abstractmethod
    def strategy(self, sigma_post: Scalar, sigma_r: Scalar, cost_parameters: Participant) -> AbstractStrategy:
        """What to do at this uncertainty, for every median of the belief."""

    def policy(self, participant: Participant) -> BeliefPolicy:
        sigma_0, sigma = participant["sigma_0"], participant["sigma"]
        strategy = self.strategy(posterior_sigma(sigma_0, sigma), participant["sigma_r"], self.cost_parameters(participant))
        return BeliefPolicy(jnp.log(participant["mu_0"]), measurement_weight(sigma_0, sigma), strategy)

    def cost_parameters(self, participant: Participant) -> Participant:
        """The part of the participant that belongs to the cost."""
        return {parameter.name: participant[parameter.name] for parameter in self.cost.parameters}

    def is_inside(self, participant: Participant, log_measurement: Scalar) -> Bool[Array, ""]:
        belief = form_belief(log_measurement, participant["mu_0"], participant["sigma_0"], participant["sigma"])
        return self.contains(belief, participant["sigma_r"], self.cost_parameters(participant))

    def contains(self, belief: Belief, sigma_r: Scalar, cost_parameters: Participant) -> Bool[Array, ""]:
        """Whether the belief, the motor noise and the cost parameters lie in the box."""
        seen = {
            "mu_post": jnp.exp(belief.log_mu),
            "sigma_post": belief.sigma,
            "sigma_r": sigma_r,
            **cost_parameters,
        }
        return is_in_box(seen, self.box)


def is_in_box(values: Participant, box: Box) -> Bool[Array, ""]:
    """Whether all values lie in the box, with room for rounding at its faces."""
    is_in = jnp.ones((), bool)
    for name, interval in box:
        room = 1e-5 * max(abs(interval.low), abs(interval.high))
        is_in &= (values[name] >= interval.low - room) & (values[name] <= interval.high + room)
    return is_in
