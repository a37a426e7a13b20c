"""Files that are written whole or not at all: a killed writer leaves the old file in place, or none."""

import contextlib
import json
import math
import os
import re
import shutil
import uuid
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from designstudio.errors import StudioError

# Part of the name of every file that is not whole yet.
PARTIAL = ".partial"
# Letters of the name that a file has while it is written; names of files are limited.
MOST_LETTERS = 40


def name_file(name: str) -> str:
    """Any name as that of a file: letters that lead to other folders, or that systems forbid, are written as numbers."""
    return re.sub(r'[%/\\:*?"<>|\x00-\x1f]', lambda letter: f"%{ord(letter[0]):02X}", name)


@contextlib.contextmanager
def replace_file(path: Path) -> Iterator[Path]:
    """A place beside `path` to write to, which takes the place of `path` when the block has ended without an error.

    For whatever writes itself to a path: `with replace_file(path) as part: dataset.to_netcdf(part)`. The suffix is that of
    `path`, and a folder may be written as well. Several processes may write the same file at once; the last one wins.
    """
    # Not tempfile: its files could be read by nobody else.
    part = path.with_name(f".{path.stem[:MOST_LETTERS]}.{uuid.uuid4().hex[:12]}{PARTIAL}{path.suffix}")
    try:
        yield part
        if part.is_dir() and path.is_dir():
            # A folder, such as one of zarr, takes the place of another only if that is gone.
            shutil.rmtree(path)
        os.replace(part, path)
    finally:
        if part.is_dir():
            shutil.rmtree(part, ignore_errors=True)
        with contextlib.suppress(OSError):
            part.unlink()


def is_partial(path: Path) -> bool:
    """Whether a file was left behind by a writer that was killed."""
    return path.name.startswith(".") and PARTIAL in path.name


def write_bytes(path: Path, content: bytes) -> None:
    """Write bytes, all or nothing."""
    with replace_file(path) as part:
        part.write_bytes(content)


def write_text(path: Path, text: str) -> None:
    """Write a text in UTF-8, all or nothing."""
    write_bytes(path, text.encode())


def write_json(path: Path, content: Any) -> None:
    """Write plain data as JSON, all or nothing; numbers that JSON does not know become null."""
    write_text(path, json.dumps(replace_nonfinite(content), indent=2, allow_nan=False) + "\n")


def read_json(path: Path) -> dict[str, Any]:
    """An object from a file; empty if there is none, or not a whole one."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def replace_nonfinite(value: Any) -> Any:
    """Plain data with None for every number that JSON does not know."""
    if isinstance(value, Mapping):
        return {str(key): replace_nonfinite(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [replace_nonfinite(entry) for entry in value]
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value


def check_file(path: Path | None) -> None:
    """Refuse an output file before the work starts, not after it.

    Raises:
        StudioError: if there is no folder to write it into.
    """
    if path is not None and not path.resolve().parent.is_dir():
        raise StudioError(f"There is no folder {str(path.parent)!r} to write {path.name!r} into; create it first.")
