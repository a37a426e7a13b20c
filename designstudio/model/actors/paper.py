"""The paper's own network, kept for comparison.

It sees the raw parameters (mu_0, sigma_0, sigma, sigma_r and the cost's) and gives the three numbers of
a = softplus(y_1 m^y_2 + y_3). Hidden layers of 16, 64, 16 and 8 units with swish, as in section 3.1.2 of the paper, and
trained on the paper's box, which is smaller than that of the package's own architecture.
"""

import math
from collections.abc import Mapping

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Key

from designstudio.model.actors.base import AbstractActor, AbstractPolicy, Box, is_in_box
from designstudio.model.costs.base import AbstractCost
from designstudio.model.family import LOG_NORMAL, Family
from designstudio.model.parameters import PAPER_NOISE_BOX, training_priors
from designstudio.model.perception.base import Participant, Scalar
from designstudio.model.priors import Interval, PriorSet, Uniform

HIDDEN_SIZES = (16, 64, 16, 8)
PAPER_MU_0_BOX = Interval(0.1, 7.0)
# Stimuli from the range of the prior means, scattered by up to 3.5 times the largest perceptual noise.
_SCATTER = math.exp(3.5 * PAPER_NOISE_BOX.high)
MEASUREMENT_BOX = Interval(PAPER_MU_0_BOX.low / _SCATTER, PAPER_MU_0_BOX.high * _SCATTER)


class PaperActor(AbstractActor):
    """Network from raw parameters to the coefficients of a power law."""

    cost: AbstractCost = eqx.field(static=True)
    box: Box = eqx.field(static=True)
    layers: tuple[eqx.nn.Linear, ...]

    def __init__(self, cost: AbstractCost, *, box: Box | None = None, key: Key[Array, ""]) -> None:
        self.cost = cost
        self.box = paper_box(cost) if box is None else box
        sizes = (len(self.parameters), *HIDDEN_SIZES, 3)
        keys = jax.random.split(key, len(sizes) - 1)
        self.layers = tuple(
            eqx.nn.Linear(num_in, num_out, key=subkey)
            for num_in, num_out, subkey in zip(sizes[:-1], sizes[1:], keys, strict=True)
        )

    @property
    def family(self) -> Family:
        return LOG_NORMAL

    @property
    def parameter_boxes(self) -> Mapping[str, Interval]:
        return {name: interval for name, interval in self.box if name != "measurement"}

    @property
    def training_priors(self) -> PriorSet:
        boxes = self.parameter_boxes
        evenly = {p.name: Uniform(boxes[p.name].low, boxes[p.name].high) for p in self.family.parameters}
        return training_priors(self.parameters).replace(**evenly)

    def policy(self, participant: Participant) -> "PowerLawPolicy":
        hidden = jnp.stack([participant[parameter.name] for parameter in self.parameters])
        for layer in self.layers[:-1]:
            hidden = jax.nn.swish(layer(hidden))
        return PowerLawPolicy(self.layers[-1](hidden))

    def is_inside(self, participant: Participant, measurement: Scalar) -> Bool[Array, ""]:
        return is_in_box({"measurement": jnp.exp(measurement), **participant}, self.box)


class PowerLawPolicy(AbstractPolicy):
    """a = softplus(y_1 m^y_2 + y_3)."""

    coefficients: Float[Array, "3"]

    def __call__(self, measurement: Scalar) -> Scalar:
        factor, exponent, shift = self.coefficients
        return jnp.log(jax.nn.softplus(factor * jnp.exp(exponent * measurement) + shift))


def paper_box(cost: AbstractCost) -> Box:
    """Where the paper trained its networks."""
    noises = dict.fromkeys(("sigma_0", "sigma", "sigma_r"), PAPER_NOISE_BOX)
    own = {parameter.name: parameter.box for parameter in cost.parameters}
    return (("measurement", MEASUREMENT_BOX), ("mu_0", PAPER_MU_0_BOX), *noises.items(), *own.items())
