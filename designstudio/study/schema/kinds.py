"""What may stand under a key of a study file: each kind reads, refuses, writes, and describes itself.

A kind is said once. From it follow what `designstudio.study.file` reads and writes, the JSON Schema that editors check with,
and the reference page. To add one, subclass `Kind`: `words` is what messages and the reference call it.
"""

import dataclasses
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any

from designstudio.study.schema.entry import Entry

if TYPE_CHECKING:
    from designstudio.study.schema.record import Record

# Counts and seeds become 32-bit numbers.
LARGEST_WHOLE_NUMBER = 2**31 - 1

JsonSchema = dict[str, Any]
INLINE, LINES, SECTION, SEVERAL = "inline", "lines", "section", "several sections"


class Kind(ABC):
    """A kind of value."""

    @property
    @abstractmethod
    def words(self) -> str:
        """What it is, after "This must be"."""

    @abstractmethod
    def read(self, entry: Entry) -> Any:
        """The value, as a study has it.

        Raises:
            StudyFileError: if it is something else; the message says where, what was given and what is allowed.
        """

    @abstractmethod
    def schema(self) -> JsonSchema:
        """The same for a JSON Schema (draft 7)."""

    def write(self, value: Any) -> Any:
        """The value as plain data, such that `read` gives it back."""
        return value

    def table(self) -> "Record | None":
        """The keys of a table, or of the tables of a list; None for everything else."""
        return None


@dataclasses.dataclass(frozen=True)
class Text(Kind):
    """One line of text."""

    words: str = 'text in "quotes"'

    def read(self, entry: Entry) -> str:
        if not isinstance(entry.value, str):
            raise entry.refuse('text in "quotes"')
        if not entry.value.isprintable():
            raise entry.refuse("one line of plain text")
        return entry.value

    def schema(self) -> JsonSchema:
        return {"type": "string"}


@dataclasses.dataclass(frozen=True)
class Number(Kind):
    """A finite number from `low` to `high`.

    Attributes:
        low: smallest number.
        high: largest number.
        excludes_low: whether it must be larger than `low`.
    """

    low: float = -math.inf
    high: float = math.inf
    excludes_low: bool = False

    @property
    def words(self) -> str:
        if self.excludes_low:
            return f"a number above {self.low:g}"
        if math.isfinite(self.high):
            return f"a number from {self.low:g} to {self.high:g}"
        return f"a number of {self.low:g} or more" if math.isfinite(self.low) else "a number"

    def read(self, entry: Entry) -> float:
        if isinstance(entry.value, bool) or not isinstance(entry.value, int | float):
            raise entry.refuse(self.words)
        try:
            number = float(entry.value)
        except OverflowError:
            raise entry.refuse(self.words) from None
        if not (math.isfinite(number) and self.low <= number <= self.high) or (self.excludes_low and number == self.low):
            raise entry.refuse(self.words)
        return number

    def write(self, value: float) -> float:
        return float(value)

    def schema(self) -> JsonSchema:
        ends = {"exclusiveMinimum" if self.excludes_low else "minimum": self.low, "maximum": self.high}
        return {"type": "number", **{key: end for key, end in ends.items() if math.isfinite(end)}}


POSITIVE = Number(0.0, excludes_low=True)


@dataclasses.dataclass(frozen=True)
class Whole(Kind):
    """A whole number, written without a point.

    Attributes:
        low: smallest number.
        least: smallest number that the study takes, if it has a sentence of its own for those below.
        most: largest number that the study takes.
    """

    low: int
    least: int | None = None
    most: int = LARGEST_WHOLE_NUMBER

    @property
    def words(self) -> str:
        return f"a whole number of {self.low if self.least is None else self.least} or more"

    def read(self, entry: Entry) -> int:
        if isinstance(entry.value, bool) or not isinstance(entry.value, int):
            raise entry.refuse(self.words)
        if not self.low <= entry.value <= LARGEST_WHOLE_NUMBER:
            raise entry.refuse(f"a whole number from {self.low} to {LARGEST_WHOLE_NUMBER}")
        return entry.value

    def schema(self) -> JsonSchema:
        return {
            "type": "integer",
            "minimum": self.low if self.least is None else self.least,
            "maximum": self.most,
        }


@dataclasses.dataclass(frozen=True)
class Truth(Kind):
    """True or false."""

    words: str = "true or false"

    def read(self, entry: Entry) -> bool:
        if not isinstance(entry.value, bool):
            raise entry.refuse(self.words)
        return entry.value

    def schema(self) -> JsonSchema:
        return {"type": "boolean"}


@dataclasses.dataclass(frozen=True)
class Name(Kind):
    """One of several names.

    Attributes:
        noun: what messages call it.
        options: the names; None if they are not known, because another part of the file says them.
    """

    noun: str
    options: Collection[str] | None

    @property
    def words(self) -> str:
        return f"a {self.noun}" if self.options is None else ", ".join(f'"{option}"' for option in self.options)

    def read(self, entry: Entry) -> str:
        name = Text().read(entry)
        if self.options is not None and name not in self.options:
            raise entry.unknown(self.noun, name, self.options)
        return name

    def schema(self) -> JsonSchema:
        return {"type": "string"} if self.options is None else {"enum": list(self.options)}


@dataclasses.dataclass(frozen=True)
class ListOf(Kind):
    """A list.

    Attributes:
        kind: of each entry.
        wanted: what messages call the entries.
        is_sections: whether entries are written as sections of the same name, in two brackets.
    """

    kind: Kind
    wanted: str
    is_sections: bool = False

    @property
    def words(self) -> str:
        return f"a list of {self.wanted}"

    def read(self, entry: Entry) -> tuple[Any, ...]:
        items = entry.sections() if self.is_sections else entry.items(self.wanted)
        return tuple(self.kind.read(item) for item in items)

    def write(self, value: Collection[Any]) -> list[Any]:
        return [self.kind.write(item) for item in value]

    def table(self) -> "Record | None":
        return self.kind.table()

    def schema(self) -> JsonSchema:
        return {"type": "array", "items": self.kind.schema()}


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
        hides_default: whether it is left out where it says what holds anyway.
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
