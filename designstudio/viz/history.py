"""How a search went: what every candidate has shown, and the best so far.

Bars and bands are two Monte Carlo standard errors. The best of many is partly so by luck: what it is worth shows on the
fresh data sets of the finalists, at the right.
"""

from collections.abc import Sequence
from typing import NamedTuple

import holoviews as hv
import numpy as np
from jaxtyping import Float

from designstudio.search.job import get_plan
from designstudio.search.records import COMPLETE, CandidateRecord
from designstudio.search.search_result import SearchResult
from designstudio.study import Objective
from designstudio.viz import figures, theme
from designstudio.viz.fresh import NUM_ERRORS, Fresh, draw_fresh, list_fresh, list_looks, read_values
from designstudio.viz.search_labels import format_direction, label_objective
from designstudio.viz.theme import BAND_COLOR, BLACK, BLUE, CROSS, REFERENCE_COLOR, VERMILION, Series

AXES_INCHES = (4.4, 2.3)
COMPLETED = Series("complete", BLUE, "o")
GIVEN_UP = Series("given up (small: early)", REFERENCE_COLOR, "o", is_hollow=True)
INFEASIBLE = Series("breaks a constraint", VERMILION, CROSS)
KINDS = (COMPLETED, GIVEN_UP, INFEASIBLE)
BEST = Series("best so far", BLACK, dash="solid")
# Diameters of marks, in points: of whole candidates, and of those given up with next to nothing done.
SIZE, LEAST_SIZE = 4.5, 2.0


class Cloud(NamedTuple):
    """Candidates of one kind, by their numbers."""

    number: Float[np.ndarray, " candidate"]
    value: Float[np.ndarray, " candidate"]
    mcse: Float[np.ndarray, " candidate"]
    num_datasets: Float[np.ndarray, " candidate"]


class History(NamedTuple):
    """What one panel shows of the candidates.

    Attributes:
        complete: candidates.
        given_up: those that were not worth all data sets.
        infeasible: those that break a constraint.
        best: after each candidate that was the best until then, that candidate.
        shown: values between which everything is drawn in its place.
    """

    complete: Cloud
    given_up: Cloud
    infeasible: Cloud
    best: Cloud
    shown: tuple[float, float]

    @property
    def kinds(self) -> tuple[Cloud, Cloud, Cloud]:
        """All candidates, in the order of `KINDS`."""
        return self.complete, self.given_up, self.infeasible


def compute_history(result: SearchResult, objective: Objective, fresh: Sequence[Fresh] = ()) -> History:
    """Candidates by kind; those without a value are left out. The best and designs on fresh data are in any case shown."""
    records = [record for record in result.finished if np.isfinite(record.value(objective))]
    records.sort(key=lambda record: record.number)
    candidates = [record for record in records if record.is_eligible]
    best: list[CandidateRecord] = []
    for record in candidates:
        if not best or orient(objective, record.value(objective)) < orient(objective, best[-1].value(objective)):
            best.append(record)
    complete, leaders = _gather(candidates, objective), _gather(result.best, objective)
    kept = np.concatenate([np.stack([leaders.value, leaders.mcse], axis=1), read_values(fresh, objective)])
    return History(
        complete,
        _gather([record for record in records if record.state != COMPLETE and record.is_feasible], objective),
        _gather([record for record in records if not record.is_feasible], objective),
        _gather(best, objective),
        find_shown(objective, _gather(records, objective), complete, kept),
    )


def find_shown(objective: Objective, everything: Cloud, complete: Cloud, kept: np.ndarray) -> tuple[float, float]:
    """Limits of the axis: those of all values that are kept, and of the others without a few that are far worse."""
    value, error = orient(objective, everything.value), NUM_ERRORS * np.nan_to_num(everything.mcse)
    if value.size == 0:
        return 0.0, 1.0
    if complete.value.size:
        oriented = orient(objective, complete.value)
        spread = np.median(oriented) - oriented.min()
        worst = oriented.min() + max(4 * spread, 3 * NUM_ERRORS * np.nan_to_num(complete.mcse).max())
    else:
        worst = value.max()
    ends = [min(float(np.max(value + error)), float(worst)), float(np.min(value - error))]
    for score, mcse in np.nan_to_num(kept[np.isfinite(kept[:, 0])]):
        ends += [float(orient(objective, score)) + sign * NUM_ERRORS * mcse for sign in (-1, 1)]
    low, high = sorted((orient(objective, min(ends)), orient(objective, max(ends))))
    return float(low), float(high)


def orient(objective: Objective, value: np.ndarray | float) -> np.ndarray:
    """The value with the sign that makes smaller better; applied twice, it gives the value back."""
    return np.asarray(-value if objective.is_larger_better else value)


def draw_history(result: SearchResult, *, title: str = "", fresh: Sequence[Fresh] | None = None) -> hv.Layout:
    """Value of each objective against the number of the candidate, and the finalists on fresh data.

    Args:
        result: of the search, finished or not.
        title: stands above the figure; by default the study's.
        fresh: designs on fresh data; by default those of the result.
    """
    fresh = list_fresh(result) if fresh is None else fresh
    histories = {objective: compute_history(result, objective, fresh) for objective in result.objectives}
    if not any(cloud.number.size for history in histories.values() for cloud in history.kinds):
        return figures.draw_message("No candidate has a value yet.", title=title or result.question.title)
    panels = [_draw_panel(result, objective, history, fresh) for objective, history in histories.items()]
    sizes = np.sum([[cloud.number.size for cloud in history.kinds] for history in histories.values()], axis=0)
    legend = [look for look, size in zip(KINDS, sizes, strict=True) if size]
    legend += [BEST] if any(history.best.number.size for history in histories.values()) else []
    note = f"bars and band: ± {NUM_ERRORS} Monte Carlo errors"
    return figures.arrange_panels(
        panels,
        num_columns=1,
        title=theme.join_lines(title or result.question.title, note),
        legend=[*legend, *list_looks(fresh)],
        axes=AXES_INCHES,
    )


def _draw_panel(result: SearchResult, objective: Objective, history: History, fresh: Sequence[Fresh]) -> hv.Overlay:
    last = max((record.number for record in result.finished), default=0)
    # Room for one mark after the other beyond the last candidate.
    step = max(1.0, 0.05 * last)
    border = last + step / 2
    end = last + step * (len(fresh) + 1.0) if fresh else last + 0.6 * step
    ylim = theme.pad_limits(history.shown, share=0.08)
    parts = _draw_best(history.best, border)
    num_beyond = 0
    # Candidates last, above the others.
    for cloud, look in reversed(list(zip(history.kinds, KINDS, strict=True))):
        is_inside = (cloud.value >= ylim[0]) & (cloud.value <= ylim[1])
        num_beyond += int((~is_inside).sum())
        parts += _draw_cloud(cloud, look, is_inside, get_plan(result.question).num_datasets)
        parts += _draw_beyond(cloud.number[~is_inside], look, ylim, is_below=objective.is_larger_better)
    ticks: list[tuple[float, str]] = [(tick, f"{tick:g}") for tick in figures.round_ticks(0, max(last, 1), is_whole=True)]
    if fresh:
        zone = hv.Rectangles([(border, ylim[0], end, ylim[1])])
        parts.insert(0, theme.style_fill(zone, BAND_COLOR, alpha=0.6))
        parts += _draw_fresh(fresh, read_values(fresh, objective), last + step * np.arange(1, len(fresh) + 1), ylim)
        ticks.append(((border + end) / 2, "fresh data"))
    way = "▽ below" if objective.is_larger_better else "△ above"
    return figures.frame_panel(
        hv.Overlay(parts),
        title=format_direction(objective) + (f", {num_beyond} {way} the axis" if num_beyond else ""),
        axes=AXES_INCHES,
        xlabel="number of the candidate",
        ylabel=label_objective(objective, result.question).axis,
        xlim=(-0.6 * step, end),
        ylim=ylim,
        xticks=ticks,
    )


def _draw_fresh(fresh: Sequence[Fresh], values: np.ndarray, x: np.ndarray, ylim: tuple[float, float]) -> list[hv.Element]:
    """Marks beyond the last candidate; finalists with the numbers of their candidates."""
    above = values[:, 0] + NUM_ERRORS * values[:, 1] + 0.045 * (ylim[1] - ylim[0])
    texts = [(x[k], above[k], entry.text) for k, entry in enumerate(fresh) if entry.number is not None]
    places = np.stack([x, np.zeros_like(x)], axis=1)
    return [*draw_fresh(fresh, places, values), theme.style_texts(hv.Labels(texts), BLACK)]


def _draw_beyond(number: np.ndarray, look: Series, ylim: tuple[float, float], *, is_below: bool) -> list[hv.Element]:
    """Arrowheads for candidates far worse than the others; half of one would be cut at the very edge."""
    if number.size == 0:
        return []
    air = 0.03 * (ylim[1] - ylim[0])
    edge = ylim[0] + air if is_below else ylim[1] - air
    arrow = look._replace(marker="v" if is_below else "^")
    return [theme.style_points(hv.Points((number, np.full(number.size, edge))), arrow, size=4)]


def _draw_cloud(cloud: Cloud, look: Series, is_shown: np.ndarray, whole: int) -> list[hv.Element]:
    """Marks of one kind, the smaller the fewer of the whole number of data sets a candidate came to."""
    if not is_shown.any():
        return []
    x, value, error = cloud.number[is_shown], cloud.value[is_shown], NUM_ERRORS * cloud.mcse[is_shown]
    parts = [theme.style_segments(hv.Segments((x, value - error, x, value + error)), look.color, alpha=0.5)]
    share = np.ones_like(cloud.value) if look == COMPLETED else np.minimum(cloud.num_datasets / whole, 1.0)
    for size in np.unique(share[is_shown]):
        is_chosen = is_shown & (share == size)
        columns = (cloud.number[is_chosen], cloud.value[is_chosen], cloud.num_datasets[is_chosen])
        marks = hv.Points(columns, vdims="data sets", label=look.label)
        marks = theme.style_points(marks, look, size=LEAST_SIZE + (SIZE - LEAST_SIZE) * float(np.sqrt(size)))
        parts.append(marks.opts(tools=["hover"], backend="bokeh"))
    return parts


def _draw_best(best: Cloud, end: float) -> list[hv.Element]:
    """The best so far as a staircase, with its band."""
    if best.number.size == 0:
        return []
    x = np.repeat([*best.number, end], 2)[1:-1]
    value, error = np.repeat(best.value, 2), NUM_ERRORS * np.repeat(best.mcse, 2)
    band = theme.style_fill(hv.Area((x, value - error, value + error), vdims=["low", "high"]), BLACK, alpha=0.12)
    return [band, theme.style_line(hv.Curve((x, value), label=BEST.label), BEST)]


def _gather(records: Sequence[CandidateRecord], objective: Objective) -> Cloud:
    rows = [
        (float(record.number), record.value(objective), record.scores[objective.label].mcse, float(record.num_datasets))
        for record in records
    ]
    return Cloud(*np.array(rows, float).reshape(-1, 4).T)
