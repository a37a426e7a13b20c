"""Prior distributions as plain, editable values, and sets of them.

A prior here is a small frozen record ("Uniform from 0.1 to 5") rather than a sampler object, so that it can be shown,
compared, written to a file and changed with `replace`. `distribution()` turns it into the numpyro distribution that does
the work. Every family can be truncated with `within`: the paper's half-normals reach past the range on which its actors
were trained, and a fit must not.
"""

import dataclasses
import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import Self

import jax
import numpy as np
import numpyro.distributions as dist
from jaxtyping import Array, Float, Key
from scipy import stats

from designstudio.errors import StudioError, UnknownNameError


@dataclasses.dataclass(frozen=True)
class Interval:
    """A closed interval of the real line; an end may be infinite."""

    low: float
    high: float

    def __post_init__(self) -> None:
        if not self.low < self.high:
            raise StudioError(f"An interval needs low < high, but low is {self.low:g} and high is {self.high:g}.")

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high

    def __str__(self) -> str:
        return f"{self.low:g} to {self.high:g}"

    def intersect(self, other: "Interval") -> "Interval":
        """The part that both intervals share."""
        return Interval(max(self.low, other.low), min(self.high, other.high))


class AbstractPrior(ABC):
    """A one-dimensional prior distribution, possibly truncated."""

    @property
    @abstractmethod
    def support(self) -> Interval:
        """Where the density is positive."""

    @abstractmethod
    def within(self, interval: Interval) -> Self:
        """The same prior, truncated to `interval`."""

    @abstractmethod
    def distribution(self) -> dist.Distribution:
        """The numpyro distribution."""

    @abstractmethod
    def quantile(self, probability: Float[np.ndarray, "..."]) -> Float[np.ndarray, "..."]:
        """The inverse distribution function: uniform random numbers become draws, and keep their order."""


@dataclasses.dataclass(frozen=True)
class Constant(AbstractPrior):
    """Everyone has the same value. For simulated participants only: a fit needs a range, or a fixed value."""

    value: float

    @property
    def support(self) -> Interval:
        return Interval(math.nextafter(self.value, -math.inf), math.nextafter(self.value, math.inf))

    def within(self, interval: Interval) -> "Constant":
        if self.value not in interval:
            raise StudioError(f"The constant {self.value:g} lies outside {interval}.")
        return self

    def distribution(self) -> dist.Distribution:
        return dist.Delta(self.value)

    def quantile(self, probability: Float[np.ndarray, "..."]) -> Float[np.ndarray, "..."]:
        return np.full(np.shape(probability), self.value)

    def __str__(self) -> str:
        return f"always {self.value:g}"


@dataclasses.dataclass(frozen=True)
class Uniform(AbstractPrior):
    """Uniform from `low` to `high`."""

    low: float
    high: float

    def __post_init__(self) -> None:
        Interval(self.low, self.high)

    @property
    def support(self) -> Interval:
        return Interval(self.low, self.high)

    def within(self, interval: Interval) -> "Uniform":
        shared = self.support.intersect(interval)
        return Uniform(shared.low, shared.high)

    def distribution(self) -> dist.Distribution:
        return dist.Uniform(self.low, self.high)

    def quantile(self, probability: Float[np.ndarray, "..."]) -> Float[np.ndarray, "..."]:
        return self.low + (self.high - self.low) * np.asarray(probability, float)

    def __str__(self) -> str:
        return f"Uniform({self.low:g}, {self.high:g})"


@dataclasses.dataclass(frozen=True)
class HalfNormal(AbstractPrior):
    """Normal around zero with standard deviation `scale`, restricted to positive values."""

    scale: float
    bounds: Interval = Interval(0.0, math.inf)

    def __post_init__(self) -> None:
        _check_positive("HalfNormal", scale=self.scale)

    @property
    def support(self) -> Interval:
        return self.bounds

    def within(self, interval: Interval) -> "HalfNormal":
        return dataclasses.replace(self, bounds=self.bounds.intersect(interval))

    def distribution(self) -> dist.Distribution:
        return dist.TruncatedNormal(0.0, self.scale, low=self.bounds.low, high=_finite(self.bounds.high))

    def quantile(self, probability: Float[np.ndarray, "..."]) -> Float[np.ndarray, "..."]:
        return _normal_quantile(probability, 0.0, self.scale, self.bounds)

    def __str__(self) -> str:
        return f"HalfNormal({self.scale:g}) on {self.bounds}"


@dataclasses.dataclass(frozen=True)
class LogNormal(AbstractPrior):
    """The logarithm is normal around log(`median`) with standard deviation `sigma`."""

    median: float
    sigma: float
    bounds: Interval = Interval(0.0, math.inf)

    def __post_init__(self) -> None:
        _check_positive("LogNormal", median=self.median, sigma=self.sigma)

    @property
    def support(self) -> Interval:
        return self.bounds

    def within(self, interval: Interval) -> "LogNormal":
        return dataclasses.replace(self, bounds=self.bounds.intersect(interval))

    def distribution(self) -> dist.Distribution:
        low = math.log(self.bounds.low) if self.bounds.low > 0 else None
        high = _finite(math.log(self.bounds.high))
        logarithm = dist.TruncatedNormal(math.log(self.median), self.sigma, low=low, high=high)
        return dist.TransformedDistribution(logarithm, dist.transforms.ExpTransform())

    def quantile(self, probability: Float[np.ndarray, "..."]) -> Float[np.ndarray, "..."]:
        with np.errstate(divide="ignore"):
            low, high = (float(np.log(bound)) for bound in (self.bounds.low, self.bounds.high))
        return np.exp(_normal_quantile(probability, math.log(self.median), self.sigma, Interval(low, high)))

    def __str__(self) -> str:
        return f"LogNormal(log {self.median:g}, {self.sigma:g}) on {self.bounds}"


def _check_positive(family: str, **numbers: float) -> None:
    for name, number in numbers.items():
        if not 0 < number < math.inf:
            raise StudioError(f"{family} needs a positive, finite {name}, but {number:g} was given.")


def _finite(bound: float) -> float | None:
    return bound if math.isfinite(bound) else None


def _normal_quantile(
    probability: Float[np.ndarray, "..."], mean: float, sd: float, bounds: Interval
) -> Float[np.ndarray, "..."]:
    """Quantiles of a normal distribution that is truncated to `bounds`."""
    low, high = ((bound - mean) / sd for bound in (bounds.low, bounds.high))
    return stats.truncnorm.ppf(probability, low, high, loc=mean, scale=sd)


class PriorSet(Mapping[str, AbstractPrior]):
    """One prior for each parameter of a model, in the model's order."""

    def __init__(self, priors: Mapping[str, AbstractPrior]) -> None:
        self._priors = dict(priors)

    def __getitem__(self, name: str) -> AbstractPrior:
        return self._priors[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._priors)

    def __len__(self) -> int:
        return len(self._priors)

    def __repr__(self) -> str:
        return "PriorSet(" + ", ".join(f"{name}={prior}" for name, prior in self.items()) + ")"

    def replace(self, **priors: AbstractPrior) -> "PriorSet":
        """The same set with some priors exchanged."""
        for name in priors:
            if name not in self._priors:
                raise UnknownNameError("parameter", name, self._priors)
        return PriorSet({**self._priors, **priors})

    def sample(self, num_draws: int, *, key: Key[Array, ""]) -> dict[str, Float[Array, " draw"]]:
        """Independent draws of all parameters."""
        keys = jax.random.split(key, len(self))
        return {
            name: prior.distribution().sample(subkey, (num_draws,))
            for subkey, (name, prior) in zip(keys, self.items(), strict=True)
        }
