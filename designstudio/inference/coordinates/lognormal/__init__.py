"""Observable coordinates of the log-normal family: what the data determine, and the directions that they leave open.

In the usual coordinates (logarithms of the parameters) the posterior of a confounded design is a thin bent ridge. A
regression of log response on log stimulus determines, in each condition, a level, a slope and a residual variance; so these
are the coordinates, and what they leave open is an unidentified direction (u) with a bounded range:

    rho = log(sigma_0 / sigma)     the slope of the belief is sigmoid(2 rho); one for each condition that differs
    log v                          residual variance at the anchor, v = (w_m sigma)² + sigma_r²
    q = sigma_r / sqrt(v)          the motor share of the residual, as a fraction of what is possible                   (u)
    cost parameters                as they are, or their logarithms                                                     (u)
    c                              level: the log action for the mean stimulus, in place of log mu_0, in standard units

Where the cost's parameter sets a length at which the policy bends, the log saturation beyond that length takes its place (u;
see `saturation`), and the residual variance counts perceptual noise only as far as the bent policy lets it through.

The *anchor* is the first condition; `sort_by_noise` puts the noisiest there. Parameters that are fixed drop out; where
sigma_r or the noise scale has nothing to be traded against, its logarithm is the coordinate. For costs that are not power
laws the action is taken at the mean response, which makes the level approximate. That costs efficiency, never correctness,
because the map and its determinant are exact.

Every parameter has bounds, so every coordinate has bounds, which depend on the coordinates before it. The map is triangular:
each bound is explicit and so is the determinant. A coordinate outside its bounds is *flagged*: importance sampling gives it
no weight. NUTS moves in the same coordinates without bounds (`designstudio.inference.coordinates.bounds`).
"""

from designstudio.inference.coordinates.base import AbstractCoordinates, Constrained, Point, Start
from designstudio.inference.coordinates.bounds import BoundedReader
from designstudio.inference.coordinates.lognormal.constrain import constrain
from designstudio.inference.coordinates.lognormal.layout import bends_at_unit
from designstudio.inference.coordinates.lognormal.regression import start_from_regression
from designstudio.model.likelihood.model import BehaviorModel
from designstudio.model.likelihood.observations import Observations


class ObservableCoordinates(AbstractCoordinates):
    """Level, slope and residual variance of a regression, and what they leave open."""

    def find_start(self, model: BehaviorModel, observations: Observations) -> Start:
        return start_from_regression(model, observations)

    def constrain(
        self, model: BehaviorModel, given: Point, observations: Observations, expected: Start, *, is_unbounded: bool
    ) -> Constrained:
        return constrain(model, BoundedReader(given, expected, is_unbounded=is_unbounded), observations)

    def choose_num_rounds(self, model: BehaviorModel) -> int:
        """By how far from a regression the model is."""
        if model.is_straight:
            # A mixture with lapses is a little farther away.
            return 3 if model.has_lapses else 2
        if not model.rule.has_two_sides:
            return 3
        # What bends at a known length has coordinates for it; about anything else the regression says little.
        return 5 if bends_at_unit(model) else 12
