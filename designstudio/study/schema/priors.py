"""Parameters and their priors in a study file: a number, or a table such as { uniform = [0.1, 0.25] }."""

import math
import tomllib
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from designstudio.model.parameters import NO_UNIT, Parameter
from designstudio.model.priors import PRIOR_FAMILIES, AbstractPrior, Constant, Interval
from designstudio.model.priors.base import BOUNDS, MUST_BE_POSITIVE
from designstudio.study.factor import Change, Factor
from designstudio.study.schema.entry import Entry, Origin, StudyFileError
from designstudio.study.schema.kinds import NUMBER, POSITIVE, Field, JsonSchema, Kind, close, define, number, table
from designstudio.study.schema.toml_text import write_value

# A prior is not cut off beyond its quantiles of this probability.
TAIL = 1e-6
FIT_NEEDS_A_RANGE = (
    "A fit needs a range here, such as { uniform = [0.1, 0.5] }; what is not estimated belongs in [analysis.known]."
)
_REFERENCE = {"$ref": "#/definitions/prior"}
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


def parameter_value(parameter: Parameter) -> Kind:
    """A value of a parameter, where its mathematics allows it."""

    def read(entry: Entry) -> float:
        value: float = NUMBER.read(entry)
        with entry.explain():
            parameter.check(value)
        return value

    low, high = parameter.support.low, parameter.support.high
    ends = {"exclusiveMinimum" if low == 0 else "minimum": low, "maximum": high}
    return Kind("a number", read, {"type": "number", **{key: end for key, end in ends.items() if math.isfinite(end)}}, float)


def family_numbers(family: type[AbstractPrior]) -> Kind:
    """What stands under the key of a family of priors: its numbers."""
    words = family.example.split(" = ", 1)[1].removesuffix(" }")
    kinds = {f.name: POSITIVE if MUST_BE_POSITIVE in f.metadata else NUMBER for f in family.number_fields()}
    count = _COUNTS.get(len(kinds), str(len(kinds)))

    def locate(entry: Entry) -> dict[str, Entry]:
        if family.layout == "table":
            return entry.table(kinds, required=kinds, like=words)
        if family.layout == "number":
            return dict.fromkeys(kinds, entry)
        items = entry.items(f"{count} numbers, such as {words}")
        if len(items) != len(kinds):
            raise entry.error(
                f"A {family.family} prior takes {count} numbers, such as {words}, but {len(items)} were given."
            )
        return dict(zip(kinds, items, strict=True))

    def read(entry: Entry) -> AbstractPrior:
        entries = locate(entry)
        with entry.explain():
            return family(**{name: kind.read(entries[name]) for name, kind in kinds.items()})

    def write(prior: AbstractPrior) -> Any:
        numbers = list(prior.numbers.values())
        return {"table": prior.numbers, "list": numbers, "number": numbers[0]}[family.layout]

    inside = {name: kind.schema for name, kind in kinds.items()}
    numbers = list(inside.values())
    schemas: dict[str, JsonSchema] = {
        "table": close(inside, list(inside)),
        "list": {"type": "array", "items": numbers, "minItems": len(numbers), "maxItems": len(numbers)},
        "number": numbers[0],
    }
    return Kind(words, read, schemas[family.layout], write)


def prior(parameter: Parameter, refusal: str = "") -> Kind:
    """A prior that is not just a number; `refusal` is what to say if it is."""
    words = _name_examples()

    def read(entry: Entry) -> AbstractPrior:
        if refusal and not isinstance(entry.value, dict):
            raise entry.error(refusal)
        entries = entry.table((*PRIOR_FAMILIES, *_ENDS), like=words)
        families = [name for name in PRIOR_FAMILIES if name in entries]
        if len(families) != 1:
            given = " and ".join(families) or "none"
            raise entry.error(
                f"A prior needs one of {', '.join(PRIOR_FAMILIES)}, but {given} was given. Write it like {words}."
            )
        found: AbstractPrior = family_numbers(PRIOR_FAMILIES[families[0]]).read(entries[families[0]])
        ends = {name: NUMBER.read(entries[name]) for name in _ENDS if name in entries}
        if ends:
            with entry.explain():
                interval = Interval(ends.get("low", -math.inf), ends.get("high", math.inf))
                _check_mass(entry, found, interval)
                found = found.within(interval)
        _check_reach(entry, found, parameter)
        return found

    return Kind(words, read, _REFERENCE, write_prior)


def value_or_prior(parameter: Parameter, *, is_level: bool = False) -> Kind:
    """A number or a prior; the number of a level stays one, because the experimenter sets it, others are everyone's."""
    value, of_people = parameter_value(parameter), prior(parameter)
    words = f"a number, {of_people.words}"

    def read(entry: Entry) -> AbstractPrior | float:
        if isinstance(entry.value, dict):
            found: AbstractPrior = of_people.read(entry)
            return found
        if isinstance(entry.value, str | list):
            raise entry.refuse(words)
        number: float = value.read(entry)
        return number if is_level else Constant(number)

    def write(found: AbstractPrior | float) -> Any:
        return write_prior(found) if isinstance(found, AbstractPrior) else float(found)

    return Kind(words, read, {"anyOf": [value.schema, _REFERENCE]}, write)


def change_kind(parameter: Parameter, *, is_level: bool = False, has_spread: bool = False) -> Kind:
    """How people of a group, or in a condition, have a parameter: a number, a prior, or a factor.

    Args:
        parameter: which.
        is_level: whether a number stays one, because the experimenter sets it.
        has_spread: whether people may differ in the factor.
    """
    drawn = value_or_prior(parameter, is_level=is_level)
    fields = [Field("factor", POSITIVE, "What everybody's own value is multiplied by.", is_required=True)]
    if has_spread:
        doc = "How much people differ in it: standard deviation of its logarithm."
        fields.append(Field("spread", number(0), doc, hides_default=True))
    factor, example = table(Factor, tuple(fields)), ", spread = 0.1" if has_spread else ""
    words = f"{drawn.words}, or {{ factor = 1.5{example} }}"

    def read(entry: Entry) -> Change | float:
        is_factor = isinstance(entry.value, dict) and "factor" in entry.value
        change: Change | float = (factor if is_factor else drawn).read(entry)
        return change

    def write(change: Change | float) -> Any:
        return factor.write(change) if isinstance(change, Factor) else drawn.write(change)

    return Kind(words, read, {"anyOf": [drawn.schema, factor.schema]}, write)


def write_prior(prior: AbstractPrior) -> Any:
    """A prior as a study file says it, as plain data.

    Raises:
        StudyFileError: if study files do not know its family.
    """
    if isinstance(prior, Constant):
        return float(prior.value)
    if PRIOR_FAMILIES.get(prior.family) is not type(prior):
        raise StudyFileError(
            f"Study files know {', '.join(PRIOR_FAMILIES)} and numbers, but no {type(prior).__name__}: register it."
        )
    bounds = getattr(prior, BOUNDS, Interval(-math.inf, math.inf))
    low = {"low": float(bounds.low)} if bounds.low > 0 else {}
    high = {"high": float(bounds.high)} if math.isfinite(bounds.high) else {}
    return {prior.family: family_numbers(type(prior)).write(prior), **low, **high}


def format_prior(prior: AbstractPrior) -> str:
    """A prior as a study file says it, as text with all its digits."""
    return write_value(write_prior(prior))


def parse_prior(text: str, parameter: Parameter) -> AbstractPrior:
    """The prior that `format_prior` has written.

    Raises:
        StudyFileError: if it is no prior, or none that the parameter could have.
    """
    try:
        value = tomllib.loads(f"{parameter.name} = {text}")[parameter.name]
    except (tomllib.TOMLDecodeError, RecursionError):
        raise StudyFileError(f"The prior of {parameter.name}, {text!r}, cannot be read.") from None
    found: AbstractPrior = value_or_prior(parameter).read(Entry(value, (parameter.name,), Origin("the prior", {}, ())))
    return found


def prior_definition() -> JsonSchema:
    """One family, with or without ends, for the JSON Schema."""
    families = tuple(
        Field(name, family_numbers(family), (family.__doc__ or "").splitlines()[0])
        for name, family in PRIOR_FAMILIES.items()
    )
    keys = table(dict, (*families, *(Field(name, NUMBER, doc) for name, doc in _ENDS.items())))
    return {**define(keys), "oneOf": [{"required": [name]} for name in PRIOR_FAMILIES]}


def _name_examples() -> str:
    *others, last = (family.example for family in PRIOR_FAMILIES.values())
    return f"{', '.join(others)} or {last}"


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
