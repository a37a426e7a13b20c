"""All families of priors by the key that study files have for them, and priors as JSON."""

import math
from collections.abc import Mapping
from typing import Any, TypeVar

from designstudio.core.registry import Registry
from designstudio.errors import UnknownNameError
from designstudio.model.priors.base import BOUNDS, AbstractPrior
from designstudio.model.priors.constant import Constant
from designstudio.model.priors.half_normal import HalfNormal
from designstudio.model.priors.interval import Interval
from designstudio.model.priors.log_normal import LogNormal
from designstudio.model.priors.uniform import Uniform

Family = TypeVar("Family", bound=type[AbstractPrior])

PRIOR_FAMILIES: Registry[type[AbstractPrior]] = Registry(
    "prior family", {family.family: family for family in (Uniform, HalfNormal, LogNormal)}
)


def register_prior(family: Family) -> Family:
    """Decorate a class to make it a family of priors; see `designstudio.model.priors.base`.

    Raises:
        StudioError: if its name belongs to a family of the package.
    """
    PRIOR_FAMILIES.register(family.family, family)
    return family


def record_prior(prior: AbstractPrior) -> dict[str, Any]:
    """A prior as JSON knows it."""
    record: dict[str, Any] = {"family": type(prior).__name__, **prior.numbers}
    bounds = getattr(prior, BOUNDS, None)
    if bounds is not None:
        # JSON has no infinity.
        record[BOUNDS] = [bound if math.isfinite(bound) else None for bound in (bounds.low, bounds.high)]
    return record


def read_prior_record(record: Mapping[str, Any]) -> AbstractPrior:
    """The prior that was recorded.

    Raises:
        UnknownNameError: if nobody has registered its family.
    """
    known: list[type[AbstractPrior]] = [Constant, *PRIOR_FAMILIES.values()]
    families: dict[str, Any] = {family.__name__: family for family in known}
    if record["family"] not in families:
        raise UnknownNameError("prior family", record["family"], families)
    family = families[record["family"]]
    numbers = {field.name: record[field.name] for field in family.number_fields()}
    if BOUNDS not in record:
        return family(**numbers)
    low, high = record[BOUNDS]
    return family(**numbers, bounds=Interval(-math.inf if low is None else low, math.inf if high is None else high))
