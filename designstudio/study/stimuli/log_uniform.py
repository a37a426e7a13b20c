"""Stimuli anywhere in a range, small ones as often as large ones by factors."""

import math
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from jaxtyping import Float

from designstudio.study.stimuli.base import AbstractDistribution

if TYPE_CHECKING:
    from designstudio.study.stimuli.stimuli import Stimuli

LOG_UNIFORM = "log-uniform"


class LogUniform(AbstractDistribution):
    """Evenly in logarithms from `low` to `high`."""

    name: ClassVar[str] = LOG_UNIFORM

    def place(self, stimuli: "Stimuli", uniform: Float[np.ndarray, "*set trial"]) -> Float[np.ndarray, "*set trial"]:
        low, high = stimuli.support
        return np.exp(math.log(low) + math.log(high / low) * uniform)
