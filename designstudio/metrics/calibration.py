"""Simulation-based calibration: is a posterior as wide as it should be, and in the right place?

The true values are drawn from the prior that the fit assumes. The fractional rank of the truth among its posterior draws is
then uniform on (0, 1) if the fit is exact (Talts et al., 2018). Ranks that pile up at both ends mean that posteriors are too
narrow, in the middle too wide, at one end shifted.

Whether ranks are uniform is read from their ECDF and a band around the diagonal that an exact fit leaves, anywhere, with
probability 1 - `prob` (Säilynoja, Bürkner & Vehtari, 2022). The band is computed, not simulated.
"""

import functools
from typing import NamedTuple

import numpy as np
import xarray as xr
from jaxtyping import Float
from scipy import special

from designstudio.errors import StudioError, ValueOutsideSupportError

MAX_GRID_STEPS = 100
NUM_BINS = 20
DATASET_DIM = "dataset"
# Halves a range of about log(100) to less than a millionth: the limits, whole numbers, have long stopped moving.
NUM_BISECTIONS = 24


class Band(NamedTuple):
    """Where the ECDF of uniform ranks stays. Limits belong to the band; at 0 and 1 it has no width."""

    grid: Float[np.ndarray, " point"]
    lower: Float[np.ndarray, " point"]
    upper: Float[np.ndarray, " point"]


def fractional_ranks(
    draws: Float[np.ndarray, "*batch draw"], truth: Float[np.ndarray, "*batch"], *, rng: np.random.Generator
) -> Float[np.ndarray, "*batch"]:
    """Rank of each truth among its draws, from 0 to 1.

    Chance decides between equal values and within the step of 1 / (draws + 1), so the rank of a truth among independent
    exact draws is exactly uniform, also for discrete quantities and few draws.

    Args:
        draws: posterior draws.
        truth: the values that made the data.
        rng: decides the ties.

    Returns:
        Ranks; NaN where the truth or a draw is NaN, which is how a failed fit reaches `score_calibration`.
    """
    draws, truth = np.asarray(draws, dtype=float), np.asarray(truth, dtype=float)
    if draws.shape[:-1] != truth.shape:
        raise StudioError(
            f"Draws of shape {draws.shape} need truths of shape {draws.shape[:-1]}, but {truth.shape} was given."
        )
    num_less = np.sum(draws < truth[..., None], axis=-1)
    num_equal = np.sum(draws == truth[..., None], axis=-1)
    ranks = (num_less + rng.uniform(size=truth.shape) * (num_equal + 1)) / (draws.shape[-1] + 1)
    return np.where(np.isnan(truth) | np.isnan(draws).any(axis=-1), np.nan, ranks)


def evaluate_ecdf(ranks: Float[np.ndarray, " dataset"], grid: Float[np.ndarray, " point"]) -> Float[np.ndarray, " point"]:
    """Fraction of ranks at or below each grid point."""
    return np.searchsorted(np.sort(ranks), grid, side="right") / ranks.size


@functools.cache
def simultaneous_band(num_datasets: int, *, num_draws: int | None = None, prob: float = 0.95) -> Band:
    """The band that the ECDF of uniform ranks leaves at no grid point, with probability `prob` or a little more.

    At each grid point the limits are quantiles of a binomial distribution. All points share one tail probability: the
    largest for which the whole ECDF stays inside with probability `prob`. Counts are whole numbers, so this cannot be met
    exactly; for 1000 data sets the excess is below 0.001.

    Args:
        num_datasets: how many ranks the ECDF is made of.
        num_draws: give it if ranks are (number of draws below the truth + 1) / (number of draws + 1) without tie-breaking;
            the grid is then put on values that ranks can take. Ranks from `fractional_ranks` need no such care.
        prob: probability that exact ranks stay inside everywhere.
    """
    if num_datasets < 1:
        raise ValueOutsideSupportError(f"A calibration band needs at least one data set, but {num_datasets} was given.")
    if not 0 < prob < 1:
        raise ValueOutsideSupportError(f"prob must be between 0 and 1, but {prob:g} was given.")
    grid = _grid(num_datasets, num_draws)
    # By the union bound the smallest tail is enough. More than 1 - prob at a single point would be too much.
    low, high = np.log((1 - prob) / grid.size), np.log(1 - prob)
    for _ in range(NUM_BISECTIONS):
        middle = (low + high) / 2
        is_enough = stay_inside_probability(*_limits(num_datasets, grid, np.exp(middle)), grid) >= prob
        low, high = (middle, high) if is_enough else (low, middle)
    lower, upper = _limits(num_datasets, grid, np.exp(low))
    band = Band(grid, lower / num_datasets, upper / num_datasets)
    for values in band:
        # One cached object is handed to every caller.
        values.setflags(write=False)
    return band


def _grid(num_datasets: int, num_draws: int | None) -> np.ndarray:
    num_steps = min(max(num_datasets, 2), MAX_GRID_STEPS)
    if num_draws is None:
        return np.linspace(0.0, 1.0, num_steps + 1)
    return np.unique(np.rint(np.linspace(0, num_draws + 1, num_steps + 1))) / (num_draws + 1)


def _limits(num_datasets: int, grid: np.ndarray, tail: float) -> tuple[np.ndarray, np.ndarray]:
    """Smallest and largest count of ranks at or below each grid point, `tail` outside them at each point."""
    from scipy import stats  # noqa: PLC0415  (takes half a second)

    binomial = stats.binom(num_datasets, grid)
    return binomial.ppf(tail / 2).clip(0).astype(int), binomial.isf(tail / 2).astype(int)


def stay_inside_probability(lower: np.ndarray, upper: np.ndarray, grid: np.ndarray) -> float:
    """Probability that the counts of uniform values up to each grid point stay within whole-number limits.

    Uniform values are the arrivals of a Poisson process, given how many there are. Its increments are independent, so the
    distribution of the count goes from one grid point to the next by a convolution, cut to the limits each time.

    Args:
        lower: smallest count at each grid point.
        upper: largest count; the last one is the number of values.
        grid: points from 0 to 1, both included.
    """
    num_values = int(upper[-1])
    weights = np.ones(1)
    for k in range(1, grid.size):
        reach = int(upper[k] - lower[k - 1])
        increments = _poisson(np.arange(reach + 1), num_values * (grid[k] - grid[k - 1]))
        start = int(lower[k] - lower[k - 1])
        weights = np.convolve(weights, increments)[start : reach + 1]
    return float(weights[0] / _poisson(num_values, num_values))


def _poisson(count: np.ndarray | int, mean: float) -> np.ndarray:
    """Probability of a count."""
    return np.exp(special.xlogy(count, mean) - special.gammaln(np.add(count, 1)) - mean)


def score_calibration(ranks: xr.Dataset, prob: float = 0.95) -> xr.Dataset:
    """How far the ranks of each quantity are from uniform.

    Args:
        ranks: one variable a quantity over the dimension `dataset`, from `fractional_ranks`; NaN where the fit failed.
        prob: probability that the ranks of an exact fit stay inside the band. Of 40 quantities, expect two outside.

    Returns:
        Over the dimension `quantity`: `num_datasets` given and `num_failed` among them (the rest is scored);
        `max_deviation`, the largest distance of the ECDF from the diagonal on the band's grid, and `band_used`, the largest
        fraction of the distance from the diagonal to the band's limit; `is_inside`, which is `band_used` <= 1;
        `mean_rank` with its `mean_rank_z`; `chi_square_p` of 20 equal bins, an approximation below 100 data sets.
        A quantity of which every fit failed has NaN scores and is not inside.
    """
    check_ranks(ranks)
    rows = [_score_ranks(ranks[name].values, prob) for name in ranks.data_vars]
    columns = {field: ("quantity", [getattr(row, field) for row in rows]) for field in _Score._fields}
    return xr.Dataset(columns, coords={"quantity": [str(name) for name in ranks.data_vars]}, attrs={"prob": prob})


def check_ranks(ranks: xr.Dataset) -> None:
    """Refuse ranks that are not one number from 0 to 1, or NaN, a data set.

    Raises:
        ValueOutsideSupportError: if they are not; the message names the quantity.
    """
    for name, values in ranks.data_vars.items():
        if values.dims != (DATASET_DIM,):
            given = ", ".join(map(str, values.dims))
            raise ValueOutsideSupportError(
                f"Ranks of {name!r} must have the dimension {DATASET_DIM!r} only, but have ({given})."
            )
        is_wrong = (values < 0) | (values > 1)
        if is_wrong.any():
            first = float(values[is_wrong.values][0])
            raise ValueOutsideSupportError(f"Ranks of {name!r} must be from 0 to 1, but {first:g} was given.")


class _Score(NamedTuple):
    num_datasets: int
    num_failed: int
    max_deviation: float = np.nan
    band_used: float = np.nan
    is_inside: bool = False
    mean_rank: float = np.nan
    mean_rank_z: float = np.nan
    chi_square_p: float = np.nan


def _score_ranks(given: Float[np.ndarray, " dataset"], prob: float) -> _Score:
    ranks = given[~np.isnan(given)]
    num_failed = given.size - ranks.size
    if ranks.size == 0:
        return _Score(given.size, num_failed)
    band = simultaneous_band(ranks.size, prob=prob)
    deviation = evaluate_ecdf(ranks, band.grid) - band.grid
    used = _fraction_of_band(deviation, band)
    mean = float(ranks.mean())
    counts, _ = np.histogram(ranks, bins=NUM_BINS, range=(0.0, 1.0))
    expected = ranks.size / NUM_BINS
    return _Score(
        num_datasets=given.size,
        num_failed=num_failed,
        max_deviation=float(np.abs(deviation).max()),
        band_used=used,
        is_inside=used <= 1,
        mean_rank=mean,
        mean_rank_z=(mean - 0.5) * np.sqrt(12 * ranks.size),
        chi_square_p=float(special.chdtrc(NUM_BINS - 1, np.square(counts - expected).sum() / expected)),
    )


def _fraction_of_band(deviation: np.ndarray, band: Band) -> float:
    """Largest fraction of the way from the diagonal to the limit on the same side."""
    limit = np.where(deviation > 0, band.upper - band.grid, band.grid - band.lower)
    is_off = deviation != 0
    with np.errstate(divide="ignore"):
        return float(np.max(np.abs(deviation[is_off]) / limit[is_off], initial=0.0))
