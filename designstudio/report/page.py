"""From a page to HTML: one file that needs nothing else, on a screen or on paper."""

import importlib.resources

import jinja2

from designstudio.report.blocks import Page
from designstudio.viz import theme

TEMPLATES = importlib.resources.files("designstudio.report") / "templates"
PAGE, STYLE = "page.html", "style.css"


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
