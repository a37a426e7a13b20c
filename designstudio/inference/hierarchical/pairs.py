"""Two entries of each subject as their mean and their difference: the group model of a change within subjects.

A group of independent entries knows nothing of what a subject's values before and after have in common, and takes people who
differ for uncertainty about the change. With mean and difference in their place, the spread of the difference is that of
changes alone. The turn keeps volumes, so weights of particles stay what they are.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from designstudio.inference.hierarchical.group_model import Hyperprior


class Pair(NamedTuple):
    """Places of two entries that have the same prior; the second minus the first is the change."""

    first: int
    second: int

    def turn(self, points: Float[np.ndarray, "*draw entry"]) -> Float[np.ndarray, "*draw entry"]:
        """Points with the mean in place of the first entry, and the difference in place of the second."""
        turned = np.array(points)
        first, second = points[..., self.first], points[..., self.second]
        turned[..., self.first], turned[..., self.second] = (first + second) / 2, second - first
        return turned

    def turn_back(self, points: Float[np.ndarray, "*draw entry"]) -> Float[np.ndarray, "*draw entry"]:
        """The entries themselves."""
        entries = np.array(points)
        mean, difference = points[..., self.first], points[..., self.second]
        entries[..., self.first], entries[..., self.second] = mean - difference / 2, mean + difference / 2
        return entries

    def turn_hyperprior(self, hyperprior: Hyperprior) -> Hyperprior:
        """What a group of independent entries assumes, of mean and difference: no change is the middle of its prior.

        The location's prior is the same. Means differ between people as much as entries do; changes as much as differences
        of independent entries.
        """
        centre, scale, spread = (np.array(array) for array in hyperprior)
        centre[self.second] = 0.0
        scale[self.first], scale[self.second] = scale[self.first] / np.sqrt(2), np.sqrt(2) * scale[self.second]
        spread[self.second] *= np.sqrt(2)
        return Hyperprior(centre, scale, spread)
