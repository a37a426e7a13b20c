"""The levels of a design as points to drag: across the uncertainty, up the trials."""

from collections.abc import Callable
from typing import Any

from bokeh.models import ColumnDataSource, PointDrawTool
from bokeh.plotting import figure

from designstudio.dashboard.figures.live import make_figure
from designstudio.dashboard.theme import COLORS

HEIGHT = 175
Levels = list[tuple[float, int]]


class LevelFigure:
    """Calls `on_drag` with all levels when somebody has moved, added or removed one."""

    def __init__(self, *, most_levels: int, most_trials: int, highest: float, on_drag: Callable[[Levels], None]) -> None:
        self._on_drag, self._is_showing = on_drag, False
        self._source = ColumnDataSource({"x": [], "y": [], "color": []})
        self.figure: figure = make_figure(
            "perceptual uncertainty σ (log units)", "trials", height=HEIGHT, tools="", toolbar_location=None,
            x_range=(0, highest), y_range=(0, most_trials),
        )  # fmt: skip
        points = self.figure.scatter("x", "y", source=self._source, color="color", size=15, line_color="white")
        tool = PointDrawTool(renderers=[points], num_objects=most_levels, empty_value=COLORS[-1])
        self.figure.add_tools(tool)
        self.figure.toolbar.active_tap = tool
        self._source.on_change("data", self._take)

    def show(self, levels: Levels) -> None:
        """Replace the points."""
        ordered = sorted(levels)
        self._is_showing = True
        try:
            self._source.data = {
                "x": [sigma for sigma, _ in ordered],
                "y": [trials for _, trials in ordered],
                "color": [COLORS[k % len(COLORS)] for k in range(len(ordered))],
            }
        finally:
            self._is_showing = False

    def _take(self, attr: str, old: Any, new: Any) -> None:
        if not self._is_showing:
            self._on_drag([(float(x), round(float(y))) for x, y in zip(new["x"], new["y"], strict=True)])
