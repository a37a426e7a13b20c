"""Folders of text files: written once, never over something else."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from designstudio.core.files import is_partial, write_text
from designstudio.errors import StudioError


def check_folder(folder: Path, files: Mapping[str, str]) -> None:
    """Refuse a folder that holds something else.

    Args:
        folder: may exist already, if it is empty or holds some of the same files.
        files: text of each file, by its path in the folder.

    Raises:
        StudioError: naming what is there.
    """
    if folder.exists() and not folder.is_dir():
        raise StudioError(f"--out takes a folder, but '{folder}' is a file.")
    if not folder.is_dir():
        return
    for path in sorted(path for path in folder.rglob("*") if not path.is_dir()):
        name = path.relative_to(folder).as_posix()
        # Left behind by a run that was stopped.
        if not is_partial(path) and (name not in files or path.read_bytes() != files[name].encode()):
            raise StudioError(
                f"The folder '{folder}' has something else in it ({name!r}), and nothing is overwritten: choose another "
                "folder with --out."
            )


def write_folder(folder: Path, files: Mapping[str, str]) -> None:
    """Write all files, in their order; a run that was stopped can be repeated.

    Raises:
        StudioError: if the folder holds something else, or cannot be written.
    """
    check_folder(folder, files)
    try:
        for name, text in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            write_text(path, text)
    except OSError as error:
        raise StudioError(f"The folder '{folder}' cannot be written: {error.strerror or error}.") from None


def write_pretty(content: Any) -> str:
    """JSON that people can read, in the order in which it was said."""
    return json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
