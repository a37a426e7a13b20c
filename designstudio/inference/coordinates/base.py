"""What coordinates are, and how to write others.

Samplers do not move in the parameters but in coordinates z, one real number for each free number of the model, or in the
same coordinates without their bounds, y. Good coordinates are those that the data determine one by one: in them the
posterior is nearly Gaussian. A family of models that has such coordinates of its own derives from `AbstractCoordinates`,
writes three methods, and says so by name: see `designstudio.inference.coordinates.register_coordinates`. All others use
`UnconstrainedCoordinates`, which know nothing but the ends of each prior.

- `find_start` says where the posterior is expected before any sampling: a centre and a scale for each coordinate. A poor
  start costs efficiency, never correctness.
- `constrain` is the map from coordinates to parameters, with the logarithm of its determinant. This must be exact.
- `choose_num_rounds` says how often a proposal is improved before its draws are kept: the better the start, the fewer.

Both are for one data set, inside compiled code; vmap for many.
"""

from abc import ABC, abstractmethod
from typing import NamedTuple

import equinox as eqx
from jaxtyping import Array, Bool, Float

from designstudio.model.likelihood.model import BehaviorModel, Values
from designstudio.model.likelihood.observations import Moments, Observations

Scalar = Float[Array, ""]
Point = Float[Array, " coordinate"]


class Start(eqx.Module):
    """Where the posterior is expected before sampling.

    Attributes:
        centre: estimate of each coordinate.
        scale: its standard error; for unidentified directions, half of the allowed range.
        is_unidentified: which coordinates the data are expected to say nothing about; they are bounded, and the first
            proposal is uniform along them.
        likely: ends of what the data leave possible of some parameters, by name; for coordinates that want to know it.
        regression: around the mean stimulus; for coordinates that want to know it, at every draw.
    """

    centre: Point
    scale: Point
    is_unidentified: tuple[bool, ...] = eqx.field(static=True)
    likely: dict[str, Float[Array, "entry 2"]] = eqx.field(default_factory=dict)
    regression: Moments | None = None


class Constrained(NamedTuple):
    """Parameters found from coordinates.

    Attributes:
        values: the free parameters.
        log_det: log of |d values / d z|.
        is_inside: whether all coordinates were between their bounds.
        z: the coordinates between their bounds. y: the same without bounds.
        log_slope: log of |dz / dy|.
    """

    values: Values
    log_det: Scalar
    is_inside: Bool[Array, ""]
    z: Point
    y: Point
    log_slope: Scalar


class AbstractCoordinates(ABC):
    """The coordinates in which posteriors of a family of models are sampled."""

    @abstractmethod
    def find_start(self, model: BehaviorModel, observations: Observations) -> Start:
        """Where the posterior is expected, in the order in which `constrain` reads the coordinates."""

    @abstractmethod
    def constrain(
        self, model: BehaviorModel, given: Point, observations: Observations, expected: Start, *, is_unbounded: bool
    ) -> Constrained:
        """From coordinates to parameters.

        Args:
            model: the behaviour model.
            given: coordinates z, or y if they are unbounded.
            observations: one data set.
            expected: what `find_start` says about it.
            is_unbounded: whether y is given, which is never outside; a z outside its bounds is moved to the nearest one,
                and `is_inside` says so. `designstudio.inference.coordinates.bounds` has a reader for both.
        """

    @abstractmethod
    def choose_num_rounds(self, model: BehaviorModel) -> int:
        """How many rounds importance sampling needs to learn its proposal."""
