"""Figures of the design page: one simulated participant, and where typical posteriors of prior and cost lie."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from bokeh.models import ColumnDataSource
from bokeh.plotting import figure

from designstudio.dashboard.figures.live_figure import add_hover, make_figure
from designstudio.dashboard.theme import COLORS, text_color
from designstudio.evaluate.preview import Preview, outline_pair
from designstudio.evaluate.results import Evaluation
from designstudio.viz.behavior import compute_behavior

PROBS = (0.94, 0.5)


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
        unit = preview.trials["stimulus"].attrs["units"]
        self.figure.xaxis.axis_label, self.figure.yaxis.axis_label = f"stimulus s ({unit})", f"response r ({unit})"
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


class Shown(NamedTuple):
    """An evaluation in a figure.

    Attributes:
        label: for the hover.
        evaluation: of a design.
        color: its own.
        is_simulated: drawn as a thick line, with the posterior mean of each simulated participant; predictions are filled.
    """

    label: str
    evaluation: Evaluation
    color: str
    is_simulated: bool = False


def find_pair(evaluation: Evaluation) -> tuple[str, str]:
    """Prior and cost parameter that depend on each other most; without a cost parameter, the first two there are."""
    found = evaluation.identifiability
    if found.prior_cost_pair is not None:
        return found.prior_cost_pair
    names = list(found.parameters)
    return names[0], names[min(1, len(names) - 1)]


class PosteriorFigure:
    """Regions of 50 % and 94 %, and the truth."""

    def __init__(self) -> None:
        self._regions = ColumnDataSource({name: [] for name in ("xs", "ys", "color", "design", "fill", "width")})
        self._means = ColumnDataSource({name: [] for name in ("x", "y", "color", "design")})
        self._truth = ColumnDataSource({"x": [], "y": []})
        self.figure: figure = make_figure("", "")
        regions = self.figure.patches(
            "xs", "ys", source=self._regions, fill_color="color", fill_alpha="fill", line_color="color", line_width="width"
        )
        self.figure.scatter("x", "y", source=self._means, color="color", size=4, alpha=0.5, line_color=None)
        self.figure.scatter("x", "y", source=self._truth, marker="x", size=13, line_width=2.5, color=text_color())
        add_hover(self.figure, [regions], [("", "@design")])

    def show(self, shown: Sequence[Shown], labels: Mapping[str, str]) -> None:
        """Replace the data; the first decides about the pair.

        Args:
            shown: all designs.
            labels: of the axes, by parameter.
        """
        pair = find_pair(shown[0].evaluation)
        self.figure.xaxis.axis_label, self.figure.yaxis.axis_label = (labels.get(name, name) for name in pair)
        rows = []
        for item in shown:
            for prob in PROBS:
                corners = outline_pair(item.evaluation, pair, prob)
                if corners is not None:
                    fill, width = (0.0, 2.6) if item.is_simulated else (0.18, 1.2)
                    rows.append((corners[:, 0], corners[:, 1], item.color, f"{item.label}, {prob:.0%}", fill, width))
        names = ("xs", "ys", "color", "design", "fill", "width")
        self._regions.data = {name: [row[k] for row in rows] for k, name in enumerate(names)}
        points = [(item, _list_means(item.evaluation, pair)) for item in shown if item.is_simulated]
        self._means.data = {
            "x": np.concatenate([np.empty(0), *(means[:, 0] for _, means in points)]),
            "y": np.concatenate([np.empty(0), *(means[:, 1] for _, means in points)]),
            "color": [item.color for item, means in points for _ in means],
            "design": [item.label for item, means in points for _ in means],
        }
        truth = _choose(shown[0].evaluation, "truth", pair)
        x, y = np.exp(np.log(truth).mean(axis=0)) if truth.size else (np.nan, np.nan)
        self._truth.data = {"x": [x], "y": [y]}


def _list_means(evaluation: Evaluation, pair: tuple[str, str]) -> np.ndarray:
    means = _choose(evaluation, "mean", pair)
    return means[evaluation.summaries["is_good"].values] if means.size else means


def _choose(evaluation: Evaluation, variable: str, pair: tuple[str, str]) -> np.ndarray:
    """Values over (dataset, both); empty if one of them is not estimated."""
    names = evaluation.summaries["quantity"].values.tolist()
    if not set(pair) <= set(names):
        return np.empty((0, 2))
    return evaluation.summaries[variable].values[:, [names.index(name) for name in pair]]
