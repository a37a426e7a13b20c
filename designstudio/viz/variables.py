"""Variables of a search: how much each of them matters, and all designs in parallel coordinates."""

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import holoviews as hv
import numpy as np
from jaxtyping import Float

from designstudio.search.job import get_plan
from designstudio.search.records import CandidateRecord
from designstudio.search.search_result import SearchResult
from designstudio.search.variable_importance import FEWEST
from designstudio.study import Choice, Objective, Range, Space
from designstudio.study.stimuli import DISTRIBUTIONS
from designstudio.viz import figures, theme
from designstudio.viz.history import compute_history, orient
from designstudio.viz.search_labels import label_objective, name_variable
from designstudio.viz.theme import BLACK, BLUE, REFERENCE_COLOR, SEQUENTIAL, Series

# Inches: of a bar and its neighbourhood; between two axes, and their height.
BAR_INCHES, AXIS_INCHES, HEIGHT_INCHES = 0.27, 1.15, 2.4
NUM_SHADES = 6
# Paler lines are not seen on white.
PALEST = 0.25
# Of names below the axes; of a title above the bars, which is centred on these and not on their names.
LETTERS, TITLE_LETTERS = 16, 52
# Heights of the axes below them, where their names begin.
NAME_PLACE = -0.16
# Where a level between the outer ones may lie.
_MIDDLE = Range(0.05, 0.95)


class Axis(NamedTuple):
    """One axis of parallel coordinates: where each design crosses it, from 0 to 1, and what is written along it.

    Attributes:
        name: in words.
        place: NaN where the variable plays no role.
        ticks: texts and their places.
    """

    name: str
    place: Float[np.ndarray, " candidate"]
    ticks: tuple[tuple[float, str], ...]


class Parallel(NamedTuple):
    """Feasible designs over all axes: the variables, then the objectives, of which the best is on top.

    Attributes:
        records: the designs, from the worst to the best in the first objective.
        axes: variables and objectives.
        goodness: 0 for the worst that is worth its place, 1 for the best.
        is_best: whether it is one of the search's best.
    """

    records: list[CandidateRecord]
    axes: list[Axis]
    goodness: Float[np.ndarray, " candidate"]
    is_best: np.ndarray


def draw_importance(result: SearchResult, *, title: str = "") -> hv.Layout:
    """How much of the first objective's variation each variable accounts for.

    Args:
        result: of the search.
        title: stands above the figure; by default the study's.
    """
    label = label_objective(result.objectives[0], result.question)
    heading = theme.join_lines(
        title or result.question.title, textwrap.fill(f"What matters for {label.symbol}?", TITLE_LETTERS)
    )
    if not result.importance:
        return figures.draw_message(f"Too few complete candidates to tell:\n{FEWEST} are needed.", title=heading)
    ranked = sorted(result.importance.items(), key=lambda item: item[1])
    names, values = [name_variable(name).symbol for name, _ in ranked], 100 * np.array([value for _, value in ranked])
    place = np.arange(len(values), dtype=float)
    bars = hv.Rectangles((np.zeros_like(values), place - 0.35, values, place + 0.35))
    texts = hv.Labels((values + 0.02 * values.max(), place, [f"{value:.0f}" for value in values]))
    axes = (3.0, max(1.4, BAR_INCHES * len(values)))
    panel = figures.frame_panel(
        hv.Overlay([theme.style_fill(bars, BLUE, alpha=0.9), theme.align_texts(texts, "left")]),
        axes=axes,
        xlabel="share of importance (%)",
        ylabel="",
        xlim=(0.0, 1.12 * float(values.max())),
        ylim=(-0.6, len(values) - 0.4),
        yticks=list(zip(place.tolist(), names, strict=True)),
    )
    left = 0.25 + figures.INCHES_PER_LETTER * max(map(len, names))
    return figures.arrange_panels([panel], num_columns=1, title=heading, axes=axes, left=left)


def compute_parallel(result: SearchResult) -> Parallel:
    """Where the lines run; designs that break a constraint, or have no value, are left out."""
    first, space = result.objectives[0], get_plan(result.question).space
    records = [record for record in result.finished if record.is_feasible and np.isfinite(record.value(first))]
    records.sort(key=lambda record: -float(orient(first, record.value(first))))
    names = list(dict.fromkeys(name for record in records for name in record.parameters))
    # The number of levels first: it decides which of the others play a role.
    names.sort(key=lambda name: name != "levels")
    axes = [_make_axis(name_variable(name, result.question).axis, space, name, records) for name in names]
    goals = [_make_goal(result, objective, records) for objective in result.objectives]
    best = {record.number for record in result.best}
    is_best = np.array([record.number in best for record in records], bool)
    return Parallel(records, [*axes, *goals], goals[0].place, is_best)


def draw_parallel(result: SearchResult, *, title: str = "") -> hv.Layout:
    """Every feasible design as a line over its variables and its scores, the stronger its colour the better.

    Args:
        result: of the search.
        title: stands above the figure; by default the study's.
    """
    heading = title or result.question.title
    lines = compute_parallel(result)
    if not lines.records:
        return figures.draw_message("No design keeps to all constraints yet.", title=heading)
    place = np.stack([axis.place for axis in lines.axes], axis=1)
    shade = np.minimum((lines.goodness * NUM_SHADES).astype(int), NUM_SHADES - 1)
    posts = [corner for x in range(len(lines.axes)) for corner in ((x, 0.0), (x, 1.0), (x, np.nan))]
    parts: list[hv.Element] = [theme.style_line(hv.Curve(posts), Series("", REFERENCE_COLOR, dash="solid"), width=0.8)]
    for is_best, width, size in ((False, 0.9, 2.5), (True, 2.4, 4.5)):
        for number in range(NUM_SHADES):
            rows = place[(shade == number) & (lines.is_best == is_best)]
            parts += _draw_lines(rows, _pick_color(number), width=width, size=size)
    names = [_break_name(axis.name) for axis in lines.axes]
    parts += _write_ticks(lines.axes)
    labels = hv.Labels([(x, NAME_PLACE, name) for x, name in enumerate(names)])
    parts.append(theme.align_texts(labels, "center", "top"))
    below = figures.LINE_INCHES * max(name.count("\n") + 1 for name in names) / HEIGHT_INCHES
    ylim = (NAME_PLACE - below, 1.13)
    axes = (AXIS_INCHES * len(lines.axes), HEIGHT_INCHES * (ylim[1] - ylim[0]))
    panel = figures.frame_bare(hv.Overlay(parts), xlim=(-0.5, len(lines.axes) - 0.5), ylim=ylim, axes=axes)
    note = "strong colours: good designs; thick lines: the best"
    if np.isnan(place[:, : -len(result.objectives)]).any():
        note += "; gaps: variables without a role"
    heading = theme.join_lines(heading, note)
    return figures.arrange_panels([panel], num_columns=1, title=heading, axes=axes, left=0.1, bottom=0.1)


def plays_role(space: Space, parameters: Mapping[str, Any], name: str) -> bool:
    """Whether a variable matters for a design: a single level has no spacing, and only grids have a number of stimuli."""
    num_levels = parameters.get("levels", space.get("levels"))
    least = {"spacing": 3, "low_share": 2, "middle_1": 3, "middle_2": 4, f"{space.parameter}_high": 2}.get(name, 1)
    if name.startswith("middle_") and parameters.get("spacing", space.get("spacing")) != "free":
        return False
    if name == "stimuli.num_values":
        return DISTRIBUTIONS[parameters.get("stimuli.distribution", space.get("stimuli.distribution"))].has_num_values
    return num_levels is None or float(num_levels) >= least


def _make_axis(label: str, space: Space, name: str, records: Sequence[CandidateRecord]) -> Axis:
    """The axis of a variable: numbers by their range, choices evenly."""
    values = [r.parameters.get(name) if plays_role(space, r.parameters, name) else None for r in records]
    variable = _find_variable(space, name)
    if isinstance(variable, Range):
        place = [np.nan if v is None else (v - variable.low) / (variable.high - variable.low) for v in values]
        ticks = ((0.0, f"{variable.low:g}"), (1.0, f"{variable.high:g}"))
        return Axis(label, np.array(place, float), ticks)
    options = variable.options
    heights = {option: k / (len(options) - 1) for k, option in enumerate(options)}
    place = [np.nan if v is None else heights[v] for v in values]
    return Axis(label, np.array(place, float), tuple((h, f"{option}") for option, h in heights.items()))


def _find_variable(space: Space, name: str) -> Range | Choice:
    """What a parameter of the search may be."""
    is_level = space.parameter is not None and name in (space.parameter, f"{space.parameter}_low", f"{space.parameter}_high")
    variable = space.level if is_level else space.variables.get(name, _MIDDLE)
    assert isinstance(variable, Range | Choice)  # noqa: S101  (nothing else is searched)
    return variable


def _make_goal(result: SearchResult, objective: Objective, records: Sequence[CandidateRecord]) -> Axis:
    """The axis of an objective, the best on top; what is far worse than the others lies at its lower end."""
    value = np.array([record.value(objective) for record in records], float)
    oriented = orient(objective, value)
    shown = np.array([float(orient(objective, end)) for end in compute_history(result, objective).shown])
    best = float(np.nanmin(oriented, initial=np.inf))
    worst = min(float(np.nanmax(oriented, initial=-np.inf)), float(shown.max()))
    place = np.clip((worst - oriented) / (worst - best), 0, 1) if worst > best else np.ones_like(oriented)
    low, high = (f"{float(orient(objective, end)):.3g}" for end in (worst, best))
    beyond = ("≤ " if objective.is_larger_better else "≥ ") if (oriented > worst).any() else ""
    return Axis(label_objective(objective, result.question).axis, place, ((0.0, beyond + low), (1.0, high)))


def _pick_color(shade: int) -> str:
    share = PALEST + (1 - PALEST) * shade / (NUM_SHADES - 1)
    return SEQUENTIAL[round(share * (len(SEQUENTIAL) - 1))]


def _draw_lines(rows: np.ndarray, color: str, *, width: float, size: float) -> list[hv.Element]:
    """Lines of one colour as one curve with gaps between them, and a dot on every axis."""
    if rows.size == 0:
        return []
    x = np.tile([*range(rows.shape[1]), np.nan], len(rows))
    y = np.concatenate([[*row, np.nan] for row in rows])
    look = Series("", color, "o", "solid")
    is_known = np.isfinite(y)
    dots = theme.style_points(hv.Points((x[is_known], y[is_known])), look, size=size)
    return [theme.style_line(hv.Curve((x, y)), look, width=width), dots]


def _write_ticks(axes: Sequence[Axis]) -> list[hv.Labels]:
    """Beyond the ends of the axes, and beside them."""
    ticks = [(x, height, text) for x, axis in enumerate(axes) for height, text in axis.ticks]
    ends = [(x, height + (0.07 if height else -0.07), text) for x, height, text in ticks if height in (0.0, 1.0)]
    others = [(x + 0.06, height, text) for x, height, text in ticks if height not in (0.0, 1.0)]
    beside = [theme.align_texts(hv.Labels(others), "left")] if others else []
    return [theme.style_texts(hv.Labels(ends), BLACK), *beside]


def _break_name(name: str) -> str:
    """A name in short lines, its unit on one of its own."""
    words, _, unit = name.partition(" (")
    return theme.join_lines(textwrap.fill(words, LETTERS), f"({unit}" if unit else "")
