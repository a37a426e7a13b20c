"""All distributions of stimuli by name."""

from typing import TypeVar

from designstudio.core.registry import Registry
from designstudio.study.stimuli.base import AbstractDistribution
from designstudio.study.stimuli.grid import Grid
from designstudio.study.stimuli.listed import Listed
from designstudio.study.stimuli.log_uniform import LogUniform
from designstudio.study.stimuli.uniform import Uniform

Distribution = TypeVar("Distribution", bound=type[AbstractDistribution])

DISTRIBUTIONS: Registry[AbstractDistribution] = Registry(
    "distribution of stimuli", {of.name: of for of in (Uniform(), LogUniform(), Grid(), Listed())}
)


def register_distribution(distribution: Distribution) -> Distribution:
    """Decorate a class to make it a distribution of stimuli; see `designstudio.study.stimuli.base`.

    Raises:
        StudioError: if its name belongs to a distribution of the package.
    """
    DISTRIBUTIONS.register(distribution.name, distribution())
    return distribution


def list_ranges() -> list[str]:
    """Names of the distributions that a search may choose from."""
    return [name for name, distribution in DISTRIBUTIONS.items() if distribution.is_range]
