"""Observable coordinates: what the data determine, and the slack that they leave.

In the usual coordinates (logarithms of the parameters) the posterior of a confounded design is a thin bent ridge. A
regression of log response on log stimulus determines, in each condition, a level, a slope and a residual variance; so these
are the coordinates, and what they leave open is slack with a bounded range:

    rho = log(sigma_0 / sigma)     the slope of the belief is sigmoid(2 rho); one for each condition that differs
    log v                          residual variance at the anchor, v = (w_m sigma)² + sigma_r²
    q = sigma_r / sqrt(v)          the motor share of the residual, as a fraction of what is possible               (slack)
    cost parameters                as they are, or their logarithms                                                   (slack)
    c                              level: the log action for the mean stimulus, in place of log mu_0, in standard units

Where the cost's parameter sets a length at which the policy bends, the depth beyond that length takes its place (slack; see
`depth`), and the residual variance counts perceptual noise only as far as the bent policy lets it through.

The *anchor* is the first condition; `sort_by_noise` puts the noisiest there. Parameters that are fixed drop out; where
sigma_r or the noise scale has nothing to be traded against, its logarithm is the coordinate. For costs that are not power
laws the action is taken at the mean response, which makes the level approximate. That costs efficiency, never correctness,
because the map and its Jacobian are exact.

Every parameter has bounds, so every coordinate has walls, which depend on the coordinates before it. The map is triangular:
each wall is explicit and so is the Jacobian. Outside its walls a coordinate is either *flagged* (importance sampling gives
it no weight) or *folded* back, as if the wall were a mirror: the density is then continuous everywhere, and a Hamiltonian
sampler bounces off the wall instead of stopping there.
"""

from designstudio.inference.coordinates.guess import Guess, guess
from designstudio.inference.coordinates.locate import Located, locate

__all__ = ["Guess", "Located", "guess", "locate"]
