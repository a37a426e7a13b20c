"""The commented study file that users start from."""

from importlib import resources
from pathlib import Path

from designstudio.study.saving import save_text


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
    save_text(read_example(), path, overwrite=overwrite)
