"""Inferred cost functions: how bad it is for a subject to respond with more or less than the stimulus."""

from collections.abc import Mapping
from typing import NamedTuple

import holoviews as hv
import numpy as np
import xarray as xr
from jaxtyping import Float

from designstudio.errors import StudioError
from designstudio.viz import figures, theme
from designstudio.viz.estimates import SHARED
from designstudio.viz.families import FAMILY_LOOKS, get_look, list_families, name_cost, order_costs
from designstudio.viz.theme import BLACK, REFERENCE_COLOR, Series

AXES_INCHES = (2.0, 1.7)
ACCURATE = Series("response = stimulus", REFERENCE_COLOR, dash="dotted")
CHEAPEST = Series("least cost", BLACK, "d")
# Ratios at which the axis has ticks: nearly even steps.
RATIOS = (0.5, 0.7, 1.0, 1.4, 2.0)


class CostCurve(NamedTuple):
    """A cost over the logarithm (to base 2) of response / stimulus, in one condition or (`SHARED`) in all of them."""

    condition: str
    place: Float[np.ndarray, " ratio"]
    low: Float[np.ndarray, " ratio"]
    median: Float[np.ndarray, " ratio"]
    high: Float[np.ndarray, " ratio"]

    @property
    def cheapest(self) -> int:
        """Where the median is smallest."""
        return int(np.argmin(self.median))


def compute_cost_curves(function: xr.Dataset) -> list[CostCurve]:
    """What to draw of one cost: a curve, or one for each condition if they differ."""
    place = np.log2(function["error"].values)
    whole = function if "condition" in function.dims else function.expand_dims(condition=[SHARED])
    return [
        CostCurve(
            str(condition), place, *(whole[name].sel(condition=condition).values for name in ("low", "median", "high"))
        )
        for condition in whole["condition"].values
    ]


def draw_cost_functions(costs: Mapping[str, xr.Dataset], *, title: str = "") -> hv.Layout:
    """The inferred functions of all costs, a panel for each.

    They have the colours of their families, or those of the conditions if some cost differs between them.

    Args:
        costs: for each, what `designstudio.fitting.predict.infer_cost_function` says about one subject.
        title: stands above the figure.

    Raises:
        StudioError: if there are none.
    """
    if not costs:
        raise StudioError("There are no cost functions to draw.")
    curves = {name: compute_cost_curves(costs[name]) for name in order_costs(costs)}
    used = list(dict.fromkeys(curve.condition for own in curves.values() for curve in own))
    own_looks = theme.make_series(condition for condition in used if condition != SHARED)
    looks = {condition: look._replace(marker=None) for condition, look in own_looks.items()}
    if looks:
        if SHARED in used:
            looks[SHARED] = Series("all conditions", BLACK, dash="solid")
        legend = list(looks.values())
    else:
        legend = [FAMILY_LOOKS[family]._replace(marker=None) for family in list_families(curves)]
    panels = [_draw_panel(name, own, looks) for name, own in curves.items()]
    interval = next(iter(costs.values())).attrs["interval"]
    return figures.arrange_panels(
        panels,
        num_columns=figures.count_columns(len(panels)),
        title=theme.join_lines(title, f"median and {interval:.0%} interval; an accurate response costs 0, the worst 1"),
        legend=[*legend, ACCURATE, CHEAPEST],
        axes=AXES_INCHES,
    )


def _draw_panel(name: str, curves: list[CostCurve], looks: Mapping[str, Series]) -> hv.Overlay:
    xlim = theme.pad_limits(*(curve.place for curve in curves), share=0.02)
    ylim = theme.pad_limits(*(part for curve in curves for part in (curve.low, curve.high)))
    parts = [theme.style_line(hv.Curve(([0.0, 0.0], ylim), label=ACCURATE.label), ACCURATE)]
    for curve in curves:
        look = looks.get(curve.condition, get_look(name))
        band = hv.Area((curve.place, curve.low, curve.high), vdims=["low", "high"])
        line = hv.Curve((curve.place, curve.median), label=look.label)
        parts += [theme.style_fill(band, look.color, alpha=0.22), theme.style_line(line, look, width=1.6)]
    for curve in curves:
        at = curve.cheapest
        marks = hv.Points(([curve.place[at]], [curve.median[at]]), label=CHEAPEST.label)
        parts.append(theme.style_points(marks, CHEAPEST, size=5))
    return figures.frame_panel(
        hv.Overlay(parts),
        title=name_cost(name),
        axes=AXES_INCHES,
        xlabel="response / stimulus",
        ylabel="relative cost",
        xlim=xlim,
        ylim=ylim,
        xticks=[(float(np.log2(ratio)), f"{ratio:g}") for ratio in RATIOS],
    )
