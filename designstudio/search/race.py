"""When to give up on a design: once it will hardly overtake the best one any more.

All designs are tried on the same data sets, so a design and the best one are compared pair by pair. After some of the data
sets their mean difference is known with an error; what the difference will be after all of them is known a little better,
because those already seen will be among them. A design is given up when its chance to be ahead in the end is small.
"""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from scipy import special

PseudoValues = Sequence[float] | np.ndarray


class PartialResult(NamedTuple):
    """What a design has shown after some data sets.

    Attributes:
        pseudo_values: of each objective that is simulated, one for each data set; smaller is better.
        known: objectives that need no simulation; smaller is better.
    """

    pseudo_values: tuple[PseudoValues, ...]
    known: tuple[float, ...] = ()


def chance_to_overtake(own: PseudoValues, best: PseudoValues, num_datasets: int, *, fewest_pairs: int) -> float:
    """Chance that the mean of `own` will be smaller than that of `best` once all data sets are in.

    Args:
        own: pseudo-values of the design, for the data sets so far; NaN where there is none.
        best: of the other design, for the same data sets.
        num_datasets: how many there will be.
        fewest_pairs: before which everything is possible.
    """
    difference = np.asarray(own, float) - np.asarray(best, float)
    difference = difference[np.isfinite(difference)]
    num = len(difference)
    if num < fewest_pairs or num >= num_datasets:
        return 1.0
    mean, sd = float(difference.mean()), float(difference.std(ddof=1))
    if sd == 0:
        return 0.0 if mean > 0 else 1.0
    to_come = sd * math.sqrt(1 / num - 1 / num_datasets)
    return float(special.stdtr(num - 1, -mean / to_come))


def is_beaten(
    design: PartialResult, rivals: Mapping[int, PartialResult], num_datasets: int, *, small_chance: float, fewest_pairs: int
) -> int | None:
    """The number of a rival that the design will hardly overtake in any objective; None if there is none."""
    for number, rival in rivals.items():
        is_known_better = any(mine < other for mine, other in zip(design.known, rival.known, strict=True))
        if is_known_better:
            continue
        chances = (
            chance_to_overtake(mine, other, num_datasets, fewest_pairs=fewest_pairs)
            for mine, other in zip(design.pseudo_values, rival.pseudo_values, strict=True)
        )
        if all(chance < small_chance for chance in chances):
            return number
    return None
