"""A few regressions in place of all trials: what the fastest fits of a policy that bends see of a data set.

Over a short range of stimuli every policy is nearly straight and responses are nearly Gaussian, so a regression tells nearly
all that the range's trials do. A linear policy needs one range; see `designstudio.model.likelihood.observations`.
"""

import equinox as eqx
import numpy as np

from designstudio.model.likelihood.observations import Observations, summarize


def summarize_ranges(observations: Observations, num_ranges: int) -> Observations:
    """The same data sets with a regression for each of some equally long ranges of stimuli in each condition.

    Args:
        observations: of data sets along leading axes, on the host.
        num_ranges: in each condition; those without trials have no weight.
    """
    x, y, present = (np.asarray(array) for array in (observations.stimulus, observations.response, observations.is_present))
    low = np.where(present, x, np.inf).min(-1, keepdims=True)
    high = np.where(present, x, -np.inf).max(-1, keepdims=True)
    with np.errstate(invalid="ignore"):
        place = np.nan_to_num((x - low) / np.maximum(high - low, 1e-6) * num_ranges)
    belongs = (np.clip(place.astype(int), 0, num_ranges - 1)[..., None, :] == np.arange(num_ranges)[:, None]) & present[
        ..., None, :
    ]
    x, y = (np.where(belongs, array[..., None, :], 0.0).astype(float) for array in (x, y))
    ranges = summarize(x, y, belongs)
    # A range without trials gets ordinary numbers, which then have no weight.
    mean_x = np.where(ranges.count > 0, ranges.mean_x, np.asarray(observations.moments.mean_x)[..., None])
    ranges = eqx.tree_at(lambda moments: moments.mean_x, ranges, mean_x.astype(np.float32))
    return Observations(ranges.mean_x, ranges.mean_y, ranges.count, observations.moments, observations.fixed, ranges=ranges)
