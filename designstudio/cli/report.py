"""`designstudio report`: one page about one run."""

from pathlib import Path
from typing import Annotated

import typer

from designstudio.cli.notes import is_quiet
from designstudio.cli.options import CostFileOption, JsonOption, write_json
from designstudio.core.files import check_file


def report(
    folder: Annotated[Path, typer.Argument(help="Folder of an evaluation, a search, a sweep or a fit.", metavar="RUN_DIR")],
    out: Annotated[
        Path | None, typer.Option(help="The page to write; default: report.html in the folder.", metavar="FILE.html")
    ] = None,
    study: Annotated[
        Path | None, typer.Option(help="The study file, for folders of older versions that keep none.", metavar="FILE")
    ] = None,
    cost_file: CostFileOption = None,
    json: JsonOption = None,
) -> None:
    """Write a report about a run: one HTML page with everything in it, to read, to print and to share.

    With --quiet, only the path of the page is printed.

    Example: designstudio report my-search --out report.html
    """
    from designstudio.runs.report import ReportRequest, run_report  # noqa: PLC0415  (keeps `designstudio --help` fast)

    check_file(json)
    path = run_report(ReportRequest(folder, out, study, cost_file))
    write_json(json, {"report": str(path), "num_bytes": path.stat().st_size})
    if is_quiet():
        typer.echo(str(path))
        return
    typer.echo(
        f"Wrote {path} ({path.stat().st_size / 1e6:.1f} MB). It needs no other file: open it in a browser, or print it."
    )
