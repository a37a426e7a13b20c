"""Coordinates in which posteriors are sampled; see `designstudio.inference.coordinates.base`."""

from designstudio.inference.coordinates.base import Constrained, Point, Start
from designstudio.inference.coordinates.lognormal import ObservableCoordinates
from designstudio.model.likelihood.model import BehaviorModel
from designstudio.model.likelihood.observations import Observations

__all__ = ["Constrained", "Start", "constrain", "find_start"]

_OBSERVABLE = ObservableCoordinates()


def find_start(model: BehaviorModel, observations: Observations) -> Start:
    """Where the posterior of one data set is expected."""
    return _OBSERVABLE.find_start(model, observations)


def constrain(model: BehaviorModel, z: Point, observations: Observations, *, reflects: bool) -> Constrained:
    """From coordinates to parameters."""
    return _OBSERVABLE.constrain(model, z, observations, reflects=reflects)
