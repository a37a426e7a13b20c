"""Trials that are allowed but cannot tell much: what a person should look at before trusting a fit."""

import numpy as np
import xarray as xr

from designstudio.core.numbers import format_significant
from designstudio.model.trials.schema import check_trials

# With fewer, a line goes through all points and says nothing about the noise.
FEWEST_TRIALS = 3
# Responses this close to a power of the stimulus, in log units, were computed rather than measured.
NO_NOISE = 1e-6
# Beyond it, stimulus and response are hardly in the same unit.
LARGEST_RATIO = 1000.0


def find_weaknesses(trials: xr.Dataset) -> list[list[str]]:
    """For each data set, sentences about what makes it tell little; none if it is fine.

    Raises:
        TrialsError: if the trials do not follow the schema.
    """
    check_trials(trials)
    present, index = trials["is_present"].values, trials["condition_index"].values
    # Padding becomes NaN, whatever it held.
    stimulus, response = (np.where(present, trials[name].values, np.nan) for name in ("stimulus", "response"))
    weaknesses: list[list[str]] = [[] for _ in range(trials.sizes["dataset"])]
    for number, condition in enumerate(trials["condition"].values):
        is_in = present & (index == number)
        for sentence, is_weak in _check_condition(np.log(stimulus), np.log(response), is_in).items():
            for dataset in np.flatnonzero(is_weak):
                weaknesses[dataset].append(sentence.format(condition=str(condition), count=is_in[dataset].sum()))
    middle_stimulus, middle_response = np.nanmedian(stimulus, axis=1), np.nanmedian(response, axis=1)
    is_far = np.abs(np.log(middle_response) - np.log(middle_stimulus)) > np.log(LARGEST_RATIO)
    for dataset in np.flatnonzero(is_far):
        weaknesses[dataset].append(
            f"The median response is {format_significant(middle_response[dataset])} but the median stimulus "
            f"{format_significant(middle_stimulus[dataset])}: check that both are in {trials['stimulus'].attrs['units']!r}."
        )
    return weaknesses


def _check_condition(x: np.ndarray, y: np.ndarray, is_in: np.ndarray) -> dict[str, np.ndarray]:
    """Which data sets are weak in one condition, for each weakness; `x` and `y` are logarithms."""
    count = is_in.sum(axis=1)
    has_few = (count > 0) & (count < FEWEST_TRIALS)
    has_same_x = (count > 1) & _is_constant(x, is_in)
    has_same_y = (count > 1) & _is_constant(y, is_in)
    has_no_noise = (count >= FEWEST_TRIALS) & ~has_same_y & (_residual_spread(x, y, is_in) < NO_NOISE)
    return {
        "Condition {condition!r} has no trials: its own parameters stay as uncertain as before.": count == 0,
        f"Condition {{condition!r}} has {{count}} of the {FEWEST_TRIALS} trials needed to see the noise: add some.": has_few,
        "Condition {condition!r} always shows the same stimulus: prior and bias cannot be told apart, vary it.": has_same_x,
        "Condition {condition!r} has the same response in every trial: check that it was measured.": has_same_y,
        "Condition {condition!r} has responses without any noise: check that they were measured.": has_no_noise,
    }


def _is_constant(values: np.ndarray, is_in: np.ndarray) -> np.ndarray:
    highest = np.max(values, axis=1, where=is_in, initial=-np.inf)
    lowest = np.min(values, axis=1, where=is_in, initial=np.inf)
    return highest == lowest


def _residual_spread(x: np.ndarray, y: np.ndarray, is_in: np.ndarray) -> np.ndarray:
    """Root mean square distance of y from its regression line on x."""
    count = np.maximum(is_in.sum(axis=1), 1)

    def centre(values: np.ndarray) -> np.ndarray:
        means = np.sum(values, axis=1, where=is_in) / count
        return np.where(is_in, values - means[:, None], 0.0)

    x, y = centre(x), centre(y)
    squares = (x**2).sum(axis=1)
    slope = (x * y).sum(axis=1) / np.where(squares > 0, squares, 1.0)
    return np.sqrt(((y - slope[:, None] * x) ** 2).sum(axis=1) / count)
