"""What a likelihood is, the usual one, and how to write another.

A likelihood is the density of one response given its stimulus. Perception, policy and response say how a participant acts;
what else may happen in a trial is up to the likelihood, with parameters of its own. To write another, write a file with a
frozen dataclass. One in which some responses are anywhere between two ends:

    @dataclass(frozen=True)
    class WithLapses(AbstractLikelihood):
        name = "with lapses"
        parameters = (LAPSE_RATE,)
        base: AbstractLikelihood
        low: float
        high: float

        def log_density(self, act, response, participant, scale, *, rule):
            usual = self.base.log_density(act, response, participant, scale, rule=rule)
            rate = participant["lapse_rate"]
            return jnp.logaddexp(jnp.log1p(-rate) + usual, jnp.log(rate) - jnp.log(self.high - self.low))

It is chosen with the family: `dataclasses.replace(LOG_NORMAL, likelihood=WithLapses(...))`.
"""

import dataclasses
from abc import ABC, abstractmethod

from designstudio.model.likelihood.density import Policy, QuadratureRule, response_log_density
from designstudio.model.parameters import Parameter
from designstudio.model.perception.base import Participant, Scalar


class AbstractLikelihood(ABC):
    """The density of responses. Frozen and hashable: compiled functions treat it as a constant."""

    name: str
    parameters: tuple[Parameter, ...] = ()
    # Whether responses are Gaussian around a linear policy: a regression then tells all that a condition's trials do.
    is_gaussian: bool = False

    @abstractmethod
    def log_density(
        self, act: Policy, response: Scalar, participant: Participant, scale: Scalar, *, rule: QuadratureRule
    ) -> Scalar:
        """Log density of one response, on the response's scale.

        Args:
            act: the action for a measurement whose noise is this standard normal number.
            response: what was done.
            participant: values of all parameters.
            scale: standard deviation of the response around the action.
            rule: how the measurement is integrated out.
        """


@dataclasses.dataclass(frozen=True)
class MarginalLikelihood(AbstractLikelihood):
    """The usual one: perceptual noise integrated out, motor noise around the action, and nothing else.

    Responses scatter around the action, actions around the participant's mean one.
    """

    name = "marginal"
    is_gaussian = True

    def log_density(
        self, act: Policy, response: Scalar, participant: Participant, scale: Scalar, *, rule: QuadratureRule
    ) -> Scalar:
        return response_log_density(act, response, scale, rule=rule)
