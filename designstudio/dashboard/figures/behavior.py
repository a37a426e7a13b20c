"""Simulated behaviour of one participant, with the band in which responses are expected."""

import numpy as np
from bokeh.models import ColumnDataSource
from bokeh.plotting import figure

from designstudio.dashboard.figures.live import add_hover, make_figure
from designstudio.dashboard.theme import COLORS, text_color
from designstudio.evaluate.preview import Preview
from designstudio.viz.behavior import compute_behavior


class BehaviorFigure:
    """Trials, medians and bands, a colour for each level."""

    def __init__(self) -> None:
        self._bands, self._medians, self._points, self._identity = (
            ColumnDataSource({name: [] for name in columns})
            for columns in (
                ("xs", "ys", "color"), ("xs", "ys", "color"), ("x", "y", "color", "level"), ("x", "y"),
            )
        )  # fmt: skip
        self.figure: figure = make_figure("stimulus s (stimulus unit)", "response r (stimulus unit)")
        self.figure.patches("xs", "ys", source=self._bands, fill_color="color", fill_alpha=0.18, line_alpha=0)
        self.figure.line("x", "y", source=self._identity, line_dash="dotted", line_width=1.3, color=text_color(), alpha=0.7)
        self.figure.multi_line("xs", "ys", source=self._medians, line_color="color", line_width=2.2)
        points = self.figure.scatter("x", "y", source=self._points, color="color", size=5.5, alpha=0.65, line_color=None)
        add_hover(self.figure, [points], [("level", "@level"), ("stimulus", "@x{0.00}"), ("response", "@y{0.00}")])

    def show(self, preview: Preview) -> None:
        """Replace the data."""
        rows = compute_behavior(preview.trials, preview.band)
        colors = [COLORS[k % len(COLORS)] for k in range(len(rows))]
        counts = [len(row.stimulus) for row in rows]
        self._bands.data = {
            "xs": [np.concatenate([row.grid, row.grid[::-1]]) for row in rows],
            "ys": [np.concatenate([row.low, row.high[::-1]]) for row in rows],
            "color": colors,
        }
        self._medians.data = {"xs": [row.grid for row in rows], "ys": [row.median for row in rows], "color": colors}
        self._points.data = {
            "x": np.concatenate([row.stimulus for row in rows]),
            "y": np.concatenate([row.response for row in rows]),
            "color": np.repeat(colors, counts).tolist(),
            "level": np.repeat([row.condition for row in rows], counts).tolist(),
        }
        ends = [min(row.grid[0] for row in rows), max(row.grid[-1] for row in rows)]
        self._identity.data = {"x": ends, "y": ends}
