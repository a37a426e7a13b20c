"""Figures of simulation-based calibration: the ECDF of ranks minus the uniform one, with the band of an exact fit.

A curve above zero on the left means that truths have low ranks, so posteriors are shifted up. A curve that rises, falls and
rises means that truths lie in the tails, so posteriors are too narrow; the opposite, too wide. See
`designstudio.metrics.calibration` for ranks and band.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import holoviews as hv
import numpy as np
import xarray as xr
from jaxtyping import Float

from designstudio.errors import StudioError
from designstudio.metrics.calibration import evaluate_ecdf, score_calibration, simultaneous_band
from designstudio.viz.theme import BAND_COLOR, BLUE, REFERENCE_COLOR, VERMILION

RANK_LABEL = "fractional rank of the true value"
DIFFERENCE_LABEL = "ECDF − uniform"
PROB = 0.95
MAX_COLUMNS = 4

INSIDE_COLOR, OUTSIDE_COLOR, ZERO_COLOR = BLUE, VERMILION, REFERENCE_COLOR


class CalibrationPanel(NamedTuple):
    """What one panel shows. Difference and limits are relative to the uniform ECDF."""

    quantity: str
    grid: Float[np.ndarray, " point"]
    difference: Float[np.ndarray, " point"]
    lower: Float[np.ndarray, " point"]
    upper: Float[np.ndarray, " point"]
    num_datasets: int
    num_failed: int
    is_inside: bool


def compute_panels(ranks: xr.Dataset, prob: float = PROB) -> list[CalibrationPanel]:
    """What to draw for each quantity of `ranks`; see `score_calibration` for its form."""
    scores = score_calibration(ranks, prob)
    return [_compute_panel(str(name), ranks[name].values, scores.sel(quantity=str(name))) for name in ranks.data_vars]


def _compute_panel(quantity: str, given: np.ndarray, score: xr.Dataset) -> CalibrationPanel:
    ranks = given[~np.isnan(given)]
    counts = int(score["num_datasets"]), int(score["num_failed"]), bool(score["is_inside"])
    if ranks.size == 0:
        # Nothing to draw, but the panel stays: a quantity that always fails must not vanish from the figure.
        ends = np.array([0.0, 1.0])
        return CalibrationPanel(quantity, ends, np.full(2, np.nan), np.zeros(2), np.zeros(2), *counts)
    grid, lower, upper = simultaneous_band(ranks.size, prob=score.attrs["prob"])
    return CalibrationPanel(quantity, grid, evaluate_ecdf(ranks, grid) - grid, lower - grid, upper - grid, *counts)


def draw_calibration(ranks: xr.Dataset, *, title: str, symbols: Mapping[str, str] | None = None) -> hv.Layout:
    """One panel a quantity, all on the same axes.

    Args:
        ranks: fractional ranks, one variable a quantity over `dataset`; NaN where the fit failed.
        title: stands above the figure.
        symbols: how people write each quantity; its name if missing.
    """
    panels = compute_panels(ranks)
    limit = _shared_limit(panels)
    num_columns = math.ceil(len(panels) / math.ceil(len(panels) / MAX_COLUMNS))
    drawn = []
    for k, panel in enumerate(panels):
        heading = _panel_title(panel, symbols)
        # A layout of one panel shows no title of its own.
        heading = f"{title}\n{heading}" if len(panels) == 1 else heading
        is_left, is_bottom = k % num_columns == 0, k + num_columns >= len(panels)
        drawn.append(
            _draw_panel(
                panel,
                limit,
                title=heading,
                xlabel=RANK_LABEL if is_bottom else "",
                ylabel=DIFFERENCE_LABEL if is_left else "",
                has_ticks=(is_bottom, is_left),
            )
        )
    return _arrange(drawn, num_columns, title=title, fig_inches=(3.0 * num_columns, None), hspace=0.12, vspace=0.3)


def draw_calibration_page(
    by_cost: Mapping[str, xr.Dataset], *, title: str, symbols: Mapping[str, str] | None = None
) -> hv.Layout:
    """Small panels on one page and on the same axes: a row for each cost, its quantities from left to right.

    Args:
        by_cost: fractional ranks for each cost, as in `draw_calibration`; the quantities may differ.
        title: stands above the page, over a line that counts the panels outside their band.
        symbols: how people write each quantity; its name if missing.
    """
    rows = {cost: compute_panels(ranks) for cost, ranks in by_cost.items()}
    panels = [panel for row in rows.values() for panel in row]
    limit = _shared_limit(panels)
    num_columns = max(len(row) for row in rows.values())
    lowest_rows = {c: r for r, row in enumerate(rows.values()) for c in range(len(row))}
    drawn: list[hv.Element | hv.Overlay] = []
    for r, (cost, row) in enumerate(rows.items()):
        for c, panel in enumerate(row):
            is_left, is_bottom = c == 0, r == lowest_rows[c]
            drawn.append(
                _draw_panel(
                    panel,
                    limit,
                    title=_panel_title(panel, symbols),
                    xlabel=RANK_LABEL.replace(" of", "\nof") if is_bottom else "",
                    ylabel=cost.replace("_", "\n") if is_left else "",
                    has_ticks=(is_bottom, is_left),
                    hooks=[_label_page] if r == c == 0 else [],
                )
            )
        drawn += [hv.Empty()] * (num_columns - len(row))
    heading = f"{title}\n{_count_outside(panels)}"
    return _arrange(drawn, num_columns, title=heading, fig_inches=(1.75 * num_columns, None), hspace=0.1, vspace=0.3)


def _draw_panel(panel: CalibrationPanel, limit: float, *, has_ticks: tuple[bool, bool], **opts: Any) -> hv.Overlay:
    band = hv.Area((panel.grid, panel.lower, panel.upper), RANK_LABEL, ["lower", "upper"])
    zero = hv.Curve(([0.0, 1.0], [0.0, 0.0]), RANK_LABEL, DIFFERENCE_LABEL)
    curve = hv.Curve((panel.grid, panel.difference), RANK_LABEL, DIFFERENCE_LABEL)
    color = INSIDE_COLOR if panel.is_inside else OUTSIDE_COLOR
    overlay = (
        band.opts(color=BAND_COLOR, facecolor=BAND_COLOR, edgecolor="none", backend="matplotlib")
        * zero.opts(color=ZERO_COLOR, linewidth=0.6, backend="matplotlib")
        * curve.opts(color=color, linewidth=1.2, backend="matplotlib")
    )
    tick = _nice_tick(limit)
    return overlay.opts(
        xlim=(0.0, 1.0),
        ylim=(-limit, limit),
        xticks=_label_ticks([0.0, 0.5, 1.0], has_ticks[0]),
        yticks=_label_ticks([-tick, 0.0, tick], has_ticks[1]),
        aspect=1.4,
        show_legend=False,
        fontsize={"title": 9, "labels": 9, "ticks": 8},
        backend="matplotlib",
        **opts,
    )


def _arrange(drawn: Sequence[hv.Element | hv.Overlay], num_columns: int, **opts: Any) -> hv.Layout:
    # Without a format for them, HoloViews letters the panels A, B, C.
    style = {"sublabel_format": "", "fontsize": {"title": 12}, "backend": "matplotlib"}
    return hv.Layout(list(drawn)).cols(num_columns).opts(**style, **opts)


def _label_page(plot: Any, _: hv.Overlay) -> None:
    """Name the vertical axis once for the page, left of the names of the costs."""
    figure = plot.handles["fig"]
    inches = 1.05
    figure.supylabel(DIFFERENCE_LABEL, x=figure.subplotpars.left - inches / figure.get_figwidth(), fontsize=10)


def _panel_title(panel: CalibrationPanel, symbols: Mapping[str, str] | None) -> str:
    symbol = (symbols or {}).get(panel.quantity, panel.quantity)
    if panel.num_failed == 0:
        return symbol
    num_failed = "all" if panel.num_failed == panel.num_datasets else panel.num_failed
    return f"{symbol} ({num_failed} failed)"


def _count_outside(panels: Sequence[CalibrationPanel]) -> str:
    is_inside = [panel.is_inside for panel in panels if panel.num_failed < panel.num_datasets]
    num_outside, num_expected = is_inside.count(False), (1 - PROB) * len(is_inside)
    return f"{num_outside} of {len(is_inside)} outside their {PROB:.0%} band; exact fits have {num_expected:.1f} on average"


def _shared_limit(panels: Sequence[CalibrationPanel]) -> float:
    """Half the height that shows every curve and band, with some air."""
    if not panels:
        raise StudioError("There are no ranks to draw.")
    values = np.concatenate([np.abs(values) for panel in panels for values in (panel.difference, panel.lower, panel.upper)])
    return 1.1 * float(np.nanmax(values, initial=0.01))


def _nice_tick(limit: float) -> float:
    """The largest of 1, 2 and 5 times a power of ten that is at most `limit`."""
    power = 10.0 ** math.floor(math.log10(limit))
    return max(factor * power for factor in (1, 2, 5) if factor * power <= limit)


def _label_ticks(values: Sequence[float], is_labelled: bool) -> list[tuple[float, str]]:
    return [(value, f"{value:g}".replace("-", "−") if is_labelled else "") for value in values]
