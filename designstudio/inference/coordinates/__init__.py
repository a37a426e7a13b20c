"""Coordinates in which posteriors are sampled; see `designstudio.inference.coordinates.base` for how to write others.

A model's family names its coordinates (`designstudio.model.family`): `observable` are those of the log-normal family,
`unconstrained` serve every family without its own.
"""

from designstudio.errors import UnknownNameError
from designstudio.inference.coordinates.base import AbstractCoordinates, Constrained, Point, Start
from designstudio.inference.coordinates.lognormal import ObservableCoordinates
from designstudio.inference.coordinates.unconstrained import UnconstrainedCoordinates
from designstudio.model.likelihood.model import BehaviorModel
from designstudio.model.likelihood.observations import Observations

__all__ = [
    "AbstractCoordinates",
    "Constrained",
    "Start",
    "choose_coordinates",
    "constrain",
    "find_start",
    "register_coordinates",
]

_COORDINATES: dict[str, AbstractCoordinates] = {
    "observable": ObservableCoordinates(),
    "unconstrained": UnconstrainedCoordinates(),
}


def register_coordinates(name: str, coordinates: AbstractCoordinates) -> None:
    """Make coordinates known to families by a name."""
    _COORDINATES[name] = coordinates


def choose_coordinates(model: BehaviorModel) -> AbstractCoordinates:
    """The coordinates of the model's family.

    Raises:
        UnknownNameError: if the family names coordinates that nobody has registered.
    """
    name = model.family.coordinates
    if name not in _COORDINATES:
        raise UnknownNameError("coordinates", name, _COORDINATES)
    return _COORDINATES[name]


def find_start(model: BehaviorModel, observations: Observations) -> Start:
    """Where the posterior of one data set is expected."""
    return choose_coordinates(model).find_start(model, observations)


def constrain(
    model: BehaviorModel, given: Point, observations: Observations, expected: Start, *, is_unbounded: bool = False
) -> Constrained:
    """From coordinates to parameters; see `AbstractCoordinates.constrain`."""
    return choose_coordinates(model).constrain(model, given, observations, expected, is_unbounded=is_unbounded)
