"""Options and outputs that several commands share."""

from pathlib import Path
from typing import Annotated, Any

import typer

from designstudio.core import files
from designstudio.core.run_record import read_record
from designstudio.errors import StudioError

ActorOption = Annotated[
    Path | None, typer.Option("--actor", help="An actor file; default: the package's own for the cost.", metavar="FILE")
]
CostFileOption = Annotated[
    Path | None,
    typer.Option("--cost-file", help="A Python file of yours that registers costs; it is executed.", metavar="FILE"),
]
JsonOption = Annotated[Path | None, typer.Option("--json", help="Also write the result as JSON.", metavar="FILE")]


def write_json(path: Path | None, result: Any) -> None:
    """Write a result as JSON, all or nothing."""
    if path is None:
        return
    try:
        files.write_json(path, result)
    except OSError as error:
        raise StudioError(f"The JSON file {str(path)!r} cannot be written: {error.strerror}.") from None


def print_files(folder: Path | None) -> None:
    """Say what a run has written into its folder."""
    if folder is not None:
        typer.echo(f"Wrote {', '.join(read_record(folder).files)} to {folder}.")
