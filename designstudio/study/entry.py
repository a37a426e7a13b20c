"""One value of a study file, with the place where it stands: every refusal names the file, the line and the key."""

import contextlib
import dataclasses
import difflib
import math
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from designstudio.errors import StudioError
from designstudio.study.locate import KeyPath

# Counts and seeds become 32-bit numbers.
LARGEST_WHOLE_NUMBER = 2**31 - 1


class StudyFileError(StudioError):
    """A study file that cannot be read."""


@dataclasses.dataclass(frozen=True)
class Origin:
    """Where entries come from.

    Attributes:
        source: how messages call the file.
        lines: the line of each key path, as far as they are known.
        top_level: keys that belong above the first section.
    """

    source: str
    lines: Mapping[KeyPath, int]
    top_level: Collection[str]


@dataclasses.dataclass(frozen=True)
class Entry:
    """A value and the path of keys that leads to it."""

    value: Any
    path: KeyPath
    origin: Origin

    def error(self, sentence: str) -> StudyFileError:
        """An error that says where it is."""
        line = self.origin.lines.get(self.path)
        where = [self.origin.source, *([f"line {line}"] if line else []), *([_join(self.path)] if self.path else [])]
        return StudyFileError(f"{', '.join(where)}: {sentence}")

    def refuse(self, wanted: str) -> StudyFileError:
        """An error that says what is wanted and what was given."""
        return self.error(f"This must be {wanted}, but {_describe(self.value)} was given.")

    @contextlib.contextmanager
    def explain(self) -> Iterator[None]:
        """Say where it is, if something refuses this entry that does not know."""
        try:
            yield
        except StudyFileError:
            raise
        except StudioError as error:
            raise self.error(str(error)) from None

    def child(self, key: str | int) -> "Entry":
        """What stands under a key of this table, or at a place of this list."""
        return Entry(self.value[key], (*self.path, key), self.origin)

    def text(self) -> str:
        """One line of text."""
        if not isinstance(self.value, str):
            raise self.refuse('text in "quotes"')
        if not self.value.isprintable():
            raise self.refuse("one line of plain text")
        return self.value

    def number(self, low: float = -math.inf, high: float = math.inf) -> float:
        """A finite number."""
        wanted = "a number" if math.isinf(low) else f"a number of {low:g} or more"
        wanted = wanted if math.isinf(high) else f"a number from {low:g} to {high:g}"
        if isinstance(self.value, bool) or not isinstance(self.value, int | float):
            raise self.refuse(wanted)
        try:
            number = float(self.value)
        except OverflowError:
            raise self.refuse(wanted) from None
        if not (math.isfinite(number) and low <= number <= high):
            raise self.refuse(wanted)
        return number

    def positive(self) -> float:
        """A number above zero."""
        number = self.number()
        if not number > 0:
            raise self.refuse("a number above 0")
        return number

    def truth_value(self) -> bool:
        """True or false."""
        if not isinstance(self.value, bool):
            raise self.refuse("true or false")
        return self.value

    def whole_number(self, low: int) -> int:
        """A whole number, written without a point."""
        if isinstance(self.value, bool) or not isinstance(self.value, int):
            raise self.refuse(f"a whole number of {low} or more")
        if not low <= self.value <= LARGEST_WHOLE_NUMBER:
            raise self.refuse(f"a whole number from {low} to {LARGEST_WHOLE_NUMBER}")
        return self.value

    def choose(self, kind: str, options: Collection[str]) -> str:
        """One of several names."""
        name = self.text()
        if name not in options:
            raise self.error(f"Unknown {kind} {_shorten(name)}{_suggest(name, options)} Available: {', '.join(options)}.")
        return name

    def items(self, wanted: str) -> list["Entry"]:
        """The entries of a list."""
        if not isinstance(self.value, list):
            raise self.refuse(f"a list of {wanted}")
        return [self.child(index) for index in range(len(self.value))]

    def sections(self) -> list["Entry"]:
        """Sections of the same name."""
        if isinstance(self.value, dict):
            raise self.error(f"There may be several: write [[{_join(self.path)}]], with two brackets.")
        return self.items(f"tables: sections that start with [[{_join(self.path)}]]")

    def table(self, allowed: Collection[str], required: Collection[str] = (), like: str = "a table") -> dict[str, "Entry"]:
        """The entries of a table, by key.

        Args:
            allowed: keys that are known.
            required: those of them that must be there.
            like: what to write, for the message if this is no table.
        """
        if not isinstance(self.value, dict):
            raise self.refuse(like)
        for key in self.value:
            if key not in allowed:
                raise self.child(key).error(self._explain_unknown(key, allowed))
        for key in required:
            if key not in self.value:
                raise self.error(f"The key {key!r} is missing. Allowed: {', '.join(allowed)}.")
        return {key: self.child(key) for key in self.value}

    def _explain_unknown(self, key: str, allowed: Collection[str]) -> str:
        if self.path and key in self.origin.top_level:
            return (
                f"The key {key!r} does not belong to this section: move it to the top of the file, above the first line "
                f"in [brackets]. Allowed here: {', '.join(allowed)}."
            )
        return f"Unknown key {_shorten(key)}{_suggest(key, allowed)} Allowed: {', '.join(allowed)}."


def _join(path: KeyPath) -> str:
    """A path as people write it: designs[1].name."""
    parts = [f"[{part}]" if isinstance(part, int) else f".{_shorten_key(part)}" for part in path]
    return "".join(parts).removeprefix(".")


def _shorten_key(key: str) -> str:
    return key if key.isprintable() and len(key) <= 40 else _shorten(key)


def _suggest(name: str, options: Collection[str]) -> str:
    close = difflib.get_close_matches(name, options, n=1)
    return f": did you mean {close[0]!r}?" if close else "."


def _describe(value: Any) -> str:
    """A value as it would be written in the file, if that is short."""
    match value:
        case bool():
            return str(value).lower()
        case str():
            return _shorten(value)
        case int() | float():
            # Python refuses to write out whole numbers of thousands of digits.
            return repr(value) if isinstance(value, float) or abs(value) < 10**15 else "a very large number"
        case list() | dict():
            return "a list" if isinstance(value, list) else "a table"
    return "a date or time"


def _shorten(text: str) -> str:
    return repr(text if len(text) <= 40 else f"{text[:40]}...")
