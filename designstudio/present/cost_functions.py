"""Inferred cost functions: how bad it is for a subject to respond with more or less than the stimulus."""

from collections.abc import Mapping
from typing import NamedTuple

import holoviews as hv
import numpy as np
import xarray as xr
from jaxtyping import Float

from designstudio.errors import StudioError
from designstudio.present import figures, theme
from designstudio.present.families import FAMILY_LOOKS, get_look, list_families, name_cost, order_costs
from designstudio.present.theme import BLACK, REFERENCE_COLOR, Series

AXES_INCHES = (2.0, 1.7)
ACCURATE = Series("response = stimulus", REFERENCE_COLOR, dash="dotted")
CHEAPEST = Series("least cost", BLACK, "d")
# Responses up to so many times the stimulus, and down to as small a part of it, are shown: beyond, steep costs would hide
# what happens where subjects respond.
REACH = 2.0
# The band of a steep cost leaves the panel here; costs are relative to the largest median.
HIGHEST = 1.3
# Ratios at which an axis has ticks: round ones, and more of them where it is short.
RATIOS = (0.1, 0.2, 0.25, 0.5, 0.67, 0.8, 1.0, 1.25, 1.5, 2.0, 4.0, 5.0, 10.0)
FEW_RATIOS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 10.0, 20.0)


class CostCurve(NamedTuple):
    """A cost over the logarithm (to base 2) of response / stimulus, relative to its largest median."""

    place: Float[np.ndarray, " ratio"]
    low: Float[np.ndarray, " ratio"]
    median: Float[np.ndarray, " ratio"]
    high: Float[np.ndarray, " ratio"]

    @property
    def cheapest(self) -> int:
        """Where the median is smallest."""
        return int(np.nanargmin(self.median))


def compute_cost_curve(function: xr.Dataset, reach: float = REACH) -> CostCurve:
    """What to draw of one cost. All of it is divided by one number, which changes no decision.

    Raises:
        StudioError: if there is no median, or no ratio within reach.
    """
    is_near = np.abs(np.log(function["ratio"].values)) <= np.log(reach) + 1e-6
    ordered = function.isel(ratio=is_near).sortby(["ratio", "quantile"]).transpose("ratio", "quantile", ...)
    levels = ordered["quantile"].values.astype(float)
    middle = np.flatnonzero(np.isclose(levels, 0.5))
    if not middle.size:
        raise StudioError(
            f"A cost function needs the quantile 0.5, but it has {', '.join(f'{level:g}' for level in levels)}."
        )
    if not is_near.any():
        raise StudioError(f"A cost function needs ratios from {1 / reach:g} to {reach:g}, but it has none there.")
    cost = ordered["cost"].values.astype(float)
    largest = float(np.nanmax(cost[:, middle[0]]))
    cost = cost / (largest if largest > 0 else 1.0)
    return CostCurve(np.log2(ordered["ratio"].values.astype(float)), cost[:, 0], cost[:, middle[0]], cost[:, -1])


def draw_cost_functions(costs: Mapping[str, xr.Dataset], *, reach: float = REACH, title: str = "") -> hv.Layout:
    """The inferred functions of all costs, a panel for each, in the colours of their families.

    Args:
        costs: for each, quantiles of the `cost` over (ratio, quantile), the ratio being response / stimulus.
        reach: largest ratio that is shown; the smallest is one divided by it.
        title: stands above the figure.

    Raises:
        StudioError: if there are none.
    """
    if not costs:
        raise StudioError("There are no cost functions to draw.")
    names = order_costs(costs)
    curves = {name: compute_cost_curve(costs[name], reach) for name in names}
    xlim = theme.pad_limits(*(curve.place for curve in curves.values()), share=0.02)
    ends = [np.sort(function["quantile"].values.astype(float))[[0, -1]] for function in costs.values()]
    widths = sorted({f"{high - low:.0%}" for low, high in ends})
    panels = [_draw_panel(name, curve, xlim) for name, curve in curves.items()]
    note = f"median and {' or '.join(widths)} band; relative to the largest median shown"
    legend = [FAMILY_LOOKS[family]._replace(marker=None) for family in list_families(names)]
    return figures.arrange_panels(
        panels,
        num_columns=figures.count_columns(len(panels)),
        title=theme.join_lines(title, note),
        legend=[*legend, ACCURATE, CHEAPEST],
        axes=AXES_INCHES,
    )


def list_ratio_ticks(low: float, high: float) -> list[tuple[float, str]]:
    """Places and names of a few ratios between two ends, which are logarithms to base 2."""
    ratios = RATIOS if high - low < 3 else FEW_RATIOS
    return [(float(np.log2(ratio)), f"{ratio:g}") for ratio in ratios if low <= np.log2(ratio) <= high]


def _draw_panel(name: str, curve: CostCurve, xlim: tuple[float, float]) -> hv.Overlay:
    look = get_look(name)
    top = min(HIGHEST, float(np.nanmax(curve.high)))
    ylim = (min(0.0, float(np.nanmin(curve.low))) - 0.04, max(top, 1.0) + 0.04)
    band = hv.Area((curve.place, curve.low.clip(*ylim), curve.high.clip(*ylim)), vdims=["low", "high"])
    at = curve.cheapest
    parts = [
        theme.style_fill(band, look.color, alpha=0.22),
        theme.style_line(hv.Curve(([0.0, 0.0], ylim), label=ACCURATE.label), ACCURATE),
        theme.style_line(hv.Curve((curve.place, curve.median), label=look.label), look, width=1.6),
        theme.style_points(hv.Points(([curve.place[at]], [curve.median[at]]), label=CHEAPEST.label), CHEAPEST, size=5),
    ]
    return figures.frame_panel(
        hv.Overlay(parts),
        title=name_cost(name),
        axes=AXES_INCHES,
        xlabel="response / stimulus",
        ylabel="relative cost",
        xlim=xlim,
        ylim=ylim,
        xticks=list_ratio_ticks(*xlim),
    )
