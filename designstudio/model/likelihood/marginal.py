"""The usual likelihood: perceptual noise integrated out, motor noise around the action, and nothing else."""

import dataclasses

from designstudio.model.likelihood.base import AbstractLikelihood
from designstudio.model.likelihood.density import Policy, QuadratureRule, response_log_density
from designstudio.model.perception.base import Participant, Scalar


@dataclasses.dataclass(frozen=True)
class MarginalLikelihood(AbstractLikelihood):
    """Responses scatter around the action, actions around the participant's mean one."""

    name = "marginal"
    is_gaussian = True

    def log_density(
        self, act: Policy, response: Scalar, participant: Participant, scale: Scalar, *, rule: QuadratureRule
    ) -> Scalar:
        return response_log_density(act, response, scale, rule=rule)
