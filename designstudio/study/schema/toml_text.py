"""Plain values as TOML: text is escaped, numbers are written so that they are read back exactly."""

import numbers
import re
import textwrap
from collections.abc import Iterable, Mapping
from typing import Any

from designstudio.study.schema.kinds import INLINE, LINES, SECTION, Kind

WIDTH = 118
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\t": "\\t", "\n": "\\n", "\r": "\\r"}


def write_value(value: Any) -> str:
    """A text, number, list or table, on one line."""
    match value:
        case str():
            return _quote(value)
        case bool():
            return str(value).lower()
        case Mapping():
            inside = ", ".join(write_pair(key, entry) for key, entry in value.items())
            return f"{{ {inside} }}" if inside else "{}"
        case list() | tuple():
            return f"[{', '.join(write_value(entry) for entry in value)}]"
        case numbers.Integral():
            return str(int(value))
        case numbers.Real():
            # The shortest text that is read back as the same number.
            return repr(float(value))
    raise TypeError(f"{type(value).__name__} is no value of a study file.")


def write_pair(key: str, value: Any) -> str:
    """A key and its value."""
    return f"{key if _BARE_KEY.fullmatch(key) else _quote(key)} = {write_value(value)}"


def write_pairs(table: Mapping[str, Any]) -> list[str]:
    """A line for each key."""
    return [write_pair(key, value) for key, value in table.items()]


def write_list(key: str, entries: Iterable[Any]) -> list[str]:
    """A list with a line for each entry."""
    return [f"{key} = [", *(f"  {write_value(entry)}," for entry in entries), "]"]


def write_comment(text: str) -> list[str]:
    """A comment, in lines that are not too long."""
    # A line break in a name would end the comment, and what follows would be read.
    plain = "".join(letter if letter.isprintable() else " " for letter in text)
    return [f"# {line}" for line in textwrap.wrap(plain, WIDTH)]


def _quote(text: str) -> str:
    return f'"{"".join(_ESCAPES.get(letter, letter if letter.isprintable() else _escape(letter)) for letter in text)}"'


def _escape(letter: str) -> str:
    code = ord(letter)
    return f"\\u{code:04X}" if code < 0x10000 else f"\\U{code:08X}"


def write_table(
    kind: Kind, table: Mapping[str, Any], path: str = "", header: str = "", comment: str = ""
) -> list[list[str]]:
    """A table as blocks of lines: what stands in it first, then its sections, each under its comment.

    Args:
        kind: what it is, which knows the layout of its keys.
        table: plain data, as the kind writes it.
        path: of keys that leads to it.
        header: the line above it, in brackets.
        comment: stands above the header.
    """
    fields = {field.key: field for field in kind.fields}
    lines: list[str] = []
    below: list[list[str]] = []
    for key, value in table.items():
        field, inner = fields.get(key), f"{path}.{key}" if path else key
        if field is None or field.layout == INLINE:
            lines.append(write_pair(key, value))
        elif field.layout == LINES:
            lines += write_list(key, value)
        elif field.layout == SECTION:
            below += write_table(field.kind, value, inner, f"[{inner}]", field.comment or field.doc)
        else:
            for place, entry in enumerate(value):
                above = "" if place else field.comment or field.doc
                below += write_table(field.kind, entry, inner, f"[[{inner}]]", above)
    head = [*write_comment(comment), header] if header else []
    return [[*head, *lines], *below] if lines else below
