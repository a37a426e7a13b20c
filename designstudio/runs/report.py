"""`report`: one page about one run."""

import dataclasses
from pathlib import Path

from designstudio.core.files import check_file
from designstudio.errors import StudioError
from designstudio.report.write import write_report
from designstudio.runs.folder import use_cost_file


@dataclasses.dataclass(frozen=True)
class ReportRequest:
    """What is to be reported.

    Attributes:
        folder: of an evaluation, a search, a sweep or a fit.
        out: the page to write; by default report.html in the folder.
        study: the study file, for folders of older versions that keep none.
        cost_file: a user's file of costs, which is executed.
    """

    folder: Path
    out: Path | None = None
    study: Path | None = None
    cost_file: Path | None = None


def run_report(request: ReportRequest) -> Path:
    """Write a page with everything in it; returns its path."""
    use_cost_file(request.cost_file)
    check_file(request.out)
    if request.out is not None and request.out.is_dir():
        raise StudioError(f"--out takes a file such as report.html, but '{request.out}' is a folder.")
    return write_report(request.folder, request.out, study=request.study)
