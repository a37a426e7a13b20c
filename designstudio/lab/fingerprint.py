"""Plain data as one text, and its SHA-256: whoever has the same data gets the same fingerprint."""

import hashlib
import json
from typing import Any


def fingerprint(content: Any) -> str:
    """The SHA-256 of the canonical JSON of plain data, as 64 letters."""
    return hash_text(write_canonical(content))


def hash_text(text: str) -> str:
    """The SHA-256 of a text in UTF-8."""
    return hashlib.sha256(text.encode()).hexdigest()


def write_canonical(content: Any) -> str:
    """JSON in the one form that is fingerprinted: sorted keys, no spaces, shortest numbers."""
    return json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def write_pretty(content: Any) -> str:
    """JSON that people can read, in the order in which it was said."""
    return json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
