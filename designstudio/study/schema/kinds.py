"""What may stand under a key of a study file: each kind reads, refuses, writes, and describes itself.

A kind is said once. From it follow what `designstudio.study.file` reads and writes, the JSON Schema that editors check with,
and the reference page. Each function here makes one; `table` puts them together.
"""

import dataclasses
import math
from collections.abc import Callable, Collection, Mapping
from typing import Any

from designstudio.study.schema.entry import Entry

# Counts and seeds become 32-bit numbers.
LARGEST_WHOLE_NUMBER = 2**31 - 1
INLINE, LINES, SECTION, SEVERAL = "inline", "lines", "section", "several sections"

JsonSchema = dict[str, Any]


@dataclasses.dataclass(frozen=True)
class Kind:
    """A kind of value.

    Attributes:
        words: what it is, after "This must be".
        read: takes the value of an entry as a study has it, or raises a StudyFileError that says what is allowed.
        schema: the same for a JSON Schema (draft 7).
        write: gives plain data of which `read` makes the value again.
        fields: the keys of a table, or of the tables of a list.
        defaults: what holds for keys that are left out, as plain data.
    """

    words: str
    read: Callable[[Entry], Any]
    schema: JsonSchema
    write: Callable[[Any], Any] = lambda value: value
    fields: tuple["Field", ...] = ()
    defaults: Mapping[str, Any] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class Field:
    """One key of a table.

    Attributes:
        key: as it is written.
        kind: what stands there.
        doc: one sentence for editors and the reference page.
        attribute: of the object that the table describes; by default the key.
        unit: what a number is measured in.
        is_required: whether it must be there.
        default: what holds if it is left out, where that is not the attribute's default.
        hides_default: whether it is not written where it says what holds anyway.
        get: takes the value from the object; by default the attribute.
        layout: written in one line, as a list with a line for each entry, as a section of its own, or as several of them.
        comment: stands above a section of its own; by default the sentence.
    """

    key: str
    kind: Kind
    doc: str
    attribute: str = ""
    unit: str = ""
    is_required: bool = False
    default: Any = None
    hides_default: bool = False
    get: Callable[[Any], Any] | None = None
    layout: str = INLINE
    comment: str = ""

    @property
    def name(self) -> str:
        """The attribute."""
        return self.attribute or self.key

    def take(self, thing: Any) -> Any:
        """What an object has under this key."""
        return self.get(thing) if self.get is not None else getattr(thing, self.name)


def _read_text(entry: Entry) -> str:
    if not isinstance(entry.value, str):
        raise entry.refuse('text in "quotes"')
    if not entry.value.isprintable():
        raise entry.refuse("one line of plain text")
    return entry.value


def _read_truth(entry: Entry) -> bool:
    if not isinstance(entry.value, bool):
        raise entry.refuse("true or false")
    return entry.value


def number(low: float = -math.inf, high: float = math.inf, *, excludes_low: bool = False) -> Kind:
    """A finite number from `low` to `high`; perhaps not `low` itself."""
    words = f"a number of {low:g} or more" if math.isfinite(low) else "a number"
    words = f"a number from {low:g} to {high:g}" if math.isfinite(high) else words
    words = f"a number above {low:g}" if excludes_low else words

    def read(entry: Entry) -> float:
        if isinstance(entry.value, bool) or not isinstance(entry.value, int | float):
            raise entry.refuse(words)
        try:
            value = float(entry.value)
        except OverflowError:
            raise entry.refuse(words) from None
        if not (math.isfinite(value) and low <= value <= high) or (excludes_low and value == low):
            raise entry.refuse(words)
        return value

    ends = {"exclusiveMinimum" if excludes_low else "minimum": low, "maximum": high}
    return Kind(words, read, {"type": "number", **{key: end for key, end in ends.items() if math.isfinite(end)}}, float)


def whole(low: int, *, least: int | None = None, most: int = LARGEST_WHOLE_NUMBER) -> Kind:
    """A whole number, written without a point.

    Args:
        low: smallest number.
        least: smallest number that the study takes, if it has a sentence of its own for those below.
        most: largest number that the study takes.
    """
    wanted = f"a whole number of {low} or more"

    def read(entry: Entry) -> int:
        if isinstance(entry.value, bool) or not isinstance(entry.value, int):
            raise entry.refuse(wanted)
        if not low <= entry.value <= LARGEST_WHOLE_NUMBER:
            raise entry.refuse(f"a whole number from {low} to {LARGEST_WHOLE_NUMBER}")
        return entry.value

    fewest = low if least is None else least
    return Kind(f"a whole number of {fewest} or more", read, {"type": "integer", "minimum": fewest, "maximum": most})


def one_of(noun: str, options: Collection[str] | None) -> Kind:
    """One of several names; `options` is None if another part of the file says them."""

    def read(entry: Entry) -> str:
        name = _read_text(entry)
        if options is not None and name not in options:
            raise entry.unknown(noun, name, options)
        return name

    if options is None:
        return Kind(f"a {noun}", read, {"type": "string"})
    return Kind(", ".join(f'"{option}"' for option in options), read, {"enum": list(options)})


def list_of(kind: Kind, wanted: str) -> Kind:
    """A list; `wanted` is what messages call its entries."""

    def read(entry: Entry) -> tuple[Any, ...]:
        return tuple(kind.read(item) for item in entry.items(wanted))

    def write(value: Collection[Any]) -> list[Any]:
        return [kind.write(item) for item in value]

    return Kind(f"a list of {wanted}", read, {"type": "array", "items": kind.schema}, write, kind.fields, kind.defaults)


def sections_of(kind: Kind) -> Kind:
    """Tables that are written as sections of the same name, in two brackets."""
    return dataclasses.replace(
        list_of(kind, "tables"), read=lambda entry: tuple(kind.read(item) for item in entry.sections())
    )


def table(
    of: type,
    fields: tuple[Field, ...],
    build: Callable[..., Any] | None = None,
    *,
    words: str = "a table",
    definition: str = "",
) -> Kind:
    """A table with known keys.

    Args:
        of: the class that it describes, whose defaults are the file's.
        fields: the keys, in the order of messages and files.
        build: makes the object of the attributes that were given; by default the class itself.
        words: what to write, for messages.
        definition: the name that a JSON Schema has for it, if it stands in many places.
    """
    by_key = {field.key: field for field in fields}
    required = [field.key for field in fields if field.is_required]
    defaults = _find_defaults(of, fields)

    def read(entry: Entry) -> Any:
        entries = entry.table(by_key, required=required, like=words)
        given = {by_key[key].name: by_key[key].kind.read(item) for key, item in entries.items()}
        # What the object itself refuses is said of the table.
        with entry.explain():
            return (build or of)(**given)

    def write(thing: Any) -> dict[str, Any]:
        found = [(field, field.take(thing)) for field in fields]
        plain = {field.key: field.kind.write(value) for field, value in found if not is_empty(value)}
        hidden = [field.key for field in fields if field.hides_default and plain.get(field.key) == defaults.get(field.key)]
        return {key: value for key, value in plain.items() if key not in hidden}

    kind = Kind(words, read, {"$ref": f"#/definitions/{definition}"}, write, fields, defaults)
    return kind if definition else dataclasses.replace(kind, schema=define(kind))


def define(kind: Kind) -> JsonSchema:
    """A table in full, for a JSON Schema."""
    keys = {}
    for field in kind.fields:
        # Draft 7 ignores what stands beside a reference.
        inside = {"allOf": [field.kind.schema]} if "$ref" in field.kind.schema else field.kind.schema
        default = {"default": kind.defaults[field.key]} if field.key in kind.defaults else {}
        keys[field.key] = {
            **inside,
            "description": f"{field.doc} Unit: {field.unit}." if field.unit else field.doc,
            **default,
        }
    return close(keys, [field.key for field in kind.fields if field.is_required])


def close(properties: JsonSchema, required: list[str]) -> JsonSchema:
    """A table of a JSON Schema that has these keys and no others."""
    schema = {"type": "object", "properties": properties, "additionalProperties": False}
    return {**schema, "required": required} if required else schema


def is_empty(value: Any) -> bool:
    """Whether there is nothing to write."""
    return value is None or (isinstance(value, str | tuple | list | Mapping) and not value)


def _find_defaults(of: type, fields: tuple[Field, ...]) -> dict[str, Any]:
    own = {field.name: field.default for field in dataclasses.fields(of)} if dataclasses.is_dataclass(of) else {}
    found = {field.key: own.get(field.name) if field.default is None else field.default for field in fields}
    kinds = {field.key: field.kind for field in fields}
    return {
        key: kinds[key].write(value)
        for key, value in found.items()
        if value is not dataclasses.MISSING and not is_empty(value)
    }


TEXT = Kind('text in "quotes"', _read_text, {"type": "string"})
TRUTH_VALUE = Kind("true or false", _read_truth, {"type": "boolean"})
NUMBER = number()
POSITIVE = number(0.0, excludes_low=True)
