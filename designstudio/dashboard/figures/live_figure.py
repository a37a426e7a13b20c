"""Empty Bokeh figures and their tooltips, for figures that are updated in place."""

from typing import Any

from bokeh.models import HoverTool, LinearAxis
from bokeh.plotting import figure

from designstudio.dashboard.theme import FIGURE_HEIGHT


def make_figure(xlabel: str, ylabel: str, *, height: int = FIGURE_HEIGHT, **options: Any) -> figure:
    """An empty figure as wide as its card."""
    options = {"tools": "pan,box_zoom,wheel_zoom,reset,save", "toolbar_location": "above", **options}
    made = figure(height=height, sizing_mode="stretch_width", x_axis_label=xlabel, y_axis_label=ylabel, **options)
    made.toolbar.logo = None
    made.toolbar.active_scroll = None
    for axis in made.axis:
        if isinstance(axis, LinearAxis):
            axis.axis_label_text_font_style = "normal"
            axis.minor_tick_line_color = None
    return made


def add_hover(made: figure, renderers: list[Any], tooltips: list[tuple[str, str]]) -> None:
    """What is shown under the pointer."""
    made.add_tools(HoverTool(renderers=renderers, tooltips=tooltips))
