"""What a response is, and how to write another.

A response says what becomes of an action: movement is noisy, too. It owns the parameters of that noise and the scale y on
which the noise is Gaussian; policies give actions on this scale, and likelihoods are densities on it.

To write another, write a file with a frozen dataclass. For noise that adds to the action itself:

    @dataclass(frozen=True)
    class AdditiveResponse(AbstractResponse):
        name = "additive"
        parameters = (MOTOR_NOISE,)

        def encode(self, responses):
            return responses

        def decode(self, responses):
            return responses

        def noise_scale(self, participant):
            return participant["motor_noise"]

Conventions as in `designstudio.model.perception.base`.
"""

from abc import ABC, abstractmethod

import numpy as np
from jaxtyping import Float

from designstudio.model.parameters import Parameter
from designstudio.model.perception.base import Participant, Scalar


class AbstractResponse(ABC):
    """From action to response. Frozen and hashable: compiled functions treat it as a constant."""

    name: str
    parameters: tuple[Parameter, ...]

    @abstractmethod
    def encode(self, responses: Float[np.ndarray, "..."]) -> Float[np.ndarray, "..."]:
        """Responses on the scale on which their noise is Gaussian, on the host."""

    @abstractmethod
    def decode(self, responses: Float[np.ndarray, "..."]) -> Float[np.ndarray, "..."]:
        """Back to the unit of the stimuli: the inverse of `encode`."""

    @abstractmethod
    def noise_scale(self, participant: Participant) -> Scalar:
        """Standard deviation of the response around the action, on its scale."""

    def respond(self, action: Scalar, participant: Participant, noise: Scalar) -> Scalar:
        """The response to an action, on its scale, for a standard normal number."""
        return action + self.noise_scale(participant) * noise
