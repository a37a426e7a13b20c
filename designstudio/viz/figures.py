"""Put panels together to a figure, and save figures as files.

A figure is a `hv.Layout` of panels of equal size that both backends draw. Elements with a label get an entry in Bokeh's
legend, below one of the panels; matplotlib has one legend for all of them, made of the `Series` that a figure names. Neither
hides anything.
"""

import functools
import html
import math
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import holoviews as hv
import numpy as np
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from designstudio.core.files import write_bytes
from designstudio.errors import StudioError
from designstudio.viz.theme import (
    BOKEH_FONT_SIZES,
    FONT_SIZES,
    REFERENCE_COLOR,
    Series,
    join_lines,
    set_options,
    style_texts,
)

DPI = 150
NUM_TICKS = 5
MAX_COLUMNS = 4
FORMATS = {".png": "png", ".svg": "svg"}

# Inches: between the ends of the axes; then around them, for labels; then of a line of text.
AXES_INCHES = (2.5, 2.0)
LEFT, RIGHT, BOTTOM, TOP = 0.7, 0.1, 0.5, 0.12
LINE_INCHES = 0.17
# Average width of a letter, for breaking titles and legends: a little generous.
INCHES_PER_LETTER = 0.07
BOKEH_PIXELS_PER_INCH = 110
NO_BREAK_SPACE = "\u00a0"


def count_columns(num_panels: int) -> int:
    """Columns for a number of panels: rows of nearly equal lengths, none too long for a page."""
    return math.ceil(num_panels / math.ceil(num_panels / MAX_COLUMNS))


def round_ticks(low: float, high: float, *, is_whole: bool = False) -> list[float]:
    """A few round numbers between two ends."""
    ticks = MaxNLocator(NUM_TICKS, integer=is_whole, steps=[1, 2, 5, 10]).tick_values(low, high)
    return [float(tick) for tick in ticks if low <= tick <= high]


def save_figure(figure: hv.core.Dimensioned, *paths: str | Path, dpi: int = DPI) -> Path:
    """Draw a HoloViews object with matplotlib, once, into PNG or SVG files.

    Args:
        figure: what to draw.
        *paths: end in .png or .svg; their folders are made if needed.
        dpi: pixels per inch of a PNG.

    Returns:
        The first path.
    """
    files = [Path(path) for path in paths]
    for path in files:
        if path.suffix not in FORMATS:
            raise StudioError(
                f"Figures are saved as .svg files (sharp at every size) or saved as .png files, but {path.name!r} was given."
            )
        path.parent.mkdir(parents=True, exist_ok=True)
    renderer = hv.plotting.mpl.MPLRenderer
    # As hv.extension does: switch to Agg, which needs no screen and works in a dashboard's threads, unless in a notebook.
    renderer.load_nb()
    # HoloViews remembers margins by id(figure), and a new figure can get the id of one that is gone: labels would be cut.
    renderer.drawn.clear()
    drawing = renderer.instance(dpi=dpi)
    plot = drawing.get_plot(figure)
    for path in files:
        data, _ = drawing(plot, fmt=FORMATS[path.suffix])
        write_bytes(path, data if isinstance(data, bytes) else data.encode())
    return files[0]


def frame_panel(
    overlay: hv.Overlay, *, title: str = "", axes: tuple[float, float] = AXES_INCHES, **shared: Any
) -> hv.Overlay:
    """A panel of an arrangement.

    Args:
        overlay: what it shows.
        title: broken into lines if it is too long.
        axes: inches between the axes' ends, across and up.
        **shared: options that are the same for both backends, such as `xlabel` and `xlim`.
    """
    width, height = (round(BOKEH_PIXELS_PER_INCH * inches) for inches in axes)
    title = _wrap(title, axes[0] + LEFT)
    shared |= {"title": title}
    free = [axis for axis in "xy" if shared.get(f"{axis}ticks") is None]
    counts = {f"{axis}ticks": NUM_TICKS for axis in free}
    return set_options(
        overlay,
        matplotlib={
            **shared,
            "fontsize": FONT_SIZES,
            "show_legend": False,
            "aspect": "auto",
            "show_frame": False,
            "hooks": [functools.partial(_space_ticks, free)],
        },
        bokeh={
            **shared,
            **counts,
            "fontsize": BOKEH_FONT_SIZES,
            "show_legend": False,
            "legend_position": "bottom",
            "legend_opts": {"border_line_color": None},
            "frame_width": width,
            "frame_height": height,
            "hooks": [_quiet_bokeh],
        },
    )


def arrange_panels(
    panels: Sequence[hv.Overlay | hv.Empty],
    *,
    num_columns: int,
    title: str = "",
    legend: Sequence[Series] = (),
    axes: tuple[float, float] = AXES_INCHES,
    left: float = LEFT,
    bottom: float = BOTTOM,
    between: float | None = None,
) -> hv.Layout:
    """Panels of equal size in rows, with a title above and a legend below all of them.

    Args:
        panels: from `frame_panel`.
        num_columns: how many in a row.
        title: stands above; a lone panel's own title goes below it.
        legend: its entries.
        axes: as for the panels.
        left: inches for the labels on the left of each panel.
        bottom: inches for the labels below each panel.
        between: inches between neighbours in a row, if only the first of them has labels on its left; by default as many
            as on its left.
    """
    between = left + RIGHT if between is None else between
    num_columns = min(num_columns, len(panels))
    num_rows = math.ceil(len(panels) / num_columns)
    titles = [panel.opts.get("plot", backend="bokeh").kwargs.get("title", "") for panel in panels]
    across = left + num_columns * axes[0] + (num_columns - 1) * between + RIGHT
    title = _wrap(title, across)
    if len(panels) == 1:
        # A layout of one panel shows no title of its own.
        titles = [join_lines(title, titles[0])]
        title = ""
        panels = [set_options(panels[0], matplotlib={"title": titles[0]}, bokeh={"title": titles[0]})]
    above = TOP + LINE_INCHES * max((text.count("\n") + 1 if text else 0) for text in titles)
    # Above several rows of titled panels, HoloViews leaves no room below the title of all of them, and strips empty lines.
    spaced = f"{title}\n{NO_BREAK_SPACE}" if title and num_rows > 1 and any(titles[:num_columns]) else title
    num_entries = _count_legend_columns(legend, across)
    foot = LINE_INCHES * 1.15 * math.ceil(len(legend) / num_entries)
    up = num_rows * (above + axes[1] + bottom) + foot
    # One panel carries the legend: in Bokeh it stands below it, so it is one of the last row.
    lowest = next(panel for panel in panels[(num_rows - 1) * num_columns :] if not isinstance(panel, hv.Empty))
    hooks = lowest.opts.get("plot", backend="matplotlib").kwargs["hooks"]
    bokeh = {"show_legend": bool(legend), "legend_cols": _count_legend_columns(legend, axes[0])}
    hooks = [*hooks, functools.partial(_draw_legend, legend, num_entries)]
    set_options(lowest, matplotlib={"hooks": hooks}, bokeh=bokeh)
    return set_options(
        hv.Layout(list(panels)).cols(num_columns),
        matplotlib={
            "title": spaced,
            "fig_inches": (across, up),
            "fig_bounds": (left / across, (bottom + foot) / up, 1 - RIGHT / across, 1 - above / up),
            "hspace": between / axes[0],
            # A share of the height of the axes; and HoloViews adds as many inches to the height of the figure, which it
            # computes anew, without the legend.
            "vspace": (above + bottom) / axes[1] if num_rows > 1 else foot,
            # Without a format for them, HoloViews letters the panels A, B, C.
            "sublabel_format": "",
            "fontsize": {"title": 11},
            "shared_axes": False,
        },
        # Bokeh's title is HTML.
        bokeh={
            "title": html.escape(title).replace("\n", "<br>"),
            "fontsize": {"title": 13},
            "shared_axes": False,
            "toolbar": "right",
        },
    )


def frame_bare(overlay: hv.Overlay, **options: Any) -> hv.Overlay:
    """A panel whose own axes do not show; for the options see `frame_panel`."""
    hidden: dict[str, Any] = {"xticks": [(0.0, "")], "yticks": [(0.0, "")], "xaxis": None, "yaxis": None}
    return frame_panel(overlay, xlabel="", ylabel="", **hidden, **options)


def draw_message(text: str, *, title: str = "") -> hv.Layout:
    """A figure that says why there is nothing to see."""
    axes = (3.0, 1.0)
    labels = style_texts(hv.Labels([(0.5, 0.5, text)]), REFERENCE_COLOR)
    panel = frame_bare(hv.Overlay([labels]), xlim=(0.0, 1.0), ylim=(0.0, 1.0), axes=axes)
    return arrange_panels([panel], num_columns=1, title=title, axes=axes)


def _wrap(title: str, inches: float) -> str:
    width = max(12, int(inches / INCHES_PER_LETTER))
    return "\n".join(textwrap.fill(line, width, break_on_hyphens=False) for line in title.split("\n"))


def _count_legend_columns(legend: Sequence[Series], inches: float) -> int:
    """As many as fit side by side; matplotlib fills one after the other."""
    widths = [0.5 + INCHES_PER_LETTER * len(series.label) for series in legend]
    for num_columns in range(len(widths), 1, -1):
        if sum(max(column) for column in np.array_split(widths, num_columns)) <= inches:
            return num_columns
    return 1


def _quiet_bokeh(plot: Any, _: Any) -> None:
    """Upright labels and no minor ticks, as in print."""
    figure = plot.handles["plot"]
    # The frame has its size, so the figure needs none; Bokeh logs a complaint about a fixed one without.
    figure.sizing_mode = None
    figure.title.text_font_style = "normal"
    # Panels of a column need the same room on the left, or the narrower ones are cut on the right.
    figure.min_border_left = round(BOKEH_PIXELS_PER_INCH * LEFT)
    for axis in figure.axis:
        axis.update(axis_label_text_font_style="normal", minor_tick_line_color=None)


def _space_ticks(axes: Sequence[str], plot: Any, _: Any) -> None:
    """Round numbers, few enough not to touch each other."""
    for name in axes:
        axis = getattr(plot.handles["axis"], f"{name}axis")
        axis.set_major_locator(MaxNLocator(NUM_TICKS, steps=[1, 2, 5, 10]))


def _draw_legend(legend: Sequence[Series], num_columns: int, plot: Any, _: Any) -> None:
    handles = [
        Line2D(
            [],
            [],
            color=s.color,
            marker=s.marker or "",
            linestyle=s.dash or "none",
            markersize=4,
            markerfacecolor="white" if s.is_hollow else s.color,
            label=s.label,
        )
        for s in legend
    ]
    figure = plot.handles["fig"]
    figure.legends.clear()
    if handles:
        look = {"frameon": False, "borderaxespad": 0.0, "borderpad": 0.0, "fontsize": FONT_SIZES["legend"]}
        figure.legend(handles=handles, loc="lower center", bbox_to_anchor=(0.5, 0.0), ncols=num_columns, **look)


def write_figures(figures: Mapping[str, hv.Layout], folder: Path) -> list[str]:
    """Write each figure as PNG and as SVG; returns the names of the former."""
    for name, figure in figures.items():
        save_figure(figure, *(folder / f"{name}{suffix}" for suffix in FORMATS))
    return [f"{name}.png" for name in figures]
