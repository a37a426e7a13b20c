"""Arrays in a file: one line of JSON, then the raw numbers. Nothing in it is ever executed.

The first line holds whatever the writer wants to say, the shape and type of every array, and a checksum of the numbers
that follow. Reading fills a skeleton of the same structure, so the file itself decides neither code nor structure.
"""

import hashlib
import json
from pathlib import Path
from typing import Any, TypeVar

import equinox as eqx
import jax
import numpy as np

from designstudio.core.arrays import put
from designstudio.core.files import write_bytes
from designstudio.errors import ActorFileError

Tree = TypeVar("Tree")
FORMAT = "designstudio leaves 1"
NUMBER_TYPES = ("float32", "float64", "int32", "int64")


def write_leaves(path: Path, header: dict[str, Any], tree: Any) -> None:
    """Write header and arrays of `tree`, all or nothing: a killed writer leaves the old file in place."""
    arrays = [np.asarray(leaf) for leaf in jax.tree.leaves(eqx.filter(tree, eqx.is_array))]
    payload = b"".join(array.astype(array.dtype.newbyteorder("<")).tobytes() for array in arrays)
    layout = {
        "format": FORMAT,
        "leaves": [{"shape": list(array.shape), "dtype": array.dtype.name} for array in arrays],
        "sha256": hashlib.sha256(payload).hexdigest(),
    }
    line = json.dumps({**layout, **header}).encode() + b"\n"
    path.parent.mkdir(parents=True, exist_ok=True)
    write_bytes(path, line + payload)


def read_header(path: Path) -> dict[str, Any]:
    """The JSON line of a file.

    Raises:
        ActorFileError: if there is no such file or it is not one of ours.
    """
    return _read(path)[0]


def read_leaves(path: Path, skeleton: Tree) -> Tree:
    """`skeleton` with its arrays, or the shapes in their place, replaced by the arrays of the file.

    Raises:
        ActorFileError: if the file is damaged, or its arrays do not fit.
    """
    header, payload = _read(path)
    if hashlib.sha256(payload).hexdigest() != header.get("sha256"):
        raise ActorFileError(f"The file {path.name!r} is damaged: its numbers do not match its checksum; make it again.")
    arrays, others = eqx.partition(skeleton, lambda leaf: eqx.is_array(leaf) or isinstance(leaf, jax.ShapeDtypeStruct))
    leaves, structure = jax.tree.flatten(arrays)
    stored = header.get("leaves", [])
    if not _fits(stored, [leaf.shape for leaf in leaves]):
        raise ActorFileError(
            f"The file {path.name!r} does not fit: its arrays are not the {len(leaves)} that are needed here; "
            "make it again with this version."
        )
    read, start = [], 0
    for layout, leaf in zip(stored, leaves, strict=True):
        # The file's own precision, whatever the skeleton was made with.
        dtype = np.dtype(layout["dtype"])
        size = leaf.size * dtype.itemsize
        numbers = np.frombuffer(payload[start : start + size], dtype.newbyteorder("<"))
        read.append(put(numbers.reshape(leaf.shape), dtype))
        start += size
    return eqx.combine(jax.tree.unflatten(structure, read), others)


def _fits(stored: Any, shapes: list[tuple[int, ...]]) -> bool:
    try:
        are_numbers = all(layout["dtype"] in NUMBER_TYPES for layout in stored)
        return are_numbers and [tuple(layout["shape"]) for layout in stored] == shapes
    except (KeyError, TypeError):
        return False


def _read(path: Path) -> tuple[dict[str, Any], bytes]:
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise ActorFileError(f"There is no file {str(path)!r}.") from None
    except OSError as error:
        raise ActorFileError(f"The file {str(path)!r} cannot be read: {error.strerror}.") from None
    line, _, payload = content.partition(b"\n")
    try:
        header = json.loads(line)
    except ValueError:
        header = None
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise ActorFileError(
            f"The file {path.name!r} is not an actor file of this version: its first line should be JSON with format "
            f"{FORMAT!r}."
        )
    return header, payload
