"""Actors of the log-normal family that see nothing but the belief.

The belief after a measurement has a median mu_post, which moves with the measurement, and an uncertainty sigma_post, which
does not. So a *strategy* is made once for a participant at one uncertainty level, and says for every median what to do. How
smooth it is, and so how likelihoods are integrated, follows from the cost.
"""

from abc import abstractmethod

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool

from designstudio.model.actors.base import AbstractActor, AbstractPolicy, is_in_box
from designstudio.model.costs.base import AbstractBentCost, AbstractCost
from designstudio.model.family import LOG_NORMAL, Family
from designstudio.model.likelihood.density import CORNERED, LINEAR, SMOOTH, QuadratureRule
from designstudio.model.perception.base import Participant, Scalar
from designstudio.model.perception.lognormal import Belief, LogNormalPerception
from designstudio.model.response.lognormal import LogNormalResponse

PERCEPTION, RESPONSE = LogNormalPerception(), LogNormalResponse()


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

    def __call__(self, measurement: Scalar) -> Scalar:
        return self.strategy(self.weight * measurement + (1 - self.weight) * self.log_mu_0)


class AbstractBeliefActor(AbstractActor):
    """An actor that sees only the belief: mu_post and sigma_post stand for measurement, prior and perceptual noise."""

    @abstractmethod
    def strategy(self, sigma_post: Scalar, sigma_r: Scalar, cost_parameters: Participant) -> AbstractStrategy:
        """What to do at this uncertainty, for every median of the belief."""

    @property
    def family(self) -> Family:
        return LOG_NORMAL

    @property
    def rule(self) -> QuadratureRule:
        return choose_rule(self.cost)

    @property
    def fast_rule(self) -> QuadratureRule:
        return choose_fast_rule(self.cost)

    def policy(self, participant: Participant) -> BeliefPolicy:
        strategy = self.follow(participant)
        return BeliefPolicy(PERCEPTION.log_prior_median(participant), PERCEPTION.measurement_weight(participant), strategy)

    def follow(self, participant: Participant) -> AbstractStrategy:
        """What this participant does, for every median of the belief."""
        sigma_post, sigma_r = PERCEPTION.belief_sigma(participant), RESPONSE.noise_scale(participant)
        return self.strategy(sigma_post, sigma_r, self.cost_parameters(participant))

    def cost_parameters(self, participant: Participant) -> Participant:
        """The part of the participant that belongs to the cost."""
        return {parameter.name: participant[parameter.name] for parameter in self.cost.parameters}

    def is_inside(self, participant: Participant, measurement: Scalar) -> Bool[Array, ""]:
        belief = PERCEPTION.believe(measurement, participant)
        return self.contains(belief, RESPONSE.noise_scale(participant), self.cost_parameters(participant))

    def contains(self, belief: Belief, sigma_r: Scalar, cost_parameters: Participant) -> Bool[Array, ""]:
        """Whether the belief, the motor noise and the cost parameters lie in the box."""
        seen = {
            "mu_post": jnp.exp(belief.log_mu),
            "sigma_post": belief.sigma,
            "sigma_r": sigma_r,
            **cost_parameters,
        }
        return is_in_box(seen, self.box)


def choose_rule(cost: AbstractCost) -> QuadratureRule:
    """The fastest rule that is accurate for every participant under this cost."""
    if cost.num_terms == 1:
        return LINEAR
    return SMOOTH if cost.has_smooth_policy else CORNERED


def choose_fast_rule(cost: AbstractCost) -> QuadratureRule:
    """The rule with which posteriors are explored; where it is not that of `choose_rule`, results are corrected."""
    return SMOOTH if isinstance(cost, AbstractBentCost) else choose_rule(cost)
