"""What a perception is, and how to write another.

A perception says how a stimulus becomes a belief. Three things belong together in it, with all their parameters:

- the *measurement*: the stimulus on an internal scale x = phi(s), disturbed by noise;
- the participant's *prior family*: what they expect of stimuli before they measure;
- the *belief*: what both lead to by Bayes' rule, in the form that an actor takes.

To write another, write a file with a frozen dataclass. In a world where noise adds to the stimulus itself:

    @dataclass(frozen=True)
    class AdditivePerception(AbstractPerception):
        name = "additive"
        parameters = (MEAN, SPREAD, NOISE)  # each a Parameter with its role: prior location, prior spread, perceptual noise

        def encode(self, stimuli):
            return stimuli

        def noise_scale(self, participant):
            return participant["noise"]

        def believe(self, measurement, participant):
            weight = participant["spread"] ** 2 / (participant["spread"] ** 2 + participant["noise"] ** 2)
            return weight * measurement + (1 - weight) * participant["mean"]

Then write an actor that does something with such beliefs (`designstudio.model.actors.base`) and names the family
(`designstudio.model.family`). That is all: it simulates, and it is fitted in coordinates that need to know nothing but the
ends of each prior (`designstudio.inference.coordinates.unconstrained`).

Where noise is not Gaussian on any scale, override `measure`: any function of the stimulus and a standard normal number will
do. Where no formula gives the belief, let `believe` return it on a grid, and let the actor read it from there.

Conventions: all methods but `encode` take one measurement (scalars) and run inside compiled code; vmap them. `participant`
maps the names of all parameters of the model to values.
"""

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np
from jaxtyping import Array, Float

from designstudio.model.parameters import Parameter

Scalar = Float[Array, ""]
Participant = Mapping[str, Scalar]


@dataclasses.dataclass(frozen=True)
class TradeOff:
    """A combination of parameters that data determine better than the parameters themselves.

    Attributes:
        name: how tables call it. symbol: how figures do.
        compute: its values, from arrays of all parameters by name.
    """

    name: str
    symbol: str
    compute: Callable[[Mapping[str, Any]], Any]


class AbstractPerception(ABC):
    """From stimulus to belief. Frozen and hashable: compiled functions treat it as a constant."""

    name: str
    parameters: tuple[Parameter, ...]

    @abstractmethod
    def encode(self, stimuli: Float[np.ndarray, "..."]) -> Float[np.ndarray, "..."]:
        """Stimuli on the internal scale, on the host."""

    @abstractmethod
    def noise_scale(self, participant: Participant) -> Scalar:
        """Standard deviation of the measurement on the internal scale."""

    @abstractmethod
    def believe(self, measurement: Scalar, participant: Participant) -> Any:
        """What the participant believes after a measurement, in the form that the family's actors take."""

    def measure(self, stimulus: Scalar, participant: Participant, noise: Scalar) -> Scalar:
        """The measurement of an encoded stimulus, for a standard normal number; by default the noise is added."""
        return stimulus + self.noise_scale(participant) * noise

    def list_trade_offs(self, free: Collection[str], cost: Sequence[Parameter]) -> tuple[TradeOff, ...]:
        """Combinations whose calibration is checked beside that of the parameters; by default none is known.

        Args:
            free: names of the parameters that are estimated.
            cost: the cost's own parameters.
        """
        return ()
