"""Lapses: trials in which the response has nothing to do with the stimulus.

People press too early, type a digit too much, look away. Without room for that, one such trial pulls every parameter. So a
trial is the actor's with probability 1 - lambda, and otherwise comes from a broad distribution: any response between the
least and the greatest that this participant has given is then equally likely, on the scale of responses,

    p(y) = (1 - lambda) p(y | actor) + lambda / (greatest - least).

The mixture has no sufficient statistics, so samplers see the trials themselves, laid out in short ranges of stimuli: within
one the actor's mean response is a line and its variance one number, computed once for all its trials.
With thousands of trials the ordinary ones of a range are told by a few nodes with weights, as in
`designstudio.model.likelihood.condense`; those that lie far from the others stay as they are. What this leaves out is
measured on all trials and corrected, as for ranges without lapses.

Where a posterior is expected is found by a regression that such trials do not move (`fit_robust_line`).
"""

import warnings
from typing import Any, NamedTuple

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from designstudio.errors import StudioError
from designstudio.model.likelihood.condense import summarize_groups
from designstudio.model.likelihood.observations import Moments, Observations, bucket_size, summarize
from designstudio.model.parameters import NO_UNIT, Parameter, Role
from designstudio.model.priors import Constant, HalfNormal, Interval

LAPSE_RATE = Parameter(
    "lapse_rate",
    "λ",
    "lapse rate",
    NO_UNIT,
    support=Interval(0.0, 1.0),
    box=Interval(0.0, 0.5),
    training=Constant(0.0),
    analysis=HalfNormal(0.05).within(Interval(0.0, 0.5)),
    population=Constant(0.0),
    role=Role.LIKELIHOOD,
    explanation="share of trials in which the response has nothing to do with the stimulus",
)
# What an analysis may do about lapses: estimate their rate, have none, or take a rate as known.
FREE_LAPSES, NO_LAPSES = "free", "off"
Lapses = str | float
# The range of responses is at least this wide, on their scale.
NARROWEST_RANGE = 0.1
# Trials farther from the robust line than this many of its standard deviations are taken for possible lapses at first.
SUSPECT = 3.5
# Steps of iteratively reweighted least squares, and Tukey's constant for them.
NUM_STEPS, TUKEY = 10, 4.685
# A median absolute deviation is this share of a normal standard deviation.
MAD_SHARE = 0.6745
# Trials of a condition that are shown to samplers as they are; of more, the ordinary ones are told by nodes.
MOST_TRIALS, NUM_NODES = 256, 9


def check_lapses(lapses: Lapses, what: str = "lapses") -> None:
    """Refuse what is neither a word for lapses nor a rate.

    Raises:
        StudioError: saying what is allowed.
    """
    is_rate = isinstance(lapses, int | float) and not isinstance(lapses, bool) and 0 < lapses < 1
    if lapses not in (FREE_LAPSES, NO_LAPSES) and not is_rate:
        raise StudioError(
            f"{what} must be {FREE_LAPSES!r} (estimated), {NO_LAPSES!r}, or a share between 0 and 1, but {lapses!r} "
            "was given."
        )


class Line(NamedTuple):
    """A line through most trials of each condition, and how far they scatter around it."""

    mean_x: Float[np.ndarray, "*set condition"]
    level: Float[np.ndarray, "*set condition"]
    slope: Float[np.ndarray, "*set condition"]
    scale: Float[np.ndarray, "*set condition"]


def mix_lapses(usual: Array, rate: Array, log_broad: Any) -> Array:
    """Log density of responses that are the actor's, or lapses.

    Args:
        usual: log density of each under the actor. rate: of lapses. log_broad: log density of a lapse.
    """
    # Log of a rate of zero has no derivative.
    rate = jnp.maximum(rate, 1e-12)
    return jnp.logaddexp(jnp.log1p(-rate) + usual, jnp.log(rate) + log_broad)


def prepare_lapses(observations: Observations) -> Observations:
    """The same data sets with the density of a lapse, and with regressions that lapses do not move."""
    y, present = np.asarray(observations.response, float), np.asarray(observations.is_present)
    width = find_lapse_range(y, present, axis=(-2, -1))[1]
    moments, _ = _summarize_ordinary(observations)
    log_broad = np.broadcast_to(-np.log(width)[..., None], y.shape[:-1]).astype(np.float32)
    return eqx.tree_at(
        lambda o: (o.moments, o.log_broad), observations, (moments, log_broad), is_leaf=lambda leaf: leaf is None
    )


def find_lapse_range(
    responses: np.ndarray, is_present: np.ndarray, axis: int | tuple[int, ...] | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Where the responses of lapses begin, and how wide they are spread: over all that a participant has given."""
    least = np.where(is_present, responses, np.inf).min(axis)
    greatest = np.where(is_present, responses, -np.inf).max(axis)
    return least, np.maximum(greatest - least, NARROWEST_RANGE)


def find_suspects(observations: Observations) -> Bool[np.ndarray, "*set condition trial"]:
    """Which trials lie far from the line through the others."""
    x, y = np.asarray(observations.stimulus, float), np.asarray(observations.response, float)
    present = np.asarray(observations.is_present)
    line = fit_robust_line(x, y, present)
    residual = y - line.level[..., None] - line.slope[..., None] * (x - line.mean_x[..., None])
    return present & (np.abs(residual) > SUSPECT * line.scale[..., None])


def fit_robust_line(x: np.ndarray, y: np.ndarray, is_present: np.ndarray) -> Line:
    """A regression of y on x along the last axis that a few wild trials do not move, however wild: Tukey's biweight."""
    masked_x, masked_y = (np.where(is_present, array, np.nan) for array in (x, y))
    with np.errstate(all="ignore"), warnings.catch_warnings():
        # Conditions without trials have no median, and need none.
        warnings.simplefilter("ignore", RuntimeWarning)
        mean_x = np.nan_to_num(np.nanmean(masked_x, axis=-1))
        centred = np.where(is_present, x - mean_x[..., None], 0.0)
        spread = (centred**2).sum(-1)
        varies = spread > 1e-10 * np.maximum(is_present.sum(-1), 1)
        # From the medians of the lower and the upper third of the stimuli: whatever is wild is outvoted there.
        slope, level = _start_line(masked_x, masked_y, mean_x, varies)
        scale = np.ones_like(level)
        for _ in range(NUM_STEPS):
            residual = y - level[..., None] - slope[..., None] * centred
            deviation = np.nanmedian(np.where(is_present, np.abs(residual), np.nan), axis=-1) / MAD_SHARE
            scale = np.maximum(np.nan_to_num(deviation, nan=1.0), 1e-3)
            weight = np.where(is_present, np.maximum(1 - (residual / (TUKEY * scale[..., None])) ** 2, 0.0) ** 2, 0.0)
            total = np.maximum(weight.sum(-1), 1e-12)
            x_bar, y_bar = (weight * centred).sum(-1) / total, (weight * y).sum(-1) / total
            part = centred - x_bar[..., None]
            sum_xx = (weight * part**2).sum(-1)
            is_usable = varies & (sum_xx > 0)
            sum_xy = (weight * part * (y - y_bar[..., None])).sum(-1)
            slope = np.where(is_usable, sum_xy / np.where(is_usable, sum_xx, 1.0), 0.0)
            level = y_bar - slope * x_bar
    return Line(mean_x, level, slope, scale)


def lay_out_ranges(observations: Observations, num_ranges: int) -> Observations:
    """What samplers see: trials, or nodes in place of many ordinary ones, side by side in short ranges of stimuli.

    Args:
        observations: prepared for lapses, of data sets along leading axes, on the host.
        num_ranges: in each condition.

    Returns:
        Observations whose trials are over (range, place in it), flattened, with `ranges` that tell where each stands.
    """
    x, y = np.asarray(observations.stimulus, float), np.asarray(observations.response, float)
    present = np.asarray(observations.is_present)
    is_suspect = find_suspects(observations)
    low = np.where(present, x, np.inf).min(-1, keepdims=True)
    high = np.where(present, x, -np.inf).max(-1, keepdims=True)
    with np.errstate(invalid="ignore"):
        place = np.nan_to_num((x - low) / np.maximum(high - low, 1e-6) * num_ranges)
    number = np.clip(place.astype(int), 0, num_ranges - 1)
    shape = x.shape[:-1]
    cell = (np.arange(int(np.prod(shape))).reshape(*shape, 1) * num_ranges + number)[present]
    points_x, points_y, weight = x[present], y[present], np.ones(present.sum())
    # Conditions decide each for itself, so that others change nothing.
    is_many = np.broadcast_to(present.sum(-1, keepdims=True) > MOST_TRIALS, present.shape)
    ordinary = (~is_suspect & is_many)[present]
    num_cells = int(np.prod(shape)) * num_ranges
    mean_x = _average(points_x, cell, num_cells)
    if ordinary.any():
        slope = np.broadcast_to(np.asarray(observations.moments.slope, float)[..., None], x.shape)[present]
        moved = points_y - slope * (points_x - mean_x[cell])
        cells, group = np.unique(cell[ordinary], return_inverse=True)
        nodes, weights = summarize_groups(moved[ordinary], group, NUM_NODES)
        which, node = np.nonzero(weights > 0)
        points_x = np.concatenate([mean_x[cells[which]], points_x[~ordinary]])
        points_y = np.concatenate([nodes[which, node], points_y[~ordinary]])
        weight = np.concatenate([weights[which, node], weight[~ordinary]])
        cell = np.concatenate([cells[which], cell[~ordinary]])
    order = np.argsort(cell, kind="stable")
    counts = np.bincount(cell, minlength=num_cells)
    at = (cell[order], np.arange(len(order)) - np.repeat(np.cumsum(counts) - counts, counts))
    size = (num_cells, _choose_length(int(counts.max())))
    belongs = (number[..., None, :] == np.arange(num_ranges)[:, None]) & present[..., None, :]
    ranges = _summarize_ranges(observations, belongs & ~is_suspect[..., None, :], mean_x.reshape(*shape, num_ranges))

    def fill(values: np.ndarray, empty: np.ndarray) -> np.ndarray:
        filled = np.broadcast_to(empty.reshape(-1, 1), size).astype(np.float32)
        filled[at] = values[order]
        return filled.reshape(*shape, -1)

    means = (np.asarray(ranges.mean_x), np.asarray(ranges.mean_y), np.zeros(num_cells))
    arrays = tuple(map(fill, (points_x, points_y, weight), means))
    laid_out = eqx.tree_at(lambda o: (o.stimulus, o.response, o.weight), observations, arrays)
    return eqx.tree_at(lambda o: o.ranges, laid_out, ranges, is_leaf=lambda leaf: leaf is None)


def _summarize_ordinary(observations: Observations) -> tuple[Moments, np.ndarray]:
    ordinary = np.asarray(observations.is_present) & ~find_suspects(observations)
    x, y = (np.asarray(array, float) for array in (observations.stimulus, observations.response))
    return summarize(np.where(ordinary, x, 0.0), np.where(ordinary, y, 0.0), ordinary), ordinary


def _summarize_ranges(observations: Observations, belongs: np.ndarray, mean_x: np.ndarray) -> Moments:
    """Regressions of the ordinary trials of each range; one without any gets ordinary numbers, and no weight."""
    x, y = (
        np.where(belongs, np.asarray(array, float)[..., None, :], 0.0)
        for array in (observations.stimulus, observations.response)
    )
    ranges, moments = summarize(x, y, belongs), observations.moments
    level, slope = (np.asarray(array, float)[..., None] for array in (moments.mean_y, moments.slope))
    centre = np.asarray(moments.mean_x, float)[..., None]
    middle = np.where(np.isnan(mean_x), centre, mean_x)
    mean_y = np.where(np.asarray(ranges.count) > 0, ranges.mean_y, level + slope * (middle - centre))
    arrays = tuple(np.asarray(array, np.float32) for array in (middle, mean_y))
    return eqx.tree_at(lambda m: (m.mean_x, m.mean_y), ranges, arrays)


def _average(values: np.ndarray, cell: np.ndarray, num_cells: int) -> np.ndarray:
    """Mean of each cell; NaN if it is empty."""
    count = np.bincount(cell, minlength=num_cells)
    with np.errstate(invalid="ignore"):
        return np.bincount(cell, values, minlength=num_cells) / np.where(count > 0, count, np.nan)


def _choose_length(num: int) -> int:
    """A few lengths, so that data sets of similar size share a program."""
    return next((length for length in (4, 8, 12) if num <= length), bucket_size(num))


def _start_line(x: np.ndarray, y: np.ndarray, mean_x: np.ndarray, varies: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    low, high = (np.nanquantile(x, share, axis=-1, keepdims=True) for share in (1 / 3, 2 / 3))
    ends = [(np.nanmedian(np.where(part, array, np.nan), axis=-1)) for part in (x <= low, x >= high) for array in (x, y)]
    left_x, left_y, right_x, right_y = ends
    gap = right_x - left_x
    slope = np.where(varies & (gap > 1e-6), (right_y - left_y) / np.where(gap > 1e-6, gap, 1.0), 0.0)
    level = np.nanmedian(y - slope[..., None] * (x - mean_x[..., None]), axis=-1)
    return np.nan_to_num(slope), np.nan_to_num(level)
