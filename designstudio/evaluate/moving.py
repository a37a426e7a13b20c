"""People without the effect of a quantity: everybody is moved the least way to where the quantity has a given value.

A quantity such as mu_0 * beta can have one value in many ways. The least way of a person is the shortest in standard
deviations of the analysis prior; parameters that are positive are measured by their logarithm.
"""

import dataclasses
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import numpy as np
import xarray as xr
from jaxtyping import Bool, Float

from designstudio.errors import UnknownNameError
from designstudio.evaluate.entries import split_conditions, spread_evenly
from designstudio.model.likelihood.model import BehaviorModel
from designstudio.model.parameters import Parameter
from designstudio.model.scale import Scale, suffix_unit
from designstudio.study.quantities import PerCondition, Quantity

Points = Float[np.ndarray, "person column"]
Values = Float[np.ndarray, " person"]

# A quantity has its value if it is off by no more than this share of it; formulas are computed in 32 bits.
CLOSE = 1e-4
# Most formulas are nearly straight over a person's way, and take three steps.
MOST_STEPS = 20
HALVINGS = 80
# Standard deviations that make no difference.
SAME_PLACE = 1e-5


class Moved(NamedTuple):
    """People who were moved.

    Attributes:
        people: all their parameters, in the study's unit.
        names: of the parameters that were moved.
        reached: what the quantity is for them.
        is_there: whether that is the value that was asked for.
    """

    people: xr.Dataset
    names: tuple[str, ...]
    reached: Values
    is_there: Bool[np.ndarray, " person"]


def move_people(
    people: xr.Dataset,
    quantity: Quantity,
    value: float,
    *,
    parameters: Sequence[Parameter],
    fitted: BehaviorModel,
    scale: Scale,
    given: Sequence[str] = (),
) -> Moved | None:
    """People moved the least way to where a quantity has a value, or as near to it as actors know.

    Args:
        people: everybody's parameters, in the study's unit.
        quantity: of the study.
        value: that it shall have.
        parameters: of the simulated participants, in the actor's unit.
        fitted: the model of the analysis; what it estimates is moved first.
        scale: between the study's unit and the actor's.
        given: parameters that conditions set; they are moved only if the quantity depends on nothing else.

    Returns:
        None if people have no such quantity, or nothing of theirs changes it.
    """
    estimated = [p for p in parameters if p.name in fitted.free and p.name not in given]
    for movable in (estimated, parameters):
        columns = [column for p in movable for column in _list_columns(people, p, fitted, scale)]
        space = _Space(people, quantity, columns)
        if not columns:
            continue
        try:
            start, slopes = space.compute(space.take(people))
        except (UnknownNameError, KeyError):
            return None
        if not (np.isfinite(slopes).all() and (slopes != 0).any(axis=1).all()):
            continue
        found = _approach(space, value)
        reached, _ = space.compute(found)
        # Of a value of 0 there is no share.
        room = CLOSE * max(abs(value), float(np.std(start)))
        moved = [column.name for place, column in enumerate(columns) if (slopes[:, place] != 0).any()]
        return Moved(space.put(found), tuple(dict.fromkeys(moved)), reached, np.abs(reached - value) <= room)
    return None


def describe_move(moved: Moved, quantity: Quantity, value: float) -> str:
    """How people were moved."""
    unit, names = suffix_unit(quantity.unit), " and ".join(moved.names)
    if moved.is_there.all():
        return f"{quantity.name} is {value:g}{unit} for everybody, whose {names} went the least way there"
    low, high = (f"{end:.3g}" for end in (moved.reached.min(), moved.reached.max()))
    where = low if low == high else f"{low} to {high}"
    return f"{quantity.name} is {where}{unit}, the nearest to {value:g} that actors know, by moving {names}"


class _Column(NamedTuple):
    """A parameter, in one condition if it differs between them, in standard deviations of its prior.

    Attributes:
        name: of the parameter.
        condition: its place; None where all share one value.
        is_log: whether the column is its logarithm.
        sd: of the analysis prior. low, high: where actors know it, in these.
    """

    name: str
    condition: int | None
    is_log: bool
    sd: float
    low: float
    high: float


def _list_columns(people: xr.Dataset, parameter: Parameter, fitted: BehaviorModel, scale: Scale) -> list[_Column]:
    size, box = scale.size_of(parameter), parameter.box
    is_log = box.low > 0
    prior = fitted.priors.get(parameter.name, parameter.analysis)
    draws = size * spread_evenly(prior)
    sd = float(np.std(np.log(draws) if is_log else draws)) or 1.0
    low, high = (float(np.log(size * end) if is_log else size * end) / sd for end in (box.low, box.high))
    array = people[parameter.name]
    conditions = range(array.sizes["condition"]) if "condition" in array.dims else [None]
    return [_Column(parameter.name, k, is_log, sd, low, high) for k in conditions]


@dataclasses.dataclass(frozen=True)
class _Space:
    """Where people can be moved.

    Attributes:
        people: everybody's parameters.
        quantity: that is computed.
        columns: what may be moved.
    """

    people: xr.Dataset
    quantity: Quantity
    columns: Sequence[_Column]

    @property
    def ends(self) -> tuple[np.ndarray, np.ndarray]:
        """The lowest and the highest of each column."""
        return np.array([column.low for column in self.columns]), np.array([column.high for column in self.columns])

    def take(self, people: xr.Dataset) -> Points:
        """Where people are."""
        points = []
        for column in self.columns:
            array = people[column.name]
            values = (array if column.condition is None else array.isel(condition=column.condition)).values
            points.append((np.log(values) if column.is_log else values) / column.sd)
        return np.stack(points, axis=1)

    def put(self, points: Points) -> xr.Dataset:
        """The people who are there."""
        values = self._restore(points)
        return self.people.assign(
            {
                name: self.people[name].copy(data=np.stack(value, axis=1) if isinstance(value, tuple) else value)
                for name, value in self._gather(list(values.T)).items()
            }
        )

    def compute(self, points: Points) -> tuple[Values, Points]:
        """The quantity, and its slope along each column."""
        values = self._restore(points)
        others = {str(name): split_conditions(array, ("dataset",)) for name, array in self.people.items()}

        def compute(columns: list[Any]) -> Any:
            return self.quantity.function({**others, **self._gather(columns)})

        # Each person's quantity depends on their own parameters only: one sweep back gives everybody's slopes.
        result, pull = jax.vjp(compute, [column.astype(np.float32) for column in values.T])
        (slopes,) = pull(np.ones_like(result))
        logs, sds = (np.array([getattr(column, name) for column in self.columns]) for name in ("is_log", "sd"))
        slopes = np.stack([np.asarray(slope, float) for slope in slopes], axis=1)
        return np.asarray(result, float), slopes * np.where(logs, values, 1.0) * sds

    def _restore(self, points: Points) -> np.ndarray:
        """The parameters at points."""
        columns = [
            np.exp(values * column.sd) if column.is_log else values * column.sd
            for values, column in zip(points.T, self.columns, strict=True)
        ]
        return np.stack(columns, axis=1)

    def _gather(self, values: Sequence[Any]) -> dict[str, Any]:
        """Values of columns by parameter: one, or one for each condition."""
        found: dict[str, list[Any]] = {}
        for column, value in zip(self.columns, values, strict=True):
            found.setdefault(column.name, []).append(value)
        differing = {column.name for column in self.columns if column.condition is not None}
        return {name: PerCondition(many) if name in differing else many[0] for name, many in found.items()}


def _approach(space: _Space, value: float) -> Points:
    """The nearest points at which the quantity has a value; where there are none, those where it comes nearest to it."""
    start = space.take(space.people)
    nearest, misses = _walk(space, value, start, start, np.full(len(start), np.inf))
    # Who is still away from the value goes there from where they are.
    return _walk(space, value, nearest, nearest, misses)[0]


def _walk(space: _Space, value: float, origin: Points, best: Points, least: Values) -> tuple[Points, Values]:
    """Steps to the points nearest to an origin at which the quantity has a value: the best, and how far off it is there."""
    points, (low, high) = best, space.ends
    # Who is beyond what actors know stays there, unless the quantity calls them.
    low, high = np.minimum(low, origin), np.maximum(high, origin)
    for _ in range(MOST_STEPS):
        found, slopes = space.compute(points)
        misses = np.where(np.isfinite(slopes).all(axis=1), np.abs(found - value), np.inf)
        is_better = misses <= least
        best, least = np.where(is_better[:, None], points, best), np.where(is_better, misses, least)
        offset = value - found + (slopes * points).sum(axis=1)
        proposed = _nearest_of_plane(origin, np.where(np.isfinite(slopes), slopes, 0.0), offset, low, high)
        # A step that led away, or where there is no number, was too long.
        following = np.where(is_better[:, None], proposed, (points + best) / 2)
        if np.abs(following - points).max() < SAME_PLACE:
            break
        points = following
    return best, least


def _nearest_of_plane(origin: Points, slopes: Points, offset: Values, low: Points, high: Points) -> Points:
    """The points between the ends that are nearest to an origin, and whose product with the slopes is `offset`.

    They lie in the direction of the slopes, but for columns at an end: one number for each person is looked for.
    """
    steepness = np.where(slopes == 0, np.inf, np.abs(slopes)).min(axis=1)
    most = 2 * np.max(high - low) / steepness

    def move(along: Values) -> Points:
        return np.clip(origin + along[:, None] * slopes, low, high)

    first, last = -most, most
    for _ in range(HALVINGS):
        middle = (first + last) / 2
        is_below = (slopes * move(middle)).sum(axis=1) < offset
        first, last = np.where(is_below, middle, first), np.where(is_below, last, middle)
    return move((first + last) / 2)
