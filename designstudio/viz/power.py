"""Figures of power: the chance to reach a goal, over the sizes that an experimenter can choose."""

import itertools
from typing import Any, NamedTuple

import contourpy
import holoviews as hv
import numpy as np
import xarray as xr
from jaxtyping import Float
from scipy.interpolate import RegularGridInterpolator

from designstudio.core.numbers import format_percent
from designstudio.errors import StudioError
from designstudio.metrics.power import CLEARLY
from designstudio.viz import figures, theme
from designstudio.viz.theme import BLACK, REFERENCE_COLOR, VERMILION, Series

GOAL_DIM = "goal"
EFFECT_ABSENT = "effect absent"
TARGET = 0.8
LEVELS = (0.5, 0.8, 0.95)
CONTOUR_DIMS = ("participants", "trials")
# Share of the axes' diagonal that a number interrupts its line.
GAP = 0.09
NUM_PREFIX = "num_"
# Between strokes of the hatching, as a share of an axis; and how finely their ends are found.
HATCH_GAP, NUM_STEPS = 0.06, 600
NOT_TO_COUNT_ON = "not to be counted on: false-positive rate above"
NOT_KNOWN = "false-positive rate not known"


class PowerCurve(NamedTuple):
    """Power for one goal, with limits 2 Monte Carlo standard errors away, within 0 and 1. Sorted by the variable.

    Attributes:
        goal: its label; that of the curve with the effect absent says so.
        of: label of the goal alone.
    """

    goal: str
    of: str
    place: Float[np.ndarray, " variable"]
    value: Float[np.ndarray, " variable"]
    low: Float[np.ndarray, " variable"]
    high: Float[np.ndarray, " variable"]


class Isoline(NamedTuple):
    """A line of equal power, interrupted by NaN where its number stands; no number where there is no line."""

    level: float
    line: Float[np.ndarray, "corner 2"]
    place: Float[np.ndarray, " 2"] | None


def compute_power_curves(curves: xr.Dataset) -> list[PowerCurve]:
    """What to draw for each goal, and then with its effect absent; texts as coordinate of the variable are put at 0, 1, ...

    Args:
        curves: `value` and `mcse` over `goal` and one dimension of any name, and, if known, `when_absent` and
            `when_absent_mcse`.
    """
    dim = _find_variable(curves)
    if not _has_text(curves, dim):
        curves = curves.sortby(dim)
    place = np.arange(curves.sizes[dim], dtype=float) if _has_text(curves, dim) else curves[dim].values.astype(float)
    rows = []
    for goal in map(str, curves[GOAL_DIM].values):
        for label, names in ((goal, ("value", "mcse")), (f"{goal}, {EFFECT_ABSENT}", ("when_absent", "when_absent_mcse"))):
            if names[0] not in curves:
                continue
            value, mcse = (curves[name].sel({GOAL_DIM: goal}).values.astype(float) for name in names)
            if label == goal or np.isfinite(value).any():
                low, high = np.clip(value - 2 * mcse, 0, 1), np.clip(value + 2 * mcse, 0, 1)
                rows.append(PowerCurve(label, goal, place, value, low, high))
    return rows


def compute_isolines(power: xr.DataArray, levels: tuple[float, ...] = LEVELS) -> list[Isoline]:
    """Lines of equal power over (participants, trials), by linear interpolation; x are participants."""
    across, up = _limits(power)
    scale = np.array([across[1] - across[0], up[1] - up[0]])
    generator = contourpy.contour_generator(*_grid(power))
    isolines = []
    for level in levels:
        pieces = [np.asarray(piece) for piece in generator.lines(level)]
        if not pieces:
            isolines.append(Isoline(level, np.empty((0, 2)), None))
            continue
        lengths = [_measure(piece / scale)[-1] for piece in pieces]
        longest = _refine(pieces.pop(int(np.argmax(lengths))), scale)
        walked = _measure(longest / scale)
        middle = longest[int(np.argmin(np.abs(walked - walked[-1] / 2)))]
        is_hidden = np.linalg.norm((longest - middle) / scale, axis=1) < GAP / 2
        longest = np.where(is_hidden[:, None], np.nan, longest)
        gap = np.full((1, 2), np.nan)
        joined = np.concatenate([part for piece in (longest, *pieces) for part in (piece, gap)])
        isolines.append(Isoline(level, joined, middle))
    return isolines


def compute_excess(power: xr.Dataset) -> xr.DataArray | None:
    """How far the false-positive rate of a goal is clearly above its nominal level; positive where it is too high.

    Args:
        power: of one goal: `when_absent`, `when_absent_mcse` and `nominal`.

    Returns:
        The same as `PowerScore.errs_too_often`, as a number; NaN where there is no rate. None if nothing is known of it.
    """
    if not {"when_absent", "when_absent_mcse", "nominal"} <= set(power):
        return None
    excess = power["when_absent"] - CLEARLY * power["when_absent_mcse"] - power["nominal"]
    return excess if bool(excess.notnull().any()) else None


def compute_hatching(excess: xr.DataArray) -> Float[np.ndarray, "corner 2"]:
    """Parallel strokes over all places where a number over (participants, trials) is positive, with NaN between them."""
    x, y, z = _grid(excess)
    across, up = _limits(excess)
    interpolate = RegularGridInterpolator((y, x), z.filled(np.nan))
    gap, strokes = np.full((1, 2), np.nan), [np.empty((0, 2))]
    walk = np.linspace(0, 1, NUM_STEPS)
    for start in np.arange(HATCH_GAP / 2, 2, HATCH_GAP):
        # From the lower right to the upper left, in shares of the axes.
        line = np.stack([walk, start - walk], axis=1)
        line = line[(line[:, 1] >= 0) & (line[:, 1] <= 1)]
        places = np.stack([np.interp(line[:, k], (0, 1), ends) for k, ends in ((0, across), (1, up))], axis=1)
        is_within = interpolate(places[:, ::-1]) > 0
        edges = np.flatnonzero(np.diff(np.concatenate([[False], is_within, [False]]).astype(int)))
        for first, last in edges.reshape(-1, 2):
            strokes += [places[[first, last - 1]], gap]
    return np.concatenate(strokes)


def draw_power(power: xr.Dataset, **options: Any) -> hv.Layout:
    """Contours over participants and trials, or else curves along the first variable, for each goal and value of the second.

    Args:
        power: over `goal` and one variable or two; see `draw_power_curve`.
        **options: of the figure.
    """
    variables = [str(dim) for dim in power["value"].dims if dim != GOAL_DIM]
    varied = [name for name in variables if power.sizes[name] > 1] or variables[:1]
    power = power.isel({name: 0 for name in variables if name not in varied})
    if set(varied) == set(CONTOUR_DIMS):
        return draw_power_contours(power, **options)
    return draw_power_curve(_spread_goals(power, varied[1]) if len(varied) > 1 else power, **options)


def _spread_goals(power: xr.Dataset, variable: str) -> xr.Dataset:
    """Every goal at every value of a variable as a goal of its own."""
    pieces = [power.sel({variable: value}, drop=True) for value in power[variable].values]
    joined = xr.concat(pieces, GOAL_DIM, coords="minimal", compat="override")
    values = [f"{goal}, {variable} {value:g}" for value in power[variable].values for goal in power[GOAL_DIM].values]
    return joined.assign_coords({GOAL_DIM: values})


def draw_power_curve(
    curves: xr.Dataset,
    *,
    target: float = TARGET,
    title: str = "",
    axes: tuple[float, float] = figures.AXES_INCHES,
) -> hv.Layout:
    """Power against a variable of the design, a curve for each goal, and a dotted one with its effect absent.

    Args:
        curves: as `compute_power_curves` takes them, over `goal` and the variable, whose coordinate names the axis (by its
            attributes `long_name` and `units`, or else by its name).
        target: the power that one wants; a line.
        title: stands above the figure.
        axes: inches between the axes' ends, across and up.
    """
    dim = _find_variable(curves)
    rows = compute_power_curves(curves)
    # Both curves of a goal have its colour; the one with the effect absent is dotted and hollow.
    looks = theme.make_series(dict.fromkeys(row.of for row in rows))
    series = {
        row.goal: looks[row.of]
        if row.goal == row.of
        else looks[row.of]._replace(label=row.goal, dash="dotted", is_hollow=True)
        for row in rows
    }
    wanted = Series(f"target, {target:g}", REFERENCE_COLOR, dash="dashed")
    xlim = theme.pad_limits(rows[0].place)
    parts = [theme.style_line(hv.Curve((xlim, [target] * 2), label=wanted.label), wanted)]
    for row in rows:
        look = series[row.goal]
        parts.append(theme.style_fill(hv.Area((row.place, row.low, row.high), vdims=["low", "high"]), look.color))
        parts.append(theme.style_line(hv.Curve((row.place, row.value), label=row.goal), look, width=1.4))
        parts.append(theme.style_points(hv.Points((row.place, row.value), label=row.goal), look))
    ticks = list(enumerate(map(str, curves[dim].values))) if _has_text(curves, dim) else None
    panel = figures.frame_panel(
        hv.Overlay(parts),
        axes=axes,
        xlabel=_name_axis(curves[dim]),
        ylabel="power",
        xlim=xlim,
        ylim=(-0.03, 1.03),
        xticks=ticks,
        yticks=[0.0, 0.2, 0.4, 0.6, 0.8, 1.0],
    )
    legend = [*series.values(), wanted]
    return figures.arrange_panels([panel], num_columns=1, title=title, legend=legend, axes=axes)


def draw_power_contours(
    power: xr.Dataset,
    *,
    levels: tuple[float, ...] = LEVELS,
    target: float = TARGET,
    title: str = "",
    axes: tuple[float, float] = figures.AXES_INCHES,
) -> hv.Layout:
    """Power over the numbers of participants and trials, a panel for each goal.

    The darker the higher, with lines at the levels. Where the goal is reached too often without its effect, so that power is
    not to be counted on, the panel is hatched.

    Args:
        power: `value` over `participants` and `trials`, at least two of each, and over `goal` if there are several; NaN
            where it is unknown. For the hatching `when_absent`, `when_absent_mcse` and `nominal`.
        levels: where the lines are.
        target: the power that one wants; its line is thicker.
        title: stands above the figure.
        axes: inches between the axes' ends, across and up.
    """
    goals = [power.sel({GOAL_DIM: goal}) for goal in power[GOAL_DIM].values] if GOAL_DIM in power["value"].dims else [power]
    hatched = {f"{NOT_TO_COUNT_ON} {limit}": None for goal in goals if (limit := _name_limit(goal))}
    look = Series(" or ".join(hatched), VERMILION, dash="solid")
    panels = [
        figures.frame_panel(
            _draw_contours(goal, levels, target, look),
            title=theme.join_lines(str(goal[GOAL_DIM].item()) if len(goals) > 1 else "", _note_unknown(goal)),
            axes=axes,
            xlabel=_name_axis(power["participants"]),
            ylabel=_name_axis(power["trials"]),
            xlim=_limits(goal["value"])[0],
            ylim=_limits(goal["value"])[1],
        )
        for goal in goals
    ]
    legend = [look] if hatched else []
    columns = figures.count_columns(len(panels))
    return figures.arrange_panels(panels, num_columns=columns, title=title, legend=legend, axes=axes)


def _name_limit(goal: xr.Dataset) -> str:
    """The nominal level of a goal that is reached too often somewhere without its effect; empty if it is not."""
    excess = compute_excess(goal)
    return "" if excess is None or not bool((excess > 0).any()) else format_percent(float(goal["nominal"]))


def _note_unknown(goal: xr.Dataset) -> str:
    """That nobody knows the false-positive rate of a goal that has one; empty if it is known, or if there is none."""
    has_rate = "nominal" in goal and bool(goal["nominal"].notnull())
    return NOT_KNOWN if has_rate and compute_excess(goal) is None else ""


def _draw_contours(goal: xr.Dataset, levels: tuple[float, ...], target: float, look: Series) -> hv.Overlay:
    """What a panel shows: regions and lines of power, and strokes where it is not to be counted on."""
    power = goal["value"]
    generator = contourpy.contour_generator(*_grid(power), fill_type=contourpy.FillType.OuterOffset)
    edges = np.array([0.0, *sorted(levels), 1.0])
    parts = []
    shades = np.linspace(0.05, 0.45, len(edges) - 1)
    for (low, high), shade in zip(itertools.pairwise(edges), shades, strict=True):
        # The lowest and the highest region take in the ends, which contourpy leaves out.
        corners, offsets = generator.filled(low - (low == 0), high + (high == 1))
        shapes = [_make_shape(points, starts) for points, starts in zip(corners, offsets, strict=True)]
        color = theme.SEQUENTIAL[round(shade * (len(theme.SEQUENTIAL) - 1))]
        parts.append(theme.style_fill(hv.Polygons(shapes), color, alpha=1.0))
    excess = compute_excess(goal)
    if excess is not None and _name_limit(goal):
        # Labelled in front, for the legend: HoloViews takes the font of the axes from what is drawn last.
        parts.insert(0, theme.style_line(hv.Curve([(np.nan, np.nan)], label=look.label), look))
        parts.append(theme.style_line(hv.Curve(compute_hatching(excess)), look, width=0.7, alpha=0.8))
        ends = contourpy.contour_generator(*_grid(excess)).lines(0.0)
        parts += [theme.style_line(hv.Curve(np.asarray(end)), look, width=1.4) for end in ends]
    for level, line, place in compute_isolines(power, levels):
        if not line.size:
            continue
        line_look = Series("", BLACK, dash="solid")
        parts.append(theme.style_line(hv.Curve(line), line_look, width=2.0 if level == target else 0.9))
        if place is not None:
            parts.append(theme.style_texts(hv.Labels(([place[0]], [place[1]], [f"{level:g}"])), "black"))
    return hv.Overlay(parts)


def _make_shape(points: np.ndarray, starts: np.ndarray) -> dict[str, object]:
    """An outline and its holes, as HoloViews takes them."""
    rings = [points[first:last] for first, last in itertools.pairwise(starts)]
    return {"x": rings[0][:, 0], "y": rings[0][:, 1], "holes": [rings[1:]]}


def _find_variable(curves: xr.Dataset) -> str:
    others = [str(dim) for dim in curves["value"].dims if dim != GOAL_DIM]
    if GOAL_DIM not in curves["value"].dims or len(others) != 1:
        given = ", ".join(map(str, curves["value"].dims))
        raise StudioError(f"Power curves have the dim {GOAL_DIM!r} and one other, but {given} were given.")
    return others[0]


def _has_text(curves: xr.Dataset, dim: str) -> bool:
    return curves[dim].dtype.kind in "OUST"


def _name_axis(coordinate: xr.DataArray) -> str:
    """The coordinate's own words, or its name in plain ones: num_trials is the number of trials."""
    name = str(coordinate.name)
    plain = f"number of {name.removeprefix(NUM_PREFIX)}" if name.startswith(NUM_PREFIX) or name in CONTOUR_DIMS else name
    label = str(coordinate.attrs.get("long_name", plain.replace("_", " ")))
    unit = coordinate.attrs.get("units")
    return f"{label} ({unit})" if unit else label


def _grid(power: xr.DataArray) -> tuple[np.ndarray, np.ndarray, np.ma.MaskedArray]:
    if set(power.dims) != set(CONTOUR_DIMS) or min(power.shape) < 2:
        given = ", ".join(f"{dim} {size}" for dim, size in power.sizes.items())
        raise StudioError(f"Contours need two or more {' and '.join(CONTOUR_DIMS)}, but the sizes are: {given}.")
    power = power.sortby(list(CONTOUR_DIMS)).transpose(*reversed(CONTOUR_DIMS))
    x, y = (power[dim].values.astype(float) for dim in CONTOUR_DIMS)
    return x, y, np.ma.masked_invalid(power.values.astype(float))


def _limits(power: xr.DataArray) -> tuple[tuple[float, float], tuple[float, float]]:
    x, y, _ = _grid(power)
    return (x[0], x[-1]), (y[0], y[-1])


def _measure(line: np.ndarray) -> np.ndarray:
    """Way from the start to each corner."""
    return np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(line, axis=0), axis=1))])


def _refine(line: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """The same line with corners so close that a gap can be cut anywhere."""
    walked = _measure(line / scale)
    steps = np.union1d(walked, np.linspace(0, walked[-1], 400))
    return np.stack([np.interp(steps, walked, line[:, k]) for k in (0, 1)], axis=1)
