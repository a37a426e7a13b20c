"""From the folder of a run to its report: one HTML file that needs nothing else, on a screen or on paper."""

import importlib.resources
from pathlib import Path

import jinja2

from designstudio.core.files import write_text
from designstudio.core.run_record import read_record
from designstudio.errors import StudioError
from designstudio.report.blocks import Page
from designstudio.report.evaluation import build_evaluation
from designstudio.report.fit import build_fit
from designstudio.report.run_results import EVALUATION, FIT, SEARCH, find_kind, find_study, read_result
from designstudio.report.search import build_search
from designstudio.report.sweep import build_sweep
from designstudio.viz import theme

NAME = "report.html"
TEMPLATES = importlib.resources.files("designstudio.report") / "templates"
PAGE, STYLE = "page.html", "style.css"


def write_report(folder: Path | str, out: Path | str | None = None, *, study: Path | str | None = None) -> Path:
    """Write the report of a run as one HTML file that needs nothing else.

    Args:
        folder: of an evaluation, a search, a sweep or a fit.
        out: the file to write; by default report.html in the folder.
        study: the study file, for folders of older versions that keep none.

    Returns:
        The file.

    Raises:
        StudioError: if the folder holds no finished run, or lacks something.
    """
    source = Path(folder)
    target = source / NAME if out is None else Path(out)
    text = render_page(build_page(source, study=None if study is None else Path(study)))
    try:
        write_text(target, text)
    except OSError as error:
        raise StudioError(f"The report '{target}' cannot be written: {error.strerror or error}.") from None
    return target


def build_page(folder: Path, *, study: Path | None = None) -> Page:
    """What the report of a run says; for the arguments see `write_report`."""
    result, run = read_result(folder), read_record(folder)
    kind = find_kind(result)
    try:
        if kind == FIT:
            return build_fit(folder, run)
        build = {EVALUATION: build_evaluation, SEARCH: build_search}.get(kind, build_sweep)
        return build(folder, result, find_study(folder, study), run)
    except (KeyError, TypeError, AttributeError, IndexError) as error:
        raise StudioError(
            f"The results in '{folder}' are not complete ({type(error).__name__}: {error}): run the command of this "
            "folder again."
        ) from error


def render_page(page: Page) -> str:
    """The page as HTML; all texts are escaped."""
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(_read), autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True,
        lstrip_blocks=True,
    )  # fmt: skip
    colors = {"accent": theme.BLUE, "warm": theme.VERMILION, "line": theme.BAND_COLOR, "muted": theme.REFERENCE_COLOR}
    return environment.get_template(PAGE).render(page=page, style=STYLE, colors=colors)


def _read(name: str) -> str:
    return (TEMPLATES / name).read_text(encoding="utf-8")
