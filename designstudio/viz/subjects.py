"""Estimates of all subjects of one fit, with intervals: a panel for each parameter."""

from collections.abc import Mapping
from typing import NamedTuple

import holoviews as hv
import numpy as np
import pandas as pd
from jaxtyping import Float

from designstudio.errors import StudioError
from designstudio.metrics.intervals import INTERVAL
from designstudio.viz import figures, theme
from designstudio.viz.estimates import SHARED
from designstudio.viz.theme import BAND_COLOR, BLACK, BLUE, CROSS, REFERENCE_COLOR, QuantityLabel, Series

COLUMNS = ("subject", "quantity", "condition", "mean", "low", "high", "is_good")
FAILED = Series("no usable fit", REFERENCE_COLOR, CROSS)
# Inches: across a panel; up of a subject at least, at most, and for each of its conditions; of all subjects, if they fit.
PANEL_INCHES, LEAST_ROW, MOST_ROW, ROW_OF_CONDITION, ALL_ROWS = 1.5, 0.15, 0.28, 0.065, 5.0
BETWEEN_INCHES, LETTER_INCHES = 0.32, 0.075
MOST_COLUMNS = 7


class Rows(NamedTuple):
    """One parameter in one condition: places of the subjects with a good fit and their estimates, and those without."""

    condition: str
    place: Float[np.ndarray, " subject"]
    mean: Float[np.ndarray, " subject"]
    low: Float[np.ndarray, " subject"]
    high: Float[np.ndarray, " subject"]
    failed: Float[np.ndarray, " failed"]


class Caterpillar(NamedTuple):
    """What is drawn: the subjects from bottom to top, and the rows of each parameter."""

    subjects: list[str]
    conditions: list[str]
    rows: dict[str, list[Rows]]
    failed: list[str]

    @property
    def names(self) -> list[str]:
        """How subjects are called at the axis, where those without a fit are told apart."""
        return [f"{name} (no fit)" if name in self.failed else name for name in self.subjects]


def compute_caterpillar(estimates: pd.DataFrame) -> Caterpillar:
    """Subjects in the order of the first parameter (the mean over its conditions), those whose fits failed at the bottom.

    Raises:
        StudioError: if there is nothing to draw, or a column is missing.
    """
    if missing := [name for name in COLUMNS if name not in estimates]:
        raise StudioError(f"The estimates have no column {missing[0]!r}; they need {', '.join(COLUMNS)}.")
    if estimates.empty:
        raise StudioError("There are no estimates to draw.")
    is_shown = estimates["is_good"].astype(bool) & np.isfinite(estimates["mean"].astype(float))
    first = estimates["quantity"].iloc[0]
    means = estimates[is_shown & (estimates["quantity"] == first)].groupby("subject")["mean"].mean()
    everyone = list(dict.fromkeys(estimates["subject"].astype(str)))
    without = [subject for subject in everyone if subject not in means.index]
    subjects = [*without, *means.sort_values(kind="stable").index.astype(str)]
    place = {subject: float(k) for k, subject in enumerate(subjects)}
    conditions = [str(name) for name in dict.fromkeys(estimates["condition"]) if name != SHARED]
    rows: dict[str, list[Rows]] = {}
    for (quantity, condition), part in estimates.groupby(["quantity", "condition"], sort=False):
        good, bad = part[is_shown[part.index]], part[~is_shown[part.index]]
        mean, low, high = (good[name].to_numpy(float) for name in ("mean", "low", "high"))
        places, failed = (np.array([place[str(name)] for name in side["subject"]], float) for side in (good, bad))
        rows.setdefault(str(quantity), []).append(Rows(str(condition), places, mean, low, high, failed))
    return Caterpillar(subjects, conditions, rows, list(dict.fromkeys(estimates[~is_shown]["subject"].astype(str))))


def draw_subjects(
    estimates: pd.DataFrame,
    labels: Mapping[str, QuantityLabel],
    *,
    group: pd.DataFrame | None = None,
    interval: float = INTERVAL,
    title: str = "",
) -> hv.Layout:
    """Mean and interval of every subject, a panel for each parameter and a colour for each condition.

    Args:
        estimates: a tidy table; see `designstudio.viz.estimates`.
        labels: symbol and unit of each parameter.
        group: the median subject, if subjects were pooled: a line and a band.
        interval: probability of the intervals, for the title.
        title: stands above the figure.
    """
    drawn = compute_caterpillar(estimates)
    looks = _choose_looks(drawn)
    num_subjects = len(drawn.subjects)
    per_condition = max(len(rows) for rows in drawn.rows.values())
    row = np.clip(ALL_ROWS / num_subjects, max(LEAST_ROW, ROW_OF_CONDITION * per_condition), MOST_ROW)
    axes = (PANEL_INCHES, max(1.2, float(row) * num_subjects))
    num_columns = min(len(drawn.rows), MOST_COLUMNS)
    panels = []
    for k, (quantity, rows) in enumerate(drawn.rows.items()):
        bands = None if group is None else group[group["quantity"] == quantity].set_index("condition")
        label = labels.get(quantity, QuantityLabel(quantity, ""))
        panels.append(_draw_panel(drawn, rows, bands, looks, label, axes, is_first=k % num_columns == 0))
    first = next(iter(drawn.rows))
    heading = theme.join_lines(
        title,
        f"mean and {interval:.0%} interval, sorted by {labels[first].symbol if first in labels else first}",
        f"{len(drawn.failed)} of {num_subjects} subjects have no usable fit" if drawn.failed else "",
    )
    used = {rows.condition for parts in drawn.rows.values() for rows in parts}
    legend = [looks[condition] for condition in looks if condition in used]
    # A lone look needs no explanation.
    legend = legend if len(legend) > 1 else []
    if group is not None:
        legend.append(Series(f"median subject, with {interval:.0%} interval", BLACK, dash="solid"))
    if drawn.failed:
        legend.append(FAILED)
    return figures.arrange_panels(
        panels,
        num_columns=num_columns,
        title=heading,
        legend=legend,
        axes=axes,
        left=max(0.45, 0.2 + LETTER_INCHES * max(map(len, drawn.names))),
        between=BETWEEN_INCHES,
    )


def _choose_looks(drawn: Caterpillar) -> dict[str, Series]:
    if not drawn.conditions:
        return {SHARED: Series("estimate", BLUE, "o")}
    shared = {SHARED: Series("all conditions", BLACK, "o")}
    looks = theme.make_series(drawn.conditions)
    return {condition: look._replace(dash=None) for condition, look in looks.items()} | shared


def _draw_panel(
    drawn: Caterpillar,
    rows: list[Rows],
    bands: pd.DataFrame | None,
    looks: Mapping[str, Series],
    label: QuantityLabel,
    axes: tuple[float, float],
    *,
    is_first: bool,
) -> hv.Overlay:
    num_subjects = len(drawn.subjects)
    ylim = (-0.6, num_subjects - 0.4)
    group = np.empty(0) if bands is None else bands[["low", "high"]].to_numpy(float)
    xlim = theme.pad_limits(group, *(values for row in rows for values in (row.low, row.high, row.mean)))
    # Every other row is shaded, so that the eye finds its way from the name to the last panel.
    stripes = hv.Rectangles([(xlim[0], k - 0.5, xlim[1], k + 0.5) for k in range(0, num_subjects, 2)])
    parts: list[hv.Element] = [theme.style_fill(stripes, BAND_COLOR, alpha=0.4)]
    # The first condition on top.
    offsets = 0.5 * ((len(rows) - 1) / 2 - np.arange(len(rows))) / max(len(rows) - 1, 1)
    for row, offset in zip(rows, offsets, strict=True):
        look = looks[row.condition]
        if bands is not None and row.condition in bands.index:
            mean, low, high = (float(bands.loc[row.condition, name]) for name in ("mean", "low", "high"))
            band = hv.Rectangles([(low, ylim[0], high, ylim[1])])
            line = hv.Curve(([mean, mean], ylim))
            parts += [theme.style_fill(band, look.color, alpha=0.15)]
            parts += [theme.style_line(line, look._replace(dash="solid"), width=1.0)]
        y = row.place + offset
        bars = hv.Segments((row.low, y, row.high, y))
        names = [drawn.subjects[int(place)] for place in row.place]
        marks = hv.Points((row.mean, y, names), vdims="subject", label=look.label)
        parts.append(theme.style_segments(bars, look.color, width=1.0, alpha=0.8))
        parts.append(theme.style_points(marks, look, size=3.5).opts(tools=["hover"], backend="bokeh"))
    failed = np.unique(np.concatenate([row.failed for row in rows]))
    if failed.size:
        edge = xlim[0] + 0.05 * (xlim[1] - xlim[0])
        marks = hv.Points((np.full(failed.size, edge), failed), label=FAILED.label)
        parts.append(theme.style_points(marks, FAILED, size=4.5))
    names_shown = [(float(k), name if is_first else "") for k, name in enumerate(drawn.names)]
    return figures.frame_panel(
        hv.Overlay(parts),
        axes=axes,
        xlabel=label.axis,
        ylabel="subject" if is_first else "",
        xlim=xlim,
        ylim=ylim,
        yticks=names_shown,
    )
