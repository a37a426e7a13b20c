"""What is wrong with data before anything is fitted: units that do not fit together, wild responses, one stimulus only.

Data that no fit could make sense of are refused in seconds; what a fit can live with is said.
"""

import numpy as np
import xarray as xr

from designstudio.core.numbers import format_significant
from designstudio.errors import DataError

# Factor between the numbers of some and of others from which on they are in another unit, and from which on they may be.
OTHER_UNIT, PERHAPS_OTHER_UNIT = 20.0, 5.0
# A person may be shown stimuli this far apart, as wide as the prior of what they expect: beyond it no fit makes sense of it.
WIDEST_STIMULI = 50.0
RATIOS, STIMULI = "responses relative to stimuli", "stimuli"
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
    measures = {RATIOS: ratio, STIMULI: size}
    sentences = []
    for what, numbers in list(measures.items()):
        said = _check_rows(numbers, what, trials, is_there)
        if said:
            sentences.append(said)
            # Medians of subjects and conditions fall to one side or the other by chance.
            del measures[what]
    groups = {
        # Where a condition is in another unit, whoever has much of it seems to be, too.
        "condition": {str(conditions[k]): is_there & (index == k) for k in np.unique(index[is_there])},
        "subject": {str(label): is_there & (row == i) for i, label in enumerate(trials["subject"].values)},
    }
    for role, parts in groups.items():
        for what, numbers in measures.items():
            away, factor = _split(np.array([np.median(numbers[part]) for part in parts.values()]))
            if abs(np.log(factor)) <= np.log(PERHAPS_OTHER_UNIT):
                continue
            labels = [label for label, is_away in zip(parts, away, strict=True) if is_away]
            said = f"The {what} of {_name(role, labels)} are {format_significant(factor)} times those of the others"
            if abs(np.log(factor)) > np.log(OTHER_UNIT):
                raise DataError(f"{said}, as in another unit: {_advise_leaving_out(role, labels)}.")
            # People may be shown other stimuli in each condition.
            if (role, what) != ("condition", STIMULI):
                sentences.append(f"{said}: if they are in another unit, convert these rows.")
    typical = float(np.nanmedian(ratio))
    said = f"Responses are typically {format_significant(np.exp(typical))} times their stimuli"
    if abs(typical) > np.log(OTHER_UNIT):
        raise DataError(f"{said}, but both must be in one unit: convert one.")
    if abs(typical) > np.log(PERHAPS_OTHER_UNIT):
        sentences.append(f"{said}: if they are in another unit, convert one.")
    return sentences


def _check_rows(numbers: np.ndarray, what: str, trials: xr.Dataset, is_there: np.ndarray) -> str:
    """Refuse subjects of whose trials many, and not all, are in another unit than what their conditions mostly hold.

    Returns:
        A sentence about stimuli that may be meant to lie so far apart, or nothing.
    """
    is_away = np.zeros(numbers.shape, bool)
    is_away[is_there], factor = _split(numbers[is_there])
    if abs(np.log(factor)) <= np.log(OTHER_UNIT):
        return ""
    index = trials["condition_index"].values
    parts = [is_there & (index == k) for k in range(trials.sizes["condition"])]
    mostly = np.array([is_away[part].sum() * 2 > part.sum() for part in parts])
    is_odd = is_there & (is_away != mostly[index])
    counts = is_there.sum(axis=1)
    share = is_odd.sum(axis=1) / np.maximum(counts, 1)
    # Fewer may be lapses; whoever is in another unit throughout is named as such.
    is_mixed = (share > MOST_LAPSES) & (share < 1 - MOST_LAPSES)
    if not is_mixed.any():
        return ""
    labels = [str(label) for label in trials["subject"].values[is_mixed]]
    said = (
        f"The {what} of {is_away[is_mixed].sum()} of the {counts[is_mixed].sum()} trials of {_name('subject', labels)} are "
        f"{format_significant(factor)} times those of the others"
    )
    if what == STIMULI and abs(np.log(factor)) <= np.log(WIDEST_STIMULI):
        return f"{said}: if they are in another unit, convert these rows."
    advice = "convert these rows" if is_mixed.all() else _advise_leaving_out("subject", labels)
    raise DataError(f"{said}, as in another unit: {advice}.")


def _advise_leaving_out(role: str, labels: list[str]) -> str:
    condition = f"{role} {'!= ' if len(labels) == 1 else 'not in '}{', '.join(labels)}"
    return f"convert these rows, or leave them out with --where '{condition}'"


def _split(numbers: np.ndarray) -> tuple[np.ndarray, float]:
    """Which lie beyond the widest gap, the fewer of both sides, and by which factor; numbers are logarithms."""
    ordered = np.sort(numbers)
    gaps = np.diff(ordered)
    # Of those who differ gradually nobody is in another unit.
    if not gaps.size or gaps.max() <= np.log(PERHAPS_OTHER_UNIT):
        return np.zeros(len(numbers), bool), 1.0
    is_high = numbers > ordered[np.argmax(gaps)]
    away = is_high if is_high.sum() * 2 <= len(numbers) else ~is_high
    return away, float(np.exp(np.median(numbers[away]) - np.median(numbers[~away])))


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
