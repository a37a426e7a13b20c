"""How pages look, light and dark."""

from typing import Any

import holoviews as hv
import panel as pn

from designstudio.viz.theme import BLUE, GREEN, ORANGE, PURPLE, SKY, VERMILION

# Pages are drawn by Bokeh; figures to download by matplotlib, which `save_figure` names itself.
hv.extension("bokeh")
# The browser loads it with the first page; the page that needs it is built later.
pn.extension("filedropper")

# Colours of levels and designs: Okabe and Ito's that can be seen on white and on black.
COLORS = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY)
MARKERS = ("circle", "square", "triangle", "diamond")
ACCENT = BLUE
FIGURE_HEIGHT = 330

CSS = """
:root { --ds-line: #d9dee5; --ds-card: #ffffff; --ds-good: #00795a; --ds-bad: #b34700; --ds-text: #1b1f24;
  --ds-button: #eef1f4; --ds-focus: #0072B2; }
[data-theme="dark"], [data-bs-theme="dark"], .dark { --ds-line: #3c4654; --ds-card: #212833;
  --ds-good: #4fd1a5; --ds-bad: #ff9d5c; --ds-text: #f0f2f5; --ds-button: #323c4a; --ds-focus: #7cc4f5; }
"""

# Goes into the shadow roots of buttons: Panel's light ones are white in the dark, and hide where the keyboard is.
BUTTON_CSS = """
.bk-btn-light { --bs-btn-color: var(--ds-text); --bs-btn-bg: var(--ds-button); --bs-btn-border-color: var(--ds-line);
  --bs-btn-hover-color: var(--ds-text); --bs-btn-hover-bg: var(--ds-line); --bs-btn-hover-border-color: var(--ds-line);
  --bs-btn-active-color: #ffffff; --bs-btn-active-bg: #0072B2; --bs-btn-active-border-color: #0072B2; }
.bk-btn:focus-visible { outline: 2px solid var(--ds-focus); outline-offset: 2px; z-index: 1; }
"""

# Goes into the shadow roots of panes with our own HTML.
PANE_CSS = """
:host { font-size: 14px; line-height: 1.45; }
h2 { font-size: 16px; margin: 2px 0 6px 0; font-weight: 600; }
p { margin: 4px 0; }
.muted { opacity: 0.72; }
.good { color: var(--ds-good, #00795a); font-weight: 600; }
.partly { font-weight: 600; }
.bad { color: var(--ds-bad, #b34700); font-weight: 600; }
.tiles { display: flex; flex-wrap: wrap; gap: 10px; }
.tile { border: 1px solid var(--ds-line, #d9dee5); border-radius: 8px; padding: 8px 14px; flex: 1 1 110px; }
.tile b { display: block; font-size: 20px; font-weight: 600; font-variant-numeric: tabular-nums; }
.tile span { font-size: 12px; opacity: 0.75; }
ul.verdict { margin: 4px 0; padding-left: 20px; }
table.ds { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
table.ds th { text-align: right; font-weight: 600; font-size: 12.5px; border-bottom: 1px solid var(--ds-line, #d9dee5);
  padding: 4px 8px; vertical-align: bottom; }
table.ds td { text-align: right; padding: 4px 8px; border-bottom: 1px solid var(--ds-line, #d9dee5); white-space: nowrap; }
table.ds th:first-child, table.ds td:first-child { text-align: left; }
table.words th, table.words td { text-align: left; }
table.words td:not(:first-child) { white-space: normal; }
.scroll { overflow-x: auto; }
code { overflow-wrap: anywhere; }
.failed { border-left: 4px solid var(--ds-bad, #b34700); padding: 6px 12px; background: rgba(213, 94, 0, 0.09); }
.notice { border-left: 4px solid #0072B2; padding: 6px 12px; background: rgba(0, 114, 178, 0.08); }
code { font-size: 12.5px; }
"""

CARD = {
    "border": "1px solid var(--ds-line, #d9dee5)",
    "border-radius": "10px",
    "padding": "10px 14px",
    "background": "var(--ds-card, transparent)",
}


for kind in (pn.widgets.Button, pn.widgets.RadioButtonGroup, pn.widgets.FileDownload):
    kind.stylesheets = [BUTTON_CSS]


def is_dark() -> bool:
    """Whether this visitor wants a dark page."""
    return pn.config.theme == "dark"


def text_color() -> str:
    """Colour of text and of marks: nearly black, or nearly white on a dark page."""
    return "#f0f2f5" if is_dark() else "#1b1f24"


def html(content: str, **options: Any) -> pn.pane.HTML:
    """Our own HTML: whoever writes `content` escapes what users have written."""
    options = {"sizing_mode": "stretch_width", **options}
    return pn.pane.HTML(content, stylesheets=[PANE_CSS], **options)


def card(*objects: Any, **options: Any) -> pn.Column:
    """A framed part of a page."""
    options = {"sizing_mode": "stretch_width", "margin": (6, 6), **options}
    return pn.Column(*objects, styles=CARD, **options)


def side_by_side(*cards: pn.viewable.Viewable) -> pn.FlexBox:
    """Cards beside each other, or below each other where there is no room."""
    for part in cards:
        part.styles = {**part.styles, "flex": "1 1 370px", "min-width": "0"}
    return pn.FlexBox(*cards, sizing_mode="stretch_width", flex_wrap="wrap", align_items="stretch", margin=0)


def figure_card(title: str, caption: str, figure: Any, *buttons: pn.viewable.Viewable) -> pn.Column:
    """A figure of HoloViews or Bokeh, with what it is, what it shows, and how to take it along.

    Title and caption are HTML.
    """
    return card(
        html(f"<h2>{title}</h2><p class='muted'>{caption}</p>"),
        pn.panel(figure, sizing_mode="stretch_width"),
        *buttons,
    )


def prepare_plot(figure: hv.core.Dimensioned, **options: Any) -> hv.core.Dimensioned:
    """A figure that fills its card, with axes that follow the data."""
    common = {"responsive": True, "height": FIGURE_HEIGHT, "framewise": True, "axiswise": True, "show_grid": True}
    return figure.opts(hv.opts.Overlay(**common, toolbar="above", active_tools=[], **options))
