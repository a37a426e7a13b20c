"""Shrinkage by pooling: separate against pooled estimates of every subject, and the median subject of the group."""

from collections.abc import Mapping
from typing import NamedTuple

import holoviews as hv
import numpy as np
import pandas as pd
import xarray as xr
from jaxtyping import Bool, Float

from designstudio.errors import StudioError
from designstudio.model.parameter_entries import ParameterEntry
from designstudio.viz import figures, theme
from designstudio.viz.theme import BLUE, CROSS, REFERENCE_COLOR, VERMILION, QuantityLabel, Series

UNSUPPORTED = Series("pooled estimate that cannot be used", REFERENCE_COLOR, CROSS)
POOLED = Series("pooled estimate ± 1 sd", BLUE, "o", "solid")
SEPARATE = Series("separate estimate", REFERENCE_COLOR, "o", is_hollow=True)
UNPOOLED = Series("no pooling", REFERENCE_COLOR, dash="dotted")
GROUP = Series("median subject", VERMILION, dash="dashed")
AXES_INCHES = (2.0, 2.0)


class Shift(NamedTuple):
    """One quantity: the subjects before and after pooling, and the median subject (NaN if it is not known)."""

    subject: list[str]
    separate: Float[np.ndarray, " subject"]
    separate_sd: Float[np.ndarray, " subject"]
    pooled: Float[np.ndarray, " subject"]
    pooled_sd: Float[np.ndarray, " subject"]
    group: float
    shrinkage: float
    is_good: Bool[np.ndarray, " subject"]


def compute_shifts(shrinkage: xr.Dataset, group: Mapping[str, float] | None = None) -> dict[str, Shift]:
    """What to draw of each quantity.

    Args:
        shrinkage: see `draw_shrinkage`.
        group: the median subject, for each quantity.
    """
    num_subjects = shrinkage.sizes["dataset"]
    is_good = shrinkage["is_good"].values.astype(bool) if "is_good" in shrinkage else np.ones(num_subjects, bool)
    ordered = shrinkage.transpose("dataset", "quantity", ...)
    subjects = shrinkage["subject"].values.astype(str).tolist()
    shifts = {}
    for name in shrinkage["quantity"].values.astype(str).tolist():
        chosen = ordered.sel(quantity=name)
        names = ("separate_mean", "separate_sd", "pooled_mean", "pooled_sd")
        separate, separate_sd, pooled, pooled_sd = (chosen[column].values.astype(float) for column in names)
        own = chosen["shrinkage"].values.astype(float)[is_good]
        typical = float(np.median(own)) if own.size else np.nan
        shifts[name] = Shift(
            subjects, separate, separate_sd, pooled, pooled_sd, (group or {}).get(name, np.nan), typical, is_good
        )
    return shifts


def list_medians(group: pd.DataFrame, conditions: list[str]) -> dict[str, float]:
    """The median subject of a table of the group, by the names that quantities have when subjects are pooled."""
    places = {condition: k for k, condition in enumerate(conditions)}
    rows = zip(group["quantity"], group["condition"], group["mean"], strict=True)
    return {ParameterEntry(str(name), places.get(where)).label(): float(mean) for name, where, mean in rows}


def draw_shrinkage(
    shrinkage: xr.Dataset,
    labels: Mapping[str, QuantityLabel],
    *,
    group: Mapping[str, float] | None = None,
    title: str = "",
) -> hv.Layout:
    """Pooled against separate estimates, with a line for the way from the one to the other.

    Without pooling all would lie on the diagonal; if the group said everything, on the line of the median subject.

    Args:
        shrinkage: see `designstudio.inference.hierarchical.compute_shrinkage`; with a variable `is_good` over dataset,
            pooled estimates that cannot be used are crossed out.
        labels: symbol and unit of each quantity.
        group: the median subject, for each quantity.
        title: stands above the figure.
    """
    shifts = compute_shifts(shrinkage, group)
    if not shifts:
        raise StudioError("There are no pooled quantities to draw.")
    panels = [_draw_panel(shift, labels.get(name, QuantityLabel(name, ""))) for name, shift in shifts.items()]
    legend = [POOLED, SEPARATE, UNPOOLED, *([GROUP] if any(np.isfinite(shift.group) for shift in shifts.values()) else [])]
    num_bad = int((~next(iter(shifts.values())).is_good).sum())
    legend += [UNSUPPORTED] if num_bad else []
    heading = theme.join_lines(title, "shrinkage: share of the separate variance that the group removes (median)")
    return figures.arrange_panels(
        panels, num_columns=figures.count_columns(len(panels)), title=heading, legend=legend, axes=AXES_INCHES
    )


def _draw_panel(shift: Shift, label: QuantityLabel) -> hv.Overlay:
    x, y = shift.separate, shift.pooled
    limits = theme.pad_limits(x, y, x - shift.separate_sd, x + shift.separate_sd, y - shift.pooled_sd, y + shift.pooled_sd)
    # Bars behind, way and marks in front; the more subjects, the fainter.
    faint = float(np.clip(12 / max(len(x), 1), 0.25, 0.6))
    across = hv.Segments((x - shift.separate_sd, x, x + shift.separate_sd, x))
    names = np.array(shift.subject, object)
    parts = [
        theme.style_line(hv.Curve((limits, limits), label=UNPOOLED.label), UNPOOLED),
        theme.style_segments(across, REFERENCE_COLOR, alpha=faint),
        theme.style_points(hv.Points((x, x), label=SEPARATE.label), SEPARATE, size=3.5),
    ]
    for is_chosen, look in ((shift.is_good, POOLED), (~shift.is_good, UNSUPPORTED)):
        if is_chosen.any():
            at, end, reach = x[is_chosen], y[is_chosen], shift.pooled_sd[is_chosen]
            up, way = hv.Segments((at, end - reach, at, end + reach)), hv.Segments((at, at, at, end))
            parts.append(theme.style_segments(up, look.color, width=1.0, alpha=faint))
            parts.append(theme.style_segments(way, look.color, width=1.4))
            marks = hv.Points((at, end, names[is_chosen]), vdims="subject", label=look.label)
            parts.append(theme.style_points(marks, look, size=4.5).opts(tools=["hover"], backend="bokeh"))
    if np.isfinite(shift.group):
        line = hv.Curve((limits, [shift.group] * 2), label=GROUP.label)
        parts.insert(1, theme.style_line(line, GROUP))
    return figures.frame_panel(
        hv.Overlay(parts),
        title=label.symbol + ("" if np.isnan(shift.shrinkage) else f": {shift.shrinkage:.0%} shrinkage").replace("-", "−"),
        axes=AXES_INCHES,
        xlabel=f"separate {label.axis}",
        ylabel=f"pooled {label.axis}",
        xlim=limits,
        ylim=limits,
    )
