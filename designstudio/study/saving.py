"""Study files on disk: whole or not at all, and never in place of another unless told so."""

import contextlib
import os
from pathlib import Path

from designstudio.core.files import write_text
from designstudio.study.schema.entry import StudyFileError


def save_text(text: str, path: Path | str, *, overwrite: bool = False) -> None:
    """Write a study file.

    Args:
        text: TOML.
        path: of the new file.
        overwrite: whether it may replace a file.

    Raises:
        StudyFileError: if there is such a file already, or it cannot be written.
    """
    path = Path(path)
    # Not Path.is_dir, which fails on names that are too long.
    if os.path.isdir(path):
        raise StudyFileError(f"'{path}' is a folder: give the name of a file in it, such as '{path / 'study.toml'}'.")
    has_taken_name = False
    try:
        if not overwrite:
            # "x" refuses an existing file and takes the name in the same step: nothing can come in between.
            path.open("x").close()
            has_taken_name = True
        write_text(path, text)
    except FileExistsError:
        raise StudyFileError(f"There is a file '{path}' already: choose another name, or replace it with --force.") from None
    except FileNotFoundError:
        raise StudyFileError(f"There is no folder '{path.parent}' to write '{path.name}' into; create it first.") from None
    except OSError as error:
        if has_taken_name:
            with contextlib.suppress(OSError):
                path.unlink()
        raise StudyFileError(f"The study file '{path}' cannot be written: {error.strerror}.") from None
