"""Power: the chance that a study reaches its goals, over the participants it may meet.

Participants come from the population, so each chance is an average over them: an assurance, not the power for one assumed
effect. A population of constants gives the latter.
"""

import math

import numpy as np
import xarray as xr
from jaxtyping import Float
from scipy import stats

from designstudio.metrics.monte_carlo import UNDEFINED, Score, Weights, score_jackknife, score_share

ALPHA = 0.05
# Groups without any spread are told apart as soon as they differ.
TINY = 1e-300


def score_exclusion(summaries: xr.Dataset, quantity: str, value: float, margin: float = 0.0) -> Score:
    """Chance that a participant's interval stays away from `value` by more than `margin`."""
    chosen = _choose(summaries, quantity)
    low, high = chosen["low"].values, chosen["high"].values
    return score_share((low > value + margin) | (high < value - margin))


def score_narrowness(summaries: xr.Dataset, quantity: str, width: float) -> Score:
    """Chance that a participant's interval is narrower than `width`."""
    chosen = _choose(summaries, quantity)
    return score_share((chosen["high"] - chosen["low"]).values < width)


def score_group_difference(first: xr.Dataset, second: xr.Dataset, quantity: str, num_participants: int) -> Score:
    """Chance that a two-sided t test on posterior means tells two groups apart.

    Args:
        first: summaries of simulated members of one group.
        second: of the other.
        quantity: what is compared.
        num_participants: in each group.
    """
    a, b = (_choose(summaries, quantity)["mean"].values for summaries in (first, second))
    num = min(len(a), len(b))
    if num_participants < 2 or num < 3:
        return UNDEFINED
    a, b = a[:num], b[:num]
    return score_jackknife(lambda weights: weigh_group_difference(weights, a, b, num_participants), num)


def weigh_group_difference(weights: Weights, a: np.ndarray, b: np.ndarray, num_participants: int) -> np.ndarray:
    """Power of a t test between two groups with these posterior means, for each row of weights."""
    num = len(a)
    mean_a, mean_b = (weights @ x / weights.sum(1) for x in (a, b))
    variances = [weights @ (x - x.mean()) ** 2 / weights.sum(1) - (m - x.mean()) ** 2 for x, m in ((a, mean_a), (b, mean_b))]
    # As the test does, with one less than there are: the spread of a sample is too small by that.
    pooled = np.mean(variances, axis=0) * num / (num - 1)
    return power_of_t_test((mean_a - mean_b) / np.sqrt(np.maximum(pooled, TINY)), num_participants)


def power_of_t_test(effect: Float[np.ndarray, "..."], num_participants: int) -> Float[np.ndarray, "..."]:
    """Power of a two-sided t test with as many participants in each of two groups.

    Args:
        effect: difference of the means in standard deviations.
        num_participants: in each group.
    """
    freedom = 2 * num_participants - 2
    critical = stats.t.ppf(1 - ALPHA / 2, freedom)
    shift = np.abs(effect) * math.sqrt(num_participants / 2)
    # Far out the noncentral t is a shifted normal, and SciPy's series for it gives up.
    near = np.minimum(shift, 30.0)
    return np.where(shift > 30.0, 1.0, stats.nct.sf(critical, freedom, near) + stats.nct.sf(critical, freedom, -near))


def _choose(summaries: xr.Dataset, quantity: str) -> xr.Dataset:
    return summaries.sel(quantity=quantity).isel(dataset=np.flatnonzero(summaries["is_good"].values))
