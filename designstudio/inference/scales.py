"""The real line in place of a prior's support: coordinates of families without their own, and the scale of groups.

A parameter between two ends is brought to the whole real line by t = log((value - low) / (high - value)), one with a single
end by the logarithm of its distance from it; one without ends is on the real line already.
"""

import dataclasses
import math

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from designstudio.model.priors import AbstractPrior, Interval

Values = Float[np.ndarray, "..."]

# Draws are kept in 32 bits, so some lie on an end of the support; this share of it they keep away.
NEAREST_END = 1e-6
NUM_QUANTILES = 4000
TINY = np.finfo(np.float32).tiny


@dataclasses.dataclass(frozen=True)
class Scale:
    """Between a parameter and the real line, by the ends of its support."""

    support: Interval

    @property
    def is_bounded(self) -> bool:
        """Whether there are two ends."""
        return math.isfinite(self.support.low) and math.isfinite(self.support.high)

    @property
    def end(self) -> tuple[float, float] | None:
        """The only end and the direction in which values lie from it; None if there are two ends or none."""
        if self.is_bounded or not (math.isfinite(self.support.low) or math.isfinite(self.support.high)):
            return None
        return (self.support.low, 1.0) if math.isfinite(self.support.low) else (self.support.high, -1.0)

    def forward(self, values: Values) -> Values:
        """From the parameter to the real line."""
        values = np.asarray(values, float)
        if self.is_bounded:
            share = (values - self.support.low) / (self.support.high - self.support.low)
            share = np.clip(share, NEAREST_END, 1 - NEAREST_END)
            return np.log(share) - np.log1p(-share)
        if self.end is None:
            return values
        end, sign = self.end
        return np.log(np.maximum(sign * (values - end), TINY))

    def backward(self, points: Values) -> Values:
        """From the real line to the parameter."""
        points = np.asarray(points, float)
        if self.is_bounded:
            return self.support.low + (self.support.high - self.support.low) / (1 + np.exp(-points))
        if self.end is None:
            return points
        end, sign = self.end
        return end + sign * np.exp(points)

    def constrain(self, point: Float[Array, "..."]) -> tuple[Float[Array, "..."], Float[Array, "..."]]:
        """From the real line in code that is compiled, with the logarithm of the slope there."""
        if self.is_bounded:
            width = self.support.high - self.support.low
            log_slope = math.log(width) + jax.nn.log_sigmoid(point) + jax.nn.log_sigmoid(-point)
            return self.support.low + width * jax.nn.sigmoid(point), log_slope
        if self.end is None:
            return point, jnp.zeros_like(point)
        end, sign = self.end
        return end + sign * jnp.exp(point), point

    def stretch(self, value: Float[Array, "..."]) -> tuple[Float[Array, "..."], Float[Array, "..."]]:
        """To the real line in code that is compiled, with the logarithm of the slope there."""
        if self.is_bounded:
            above = value - self.support.low
            width = self.support.high - self.support.low
            share = jnp.clip(above / width, NEAREST_END, 1 - NEAREST_END)
            log_share, log_rest = jnp.log(share), jnp.log1p(-share)
            return log_share - log_rest, -log_share - log_rest - math.log(width)
        if self.end is None:
            return value, jnp.zeros_like(value)
        end, sign = self.end
        point = jnp.log(jnp.maximum(sign * (value - end), TINY))
        return point, -point

    def log_density(self, points: Values, prior: AbstractPrior) -> Values:
        """Log density of the point of a parameter with this prior."""
        points = np.asarray(points, float)
        # The logarithm of the slope of `backward`.
        slope = np.zeros_like(points) if self.end is None else points
        if self.is_bounded:
            slope = math.log(self.support.high - self.support.low) + points - 2 * np.logaddexp(0.0, points)
        return np.asarray(prior.distribution().log_prob(self.backward(points)), float) + slope

    def moments(self, prior: AbstractPrior) -> tuple[float, float]:
        """Mean and standard deviation of the point of a parameter with this prior."""
        points = self.forward(prior.quantile((np.arange(NUM_QUANTILES) + 0.5) / NUM_QUANTILES))
        return float(points.mean()), float(points.std())
