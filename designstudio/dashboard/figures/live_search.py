"""A search while it runs: its history, and the front where there are two objectives."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import holoviews as hv
import numpy as np

from designstudio.dashboard.theme import text_color
from designstudio.search.search_result import SearchResult
from designstudio.study import Objective
from designstudio.viz.fresh import NUM_ERRORS, Fresh, read_values
from designstudio.viz.front import compute_front
from designstudio.viz.history import Cloud, compute_history
from designstudio.viz.search_labels import label_objective
from designstudio.viz.theme import BLUE, REFERENCE_COLOR, VERMILION

# How far from a mark somebody may click, as a share of the axes.
REACH = 0.04
HISTORY_DIMS, FRONT_DIMS = ["trial", "value"], ["across", "up"]


class Watched(NamedTuple):
    """What figures show.

    Attributes:
        result: the search until now.
        fresh: finalists and the study's own designs on fresh data.
        chosen: number of the trial that is marked.
    """

    result: SearchResult
    fresh: tuple[Fresh, ...] = ()
    chosen: int | None = None


def list_points(data: Watched | None, across: Objective | None, up: Objective) -> np.ndarray:
    """Number, place across and place up of all trials that have a value; across is the number if no objective is given."""
    if data is None:
        return np.empty((0, 3))
    rows = [
        (record.number, record.number if across is None else record.value(across), record.value(up))
        for record in data.result.finished
    ]
    points = np.array(rows, float).reshape(-1, 3)
    return points[np.isfinite(points).all(axis=1)]


def find_clicked(
    points: np.ndarray, x: float | None, y: float | None, *, limits: tuple[float, float] | None = None
) -> int | None:
    """Number of the trial next to a click; None if there is none in reach.

    Args:
        points: as `list_points` has them.
        x: where somebody has clicked, across.
        y: the same, up.
        limits: smallest and largest value of the axis up; marks beyond are drawn at its ends.
    """
    if x is None or y is None or not len(points):
        return None
    places = points[:, 1:].copy()
    if limits is not None:
        places[:, 1] = places[:, 1].clip(*limits)
    spans = np.ptp(places, axis=0)
    away = np.abs(places - [x, y]) / np.where(spans > 0, spans, 1.0)
    nearest = int(np.argmin(np.hypot(away[:, 0], away[:, 1])))
    return int(points[nearest, 0]) if np.hypot(*away[nearest]) < REACH else None


def draw_live_history(data: Watched | None) -> hv.Overlay:
    """Trials of each kind, the best so far with its band, and fresh scores at the right; always the same elements."""
    kdims, ylabel = HISTORY_DIMS, "value"
    empty = Cloud(*np.empty((4, 0)))
    kinds: Sequence[Cloud] = (empty, empty, empty)
    best, low, high, last = empty, 0.0, 1.0, 0.0
    fresh: Sequence[Fresh] = ()
    values = np.empty((0, 2))
    ring = hv.Points([], kdims).opts(**RING)
    if data is not None:
        objective, fresh = data.result.objectives[0], data.fresh
        ylabel = label_objective(objective, data.result.question).axis
        history = compute_history(data.result, objective, fresh)
        kinds, best, (low, high) = history.kinds, history.best, history.shown
        last = float(max((record.number for record in data.result.finished), default=0))
        values = read_values(fresh, objective)
        ring = _draw_ring(data, None, objective, kdims, (low, high))
    step = max(1.0, 0.05 * last)
    places = last + step * np.arange(1, len(fresh) + 1)
    stairs = np.repeat([*best.number, last + step / 2], 2)[1:-1] if best.number.size else np.empty(0)
    value, error = np.repeat(best.value, 2), NUM_ERRORS * np.repeat(best.mcse, 2)
    band = (
        [] if not stairs.size else [{"trial": [*stairs, *stairs[::-1]], "value": [*(value - error), *(value + error)[::-1]]}]
    )
    looks = ((BLUE, 0.9), (REFERENCE_COLOR, 0.75), (VERMILION, 0.9))
    bars = [_list_bars(cloud, color, low, high) for cloud, (color, _) in zip(kinds, looks, strict=True)]
    at = [entry.look.color for entry in fresh]
    bars.append([(x, v - NUM_ERRORS * e, x, v + NUM_ERRORS * e, c) for x, (v, e), c in zip(places, values, at, strict=True)])
    marks = [_draw_marks(cloud, low, high, kdims, **_style(k)) for k, cloud in enumerate(kinds)]
    return hv.Overlay(
        [
            hv.Polygons(band, kdims).opts(color=text_color(), line_alpha=0, fill_alpha=0.12),
            hv.Curve((stairs, value), *kdims).opts(color=text_color(), line_width=1.6),
            _draw_bars([bar for part in bars for bar in part], kdims),
            *reversed(marks),
            _draw_fresh(fresh, places, values, kdims),
            ring,
        ]
    ).opts(xlabel="number of the trial (fresh data at the right)" if fresh else "number of the trial", ylabel=ylabel,
           show_legend=False)  # fmt: skip


def draw_live_front(data: Watched | None) -> hv.Overlay:
    """Candidates, those that none beats, and fresh scores, in the first two objectives; always the same elements."""
    kdims = FRONT_DIMS
    xlabel, ylabel = "minutes", "error"
    x = y = np.empty((0, 2))
    is_best, number, stairs = np.empty(0, bool), np.empty(0, int), np.empty((0, 2))
    fresh: Sequence[Fresh] = ()
    fresh_x = fresh_y = np.empty((0, 2))
    ring = hv.Points([], kdims).opts(**RING)
    if data is not None and len(data.result.objectives) > 1:
        up, across = data.result.objectives[:2]
        xlabel, ylabel = (label_objective(objective, data.result.question).axis for objective in (across, up))
        number, x, y, is_best, stairs = compute_front(data.result, across, up)
        fresh = data.fresh
        fresh_x, fresh_y = read_values(fresh, across), read_values(fresh, up)
        ring = _draw_ring(data, across, up, kdims, (-np.inf, np.inf))
    colors = np.where(is_best, BLUE, REFERENCE_COLOR)
    bars = _cross_bars(x, y, colors) + _cross_bars(fresh_x, fresh_y, [entry.look.color for entry in fresh])
    marks = []
    for chosen, style in ((~is_best, _style(1)), (is_best, _style(0))):
        columns = (x[chosen, 0], y[chosen, 0], number[chosen])
        marks.append(hv.Points(columns, kdims, ["number"]).opts(tools=["hover"], **style))
    return hv.Overlay(
        [
            hv.Curve(stairs, *kdims).opts(color=BLUE, line_width=1.6),
            _draw_bars(bars, kdims),
            *marks,
            _draw_fresh(fresh, fresh_x[:, 0], fresh_y, kdims),
            ring,
        ]
    ).opts(xlabel=xlabel, ylabel=ylabel, show_legend=False, padding=0.08)


RING: dict[str, Any] = {"fill_alpha": 0.0, "line_width": 2.5, "size": 16, "line_color": "#E69F00"}


def _style(kind: int) -> dict[str, Any]:
    """Of candidates, of those given up, and of those that break a constraint: told apart without colours, too."""
    return (
        {"color": BLUE, "marker": "circle", "line_color": None},
        {"fill_alpha": 0.0, "line_color": REFERENCE_COLOR, "line_width": 1.4, "marker": "circle"},
        {"color": VERMILION, "marker": "x", "line_width": 2.2},
    )[kind] | {"size": 8 if kind == 0 else 7}


def _draw_marks(cloud: Cloud, low: float, high: float, kdims: list[str], **style: Any) -> hv.Points:
    """Trials far worse than the others would squeeze them: they stand at the edge."""
    columns = (cloud.number, cloud.value.clip(low, high), cloud.value, NUM_ERRORS * cloud.mcse, cloud.num_datasets)
    return hv.Points(columns, kdims, ["score", "error", "data sets"]).opts(tools=["hover"], **style)


def _list_bars(cloud: Cloud, color: str, low: float, high: float) -> list[tuple[float, float, float, float, str]]:
    ends = [(n, v - NUM_ERRORS * e, v + NUM_ERRORS * e) for n, v, e in zip(*cloud[:3], strict=True) if low <= v <= high]
    return [(n, max(a, low), n, min(b, high), color) for n, a, b in ends if np.isfinite(a + b)]


def _cross_bars(
    x: np.ndarray, y: np.ndarray, colors: Sequence[str] | np.ndarray
) -> list[tuple[float, float, float, float, str]]:
    """Errors up, and across where there are any."""
    bars = []
    for (a, across), (b, up), color in zip(x, y, colors, strict=True):
        bars.append((a, b - NUM_ERRORS * up, a, b + NUM_ERRORS * up, str(color)))
        if across > 0:
            bars.append((a - NUM_ERRORS * across, b, a + NUM_ERRORS * across, b, str(color)))
    return bars


def _draw_bars(bars: list[tuple[float, float, float, float, str]], kdims: list[str]) -> hv.Segments:
    ends = [f"{kdims[0]}", f"{kdims[1]}", f"{kdims[0]}_end", f"{kdims[1]}_end"]
    return hv.Segments(bars, ends, ["color"]).opts(color="color", line_width=1.2, alpha=0.45)


def _draw_fresh(fresh: Sequence[Fresh], x: np.ndarray, y: np.ndarray, kdims: list[str]) -> hv.Points:
    names = [entry.name if entry.number is None else f"finalist, trial {entry.number}" for entry in fresh]
    columns = (x, y[:, 0], np.array(names, object), np.array([entry.look.color for entry in fresh], object))
    return hv.Points(columns, kdims, ["design", "color"]).opts(
        color="color", size=11, marker="diamond", line_color="white", tools=["hover"]
    )


def _draw_ring(
    data: Watched, across: Objective | None, up: Objective, kdims: list[str], limits: tuple[float, float]
) -> hv.Points:
    """Around the trial that is chosen."""
    points = list_points(data, across, up)
    points = points[points[:, 0] == (-1 if data.chosen is None else data.chosen)]
    return hv.Points((points[:, 1], points[:, 2].clip(*limits)), kdims).opts(**RING)
