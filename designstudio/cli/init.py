"""`designstudio init`: a commented study file to start from."""

import shlex
from pathlib import Path
from typing import Annotated

import typer


def init_study(
    path: Annotated[Path, typer.Argument(help="The study file to write.", metavar="PATH")] = Path("study.toml"),
    force: Annotated[bool, typer.Option("--force", help="Replace the file if there is one.")] = False,
) -> None:
    """Write a commented study file: four designs for the paper's question, ready to be edited and evaluated.

    Example: designstudio init study.toml
    """
    from designstudio.study.file import write_example  # noqa: PLC0415  (keeps `designstudio --help` fast)

    write_example(path, overwrite=force)
    typer.echo(f"Wrote {path}. Every line is explained in it; change what you like, then run")
    typer.echo(f"  designstudio evaluate {shlex.quote(str(path))}")
