"""Parameters and their priors in a study file: a number, or a table such as { uniform = [0.1, 0.25] }."""

import dataclasses
import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from designstudio.model.parameters import NO_UNIT, Parameter, check_within
from designstudio.model.priors import PRIOR_FAMILIES, AbstractPrior, Constant, Interval
from designstudio.model.priors.base import BOUNDS, MUST_BE_POSITIVE
from designstudio.study.schema.entry import Entry, StudyFileError
from designstudio.study.schema.kinds import POSITIVE, Field, JsonSchema, Kind, Number
from designstudio.study.schema.record import Record
from designstudio.study.schema.toml_text import write_value

# Where a prior begins and ends, up to this probability on each side.
TAIL = 1e-6
PRIOR_REFERENCE = {"$ref": "#/definitions/prior"}
FIT_NEEDS_A_RANGE = (
    "A fit needs a range here, such as { uniform = [0.1, 0.5] }; what is not estimated belongs in [analysis.known]."
)
_ENDS = {"low": "Nobody is below this.", "high": "Nobody is above this."}
_COUNTS = {2: "two", 3: "three", 4: "four"}


def parameter_fields(
    parameters: Iterable[Parameter], kind: Callable[[Parameter], Kind], get: Callable[[Any, str], Any]
) -> tuple[Field, ...]:
    """A key for each parameter.

    Args:
        parameters: of a model.
        kind: what stands under the key of a parameter.
        get: takes what an object has for a parameter of this name.
    """
    return tuple(
        Field(
            parameter.name,
            kind(parameter),
            f"{parameter.symbol}: {parameter.meaning}.",
            unit="" if parameter.unit == NO_UNIT else parameter.unit,
            get=lambda thing, name=parameter.name: get(thing, name),
        )
        for parameter in parameters
    )


@dataclasses.dataclass(frozen=True)
class Value(Kind):
    """A value of a parameter, where its mathematics allows it."""

    parameter: Parameter

    @property
    def words(self) -> str:
        return "a number"

    def read(self, entry: Entry) -> float:
        number = Number().read(entry)
        with entry.explain():
            check_within(self.parameter.name, number, self.parameter.support, excludes_zero=True)
        return number

    def write(self, value: float) -> float:
        return float(value)

    def schema(self) -> JsonSchema:
        support = self.parameter.support
        low = {"exclusiveMinimum" if support.low == 0 else "minimum": support.low} if math.isfinite(support.low) else {}
        return {"type": "number", **low} | ({"maximum": support.high} if math.isfinite(support.high) else {})


@dataclasses.dataclass(frozen=True)
class Family(Kind):
    """What stands under the key of a family of priors: its numbers."""

    family: type[AbstractPrior]

    @property
    def words(self) -> str:
        return self.family.example.split(" = ", 1)[1].removesuffix(" }")

    def read(self, entry: Entry) -> AbstractPrior:
        kinds = self._kinds()
        if self.family.layout == "table":
            numbers = entry.table(kinds, required=kinds, like=self.words)
        elif self.family.layout == "number":
            numbers = dict.fromkeys(kinds, entry)
        else:
            count = _COUNTS.get(len(kinds), str(len(kinds)))
            items = entry.items(f"{count} numbers, such as {self.words}")
            if len(items) != len(kinds):
                raise entry.error(
                    f"A {self.family.family} prior takes {count} numbers, such as {self.words}, but {len(items)} were given."
                )
            numbers = dict(zip(kinds, items, strict=True))
        with entry.explain():
            return self.family(**{name: kind.read(numbers[name]) for name, kind in kinds.items()})

    def write(self, value: AbstractPrior) -> Any:
        numbers = value.numbers
        if self.family.layout == "table":
            return numbers
        return list(numbers.values()) if self.family.layout == "list" else next(iter(numbers.values()))

    def schema(self) -> JsonSchema:
        inside = {name: kind.schema() for name, kind in self._kinds().items()}
        if self.family.layout == "table":
            return {"type": "object", "properties": inside, "required": list(inside), "additionalProperties": False}
        if self.family.layout == "number":
            return next(iter(inside.values()))
        return {"type": "array", "items": list(inside.values()), "minItems": len(inside), "maxItems": len(inside)}

    def _kinds(self) -> dict[str, Kind]:
        return {f.name: POSITIVE if MUST_BE_POSITIVE in f.metadata else Number() for f in self.family.number_fields()}


@dataclasses.dataclass(frozen=True)
class Prior(Kind):
    """A prior that is not just a number.

    Attributes:
        parameter: whose prior it is.
        refusal: what to say if it is just a number.
    """

    parameter: Parameter
    refusal: str = ""

    @property
    def words(self) -> str:
        *others, last = (family.example for family in PRIOR_FAMILIES.values())
        return f"{', '.join(others)} or {last}"

    def read(self, entry: Entry) -> AbstractPrior:
        if self.refusal and not isinstance(entry.value, dict):
            raise entry.error(self.refusal)
        table = entry.table((*PRIOR_FAMILIES, *_ENDS), like=self.words)
        families = [name for name in PRIOR_FAMILIES if name in table]
        if len(families) != 1:
            given = " and ".join(families) or "none"
            raise entry.error(
                f"A prior needs one of {', '.join(PRIOR_FAMILIES)}, but {given} was given. Write it like {self.words}."
            )
        prior = Family(PRIOR_FAMILIES[families[0]]).read(table[families[0]])
        ends = {name: Number().read(table[name]) for name in _ENDS if name in table}
        if ends:
            with entry.explain():
                interval = Interval(ends.get("low", -math.inf), ends.get("high", math.inf))
                _check_mass(entry, prior, interval)
                prior = prior.within(interval)
        _check_reach(entry, prior, self.parameter)
        return prior

    def write(self, value: AbstractPrior) -> Any:
        return write_prior(value)

    def schema(self) -> JsonSchema:
        return PRIOR_REFERENCE


@dataclasses.dataclass(frozen=True)
class ValueOrPrior(Kind):
    """A number or a prior.

    Attributes:
        parameter: whose it is.
        is_level: whether the number stays one, because the experimenter sets it, rather than becoming everyone's.
    """

    parameter: Parameter
    is_level: bool = False

    @property
    def words(self) -> str:
        return f"a number, {Prior(self.parameter).words}"

    def read(self, entry: Entry) -> AbstractPrior | float:
        if isinstance(entry.value, dict):
            return Prior(self.parameter).read(entry)
        if isinstance(entry.value, str | list):
            raise entry.refuse(self.words)
        value = Value(self.parameter).read(entry)
        return value if self.is_level else Constant(value)

    def write(self, value: AbstractPrior | float) -> Any:
        return write_prior(value) if isinstance(value, AbstractPrior) else float(value)

    def schema(self) -> JsonSchema:
        return {"anyOf": [Value(self.parameter).schema(), PRIOR_REFERENCE]}


def write_prior(prior: AbstractPrior) -> Any:
    """A prior as a study file says it.

    Raises:
        StudyFileError: if study files do not know its family.
    """
    if isinstance(prior, Constant):
        return float(prior.value)
    if PRIOR_FAMILIES.get(prior.family) is not type(prior):
        raise StudyFileError(
            f"Study files know {', '.join(PRIOR_FAMILIES)} and numbers, but no {type(prior).__name__}: register it."
        )
    bounds: Interval | None = getattr(prior, BOUNDS, None)
    ends = {} if bounds is None else {"low": float(bounds.low)} if bounds.low > 0 else {}
    if bounds is not None and math.isfinite(bounds.high):
        ends["high"] = float(bounds.high)
    return {prior.family: Family(type(prior)).write(prior), **ends}


def format_prior(prior: AbstractPrior) -> str:
    """A prior as a study file says it, as text with all its digits."""
    return write_value(write_prior(prior))


def prior_record() -> Record:
    """The keys of a prior, for the JSON Schema and the reference page."""
    families = tuple(
        Field(name, Family(family), next(iter((family.__doc__ or "").splitlines()), ""))
        for name, family in PRIOR_FAMILIES.items()
    )
    return Record(dict, (*families, *(Field(name, Number(), doc) for name, doc in _ENDS.items())))


def prior_schema() -> JsonSchema:
    """One family, with or without ends."""
    return {**prior_record().define(), "oneOf": [{"required": [name]} for name in PRIOR_FAMILIES]}


def _check_mass(entry: Entry, prior: AbstractPrior, interval: Interval) -> None:
    """Refuse to truncate a prior to its far tail, where neither people nor 32-bit numbers are."""
    with np.errstate(all="ignore"):
        low, high = map(float, prior.quantile(np.array([TAIL, 1 - TAIL])))
    if interval.low > high or interval.high < low:
        raise entry.error(f"Without low and high this prior lies from {low:.3g} to {high:.3g}: choose them in that range.")


def _check_reach(entry: Entry, prior: AbstractPrior, parameter: Parameter) -> None:
    """Refuse a prior that reaches where the parameter has no meaning."""
    with np.errstate(all="ignore"):
        quantiles = prior.quantile(np.array([0.0001, 0.9999]))
    low, high = prior.ends
    if not (np.isfinite(quantiles).all() and low < high):
        raise entry.error("The numbers of this prior are too large, too small or too close to compute with.")
    support = parameter.support
    allowed = f"{support.low:g} or more" if math.isinf(support.high) else f"from {support}"
    for end in (low, high):
        if end not in support:
            raise entry.error(
                f"{parameter.name} must be {allowed}, but this prior reaches {end:g}: limit it by low and high."
            )
