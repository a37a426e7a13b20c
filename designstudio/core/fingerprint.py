"""Plain data, arrays and code as short texts: whoever has the same gets the same text."""

import dataclasses
import functools
import hashlib
import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

# Letters of a fingerprint by which results are kept and found.
NUM_LETTERS = 32


def write_canonical(content: Any) -> str:
    """JSON in the one form that is fingerprinted: sorted keys, no spaces, shortest numbers."""
    return json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def hash_text(text: str) -> str:
    """The SHA-256 of a text in UTF-8, as 64 letters."""
    return hashlib.sha256(text.encode()).hexdigest()


def hash_json(content: Any) -> str:
    """The SHA-256 of the canonical JSON of plain data, as 64 letters."""
    return hash_text(write_canonical(content))


def fingerprint(content: Any) -> str:
    """One short text for frozen records, mappings and plain data, by which results are kept and found."""
    return hash_json(as_plain(content))[:NUM_LETTERS]


def as_plain(value: Any) -> Any:
    """Frozen records, recursively, as what JSON knows; with their class, as two classes may have the same fields.

    Fields by which records are not compared, such as the function of a quantity, are left out.
    """
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {field.name: as_plain(getattr(value, field.name)) for field in dataclasses.fields(value) if field.compare}
        return {"class": type(value).__name__, **fields}
    if isinstance(value, Mapping):
        return {str(key): as_plain(entry) for key, entry in value.items()}
    if isinstance(value, tuple | list):
        return [as_plain(entry) for entry in value]
    # JSON has neither infinity nor NaN, but bounds of priors may be infinite.
    return repr(value) if isinstance(value, float) and not math.isfinite(value) else value


def hash_arrays(*arrays: np.ndarray) -> str:
    """The SHA-256 of arrays with their shapes."""
    hashed = hashlib.sha256()
    for array in arrays:
        hashed.update(str(array.shape).encode() + np.ascontiguousarray(array).tobytes())
    return hashed.hexdigest()


@functools.cache
def hash_code(without: tuple[str, ...]) -> str:
    """The package's own code: a corrected likelihood must not find results of the wrong one.

    Args:
        without: folders and files that have no effect on the results, such as `viz` or `evaluate/verdict.py`.
    """
    package = Path(__file__).parents[1]
    digest = hashlib.sha256()
    for path in sorted(package.rglob("*.py")):
        relative = path.relative_to(package)
        if not any(place.as_posix() in without for place in (relative, *relative.parents)):
            digest.update(str(relative).encode() + path.read_bytes())
    return digest.hexdigest()[:16]
