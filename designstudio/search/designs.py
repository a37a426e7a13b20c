"""Designs as Optuna's parameters: what may vary, one canonical form for each design, and the design it stands for.

Levels are described by the lowest, the highest, and where those between lie. Equivalent descriptions (levels in another
order, values that play no role, numbers that differ beyond three digits) are one design: `identify_design` tells designs
apart, so that none is evaluated twice.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import optuna
from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution

from designstudio.core.fingerprint import as_plain, fingerprint
from designstudio.errors import StudioError
from designstudio.study import Choice, Range, Space
from designstudio.study.design import Condition, Design, Stimuli
from designstudio.study.design.design import MOST
from designstudio.study.space import DIMENSIONS, FREE, LINEAR, Variable
from designstudio.study.stimuli import DISTRIBUTIONS

Parameters = Mapping[str, Any]
NUM_DIGITS = 3
MIDDLES = ("middle_1", "middle_2")


def list_distributions(space: Space) -> dict[str, BaseDistribution]:
    """What Optuna may choose, by name."""
    distributions: dict[str, BaseDistribution] = {}
    most_levels = max(int(option) for option in space.options("levels"))
    if isinstance(space.level, Range | Choice):
        for name in _name_levels(space):
            distributions[name] = _distribute(space.level, is_log=True)
        if FREE in space.options("spacing"):
            for name in MIDDLES[: max(0, most_levels - 2)]:
                distributions[name] = FloatDistribution(0.05, 0.95)
    for name in space.searched:
        if name != space.parameter:
            is_log = name in ("stimuli.low", "stimuli.high", "minutes")
            distributions[name] = _distribute(space.variables[name], is_whole=DIMENSIONS[name].is_whole, is_log=is_log)
    return distributions


def canonicalize(space: Space, parameters: Parameters) -> dict[str, Any]:
    """Numbers of three digits, levels in order: the same for all descriptions of a design, in what plays a role in it.

    What plays none, such as the share of trials at the lowest of one level, stays as it was proposed: samplers must see
    bad results where they looked, or they look there again.
    """
    given = {name: _round(space, name, value) for name, value in parameters.items()}
    names = [name for name in _name_levels(space) if name in given]
    given |= dict(zip(names, sorted(given[name] for name in names), strict=True))
    between = [name for name in MIDDLES if name in given][: max(0, int(_value(space, given, "levels")) - 2)]
    return given | dict(zip(between, sorted(given[name] for name in between), strict=True))


def build_design(space: Space, parameters: Parameters, name: str = "design") -> Design:
    """The design that parameters describe.

    Raises:
        StudioError: if there is none, because stimuli would end before they begin, or there are more levels than trials.
    """
    levels = list_levels(space, parameters)
    trials = _value(space, parameters, "trials")
    if trials is None:
        trials = _value(space, parameters, "minutes") * 60 / space.seconds_per_trial
    if trials > MOST:
        raise StudioError(f"A design takes up to {MOST:,} trials, but there is time for {trials:.3g}: allow fewer minutes.")
    counts = share_trials(int(trials), max(1, len(levels)), float(_value(space, parameters, "low_share")))
    distribution = _value(space, parameters, "stimuli.distribution")
    low, high = (float(_value(space, parameters, f"stimuli.{end}")) for end in ("low", "high"))
    has_values = DISTRIBUTIONS.find(distribution).has_num_values
    num_values = int(_value(space, parameters, "stimuli.num_values")) if has_values else None
    conditions: tuple[Condition, ...] = (Condition("all trials", counts[0]),)
    if levels:
        conditions = tuple(
            Condition(f"{space.parameter} {level:g}", count, {str(space.parameter): level})
            for level, count in zip(levels, counts, strict=True)
        )
    return Design(
        name,
        conditions,
        Stimuli(distribution, low, high, num_values),
        space.seconds_per_trial,
        int(_value(space, parameters, "participants")),
    )


def list_levels(space: Space, parameters: Parameters) -> tuple[float, ...]:
    """The levels, from the lowest to the highest; none if the space has none."""
    if space.level is None:
        return ()
    if not isinstance(space.level, Range | Choice):
        return (float(space.level),)
    names = _name_levels(space)
    num_levels = int(_value(space, parameters, "levels"))
    low, high = float(parameters[names[0]]), float(parameters[names[-1]])
    if num_levels == 1:
        return (low,)
    spacing = _value(space, parameters, "spacing")
    places = np.linspace(0, 1, num_levels)
    if spacing == FREE:
        places[1:-1] = sorted(parameters[name] for name in MIDDLES[: num_levels - 2])
    levels = low + (high - low) * places if spacing == LINEAR else low * (high / low) ** places
    if isinstance(space.level, Choice):
        options = np.array(space.level.options, float)
        levels = options[np.argmin(np.abs(np.log(options[:, None] / levels)), axis=0)]
    rounded = tuple(_shorten(level) for level in levels)
    if len(set(rounded)) < num_levels:
        raise StudioError(f"The levels {', '.join(f'{level:g}' for level in rounded)} are not {num_levels} different ones.")
    return rounded


def share_trials(num_trials: int, num_levels: int, low_share: float) -> list[int]:
    """Trials for each level: weights go evenly, in logarithms, from the lowest to the highest level.

    Raises:
        StudioError: if there are fewer trials than levels.
    """
    if num_trials < num_levels:
        raise StudioError(f"{num_trials} trials are too few for {num_levels} levels.")
    places = np.linspace(0, 1, num_levels) if num_levels > 1 else np.zeros(1)
    weights = np.exp((1 - places) * math.log(low_share) + places * math.log(1 - low_share))
    exact = weights / weights.sum() * (num_trials - num_levels)
    counts = np.floor(exact).astype(int)
    for place in np.argsort(counts - exact, kind="stable")[: num_trials - num_levels - counts.sum()]:
        counts[place] += 1
    return [int(count) + 1 for count in counts]


def identify_design(design: Design) -> str:
    """A text that two designs share if and only if they are the same experiment."""
    conditions = sorted(([as_plain(c.levels), c.num_trials, as_plain(c.stimuli)] for c in design.conditions), key=str)
    whole = {"conditions": conditions, "stimuli": as_plain(design.stimuli), "participants": design.num_participants}
    return fingerprint({**whole, "seconds_per_trial": design.seconds_per_trial})[:16]


def place_parameters(space: Space, uniform: Sequence[float]) -> dict[str, Any]:
    """Parameters in canonical form from numbers between 0 and 1, one for each of `list_distributions`."""
    parameters = {}
    for (name, distribution), share in zip(list_distributions(space).items(), uniform, strict=True):
        match distribution:
            case CategoricalDistribution():
                parameters[name] = distribution.choices[
                    min(int(share * len(distribution.choices)), len(distribution.choices) - 1)
                ]
            case IntDistribution():
                num = (distribution.high - distribution.low) // distribution.step + 1
                parameters[name] = distribution.low + min(int(share * num), num - 1) * distribution.step
            case FloatDistribution(log=True):
                parameters[name] = distribution.low * (distribution.high / distribution.low) ** share
            case FloatDistribution(step=float(step)):
                num = round((distribution.high - distribution.low) / step) + 1
                parameters[name] = distribution.low + min(int(share * num), num - 1) * step
            case FloatDistribution():
                parameters[name] = distribution.low + share * (distribution.high - distribution.low)
    return canonicalize(space, parameters)


def suggest(trial: optuna.Trial, name: str, distribution: BaseDistribution) -> Any:
    """What Optuna chooses for one parameter of a trial."""
    match distribution:
        case CategoricalDistribution():
            return trial.suggest_categorical(name, distribution.choices)
        case IntDistribution():
            return trial.suggest_int(name, distribution.low, distribution.high, step=distribution.step)
        case FloatDistribution():
            return trial.suggest_float(
                name, distribution.low, distribution.high, step=distribution.step, log=distribution.log
            )
    raise TypeError(type(distribution))


def _name_levels(space: Space) -> tuple[str, ...]:
    """One name if there is only ever one level, else those of the lowest and the highest."""
    if space.options("levels") == (1,):
        return (str(space.parameter),)
    return (f"{space.parameter}_low", f"{space.parameter}_high")


def _distribute(variable: Variable, *, is_whole: bool = False, is_log: bool = False) -> BaseDistribution:
    if isinstance(variable, Choice):
        return CategoricalDistribution(variable.options)
    assert isinstance(variable, Range)  # noqa: S101  (callers leave out what is fixed)
    if is_whole:
        return IntDistribution(int(variable.low), int(variable.high), step=int(variable.step or 1))
    if variable.step is not None:
        return FloatDistribution(variable.low, variable.high, step=variable.step)
    return FloatDistribution(variable.low, variable.high, log=is_log and variable.low > 0)


def _value(space: Space, parameters: Parameters, name: str) -> Any:
    return parameters[name] if name in parameters else space.get(name)


def _round(space: Space, name: str, value: Any) -> Any:
    """Three digits, but never beyond the end of the range."""
    if not isinstance(value, float):
        return value
    distribution = list_distributions(space)[name]
    if isinstance(distribution, FloatDistribution):
        return min(max(_shorten(value), distribution.low), distribution.high)
    return value


def _shorten(value: float) -> float:
    return float(f"{value:.{NUM_DIGITS}g}")
