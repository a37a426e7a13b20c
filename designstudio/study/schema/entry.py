"""One value of a study file, with the place where it stands: every refusal names the file, the line and the key."""

import contextlib
import dataclasses
import difflib
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from designstudio.errors import StudioError
from designstudio.study.schema.locate import KeyPath


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

    def unknown(self, kind: str, name: str, options: Collection[str]) -> StudyFileError:
        """An error that says which names there are."""
        return self.error(f"Unknown {kind} {_shorten(name)}{_suggest(name, options)} Available: {', '.join(options)}.")

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
