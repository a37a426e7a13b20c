"""What is wrong with data before anything is fitted: units that do not fit together, wild responses, one stimulus only.

Data that no fit could make sense of are refused in seconds; what a fit can live with is said.
"""

import numpy as np
import xarray as xr

from designstudio.core.numbers import format_significant
from designstudio.errors import DataError

# Factor by which a subject's responses are off their stimuli, or stimuli those of others, before it is another unit.
OTHER_UNIT = 20.0
# Factor beyond the range of all stimuli from which on a response is far from any of them.
FAR = 3.0
MOST_NAMED = 5


def check_data(trials: xr.Dataset, *, allows_lapses: bool) -> list[str]:
    """Sentences about what a person should look at before they believe a fit.

    Args:
        trials: one data set for each subject, in the unit of the data.
        allows_lapses: whether the fit takes wild responses for possible lapses.

    Raises:
        DataError: if stimuli and responses are not in one unit.
    """
    is_present = trials["is_present"].values
    stimulus, response = (np.where(is_present, trials[name].values, np.nan) for name in ("stimulus", "response"))
    subjects = [str(subject) for subject in trials["subject"].values]
    # Only of positive numbers: others are refused where data are read.
    with np.errstate(invalid="ignore", divide="ignore"):
        ratio = np.nanmedian(np.log(response / stimulus), axis=1)
        size = np.nanmedian(np.log(stimulus), axis=1)
    _refuse_other_units(ratio, size, subjects)
    return [*_describe_far(stimulus, response, subjects, allows_lapses), *_describe_single(stimulus, subjects)]


def _refuse_other_units(ratio: np.ndarray, size: np.ndarray, subjects: list[str]) -> None:
    """Refuse data, or subjects, whose numbers are not in one unit; both arrays are logarithms, one for each subject."""
    limit, typical = np.log(OTHER_UNIT), float(np.median(ratio))
    if abs(typical) > limit:
        raise DataError(
            f"Responses are typically {format_significant(np.exp(typical))} times their stimuli, but both must be in one "
            "unit: convert one."
        )
    for numbers, what in ((ratio, "responses relative to stimuli"), (size, "stimuli")):
        away = numbers - np.median(numbers)
        if (np.abs(away) > limit).any():
            i = int(np.argmax(np.abs(away)))
            raise DataError(
                f"The {what} of subject {subjects[i]!r} are {format_significant(np.exp(away[i]))} times those of the "
                f"others, as in another unit: convert these rows, or leave them out with --where 'subject != {subjects[i]}'."
            )


def _describe_far(stimulus: np.ndarray, response: np.ndarray, subjects: list[str], allows_lapses: bool) -> list[str]:
    low, high = np.nanmin(stimulus), np.nanmax(stimulus)
    with np.errstate(invalid="ignore"):
        is_far = (response > FAR * high) | (response < low / FAR)
    num, num_all = int(is_far.sum()), int(np.isfinite(response).sum())
    if not num:
        return []
    rows, columns = np.nonzero(is_far)
    named = ", ".join(
        f"{subjects[i]} trial {t + 1} ({format_significant(response[i, t])})"
        for i, t in list(zip(rows, columns, strict=True))[:MOST_NAMED]
    )
    more = f" and {num - MOST_NAMED} more" if num > MOST_NAMED else ""
    advice = (
        "They count as possible lapses; if they are slips of a unit or a key, correct them."
        if allows_lapses
        else "The fits take each of them for what the person meant: correct them, or fit with --lapses free."
    )
    return [
        f"{num} of {num_all} responses lie more than a factor of {FAR:g} beyond all stimuli, {format_significant(low)} to "
        f"{format_significant(high)}: {named}{more}. {advice}"
    ]


def _describe_single(stimulus: np.ndarray, subjects: list[str]) -> list[str]:
    has_one = np.nanmax(stimulus, axis=1) - np.nanmin(stimulus, axis=1) <= 1e-9 * np.nanmax(np.abs(stimulus), axis=1)
    if not has_one.any():
        return []
    who = "All subjects have" if has_one.all() else f"Subjects {', '.join(np.array(subjects)[has_one][:MOST_NAMED])} have"
    return [
        f"{who} seen one stimulus only: how responses follow stimuli, and so prior and perceptual noise, cannot be told."
    ]
