"""Who the fitted subjects are, as a population to draw others from.

Every parameter gets a log-normal distribution, truncated to where the analysis prior allows it, whose logarithm has the mean
and the standard deviation of the group. The group is that of `designstudio.inference.hierarchical`: normal on the scale of
the analysis prior's support.

* Of pooled subjects its median and spread are the posterior means.
* Of separate fits they are the most likely ones, found by EM on the subjects' draws with the analysis prior divided out:
  the draws of each subject are weighted by what the group says, then the group is what the weighted draws say. The spread
  has the boundary-avoiding prior of Chung, Rabe-Hesketh, Dorie, Gelman & Liu (2013), proportional to itself, which here
  amounts to dividing by one subject fewer.

The simpler estimator, the variance of posterior means less the average posterior variance, takes posterior means as if the
analysis prior had no say. Where every sigma is free it has, and that estimator then finds no differences between people at
all, and plans are too hopeful by 10 to 30 %.
"""

import math
from typing import Any, NamedTuple

import numpy as np
import xarray as xr
from jaxtyping import Float
from scipy import optimize, special

from designstudio.errors import StudioError
from designstudio.inference.hierarchical.group_model import Entry, lay_out_draws, list_entries
from designstudio.inference.scales import Scale
from designstudio.model.likelihood.model import BehaviorModel
from designstudio.model.priors import Interval, LogNormal

# People who differ by less than this, in log units, are not told apart by any design: nobody is taken to be all the same.
SMALLEST_SPREAD = 0.02
# What is assumed if there is one subject, who says nothing about how people differ.
UNKNOWN_SPREAD = 0.2
NUM_QUANTILES = 2000
# Steps of EM, and the change, relative to the spread, below which it has settled.
MOST_STEPS, SETTLED = 300, 1e-3
NUM_DIGITS = 4
# Within so many standard deviations of the mean an end of the support makes a difference.
FAR = 4.0


class Group(NamedTuple):
    """Mean and standard deviation over people of the logarithm of a parameter."""

    mean: float
    spread: float

    @property
    def median(self) -> float:
        """Of the parameter itself."""
        return math.exp(self.mean)


def pick_good(posterior: xr.DataTree) -> xr.Dataset:
    """Draws of the subjects whose fits can be used.

    Raises:
        StudioError: if there are none.
    """
    is_good: Any = posterior["diagnostics"]["is_good"].values
    if not is_good.any():
        raise StudioError("No subject could be fitted, so there is nothing to plan from: fit again with more care.")
    return posterior["posterior"].to_dataset().isel(dataset=np.flatnonzero(is_good))


def describe_groups(model: BehaviorModel, posterior: xr.DataTree, pooled: xr.DataTree | None) -> dict[str, list[Group]]:
    """The group of every free parameter: one, or one for each condition where it differs between them."""
    entries, draws = list_entries(model), pick_good(posterior)
    if pooled is not None:
        found = [_read_pooled(entry, pooled["group"].to_dataset()) for entry in entries]
    elif draws.sizes["dataset"] == 1:
        found = [Group(float(np.log(entry.pick(draws).astype(float)).mean()), UNKNOWN_SPREAD) for entry in entries]
    else:
        points = lay_out_draws(entries, draws)
        # The analysis prior is divided out.
        log_prior = np.stack([e.scale.log_density(p, e.prior) for e, p in zip(entries, points, strict=True)]).sum(axis=0)
        group = estimate_group(points, -log_prior)
        found = [_take_logarithm(entry.scale, *moments) for entry, *moments in zip(entries, *group, strict=True)]
    groups: dict[str, list[Group]] = {name: [] for name in model.free}
    for entry, of_entry in zip(entries, found, strict=True):
        groups[entry.name].append(of_entry)
    return groups


def estimate_group(
    points: Float[np.ndarray, "entry subject draw"], log_weight: Float[np.ndarray, "subject draw"]
) -> tuple[Float[np.ndarray, " entry"], Float[np.ndarray, " entry"]]:
    """Location and spread over subjects that make all their draws most likely, for two or more subjects.

    Args:
        points: draws of every entry, on the scale of the group.
        log_weight: less the log density of their prior.
    """
    num_entries, num_subjects, _ = points.shape
    weight = np.ones_like(log_weight)
    location, spread = np.zeros(num_entries), np.zeros(num_entries)
    for _ in range(MOST_STEPS):
        weight /= weight.sum(axis=1, keepdims=True)
        before = location, spread
        location = np.einsum("esd,sd->e", points, weight) / num_subjects
        squares = np.einsum("esd,sd->e", (points - location[:, None, None]) ** 2, weight)
        spread = np.sqrt(squares / (num_subjects - 1))
        if (
            np.abs((location - before[0]) / spread).max() + np.abs(np.log(spread / np.maximum(before[1], 1e-9))).max()
            < SETTLED
        ):
            break
        density = -(((points - location[:, None, None]) / spread[:, None, None]) ** 2).sum(axis=0) / 2
        logs = log_weight + density
        weight = np.exp(logs - logs.max(axis=1, keepdims=True))
    return location, spread


def _read_pooled(entry: Entry, group: xr.Dataset) -> Group:
    """The group that pooling found: posterior means of its median and spread."""
    means = [group[f"{entry.name}_{what}"].mean(("chain", "draw")) for what in ("median", "spread")]
    median, spread = (float(mean if entry.condition is None else mean.isel(condition=entry.condition)) for mean in means)
    return _take_logarithm(entry.scale, float(entry.scale.forward(np.array(median))), spread)


def _take_logarithm(scale: Scale, location: float, spread: float) -> Group:
    """Moments of the logarithm of a parameter that is normal on another scale."""
    z = special.ndtri((np.arange(NUM_QUANTILES) + 0.5) / NUM_QUANTILES)
    logs = np.log(scale.backward(location + spread * z))
    return Group(float(logs.mean()), max(float(logs.std()), SMALLEST_SPREAD))


def match_prior(group: Group, bounds: Interval) -> LogNormal:
    """The log-normal distribution within bounds whose logarithm has, as nearly as it can, the moments of the group.

    Its median before truncation lies within the bounds, so that people can make sense of it.
    """
    low, high = (math.log(end) if end > 0 else -math.inf for end in (bounds.low, bounds.high))
    mean, spread = min(max(group.mean, low), high), group.spread
    if low > mean - FAR * spread or high < mean + FAR * spread:
        mean, spread = _solve(Group(mean, spread), max(low, mean - 20 * spread), min(high, mean + 20 * spread), low, high)
    median = min(max(round_number(math.exp(mean)), bounds.low), bounds.high)
    return LogNormal(median, round_number(spread)).within(bounds)


def _solve(group: Group, lowest: float, highest: float, low: float, high: float) -> Group:
    """Mean, between lowest and highest, and spread before truncation to low and high."""
    from scipy import stats  # noqa: PLC0415  (takes half a second)

    def miss(point: np.ndarray) -> list[float]:
        mean, spread = point[0], math.exp(point[1])
        cut = stats.truncnorm((low - mean) / spread, (high - mean) / spread, loc=mean, scale=spread)
        return [(cut.mean() - group.mean) / group.spread, math.log(max(cut.std(), 1e-12) / group.spread)]

    width = math.log(group.spread)
    # Five times wider, and what is left between the bounds is nearly flat.
    box = ([lowest, width - 1.0], [highest, width + math.log(5)])
    start = [min(max(group.mean, lowest + 1e-6), highest - 1e-6), width]
    mean, log_spread = optimize.least_squares(miss, start, bounds=box, x_scale=[group.spread, 1.0]).x
    return Group(float(mean), math.exp(float(log_spread)))


def round_number(number: float, num_digits: int = NUM_DIGITS) -> float:
    """As many digits as people read."""
    return float(f"{number:.{num_digits}g}")
