"""Stimuli anywhere in a range."""

from typing import TYPE_CHECKING, ClassVar

import numpy as np
from jaxtyping import Float

from designstudio.study.stimuli.base import AbstractDistribution

if TYPE_CHECKING:
    from designstudio.study.stimuli.stimuli import Stimuli

UNIFORM = "uniform"


class Uniform(AbstractDistribution):
    """Evenly from `low` to `high`."""

    name: ClassVar[str] = UNIFORM

    def place(self, stimuli: "Stimuli", uniform: Float[np.ndarray, "*set trial"]) -> Float[np.ndarray, "*set trial"]:
        low, high = stimuli.support
        return low + (high - low) * uniform
