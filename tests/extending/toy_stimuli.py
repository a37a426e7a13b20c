"""A distribution of stimuli from outside of the package: few in the middle, many at the ends."""

from typing import ClassVar

import numpy as np

from designstudio.study.stimuli import AbstractDistribution, register_distribution


@register_distribution
class Ends(AbstractDistribution):
    """Rare in the middle of the range, frequent at its ends."""

    name: ClassVar[str] = "ends"

    def place(self, stimuli, uniform):
        low, high = stimuli.support
        return low + (high - low) * np.sin(np.pi / 2 * uniform) ** 2
