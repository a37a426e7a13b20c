"""The commented study file that users start from."""

import contextlib
import os
from importlib import resources
from pathlib import Path

from designstudio.study.entry import StudyFileError


def read_example() -> str:
    """The text of the example."""
    return resources.files("designstudio.study").joinpath("example.toml").read_text(encoding="utf-8")


def write_example(path: Path | str, *, overwrite: bool = False) -> None:
    """Write the example to a file.

    Args:
        path: of the new file.
        overwrite: whether it may replace a file.

    Raises:
        StudyFileError: if there is such a file already, or it cannot be written.
    """
    path = Path(path)
    # Not Path.is_dir, which fails on names that are too long.
    if os.path.isdir(path):
        raise StudyFileError(f"'{path}' is a folder: give the name of a file in it, such as '{path / 'study.toml'}'.")
    temporary = path.with_name(f".{path.name}.partial")
    try:
        if not overwrite:
            # "x" refuses an existing file in the same step: nothing can come in between.
            with path.open("x", encoding="utf-8") as file:
                file.write(read_example())
            return
        temporary.write_text(read_example(), encoding="utf-8")
        os.replace(temporary, path)
    except FileExistsError:
        raise StudyFileError(f"There is a file '{path}' already: choose another name, or replace it with --force.") from None
    except FileNotFoundError:
        raise StudyFileError(f"There is no folder '{path.parent}' to write '{path.name}' into; create it first.") from None
    except OSError as error:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise StudyFileError(f"The study file '{path}' cannot be written: {error.strerror}.") from None
