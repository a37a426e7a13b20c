"""Whether an experiment was as precise as its plan: planned and achieved standard deviations of posteriors."""

from typing import NamedTuple

import holoviews as hv
import numpy as np
import xarray as xr

from designstudio.errors import StudioError
from designstudio.viz import figures, theme
from designstudio.viz.theme import IDENTITY, REFERENCE_COLOR, QuantityLabel, Series

NUM_ERRORS = 2
# Bars of standard errors may reach below zero, where a logarithm ends: there they end at this share of the value.
LEAST_SHARE = 0.05
ROW_INCHES = 0.3
AS_PLANNED = Series("", REFERENCE_COLOR, dash="dashed")


class Precision(NamedTuple):
    """One quantity: value, low and high of the planned and the achieved sd, and of achieved / planned."""

    label: QuantityLabel
    planned: np.ndarray
    achieved: np.ndarray
    ratio: np.ndarray


def compute_precision(precision: xr.Dataset) -> dict[str, Precision]:
    """What to draw; low and high are two standard errors away."""
    found = {}
    for name, label in theme.label_quantities(precision).items():
        row = precision.sel(quantity=name)
        pairs = (("predicted_sd", "predicted_mcse"), ("achieved_sd", "achieved_se"), ("ratio", "ratio_se"))
        found[name] = Precision(label, *(_reach(float(row[value]), float(row[error])) for value, error in pairs))
    return found


def _reach(value: float, error: float) -> np.ndarray:
    reach = NUM_ERRORS * float(np.nan_to_num(error))
    return np.array([value, max(value - reach, LEAST_SHARE * value), value + reach])


def draw_precision(precision: xr.Dataset, *, title: str = "") -> hv.Layout:
    """Achieved against planned sd on logarithmic axes, since parameters differ in unit, and their ratio.

    Args:
        precision: see `designstudio.fitting.plan.compare_precision`.
        title: stands above the figure.
    """
    found = compute_precision(precision)
    if not found:
        raise StudioError("There are no quantities to draw.")
    names = [row.label.axis for row in found.values()]
    looks = [look._replace(dash=None) for look in theme.make_series(names).values()]
    axes = (figures.AXES_INCHES[0], max(figures.AXES_INCHES[1], ROW_INCHES * len(found)))
    panels = [_draw_scatter(list(found.values()), looks, axes), _draw_ratios(list(found.values()), looks, axes)]
    heading = theme.join_lines(title, f"bars: ± {NUM_ERRORS} standard errors")
    return figures.arrange_panels(panels, num_columns=2, title=heading, legend=[*looks, IDENTITY], axes=axes)


def _draw_scatter(found: list[Precision], looks: list[Series], axes: tuple[float, float]) -> hv.Overlay:
    x, y = (np.log10([getattr(row, name) for row in found]) for name in ("planned", "achieved"))
    limits = theme.pad_limits(x, y, share=0.08)
    parts: list[hv.Element] = [theme.style_line(hv.Curve((limits, limits), label=IDENTITY.label), IDENTITY)]
    for k, look in enumerate(looks):
        bars = hv.Segments([(x[k, 1], y[k, 0], x[k, 2], y[k, 0]), (x[k, 0], y[k, 1], x[k, 0], y[k, 2])])
        marks = hv.Points(([x[k, 0]], [y[k, 0]]), label=look.label)
        parts += [theme.style_segments(bars, look.color, width=1.2), theme.style_points(marks, look, size=5.5)]
    ticks = list_log_ticks(*limits)
    return figures.frame_panel(
        hv.Overlay(parts),
        axes=axes,
        xlabel="planned posterior sd",
        ylabel="achieved posterior sd",
        xlim=limits,
        ylim=limits,
        xticks=ticks,
        yticks=ticks,
    )


def _draw_ratios(found: list[Precision], looks: list[Series], axes: tuple[float, float]) -> hv.Overlay:
    y = np.arange(len(found))[::-1].astype(float)
    ylim = (-0.6, len(found) - 0.4)
    ratios = np.array([row.ratio for row in found])
    parts: list[hv.Element] = [theme.style_line(hv.Curve(([1.0, 1.0], ylim)), AS_PLANNED)]
    for place, (value, low, high), look in zip(y, ratios, looks, strict=True):
        parts.append(theme.style_segments(hv.Segments([(low, place, high, place)]), look.color, width=1.2))
        parts.append(theme.style_points(hv.Points(([value], [place])), look, size=5.5))
    return figures.frame_panel(
        hv.Overlay(parts),
        title="less precise than planned: right of the line",
        axes=axes,
        xlabel="achieved / planned sd",
        ylabel="",
        xlim=theme.pad_limits(ratios, [1.0], share=0.08),
        ylim=ylim,
        yticks=[(place, row.label.symbol) for place, row in zip(y.tolist(), found, strict=True)],
    )


def list_log_ticks(low: float, high: float) -> list[tuple[float, str]]:
    """Places and names of round numbers between two ends, which are logarithms to base 10."""
    steps = (1, 2, 5) if high - low < 2 else (1,)
    exponents = range(int(np.floor(low)), int(np.ceil(high)) + 1)
    values = [float(f"{step}e{exponent}") for exponent in exponents for step in steps]
    return [(float(np.log10(value)), f"{value:g}") for value in values if low <= np.log10(value) <= high]
