"""The scale on which a group is normal: the real line in place of the support of a parameter's analysis prior."""

import dataclasses
import math

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from designstudio.errors import StudioError
from designstudio.model.priors import AbstractPrior, Interval

Values = Float[np.ndarray, "..."]

# Draws are kept in 32 bits, so some lie on an end of the support; this share of it they keep away.
NEAREST_END = 1e-6
NUM_QUANTILES = 4000


@dataclasses.dataclass(frozen=True)
class Scale:
    """Between a parameter and the real line; the lower end of the support is finite, the upper one need not be."""

    support: Interval

    def __post_init__(self) -> None:
        if not math.isfinite(self.support.low):
            raise StudioError(f"Pooling needs priors with a lower end, but one reaches over {self.support}.")

    @property
    def is_bounded(self) -> bool:
        """Whether there is an upper end."""
        return math.isfinite(self.support.high)

    def forward(self, values: Values) -> Values:
        """From the parameter to the real line."""
        above = np.asarray(values, float) - self.support.low
        if not self.is_bounded:
            return np.log(np.maximum(above, np.finfo(np.float32).tiny))
        share = np.clip(above / (self.support.high - self.support.low), NEAREST_END, 1 - NEAREST_END)
        return np.log(share) - np.log1p(-share)

    def backward(self, points: Values) -> Values:
        """From the real line to the parameter."""
        points = np.asarray(points, float)
        if not self.is_bounded:
            return self.support.low + np.exp(points)
        return self.support.low + (self.support.high - self.support.low) / (1 + np.exp(-points))

    def stretch(self, value: Float[Array, "..."]) -> tuple[Float[Array, "..."], Float[Array, "..."]]:
        """To the real line in code that is compiled, with the logarithm of the slope there."""
        above = value - self.support.low
        if not self.is_bounded:
            point = jnp.log(jnp.maximum(above, np.finfo(np.float32).tiny))
            return point, -point
        width = self.support.high - self.support.low
        share = jnp.clip(above / width, NEAREST_END, 1 - NEAREST_END)
        log_share, log_rest = jnp.log(share), jnp.log1p(-share)
        return log_share - log_rest, -log_share - log_rest - math.log(width)

    def log_density(self, points: Values, prior: AbstractPrior) -> Values:
        """Log density of the point of a parameter with this prior."""
        points = np.asarray(points, float)
        # The logarithm of the slope of `backward`.
        slope = points
        if self.is_bounded:
            slope = math.log(self.support.high - self.support.low) + points - 2 * np.logaddexp(0.0, points)
        return np.asarray(prior.distribution().log_prob(self.backward(points)), float) + slope

    def moments(self, prior: AbstractPrior) -> tuple[float, float]:
        """Mean and standard deviation of the point of a parameter with this prior."""
        points = self.forward(prior.quantile((np.arange(NUM_QUANTILES) + 0.5) / NUM_QUANTILES))
        return float(points.mean()), float(points.std())
