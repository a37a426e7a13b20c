"""Power along a design variable: what more trials, more participants or other stimuli would buy.

Points are a Dataset over goal and variables: `value` and `mcse`, and the same with the effect of the goal absent
(`when_absent`, `when_absent_mcse`; NaN where it cannot be), and how many fits both leave out (`num_failed`,
`num_failed_absent`) of how many (`num_datasets`). Each goal also has a `nominal` level and the words `absent`,
`kind` and `rule`; see `PowerScore`.
"""

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from designstudio.core.cache import BlockCache
from designstudio.core.presentation import AbstractResult, Overview
from designstudio.core.progress import Counter, ProgressCallback
from designstudio.errors import StudioError, UnknownNameError
from designstudio.evaluate.evaluate_design import evaluate_design
from designstudio.evaluate.find_size import SizeAnswer
from designstudio.evaluate.group_goals import score_group_goals
from designstudio.evaluate.limits import check_designs
from designstudio.evaluate.power_words import format_power, warn_along
from designstudio.metrics.monte_carlo import Score
from designstudio.metrics.power import PowerScore
from designstudio.model.parameters import NO_UNIT
from designstudio.study import Study
from designstudio.study.design import Condition, Design
from designstudio.study.design.design import MOST
from designstudio.study.goals import GROUPS_DIFFER

if TYPE_CHECKING:
    import pandas as pd

PARTICIPANTS = "participants"
STIMULUS_FIELDS = ("low", "high", "num_values")
NUMBERS = ("value", "mcse", "when_absent", "when_absent_mcse")
# Fits that these numbers leave out; runs of older versions have not counted them.
COUNTS = ("num_datasets", "num_failed", "num_failed_absent", "num_studies")
WORDS = ("absent", "kind", "rule")

# Of each goal, as `PowerScore.as_dict` has it.
Power = Mapping[str, Mapping[str, Any]]


@dataclasses.dataclass(frozen=True, repr=False)
class PowerCurves(AbstractResult):
    """The chance to reach each goal along variables of a design.

    Attributes:
        study: the question, with its fidelity and number of data sets.
        design: which was varied.
        points: power over goal and variables, with and without the effect.
        answers: how many participants each goal needs, if a target was asked for.
    """

    study: Study
    design: Design
    points: xr.Dataset
    answers: tuple[SizeAnswer, ...] = ()

    @property
    def variables(self) -> tuple[str, ...]:
        """What was varied."""
        return tuple(str(dim) for dim in self.points["value"].dims if dim != "goal")

    def overview(self) -> Overview:
        """Goals side by side, a row for each point."""
        points = self.points["value"].stack(point=self.variables)["point"].values.tolist()
        places = [dict(zip(self.variables, p if isinstance(p, tuple) else (p,), strict=True)) for p in points]
        goals = [str(goal) for goal in self.points["goal"].values]
        study = self.study
        return Overview(
            title=study.title or "Power",
            facts=f"Chance to reach each goal with {self.design.name}; {self._count()}, fidelity {study.fidelity}, seed "
            f"{study.seed}. ± is the Monte Carlo error; in brackets with the effect absent.",
            columns=(", ".join(self.variables), *goals),
            rows=tuple(
                (", ".join(f"{value:g}" for value in place.values()), *(self._format(goal, place) for goal in goals))
                for place in places
            ),
            notes=(*map(str, self.answers), *warn_of_curves(self.points)),
            hint="All numbers: .to_frame(). Curve, or contours over participants and trials: .plot(). Arrays: .points.",
        )

    def to_frame(self) -> "pd.DataFrame":
        """One row a goal and point: see `frame_points`."""
        return frame_points(self.points)

    def _count(self) -> str:
        """What was simulated at each point."""
        if not self.answers:
            is_of_studies = all(goal.is_of_studies for goal in self.study.goals)
            num, unit = (self.study.num_studies, "studies") if is_of_studies else (self.study.num_datasets, "data sets")
            return f"{num} simulated {unit} a point" if is_of_studies else f"{num} {unit} a point"
        return f"{self.answers[0].num_studies} simulated studies, the smaller of which are the first people of larger ones"

    def _format(self, goal: str, place: dict[str, float]) -> str:
        return format_power(read_power(self.points.sel({"goal": goal, **place})))


def frame_points(points: xr.Dataset) -> "pd.DataFrame":
    """One row a goal and point: columns goal, the variables, value, mcse, when_absent, when_absent_mcse, and failed fits."""
    return points[[name for name in (*NUMBERS, *COUNTS) if name in points]].to_dataframe().reset_index()


def tabulate_power(goals: Sequence[str], along: Mapping[str, Sequence[float]], powers: Sequence[Power]) -> xr.Dataset:
    """Points of a grid as a Dataset.

    Args:
        goals: labels of all goals.
        along: variables and their values.
        powers: power by goal, as `PowerScore.as_dict` has it, of all points, the last variable changing fastest; empty
            where a point is missing.
    """
    shape = (len(goals), *map(len, along.values()))
    numbers = np.array([[_list_numbers(power.get(goal)) for power in powers] for goal in goals], float)
    numbers = numbers.reshape(*shape, len(NUMBERS))
    counts = np.array([[[power.get(goal, {}).get(name, 0) for name in COUNTS] for power in powers] for goal in goals], int)
    counts = counts.reshape(*shape, len(COUNTS))
    known = [next((power[goal] for power in powers if goal in power), {}) for goal in goals]
    return xr.Dataset(
        {name: (("goal", *along), numbers[..., k]) for k, name in enumerate(NUMBERS)}
        | {name: (("goal", *along), counts[..., k]) for k, name in enumerate(COUNTS)}
        | {
            "nominal": ("goal", np.array([_number(entry.get("nominal")) for entry in known])),
            **{name: ("goal", np.array([str(entry.get(name, "")) for entry in known], object)) for name in WORDS},
        },
        coords={"goal": list(goals), **{name: np.asarray(values, float) for name, values in along.items()}},
    )


def name_units(points: xr.Dataset, study: Study) -> xr.Dataset:
    """The same points; variables that have the unit of a study that names one say so."""
    if not study.unit:
        return points
    units = dict.fromkeys(("stimuli.low", "stimuli.high"), study.unit)
    units |= {p.name: p.unit for p in study.list_parameters(study.population.cost)}
    for dim in map(str, points["value"].dims):
        unit = units.get(dim.partition("[")[0], NO_UNIT)
        if unit != NO_UNIT:
            points[dim].attrs["units"] = unit
    return points


def read_power(point: xr.Dataset) -> PowerScore:
    """One point of a Dataset as `tabulate_power` makes it."""
    value, mcse, absent, absent_mcse, nominal = (float(point[name]) for name in (*NUMBERS, "nominal"))
    num_datasets, num_failed, num_failed_absent, num_studies = (int(point[name]) if name in point else 0 for name in COUNTS)
    return PowerScore(
        value,
        mcse,
        # There is no such rate, unless there is none because all fits have failed.
        None if math.isnan(absent) and not num_failed_absent else Score(absent, absent_mcse),
        str(point["absent"].item()),
        None if math.isnan(nominal) else nominal,
        str(point["kind"].item()),
        str(point["rule"].item()),
        num_datasets,
        num_failed,
        num_failed_absent,
        num_studies,
    )


def warn_of_curves(points: xr.Dataset) -> list[str]:
    """Sentences about points on whose power nobody should count."""
    sentences = []
    for goal in points["goal"].values:
        of_goal = points.sel(goal=goal)
        places = of_goal["value"].stack(point=of_goal["value"].dims)["point"]
        variables = [str(dim) for dim in of_goal["value"].dims]
        found = {}
        for place in places.values.tolist():
            at = dict(zip(variables, place if isinstance(place, tuple) else (place,), strict=True))
            found[" and ".join(f"{name} {value:g}" for name, value in at.items())] = read_power(of_goal.sel(at))
        sentences += warn_along(str(goal), found)
    return sentences


def _list_numbers(entry: Mapping[str, Any] | None) -> list[float]:
    entry = {} if entry is None else entry
    absent = entry.get("when_absent") or {}
    return [_number(number) for one in (entry, absent) for number in (one.get("value"), one.get("mcse"))]


def _number(value: float | None) -> float:
    return math.nan if value is None else float(value)


def list_variables(design: Design) -> list[str]:
    """What can be varied in a design."""
    levels = [f"{name}[{k}]" for name in design.levels for k in range(len(design.conditions))]
    fields = [f"stimuli.{field}" for field in STIMULUS_FIELDS if getattr(design.stimuli, field) is not None]
    return ["trials", "participants", *levels, *fields]


def vary_design(design: Design, variable: str, value: float) -> Design:
    """The same design with one variable changed.

    Args:
        design: to start from.
        variable: `trials` (in all, shared between conditions as before), `participants`, a level such as `sigma[1]` (of the
            second condition), or `stimuli.low`, `stimuli.high`, `stimuli.num_values`.
        value: its new value.

    Raises:
        StudioError: if the variable is unknown or the value impossible.
    """
    if variable not in list_variables(design):
        raise UnknownNameError(f"variable of the design {design.name!r}", variable, list_variables(design))
    if variable in ("trials", "participants", "stimuli.num_values") and value != int(value):
        raise StudioError(f"{variable} must be a whole number, but {value:g} was given.")
    if variable == "trials" and value > MOST:
        raise StudioError(f"A design takes up to {MOST:,} trials, but {value:.3g} were given.")
    if variable == "trials":
        return dataclasses.replace(design, conditions=_share_trials(design, int(value)))
    if variable == "participants":
        return dataclasses.replace(design, num_participants=int(value))
    if variable.startswith("stimuli."):
        field = variable.removeprefix("stimuli.")
        changes: dict[str, Any] = {field: int(value) if field == "num_values" else value}
        return dataclasses.replace(design, stimuli=dataclasses.replace(design.stimuli, **changes))
    name, _, place = variable.removesuffix("]").partition("[")
    conditions = list(design.conditions)
    changed = conditions[int(place)]
    conditions[int(place)] = dataclasses.replace(changed, levels={**changed.levels, name: value})
    return dataclasses.replace(design, conditions=tuple(conditions))


def check_values(variable: str, values: Sequence[float]) -> None:
    """Refuse values along which nothing can be traced.

    Raises:
        StudioError: if there are none, if one appears twice, or if one is no finite number.
    """
    if not values:
        raise StudioError(f"Give at least one value of {variable}.")
    for value in values:
        if not math.isfinite(value):
            raise StudioError(f"{variable} must be finite numbers, but {value:g} was given.")
        if list(values).count(value) > 1:
            raise StudioError(f"The value {value:g} of {variable} appears twice: give each once.")


def trace_power(
    study: Study,
    design: Design,
    variable: str,
    values: Sequence[float],
    *,
    fidelity: str | None = None,
    num_datasets: int | None = None,
    cache: BlockCache | None = None,
    progress: ProgressCallback | None = None,
) -> xr.Dataset:
    """Chance to reach each goal, along a variable.

    Returns:
        Power over (goal, variable); see `tabulate_power`.
    """
    if not study.goals:
        raise StudioError("The study has no goals, so there is no power to compute: add [[goals]] to it.")
    check_values(variable, values)
    designs = [vary_design(design, variable, value) for value in values]
    if variable == PARTICIPANTS and all(goal.is_of_studies for goal in study.goals):
        return _trace_studies(study, design, [d.num_participants for d in designs], fidelity, cache, progress)
    check_designs(study, designs, fidelity=fidelity, num_datasets=num_datasets)
    fewest = min(varied.num_participants for varied in designs)
    for goal in study.goals:
        if goal.kind == GROUPS_DIFFER and fewest < 2:
            raise StudioError(f"The goal that {goal} needs at least 2 participants in each group, but {fewest} was given.")
    num_each = study.num_datasets if num_datasets is None else num_datasets
    counter = Counter(progress, len(values) * num_each)
    powers = [
        evaluate_design(
            study, varied, fidelity=fidelity, num_datasets=num_datasets, cache=cache,
            progress=counter.of_part(place * num_each),
        ).power
        for place, varied in enumerate(designs)
    ]  # fmt: skip
    described = [{goal: score.as_dict() for goal, score in power.items()} for power in powers]
    return name_units(tabulate_power(list(powers[0]), {variable: values}, described), study)


def _trace_studies(
    study: Study,
    design: Design,
    sizes: list[int],
    fidelity: str | None,
    cache: BlockCache | None,
    progress: ProgressCallback | None,
) -> xr.Dataset:
    """The same for whole studies of several sizes, of which the largest are simulated."""
    cache = BlockCache.default() if cache is None else cache
    powers = score_group_goals(study.replace(fidelity=fidelity), design, sizes=sizes, cache=cache, progress=progress)
    return tabulate_sizes({size: powers[size] for size in sizes})


def tabulate_sizes(powers: Mapping[int, Mapping[str, PowerScore]]) -> xr.Dataset:
    """Power over (goal, participants)."""
    described = [{goal: score.as_dict() for goal, score in power.items()} for power in powers.values()]
    return tabulate_power(list(described[0]), {PARTICIPANTS: list(powers)}, described)


def map_power(
    study: Study,
    design: Design,
    *,
    trials: Sequence[int],
    participants: Sequence[int],
    fidelity: str | None = None,
    num_datasets: int | None = None,
    cache: BlockCache | None = None,
    progress: ProgressCallback | None = None,
) -> xr.Dataset:
    """Chance to reach each goal, over participants and trials.

    More participants need no more simulations: data sets are those of single participants.

    Returns:
        Power over (goal, participants, trials); see `tabulate_power`.
    """
    check_values("participants", participants)
    num_each = len(trials) * (study.num_datasets if num_datasets is None else num_datasets)
    counter = Counter(progress, len(participants) * num_each)
    rows = [
        trace_power(
            study, vary_design(design, "participants", number), "trials", trials,
            fidelity=fidelity, num_datasets=num_datasets, cache=cache,
            progress=counter.of_part(place * num_each),
        )
        for place, number in enumerate(participants)
    ]  # fmt: skip
    joined = xr.concat(rows, "participants", data_vars=[*NUMBERS, *COUNTS], compat="override", coords="minimal")
    return joined.assign_coords(participants=list(participants)).transpose("goal", "participants", ...)


def _share_trials(design: Design, total: int) -> tuple[Condition, ...]:
    """Trials in the same proportions, rounded so that they add up."""
    if total < len(design.conditions):
        raise StudioError(
            f"{total} trials are too few for the {len(design.conditions)} conditions of {design.name!r}: each needs one."
        )
    shares = np.array([condition.num_trials for condition in design.conditions], float)
    ends = np.round(np.cumsum(shares) / shares.sum() * total).astype(int)
    counts = np.maximum(np.diff(ends, prepend=0), 1)
    return tuple(
        dataclasses.replace(condition, num_trials=int(count))
        for condition, count in zip(design.conditions, counts, strict=True)
    )
