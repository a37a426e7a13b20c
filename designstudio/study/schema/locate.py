"""On which line of a TOML file a value stands.

`tomllib` does not tell. The text is therefore walked a second time, noting only where each key begins, and the walk is
believed only if it met exactly the keys that `tomllib` did: no line is better than a wrong one.
"""

import bisect
import re
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

KeyPath = tuple[str | int, ...]

_SPACE = re.compile(r"(?:[ \t\n]|#[^\n]*)*")
_KEY = re.compile(r"""[A-Za-z0-9_-]+|"(?:\\.|[^"\\])*"|'[^']*'""")
# Texts over several lines may end in up to two quotes of their own. What is no text ends where its list, table or line does.
_SCALAR = re.compile(
    r'"""(?:\\.|[^\\])*?""""{0,2}|' + r"'''.*?''''{0,2}|" + r""""(?:\\.|[^"\\])*"|'[^']*'|[^,\]}#\n]+""",
    re.DOTALL,
)


class _LostError(Exception):
    """The walk met something that it does not understand."""


def locate_keys(text: str, document: Mapping[str, Any]) -> dict[KeyPath, int]:
    """Lines of all values, counted from 1.

    Args:
        text: of the file, which must be valid TOML.
        document: what `tomllib` made of it.

    Returns:
        The line of each key path, such as ("designs", 1, "name"); nothing at all if there is any doubt.
    """
    try:
        lines = _Walk(text.replace("\r\n", "\n")).run()
        return lines if set(lines) == set(_key_paths(document, ())) else {}
    except (_LostError, RecursionError):
        return {}


def _key_paths(value: Any, path: KeyPath) -> Iterator[KeyPath]:
    children: Any = ()
    if isinstance(value, dict):
        children = value.items()
    elif isinstance(value, list):
        children = enumerate(value)
    for key, child in children:
        yield (*path, key)
        yield from _key_paths(child, (*path, key))


class _Walk:
    """One walk through a text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0
        self.line_ends = [match.start() for match in re.finditer("\n", text)]
        self.lines: dict[KeyPath, int] = {}
        # How many [[headers]] each list of tables has had so far.
        self.num_headers: dict[KeyPath, int] = {}

    def run(self) -> dict[KeyPath, int]:
        section: KeyPath = ()
        while self._skip_to_next():
            if self._is_at("[["):
                section = self._enter_header("[[", "]]")
            elif self._is_at("["):
                section = self._enter_header("[", "]")
            else:
                self._assign(section)
        return self.lines

    def _enter_header(self, opening: str, closing: str) -> KeyPath:
        line = self._line()
        self._take(opening)
        *parents, last = self._read_key()
        self._take(closing)
        path: KeyPath = ()
        for part in parents:
            path = (*path, part)
            self.lines.setdefault(path, line)
            if path in self.num_headers:
                path = (*path, self.num_headers[path] - 1)
        path = (*path, last)
        if opening == "[":
            self.lines[path] = line
            return path
        self.lines.setdefault(path, line)
        self.num_headers[path] = self.num_headers.get(path, 0) + 1
        path = (*path, self.num_headers[path] - 1)
        self.lines[path] = line
        return path

    def _assign(self, section: KeyPath) -> None:
        line = self._line()
        path = section
        for part in self._read_key():
            path = (*path, part)
            self.lines.setdefault(path, line)
        self._take("=")
        self._walk_value(path)

    def _walk_value(self, path: KeyPath) -> None:
        self._skip_to_next()
        if self._is_at("["):
            self._take("[")
            index = 0
            while self._skip_to_next() and not self._is_at("]"):
                self.lines[(*path, index)] = self._line()
                self._walk_value((*path, index))
                self._skip_comma()
                index += 1
            self._take("]")
        elif self._is_at("{"):
            self._take("{")
            while self._skip_to_next() and not self._is_at("}"):
                self._assign(path)
                self._skip_comma()
            self._take("}")
        else:
            self._match(_SCALAR)

    def _read_key(self) -> list[str]:
        parts = []
        while True:
            self._skip_to_next()
            part = self._match(_KEY)
            parts.append(tomllib.loads(f"key = {part}")["key"] if part[0] in "\"'" else part)
            self._skip_to_next()
            if not self._is_at("."):
                return parts
            self._take(".")

    def _line(self) -> int:
        return bisect.bisect_left(self.line_ends, self.position) + 1

    def _is_at(self, mark: str) -> bool:
        return self.text.startswith(mark, self.position)

    def _take(self, mark: str) -> None:
        self._skip_to_next()
        if not self._is_at(mark):
            raise _LostError
        self.position += len(mark)

    def _match(self, pattern: re.Pattern[str]) -> str:
        match = pattern.match(self.text, self.position)
        if not match:
            raise _LostError
        self.position = match.end()
        return match.group()

    def _skip_to_next(self) -> bool:
        """Move over space and comments; False at the end of the text."""
        self._match(_SPACE)
        return self.position < len(self.text)

    def _skip_comma(self) -> None:
        self._skip_to_next()
        if self._is_at(","):
            self._take(",")
