"""The coordinate of the lapse rate: its cube root, in which the posterior of a rate is nearly normal, however few lapses."""

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from designstudio.inference.coordinates.bounds import BoundedReader
from designstudio.model.likelihood.lapses import LAPSE_RATE
from designstudio.model.likelihood.model import BehaviorModel
from designstudio.model.likelihood.observations import Observations

# The root's derivative is infinite at zero.
SMALLEST_ROOT = 1e-3


def take_lapse_rate(model: BehaviorModel, reader: BoundedReader) -> tuple[Array, Array]:
    """The lapse rate from its coordinate, and the log determinant."""
    support = model.priors[LAPSE_RATE.name].support
    low, high = max(support.low ** (1 / 3), SMALLEST_ROOT), support.high ** (1 / 3)
    root = reader.take(low, high, 1)[0]
    return root**3, jnp.log(3 * root**2)


def start_lapse_rate(model: BehaviorModel, observations: Observations) -> tuple[Array, Array]:
    """Centre and scale of the root: by how many trials lie far from the line through the others."""
    moments = observations.moments
    # The regression leaves out what lies far from it.
    num_trials: Float[Array, ""] = jnp.sum(observations.weight)
    num_far = jnp.maximum(num_trials - jnp.sum(moments.count), 0.0)
    prior = model.priors[LAPSE_RATE.name].quantile(np.array([0.6827]))
    # A rate that is expected to be the prior's, and as many trials as would tell it equally well.
    count, trials = num_far + 1.0, num_trials + 1.0 / jnp.asarray(prior[0])
    centre = (count / trials) ** (1 / 3)
    return centre, centre / (3 * jnp.sqrt(count))
