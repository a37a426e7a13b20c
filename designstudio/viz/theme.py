"""How all figures look: colours, fonts and sizes, for matplotlib (files) and Bokeh (screen) alike.

Colours are Okabe and Ito's: told apart by every kind of colour vision, and in print. Series also differ in their markers and
dashes, so no figure needs its colours. Sizes are those of print: a panel with its labels is 3.3 inches wide, half the width
of a text, and no letter is smaller than 8 points.

Figures are built of the few parts below, which set the options of both backends, and put together with
`designstudio.viz.figures`.
"""

import itertools
from collections.abc import Iterable, Mapping
from typing import Any, Literal, NamedTuple

import holoviews as hv

# Registers both backends. The first becomes the current one, unless there is one already.
import holoviews.plotting.mpl  # isort: skip
import holoviews.plotting.bokeh  # isort: skip
import numpy as np
import xarray as xr
from matplotlib.colors import LinearSegmentedColormap, to_hex

from designstudio.errors import StudioError, UnknownNameError
from designstudio.model.parameters import NO_UNIT

Dash = Literal["solid", "dashed", "dotted", "dashdot"]

BLUE, VERMILION, GREEN, PURPLE = "#0072B2", "#D55E00", "#009E73", "#CC79A7"
ORANGE, SKY, BLACK = "#E69F00", "#56B4E9", "#000000"
# Yellow, the eighth, is left out: it is too pale for lines on white.
SERIES_COLORS = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY, BLACK)
CROSS = "X"
MARKERS = ("o", "s", "^", "d", "v")
DASHES: tuple[Dash, ...] = ("solid", "dashed", "dotted", "dashdot")
BAND_COLOR = "#DDE1E6"
REFERENCE_COLOR = "#6B7280"

FONT_SIZES = {"title": 9, "labels": 9, "ticks": 8, "legend": 8}
BOKEH_FONT_SIZES = {"title": 10, "labels": 11, "ticks": 10, "legend": 10}


class Series(NamedTuple):
    """One entry of a legend, and how its points and lines look. No marker or no dash: none is drawn."""

    label: str
    color: str
    marker: str | None = None
    dash: Dash | None = None
    is_hollow: bool = False


IDENTITY = Series("identity", REFERENCE_COLOR, dash="dashed")


def make_series(labels: Iterable[str]) -> dict[str, Series]:
    """A look for each label; 7 colours and 5 markers make 35 that differ."""
    looks = zip(itertools.cycle(SERIES_COLORS), itertools.cycle(MARKERS), itertools.cycle(DASHES), strict=False)
    return {label: Series(label, *look) for label, look in zip(labels, looks, strict=False)}


class QuantityLabel(NamedTuple):
    """How a quantity is written: in full on an axis, by its symbol where there is little room."""

    symbol: str
    unit: str

    @property
    def axis(self) -> str:
        """Symbol and unit."""
        return self.symbol if self.unit == NO_UNIT else f"{self.symbol} ({self.unit})"


def label_quantities(summaries: xr.Dataset) -> dict[str, QuantityLabel]:
    """How each quantity of summaries is written."""
    columns = (summaries[name].values.tolist() for name in ("quantity", "symbol", "unit"))
    return {name: QuantityLabel(symbol, unit) for name, symbol, unit in zip(*columns, strict=True)}


def choose_quantities(
    summaries_by_design: Mapping[str, xr.Dataset], quantities: Iterable[str] | None
) -> dict[str, QuantityLabel]:
    """The quantities to draw, by default all; not every design needs to have each of them.

    Raises:
        UnknownNameError: if no design has a quantity.
        StudioError: if there are no designs.
    """
    if not summaries_by_design:
        raise StudioError("There are no designs to draw.")
    labels: dict[str, QuantityLabel] = {}
    for summaries in summaries_by_design.values():
        labels |= label_quantities(summaries)
    chosen = list(labels) if quantities is None else list(quantities)
    for name in chosen:
        if name not in labels:
            raise UnknownNameError("quantity", name, labels)
    return {name: labels[name] for name in chosen}


def describe_failures(num_failed: int, num_datasets: int) -> str:
    """For a title; empty if there is nothing to tell."""
    return f"{num_failed} of {num_datasets} fits failed" if num_failed else ""


def describe_fits(summaries_by_design: Mapping[str, xr.Dataset]) -> str:
    """How many fits failed, in which design; empty if none did."""
    notes = {}
    for design, summaries in summaries_by_design.items():
        is_good = summaries["is_good"].values
        notes[design] = describe_failures(int((~is_good).sum()), is_good.size)
    if len(notes) == 1:
        return next(iter(notes.values()))
    return "\n".join(f"{design}: {note}" for design, note in notes.items() if note)


def join_lines(*parts: str) -> str:
    """Lines of a title, without the empty ones."""
    return "\n".join(part for part in parts if part)


def mix_colors(*colors: str) -> list[str]:
    """A colour map between the given colours, in a form that both backends take."""
    ramp = LinearSegmentedColormap.from_list("mixed", colors)
    return [to_hex(ramp(share)) for share in np.linspace(0, 1, 256)]


SEQUENTIAL = mix_colors("#FFFFFF", SKY, BLUE, "#00324F")
DIVERGING = mix_colors(BLUE, "#FFFFFF", VERMILION)


def set_options(element: Any, *, matplotlib: dict[str, Any], bokeh: dict[str, Any]) -> Any:
    """The same element, with options for both backends."""
    return element.opts(**matplotlib, backend="matplotlib").opts(**bokeh, backend="bokeh")


def style_points(element: hv.Points, series: Series, *, size: float = 4.0, alpha: float = 1.0) -> hv.Points:
    """Points as the series has them; `size` is their diameter in points of print."""
    # matplotlib takes the area. Thin white rims keep neighbours apart; Bokeh's cross is all line.
    rim = {"line_width": 3.0} if series.marker == CROSS else {"line_color": "white", "line_width": 0.5}
    marker = "x" if series.marker == CROSS else series.marker
    color, edge, width = (series.color, "white", 0.4)
    if series.is_hollow:
        color, edge, width = "white", series.color, 0.8
        rim = {"line_color": series.color, "line_width": 1.2}
    return set_options(
        element,
        matplotlib={"color": color, "marker": series.marker, "s": size**2, "alpha": alpha}
        | {"edgecolors": edge, "linewidth": width},
        bokeh={"color": color, "marker": marker, "size": 1.6 * size, "alpha": alpha, **rim},
    )


def style_line(element: Any, series: Series, *, width: float = 1.2, alpha: float = 1.0) -> Any:
    """A curve or reference line as the series has it."""
    return set_options(
        element,
        matplotlib={"color": series.color, "linestyle": series.dash, "linewidth": width, "alpha": alpha},
        bokeh={"color": series.color, "line_dash": series.dash, "line_width": 1.4 * width, "alpha": alpha},
    )


def style_segments(element: hv.Segments, color: str, *, width: float = 0.8, alpha: float = 1.0) -> hv.Segments:
    """Intervals and error bars."""
    return set_options(
        element,
        matplotlib={"color": color, "linewidth": width, "alpha": alpha},
        bokeh={"color": color, "line_width": 1.4 * width, "alpha": alpha},
    )


def style_fill(element: Any, color: str, *, alpha: float = 0.2) -> Any:
    """A band or region without an outline."""
    return set_options(
        element,
        # HoloViews has colours of its own for whichever of them is not given.
        matplotlib={"color": color, "facecolor": color, "edgecolor": "none", "alpha": alpha},
        bokeh={"fill_color": color, "fill_alpha": alpha, "line_alpha": 0.0},
    )


def style_texts(element: hv.Labels, color: str) -> hv.Labels:
    """Texts within the axes."""
    return set_options(
        element,
        matplotlib={"color": color, "size": FONT_SIZES["ticks"]},
        bokeh={"text_color": color, "text_font_size": f"{BOKEH_FONT_SIZES['ticks']}pt"},
    )


def align_texts(element: hv.Labels, across: str, up: str = "center", *, color: str = BLACK) -> hv.Labels:
    """Texts that begin (left), are centred or end (right) at their places, and hang below them (top) or stand on them."""
    return set_options(
        style_texts(element, color),
        matplotlib={"horizontalalignment": across, "verticalalignment": up},
        bokeh={"text_align": across, "text_baseline": "middle" if up == "center" else up},
    )


def pad_limits(*values: Any, share: float = 0.05) -> tuple[float, float]:
    """Limits that show all finite values, with some air; 0 to 1 if there are none."""
    joined = np.concatenate([np.ravel(np.asarray(part, float)) for part in values])
    finite = joined[np.isfinite(joined)]
    if finite.size == 0:
        return 0.0, 1.0
    low, high = float(finite.min()), float(finite.max())
    # A single value gets air as well.
    air = share * ((high - low) or abs(high) or 1.0)
    return low - air, high + air
