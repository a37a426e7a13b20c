"""What the likelihood sees of one data set: padded trials, sorted by condition, and their summary by regression.

Trials of a data set are laid out as (condition, trial) and padded to one of a few lengths, so that designs of similar size
share one compiled program; padding has no weight. Stimuli are on the perception's scale and responses on the response's (in
the log-normal family: logarithms). Under a linear policy the response is a linear function of the stimulus plus Gaussian
noise, so each condition enters only through its regression: `Moments` then stands for all its trials, exactly.
"""

from collections.abc import Mapping
from typing import Any

import equinox as eqx
import jax
import numpy as np
from jaxtyping import ArrayLike, Bool, Float, Int

# Lengths to which trials per condition are padded: at most half as long again as what is needed.
BUCKETS = (16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096)

# On the host while data sets are prepared, on a device while they are fitted.
AnyArray = Any


class Moments(eqx.Module):
    """Regression of response on stimulus in each condition, on their scales.

    Attributes:
        count: number of trials.
        mean_x: mean stimulus.
        mean_y: mean response.
        slope: least-squares slope (0 where the stimulus never changes).
        sum_xx: sum of squares of the stimulus around its mean.
        sum_rr: sum of squared residuals.
    """

    count: Float[AnyArray, "*set condition"]
    mean_x: Float[AnyArray, "*set condition"]
    mean_y: Float[AnyArray, "*set condition"]
    slope: Float[AnyArray, "*set condition"]
    sum_xx: Float[AnyArray, "*set condition"]
    sum_rr: Float[AnyArray, "*set condition"]


class Observations(eqx.Module):
    """One data set, or many along leading axes.

    Attributes:
        stimulus: on the perception's scale, padded.
        response: on the response's scale, padded.
        weight: for how many trials each stands: 1, or 0 where it is padding; see also
            `designstudio.model.likelihood.condense`.
        moments: the regression summary.
        ranges: regressions of short ranges of stimuli, if they stand for all trials; see
            `designstudio.model.likelihood.ranges`.
        fixed: values of the fixed parameters, one for each condition.
        log_broad: log density of a lapse, where the model has lapses; see `designstudio.model.likelihood.lapses`.
    """

    stimulus: Float[AnyArray, "*set condition trial"]
    response: Float[AnyArray, "*set condition trial"]
    weight: Float[AnyArray, "*set condition trial"]
    moments: Moments
    fixed: dict[str, Float[AnyArray, "*set condition"]]
    ranges: Moments | None = None
    log_broad: Float[AnyArray, "*set condition"] | None = None

    @property
    def is_present(self) -> Bool[AnyArray, "*set condition trial"]:
        """Which trials are real."""
        return self.weight > 0


def bucket_size(num_trials: int, smallest: int = BUCKETS[0]) -> int:
    """The padded length for this many trials."""
    for size in BUCKETS:
        if max(num_trials, smallest) <= size:
            return size
    return -(-num_trials // BUCKETS[-1]) * BUCKETS[-1]


def observe(
    stimulus: Float[ArrayLike, "*set condition trial"],
    response: Float[ArrayLike, "*set condition trial"],
    is_present: Bool[ArrayLike, "*set condition trial"],
    fixed: Mapping[str, Float[ArrayLike, "*set condition"]],
    smallest: int = BUCKETS[0],
) -> Observations:
    """Pad to a bucket, of at least the `smallest`, and summarise, on the host and in 64 bits: the sums cancel."""
    x, y, present = np.asarray(stimulus, float), np.asarray(response, float), np.asarray(is_present, bool)
    missing = bucket_size(x.shape[-1], smallest) - x.shape[-1]
    widths = [(0, 0)] * (x.ndim - 1) + [(0, missing)]
    x, y, present = (np.pad(array, widths) for array in (x, y, present))
    x, y = np.where(present, x, 0.0), np.where(present, y, 0.0)
    moments = summarize(x, y, present)
    # Padding repeats the mean stimulus and response: ordinary numbers, whose likelihood is then masked out.
    x = np.where(present, x, np.asarray(moments.mean_x)[..., None])
    y = np.where(present, y, np.asarray(moments.mean_y)[..., None])
    return Observations(
        x.astype(np.float32),
        y.astype(np.float32),
        present.astype(np.float32),
        moments,
        {name: np.asarray(values, np.float32) for name, values in fixed.items()},
    )


def drop_trials(observations: Observations) -> Observations:
    """The regression summary alone: all that a linear policy needs, in the same shape for any number of trials."""
    return eqx.tree_at(
        lambda o: (o.stimulus, o.response, o.weight),
        observations,
        replace_fn=lambda array: array[..., :0],
    )


def summarize(x: np.ndarray, y: np.ndarray, is_present: np.ndarray) -> Moments:
    """Regression of y on x along the last axis, where present."""
    count = is_present.sum(-1)
    safe_count = np.maximum(count, 1)
    mean_x, mean_y = x.sum(-1) / safe_count, y.sum(-1) / safe_count
    centred_x = np.where(is_present, x - mean_x[..., None], 0.0)
    centred_y = np.where(is_present, y - mean_y[..., None], 0.0)
    sum_xx = (centred_x**2).sum(-1)
    varies = sum_xx > 1e-10 * safe_count
    slope = np.where(varies, (centred_x * centred_y).sum(-1) / np.where(varies, sum_xx, 1.0), 0.0)
    sum_rr = ((centred_y - slope[..., None] * centred_x) ** 2).sum(-1)
    return Moments(*(array.astype(np.float32) for array in (count, mean_x, mean_y, slope, sum_xx * varies, sum_rr)))


def sort_by_noise(observations: Observations) -> tuple[Observations, Int[np.ndarray, "*set condition"]]:
    """Put the noisiest condition first, in every data set: the one in which the response follows the stimulus least.

    Returns:
        The same observations with conditions in that order, and which condition now stands at each place.
    """
    slope = np.where(np.asarray(observations.moments.count) > 0, np.asarray(observations.moments.slope), np.inf)
    order = np.argsort(slope, axis=-1, kind="stable")

    def arrange(array: AnyArray) -> np.ndarray:
        values = np.asarray(array)
        return np.take_along_axis(
            values, order.reshape(order.shape + (1,) * (values.ndim - order.ndim)), axis=order.ndim - 1
        )

    return jax.tree.map(arrange, observations), order
