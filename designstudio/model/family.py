"""Families of models: a perception, a response and a likelihood that belong together.

A family is everything about a participant but the cost: how stimuli become beliefs, what becomes of actions, and what else
may happen. To make another, write its parts (`designstudio.model.perception.base`, `designstudio.model.response.base`,
`designstudio.model.likelihood.base`), put them together in a `Family`, and write an actor of that family
(`designstudio.model.actors.base`). Whoever wants a parameter asks the family, or a model, for its role.
"""

import dataclasses

from designstudio.errors import StudioError
from designstudio.model.likelihood.base import AbstractLikelihood, MarginalLikelihood
from designstudio.model.parameters import Parameter, Role
from designstudio.model.perception.base import AbstractPerception
from designstudio.model.perception.lognormal import LogNormalPerception
from designstudio.model.response.base import AbstractResponse
from designstudio.model.response.lognormal import LogNormalResponse

MARGINAL = MarginalLikelihood()


@dataclasses.dataclass(frozen=True)
class Family:
    """What participants of all costs have in common.

    Attributes:
        name: how messages call it.
        perception: from stimulus to belief.
        response: from action to response.
        likelihood: the density of responses.
        description: in sentences that a report can print, symbols included. units: what these symbols are measured in.
        coordinates: in which posteriors are sampled, by name; the default serves any family. See
            `designstudio.inference.coordinates`.
    """

    name: str
    perception: AbstractPerception
    response: AbstractResponse
    likelihood: AbstractLikelihood = MARGINAL
    description: str = ""
    units: str = ""
    coordinates: str = "unconstrained"

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """All parameters but the cost's."""
        return (*self.perception.parameters, *self.response.parameters, *self.likelihood.parameters)

    def find(self, role: Role) -> Parameter | None:
        """The first parameter with this role, if there is one."""
        return next((parameter for parameter in self.parameters if parameter.role == role), None)

    def parameter(self, role: Role) -> Parameter:
        """The first parameter with this role.

        Raises:
            StudioError: if the family has none.
        """
        found = self.find(role)
        if found is not None:
            return found
        raise StudioError(f"The {self.name} family has no parameter for the {role}: choose a family that has one.")

    @property
    def prior_location(self) -> Parameter:
        """Where the participant expects stimuli."""
        return self.parameter(Role.PRIOR_LOCATION)

    @property
    def perceptual_noise(self) -> Parameter:
        """How uncertain a stimulus is: what levels of uncertainty differ in."""
        return self.parameter(Role.PERCEPTUAL_NOISE)

    @property
    def motor_noise(self) -> Parameter:
        """How variable responses are."""
        return self.parameter(Role.MOTOR_NOISE)


LOG_NORMAL = Family(
    "log-normal",
    LogNormalPerception(),
    LogNormalResponse(),
    description="A stimulus s gives a measurement m ~ LogNormal(log s, σ). Together with the prior belief "
    "LogNormal(log μ₀, σ₀) it makes the belief about s. The action a minimises the expected cost under this belief and the "
    "motor noise, and the response is r ~ LogNormal(log a, σᵣ).",
    units="μ₀ shares the unit of the stimuli; every σ is in log units, about a Weber fraction.",
    coordinates="observable",
)
# The family of studies and data that name none.
DEFAULT_FAMILY = LOG_NORMAL
