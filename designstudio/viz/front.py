"""Pareto fronts: candidates of a search in two objectives, and those that no other one beats in both."""

from collections.abc import Sequence
from typing import NamedTuple

import holoviews as hv
import numpy as np
from jaxtyping import Bool, Float

from designstudio.errors import StudioError
from designstudio.search.finalists import find_front
from designstudio.search.search_result import SearchResult
from designstudio.study import Objective
from designstudio.viz import figures, theme
from designstudio.viz.fresh import (
    FINALIST,
    NUM_ERRORS,
    Fresh,
    draw_bars,
    draw_fresh,
    list_fresh,
    list_looks,
    read_values,
)
from designstudio.viz.history import SIZE, orient
from designstudio.viz.search_labels import label_objective
from designstudio.viz.theme import BLUE, REFERENCE_COLOR, Series

AXES_INCHES = (3.9, 2.7)
ON_FRONT = Series("unbeaten", BLUE, "o")
BEATEN = Series("beaten", REFERENCE_COLOR, "o", is_hollow=True)
STAIRS = Series("Pareto front", BLUE, dash="solid")


class Front(NamedTuple):
    """Candidates in two of the objectives.

    Attributes:
        number: of the candidates.
        x: values across, and their errors.
        y: values up, and their errors.
        is_best: whether no other candidate beats them, in all objectives.
        stairs: corners of the line along those that are not beaten in these two.
    """

    number: np.ndarray
    x: Float[np.ndarray, "candidate 2"]
    y: Float[np.ndarray, "candidate 2"]
    is_best: Bool[np.ndarray, " candidate"]
    stairs: Float[np.ndarray, "corner 2"]


def compute_front(result: SearchResult, across: Objective, up: Objective) -> Front:
    """Candidates, and the front in two objectives."""
    records = [record for record in result.finished if record.is_eligible and record.num_datasets]
    records = [record for record in records if all(np.isfinite(record.value(objective)) for objective in result.objectives)]
    x, y = (np.array([r.scores[m.label] for r in records], float).reshape(-1, 2) for m in (across, up))
    best = {record.number for record in result.front}
    number = np.array([record.number for record in records], int)
    is_best = np.array([record.number in best for record in records], bool)
    oriented = np.stack([orient(across, x[:, 0]), orient(up, y[:, 0])], axis=1)
    chosen = oriented[find_front(oriented)]
    chosen = chosen[np.lexsort((chosen[:, 1], chosen[:, 0]))]
    # As far as the next one no better value is known: first across, then down.
    corners = np.stack([np.repeat(chosen[:, 0], 2)[1:], np.repeat(chosen[:, 1], 2)[:-1]], axis=1)
    stairs = np.stack([orient(across, corners[:, 0]), orient(up, corners[:, 1])], axis=1)
    return Front(number, x, y, is_best, stairs)


def draw_front(result: SearchResult, *, title: str = "", fresh: Sequence[Fresh] | None = None) -> hv.Layout:
    """Candidates with their errors, the front, the finalists on fresh data, and the study's own designs.

    Args:
        result: of a search with several objectives; with more than two, the first is drawn against each of the others.
        title: stands above the figure; by default the study's.
        fresh: designs on fresh data; by default those of the result.

    Raises:
        StudioError: if there is only one objective.
    """
    up, *others = result.objectives
    if not others:
        raise StudioError("A front needs two objectives or more, but the search has one.")
    fresh = list_fresh(result) if fresh is None else fresh
    fronts = {across: compute_front(result, across, up) for across in others}
    if not any(front.number.size for front in fronts.values()):
        return figures.draw_message("No design keeps to all constraints yet.", title=title or result.question.title)
    panels = [_draw_panel(result, across, front, fresh) for across, front in fronts.items()]
    legend = [STAIRS, ON_FRONT] if any(front.is_best.any() for front in fronts.values()) else []
    legend += [BEATEN] if any((~front.is_best).any() for front in fronts.values()) else []
    return figures.arrange_panels(
        panels,
        num_columns=min(2, len(panels)),
        title=theme.join_lines(title or result.question.title, f"bars: ± {NUM_ERRORS} Monte Carlo errors"),
        legend=[*legend, *list_looks(fresh)],
        axes=AXES_INCHES,
    )


def _draw_panel(result: SearchResult, across: Objective, front: Front, fresh: Sequence[Fresh]) -> hv.Overlay:
    up = result.objectives[0]
    x, y = read_values(fresh, across), read_values(fresh, up)
    xlim, ylim = (_find_limits(np.concatenate(pair)) for pair in ((front.x, x), (front.y, y)))
    parts: list[hv.Element] = [theme.style_line(hv.Curve(front.stairs, label=STAIRS.label), STAIRS)]
    for look, is_chosen in ((BEATEN, ~front.is_best), (ON_FRONT, front.is_best)):
        if is_chosen.any():
            parts.append(theme.style_segments(draw_bars(front.x[is_chosen], front.y[is_chosen]), look.color, alpha=0.5))
            columns = (front.x[is_chosen, 0], front.y[is_chosen, 0], front.number[is_chosen])
            marks = theme.style_points(hv.Points(columns, vdims="candidate", label=look.label), look, size=SIZE)
            parts.append(marks.opts(tools=["hover"], backend="bokeh"))
    if fresh:
        parts += [_link(front, fresh, x, y), *draw_fresh(fresh, x, y)]
        parts += _write_names(fresh, x, y, xlim, is_right=across.is_larger_better)
    ways = ("higher" if up.is_larger_better else "lower", "right" if across.is_larger_better else "left")
    return figures.frame_panel(
        hv.Overlay(parts),
        title=f"better: {ways[0]} and further {ways[1]}",
        axes=AXES_INCHES,
        xlabel=label_objective(across, result.question).axis,
        ylabel=label_objective(up, result.question).axis,
        xlim=xlim,
        ylim=ylim,
    )


def _link(front: Front, fresh: Sequence[Fresh], x: np.ndarray, y: np.ndarray) -> hv.Curve:
    """A dotted line from what the search has seen of each finalist to what fresh data say."""
    corners = []
    for place, entry in enumerate(fresh):
        for before in np.flatnonzero(front.number == entry.number):
            corners += [(front.x[before, 0], front.y[before, 0]), (x[place, 0], y[place, 0]), (np.nan, np.nan)]
    dotted = Series("", FINALIST.color, dash="dotted")
    return theme.style_line(hv.Curve(corners or [(np.nan, np.nan)]), dotted)


def _write_names(
    fresh: Sequence[Fresh], x: np.ndarray, y: np.ndarray, xlim: tuple[float, float], *, is_right: bool
) -> list[hv.Labels]:
    """Finalists are named on the better side of the front, where no lines are; other designs where there is more room."""
    air = 0.02 * (xlim[1] - xlim[0])
    sides: dict[bool, list[tuple[float, float, str]]] = {False: [], True: []}
    for (place, _), (height, _), entry in zip(x, y, fresh, strict=True):
        side = is_right if entry.number is not None else place < sum(xlim) / 2
        sides[bool(side)].append((place + (air if side else -air), height, entry.text))
    return [theme.align_texts(hv.Labels(texts), "left" if side else "right") for side, texts in sides.items() if texts]


def _find_limits(values: np.ndarray) -> tuple[float, float]:
    """Room for values and their errors, over (mark, 2)."""
    error = NUM_ERRORS * np.nan_to_num(values[:, 1])
    return theme.pad_limits(values[:, 0] - error, values[:, 0] + error, share=0.08)
