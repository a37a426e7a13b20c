"""The experiment that was run, as a design: what its subjects saw, and how often; and the designs around it.

Everything is in the unit of the data.
"""

import math
from collections.abc import Mapping, Sequence

import numpy as np
import xarray as xr
from jaxtyping import Float

from designstudio.fitting.group_moments import round_number
from designstudio.model.family import DEFAULT_FAMILY
from designstudio.model.priors import AbstractPrior
from designstudio.study import Range, Space
from designstudio.study.design import Condition, Design, Stimuli
from designstudio.study.space import LOG, MOST_LEVELS, Variable
from designstudio.study.stimuli import GRID, LIST, LOG_UNIFORM, UNIFORM

NOISE = DEFAULT_FAMILY.perceptual_noise
PILOT = "pilot"
# A trial takes as long as it takes; files of data do not say.
SECONDS_PER_TRIAL = 5.0
# So many different stimuli are a list; more are a range.
MOST_VALUES = 12
# What this share of the trials shows is what was meant to be shown; the others are calibration, practice, or mistakes.
NEARLY_ALL = 0.99
# The same in one condition: chance may have put most of the others there.
NOT_ODD = 0.95
# Stimuli that differ only beyond this many digits are the same, in another unit.
NUM_DIGITS = 6
# Ends of a range are where stimuli happened to fall: more digits would mean nothing.
RANGE_DIGITS = 3
# Conditions that show this much of the whole range, in logarithms, show the same range.
SAME_RANGE = 0.9
# A search needs a range of stimuli; where one stimulus was shown, this share of it on both sides.
AROUND = 0.1

Values = Float[np.ndarray, " trial"]


def describe_pilot(
    trials: xr.Dataset, levels: Mapping[str, Sequence[float]], own: Mapping[str, Sequence[AbstractPrior]]
) -> Design:
    """The design of trials that were run.

    Args:
        trials: in the unit of the data.
        levels: of parameters that the experimenter sets, one for each condition.
        own: where parameters come from that participants draw anew in each condition.
    """
    # A condition that was planned may have no trials: nothing of it was run.
    found = {k: values for k, values in enumerate(collect_stimuli(trials)) if len(values)}
    everywhere = describe_stimuli(np.concatenate(list(found.values())))
    shown = [_leave_out_odd(values, everywhere) for values in found.values()]
    stimuli = [None] * len(shown) if _are_same(shown, everywhere) else [describe_stimuli(values) for values in shown]
    conditions = tuple(
        Condition(
            _plain(str(label)),
            count_trials(trials, k),
            {name: values[k] for name, values in levels.items()},
            {name: priors[k] for name, priors in own.items()},
            stimuli[place],
        )
        for place, (k, label) in enumerate((k, trials["condition"].values[k]) for k in found)
    )
    return Design(PILOT, conditions, everywhere, SECONDS_PER_TRIAL, trials.sizes["dataset"])


def collect_stimuli(trials: xr.Dataset) -> list[Values]:
    """All stimuli of each condition, to the digits that matter."""
    present, index = trials["is_present"].values, trials["condition_index"].values
    stimuli = trials["stimulus"].values
    chosen = [stimuli[present & (index == k)] for k in range(trials.sizes["condition"])]
    return [np.array([round_number(value, NUM_DIGITS) for value in values]) for values in chosen]


def count_trials(trials: xr.Dataset, condition: int) -> int:
    """Trials of the median subject in a condition, of those who were in it."""
    counts = (trials["is_present"].values & (trials["condition_index"].values == condition)).sum(axis=1)
    return max(1, round(float(np.median(counts[counts > 0])))) if counts.any() else 1


def describe_stimuli(values: Values) -> Stimuli:
    """The list of what was shown if that is short, but for a trial in a hundred, else the range it comes from."""
    different, counts = np.unique(values, return_counts=True)
    frequent = np.argsort(-counts, kind="stable")
    # A list is balanced: what was shown once would be shown as often as all else.
    num_needed = int(np.searchsorted(counts[frequent].cumsum(), NEARLY_ALL * len(values))) + 1
    if num_needed <= MOST_VALUES:
        return Stimuli(LIST, values=tuple(np.sort(different[frequent[:num_needed]]).tolist()))
    for num_digits in (RANGE_DIGITS, NUM_DIGITS):
        low, high = (round_number(float(end), num_digits) for end in (different[0], different[-1]))
        if low < high:
            break
    return Stimuli(choose_range(values), low, high)


def _leave_out_odd(values: Values, everywhere: Stimuli) -> Values:
    """A condition's stimuli without those that are rare in the whole experiment, unless the condition shows them often."""
    is_listed = np.isin(values, everywhere.values) if everywhere.distribution == LIST else np.ones(len(values), bool)
    return values[is_listed] if is_listed.mean() > NOT_ODD else values


def count_odd_stimuli(trials: xr.Dataset, pilot: Design) -> int:
    """Trials that showed what is not in the pilot's lists."""
    shown = collect_stimuli(trials)
    lists = [pilot.stimuli_of(condition).shown_values for condition in pilot.conditions]
    return sum(int((~np.isin(values, listed)).sum()) for values, listed in zip(shown, lists, strict=True) if listed)


def choose_range(values: Values) -> str:
    """Whether stimuli lie evenly, or evenly in logarithms: whichever is nearer to their distribution, on average."""
    from scipy import stats  # noqa: PLC0415  (takes half a second)

    # Of equal stimuli the middle one's rank: a step of the distribution has no right end.
    share = (stats.rankdata(values) - 0.5) / len(values)
    low, high = float(values.min()), float(values.max())
    even, log_even = (values - low) / (high - low), np.log(values / low) / np.log(high / low)
    return UNIFORM if np.square(share - even).mean() <= np.square(share - log_even).mean() else LOG_UNIFORM


def describe_space(pilot: Design, fitted: Sequence[float], stimuli: Values) -> Space:
    """Designs around the pilot: up to four levels, up to as many trials, the same range of stimuli.

    Args:
        pilot: what was run.
        fitted: perceptual uncertainty of the median subject; levels reach from half the smallest to twice the largest.
        stimuli: all that were shown.
    """
    low, high = max(min(fitted) / 2, NOISE.box.low), min(max(fitted) * 2, NOISE.box.high)
    if low >= high:
        low, high = NOISE.box.low, NOISE.box.high
    total = pilot.num_trials
    fewest = max(math.ceil(total / 2), MOST_LEVELS)
    variables: dict[str, Variable] = {
        "levels": Range(1, MOST_LEVELS),
        "spacing": LOG,
        "low_share": Range(0.2, 0.8),
        "trials": Range(fewest, total) if fewest < total else total,
        "participants": pilot.num_participants,
    }
    variables |= {f"stimuli.{name}": value for name, value in _describe_range(pilot.stimuli, stimuli).items()}
    return Space(variables, NOISE.name, Range(round_number(low, 3), round_number(high, 3)), SECONDS_PER_TRIAL)


def _describe_range(shown: Stimuli, stimuli: Values) -> dict[str, Variable]:
    """The pilot's stimuli as a search knows them, to which a list is a grid or a range."""
    low, high = shown.support
    if shown.distribution != LIST:
        return {"distribution": shown.distribution, "low": low, "high": high}
    values = np.array(shown.values)
    if len(values) == 1:
        return {"distribution": UNIFORM, "low": low * (1 - AROUND), "high": high * (1 + AROUND)}
    gaps = np.diff(values)
    if np.ptp(gaps) < 0.05 * gaps.mean():
        return {"distribution": GRID, "low": low, "high": high, "num_values": len(values)}
    return {"distribution": choose_range(stimuli), "low": low, "high": high}


def _are_same(shown: Sequence[Values], everywhere: Stimuli) -> bool:
    """Whether all conditions show what the experiment shows."""
    if everywhere.distribution == LIST:
        return all(describe_stimuli(values) == everywhere for values in shown)
    low, high = everywhere.support
    wanted = SAME_RANGE * np.log(high / low)
    return all(
        describe_stimuli(values).distribution != LIST and np.log(values.max() / values.min()) >= wanted for values in shown
    )


def _plain(label: str) -> str:
    """A label on one line, as names in study files are."""
    return "".join(letter if letter.isprintable() else " " for letter in label)
