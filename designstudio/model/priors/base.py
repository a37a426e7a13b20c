"""Prior distributions as plain, editable values, and sets of them.

A prior here is a small frozen record ("Uniform from 0.1 to 5") rather than a sampler object, so that it can be shown,
compared, written to a file and changed with `replace`. `distribution()` turns it into the numpyro distribution that does
the work. Every family can be truncated with `within`: the paper's half-normals reach past the range on which its actors
were trained, and a fit must not.

To add a family, write one file with a frozen dataclass whose fields are its numbers (and `bounds`, if it is truncated by
them), and register it. Study files, their JSON Schema and reference page, fits and records then know it:

    @register_prior
    @dataclasses.dataclass(frozen=True)
    class Triangular(AbstractPrior):
        "Rises evenly from `low` to a peak at `high`."

        family: ClassVar[str] = "triangular"
        example: ClassVar[str] = "{ triangular = [0.1, 0.5] }"
        layout: ClassVar[Layout] = "list"
        low: float
        high: float
        ...  # support, within, stretch, distribution, quantile, __str__

The numpyro distribution needs `log_prob`, `sample` and `icdf`. The first line of the docstring explains the family in the
reference.
"""

import dataclasses
import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Literal, Self, cast

import jax
import numpy as np
import numpyro.distributions as dist
from jaxtyping import Array, Float, Key

from designstudio.errors import StudioError, UnknownNameError
from designstudio.model.priors.interval import Interval

# How a family's numbers stand in a study file: { half_normal = 0.25 }, { uniform = [0.1, 0.25] } or
# { log_normal = { median = 0.9, sigma = 0.05 } }.
Layout = Literal["number", "list", "table"]
MUST_BE_POSITIVE = "must_be_positive"
BOUNDS = "bounds"


def positive() -> Any:
    """A number of a family that must be above 0 and finite."""
    return dataclasses.field(metadata={MUST_BE_POSITIVE: True})


class AbstractPrior(ABC):
    """A one-dimensional prior distribution, possibly truncated; subclasses are frozen dataclasses.

    Attributes:
        family: the key of a study file.
        example: how it is written there.
        layout: how its numbers stand there.
        is_logarithmic: whether it lives on positive numbers and is smooth in their logarithm.
    """

    family: ClassVar[str]
    example: ClassVar[str]
    layout: ClassVar[Layout]
    is_logarithmic: ClassVar[bool] = False

    def __post_init__(self) -> None:
        for field in self.number_fields():
            number = getattr(self, field.name)
            if MUST_BE_POSITIVE in field.metadata and not 0 < number < math.inf:
                raise StudioError(f"{type(self).__name__} needs a positive, finite {field.name}, but {number:g} was given.")

    @property
    @abstractmethod
    def support(self) -> Interval:
        """Where the density is positive."""

    @abstractmethod
    def within(self, interval: Interval) -> Self:
        """The same prior, truncated to `interval`."""

    @abstractmethod
    def stretch(self, factor: float) -> Self:
        """The distribution of a positive factor times what has this prior: the same prior in another unit."""

    @abstractmethod
    def distribution(self) -> dist.Distribution:
        """The numpyro distribution."""

    @abstractmethod
    def quantile(self, probability: Float[np.ndarray, "..."]) -> Float[np.ndarray, "..."]:
        """The inverse distribution function: uniform random numbers become draws, and keep their order."""

    @property
    def ends(self) -> tuple[float, float]:
        """Where people with this prior are: its support if that was given, else where all but 0.02 % are."""
        with np.errstate(all="ignore"):
            low, high = self.quantile(np.array([0.0001, 0.9999]))
        return float(low), float(high)

    @classmethod
    def number_fields(cls) -> list[dataclasses.Field[Any]]:
        """The family's own numbers, without its bounds."""
        return [field for field in dataclasses.fields(cast(Any, cls)) if field.name != BOUNDS]

    @property
    def numbers(self) -> dict[str, float]:
        """The family's own numbers by name."""
        return {field.name: float(getattr(self, field.name)) for field in self.number_fields()}


class AbstractTruncatedPrior(AbstractPrior):
    """A prior whose truncation is a field: `bounds`."""

    bounds: Interval

    @property
    def support(self) -> Interval:
        return self.bounds

    def within(self, interval: Interval) -> Self:
        return cast(Self, dataclasses.replace(cast(Any, self), bounds=self.bounds.intersect(interval)))


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
