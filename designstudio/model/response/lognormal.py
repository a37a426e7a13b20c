"""The log-normal response: r ~ LogNormal(log a, sigma_r), so responses are positive and vary in proportion to the action."""

import dataclasses

import numpy as np
from jaxtyping import Float

from designstudio.model.parameters import Role, noise_parameter
from designstudio.model.perception.base import Participant, Scalar
from designstudio.model.response.base import AbstractResponse

SIGMA_R = noise_parameter("sigma_r", "σᵣ", "motor variability", "variability of responses (motor noise)", Role.MOTOR_NOISE)


@dataclasses.dataclass(frozen=True)
class LogNormalResponse(AbstractResponse):
    """Gaussian noise on the logarithm of the action."""

    name = "log-normal"
    parameters = (SIGMA_R,)

    def encode(self, responses: Float[np.ndarray, "..."]) -> Float[np.ndarray, "..."]:
        return np.log(responses)

    def decode(self, responses: Float[np.ndarray, "..."]) -> Float[np.ndarray, "..."]:
        return np.exp(responses)

    def noise_scale(self, participant: Participant) -> Scalar:
        return participant["sigma_r"]
