"""What is wrong with data before anything is fitted: units that do not fit together, wild responses, one stimulus only.

Data that no fit could make sense of are refused in seconds; what a fit can live with is said.
"""

import numpy as np
import xarray as xr

from designstudio.core.numbers import format_significant
from designstudio.errors import DataError

# Factor between the numbers of some and of others from which on they are in another unit, and from which on they may be.
OTHER_UNIT, PERHAPS_OTHER_UNIT = 20.0, 5.0
# Factor beyond the range of all stimuli from which on a response is far from any of them.
FAR = 3.0
# More than this share of responses are not far by lapses.
MOST_LAPSES = 0.2
# So many equal responses, and half of those that are far from all stimuli, are perhaps a code for missing ones.
FEWEST_CODES = 3
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
    units = _check_units(trials, stimulus, response)
    far = _describe_far(stimulus, response, subjects, allows_lapses)
    return [*units, *far, *_describe_single(stimulus, subjects)]


def _check_units(trials: xr.Dataset, stimulus: np.ndarray, response: np.ndarray) -> list[str]:
    """Refuse numbers that cannot be in one unit; say which may not be."""
    # Only of positive numbers: others are refused where data are read.
    with np.errstate(invalid="ignore", divide="ignore"):
        ratio, size = np.log(response / stimulus), np.log(stimulus)
    conditions, index = trials["condition"].values, trials["condition_index"].values
    is_there, row = np.isfinite(ratio), np.arange(len(ratio))[:, None]
    groups = {
        # Where a condition is in another unit, whoever has much of it seems to be, too.
        "condition": {str(conditions[k]): is_there & (index == k) for k in np.unique(index[is_there])},
        "subject": {str(label): is_there & (row == i) for i, label in enumerate(trials["subject"].values)},
    }
    sentences: list[str] = []
    for role, parts in groups.items():
        for numbers, what in ((ratio, "responses relative to stimuli"), (size, "stimuli")):
            away, factor = _split(np.array([np.median(numbers[part]) for part in parts.values()]))
            if abs(np.log(factor)) <= np.log(PERHAPS_OTHER_UNIT):
                continue
            labels = [label for label, is_away in zip(parts, away, strict=True) if is_away]
            said = f"The {what} of {_name(role, labels)} are {format_significant(factor)} times those of the others"
            if abs(np.log(factor)) > np.log(OTHER_UNIT):
                leave_out = f"{role} {'!= ' if len(labels) == 1 else 'not in '}{', '.join(labels)}"
                raise DataError(
                    f"{said}, as in another unit: convert these rows, or leave them out with --where '{leave_out}'."
                )
            # People may be shown other stimuli in each condition.
            if (role, what) != ("condition", "stimuli"):
                sentences.append(f"{said}: if they are in another unit, convert these rows.")
    typical = float(np.nanmedian(ratio))
    said = f"Responses are typically {format_significant(np.exp(typical))} times their stimuli"
    if abs(typical) > np.log(OTHER_UNIT):
        raise DataError(f"{said}, but both must be in one unit: convert one.")
    if abs(typical) > np.log(PERHAPS_OTHER_UNIT):
        sentences.append(f"{said}: if they are in another unit, convert one.")
    return sentences


def _split(medians: np.ndarray) -> tuple[np.ndarray, float]:
    """Which lie beyond the widest gap, the fewer of both sides, and by which factor; medians are logarithms."""
    ordered = np.sort(medians)
    gaps = np.diff(ordered)
    # Of those who differ gradually nobody is in another unit.
    if not gaps.size or gaps.max() <= np.log(PERHAPS_OTHER_UNIT):
        return np.zeros(len(medians), bool), 1.0
    is_high = medians > ordered[np.argmax(gaps)]
    away = is_high if is_high.sum() * 2 <= len(medians) else ~is_high
    return away, float(np.exp(np.median(medians[away]) - np.median(medians[~away])))


def _name(role: str, labels: list[str]) -> str:
    more = f" and {len(labels) - MOST_NAMED} more" if len(labels) > MOST_NAMED else ""
    return f"{role}{'s' if len(labels) > 1 else ''} {', '.join(map(repr, labels[:MOST_NAMED]))}{more}"


def _describe_far(stimulus: np.ndarray, response: np.ndarray, subjects: list[str], allows_lapses: bool) -> list[str]:
    low, high = np.nanmin(stimulus), np.nanmax(stimulus)
    with np.errstate(invalid="ignore"):
        is_far = (response > FAR * high) | (response < low / FAR)
    num, num_all = int(is_far.sum()), int(np.isfinite(response).sum())
    if not num:
        return []
    rows, columns = np.nonzero(is_far)
    named = ", ".join(
        f"{subjects[i]} trial {t + 1} ({response[i, t]:g})" for i, t in list(zip(rows, columns, strict=True))[:MOST_NAMED]
    )
    more = f" and {num - MOST_NAMED} more" if num > MOST_NAMED else ""
    return [
        f"{num} of {num_all} responses lie more than a factor of {FAR:g} beyond all stimuli, {format_significant(low)} to "
        f"{format_significant(high)}: {named}{more}. {_advise(response[is_far], num / num_all, allows_lapses)}"
    ]


def _advise(far: np.ndarray, share: float, allows_lapses: bool) -> str:
    """What to do about responses that are far from all stimuli."""
    values, counts = np.unique(far, return_counts=True)
    if counts.max() >= max(FEWEST_CODES, len(far) / 2):
        code = f"{values[np.argmax(counts)]:g}"
        return f"{counts.max()} of them are {code}: if that stands for a missing response, add --where 'response != {code}'."
    if share > MOST_LAPSES:
        return "So many are no lapses: see whether they are in another unit, or in another column."
    if allows_lapses:
        return "They count as possible lapses; if they are slips of a unit or a key, correct them."
    return "The fits take each of them for what the person meant: correct them, or fit with --lapses free."


def _describe_single(stimulus: np.ndarray, subjects: list[str]) -> list[str]:
    has_one = np.nanmax(stimulus, axis=1) - np.nanmin(stimulus, axis=1) <= 1e-9 * np.nanmax(np.abs(stimulus), axis=1)
    if not has_one.any():
        return []
    who = "All subjects have" if has_one.all() else f"Subjects {', '.join(np.array(subjects)[has_one][:MOST_NAMED])} have"
    return [
        f"{who} seen one stimulus only: how responses follow stimuli, and so prior and perceptual noise, cannot be told."
    ]
