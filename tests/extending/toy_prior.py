"""A family of priors from outside of the package: rare at the low end, frequent at the high one."""

import dataclasses
from typing import ClassVar

import jax.numpy as jnp
import numpy as np
import numpyro.distributions as dist
from jax import Array

from designstudio.model.priors import AbstractPrior, Interval, register_prior
from designstudio.model.priors.base import Layout


@register_prior
@dataclasses.dataclass(frozen=True)
class Rising(AbstractPrior):
    """The density rises evenly from 0 at `low` to its peak at `high`."""

    family: ClassVar[str] = "rising"
    example: ClassVar[str] = "{ rising = [0.1, 0.5] }"
    layout: ClassVar[Layout] = "list"
    low: float
    high: float

    def __post_init__(self):
        Interval(self.low, self.high)

    @property
    def support(self):
        return Interval(self.low, self.high)

    @property
    def ends(self):
        return self.low, self.high

    def within(self, interval):
        # Cut off below, it would be another family.
        return Rising(self.low, min(self.high, interval.high))

    def stretch(self, factor):
        return Rising(self.low * factor, self.high * factor)

    def distribution(self):
        # The square root of a uniform number has a density that rises evenly.
        return _RisingDistribution(self.low, self.high)

    def quantile(self, probability):
        return self.low + (self.high - self.low) * np.sqrt(np.asarray(probability, float))

    def __str__(self):
        return f"Rising({self.low:g}, {self.high:g})"


class _RisingDistribution(dist.Distribution):
    def __init__(self, low, high):
        self.low, self.high = low, high
        super().__init__()

    @dist.constraints.dependent_property
    def support(self):
        return dist.constraints.interval(self.low, self.high)

    def sample(self, key, sample_shape=()):
        return self.icdf(dist.Uniform(0.0, 1.0).sample(key, sample_shape))

    def log_prob(self, value) -> Array:
        return jnp.log(2.0) + jnp.log(value - self.low) - 2 * jnp.log(self.high - self.low)

    def icdf(self, probability):
        return self.low + (self.high - self.low) * jnp.sqrt(probability)
