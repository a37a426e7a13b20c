"""Which cost predicts left-out trials best: over all subjects, and subject by subject."""

from typing import NamedTuple

import holoviews as hv
import numpy as np
import xarray as xr
from jaxtyping import Bool, Float

from designstudio.fitting.comparison import Comparison
from designstudio.model.costs import find_family
from designstudio.viz import figures, theme
from designstudio.viz.confusion import draw_cells
from designstudio.viz.families import FAMILY_LOOKS, list_families, name_cost, order_costs
from designstudio.viz.theme import BAND_COLOR, BLACK, REFERENCE_COLOR, Series

NUM_ERRORS = 2
WEIGHT = Series("stacking weight", BLACK, "d", is_hollow=True)
AXES_INCHES = (2.4, 2.0)
ROW_INCHES, LETTER_INCHES = 0.27, 0.07
# Inches of the table: a subject's row at least and at most, a cost's column, and all columns at least.
TABLE_ROW, MOST_ROW, TABLE_COLUMN, LEAST_TABLE = 0.17, 0.3, 0.75, 3.0
# What stands in its cells.
WINNER, UNUSABLE = "★", "×"
# A loss of this many nats, or more, has the darkest colour: then there is no doubt left.
CERTAIN_LOSS = 10.0
LOSS_COLORS = theme.mix_colors("#FFFFFF", "#F6C9A6", "#D55E00")


class Totals(NamedTuple):
    """Of all subjects, from the first cost of the paper to the last: how much worse than the best, and how often it wins."""

    costs: list[str]
    difference: Float[np.ndarray, " cost"]
    difference_se: Float[np.ndarray, " cost"]
    share: Float[np.ndarray, " cost"]
    share_se: Float[np.ndarray, " cost"]
    weight: Float[np.ndarray, " cost"]


class SubjectTable(NamedTuple):
    """Subject by subject, those with the same winner together; NaN where a fit cannot be used."""

    subjects: list[str]
    costs: list[str]
    difference: Float[np.ndarray, "subject cost"]
    is_winner: Bool[np.ndarray, "subject cost"]
    is_good: Bool[np.ndarray, "subject cost"]


def compute_totals(comparison: Comparison) -> Totals:
    """What `draw_model_comparison` shows; differences are negative or zero."""
    costs = order_costs(comparison.total["cost"].values.astype(str).tolist())
    total = comparison.total.sel(cost=costs)
    elpd = total["elpd"].values.astype(float)
    best = np.nanmax(elpd) if np.isfinite(elpd).any() else np.nan
    names = ("difference_se", "share_won", "share_won_se", "weight")
    columns = (total[name].values.astype(float) if name in total else np.full(len(costs), np.nan) for name in names)
    return Totals(costs, elpd - best, *columns)


def compute_subject_table(comparison: Comparison) -> SubjectTable:
    """What `draw_subject_winners` shows; differences are to the best of the costs that could be fitted to the subject."""
    costs = order_costs(comparison.table["cost"].values.astype(str).tolist())
    table = comparison.table.sel(cost=costs).transpose("subject", "cost", ...)
    is_good = table["is_good"].values.astype(bool)
    elpd = np.where(is_good, table["elpd"].values.astype(float), np.nan)
    best = np.max(elpd, axis=1, keepdims=True, initial=-np.inf, where=np.isfinite(elpd))
    is_winner = table["is_winner"].values.astype(bool)
    # Subjects without a winner come last.
    place = np.where(is_winner.any(axis=1), is_winner.argmax(axis=1), len(costs))
    order = np.argsort(place, kind="stable")
    subjects = table["subject"].values.astype(str)[order].tolist()
    return SubjectTable(subjects, costs, (elpd - best)[order], is_winner[order], is_good[order])


def draw_model_comparison(comparison: Comparison, *, title: str = "") -> hv.Layout:
    """Summed differences in elpd to the best cost, and the share of subjects that each cost wins.

    Args:
        comparison: between the costs.
        title: stands above the figure.
    """
    totals = compute_totals(comparison)
    num_subjects = comparison.table.sizes["subject"]
    left_out = f"; {comparison.num_undecided} left out, whom not every cost could be fitted to"
    counted = f"{num_subjects - comparison.num_undecided} subjects" + (left_out if comparison.num_undecided else "")
    if comparison.num_undecided >= num_subjects or not np.isfinite(totals.difference).any():
        return figures.draw_message("No subject could be fitted with every cost.", title=title)
    axes = (AXES_INCHES[0], max(1.2, ROW_INCHES * len(totals.costs)))
    shares = tuple(100 * part for part in (totals.share, totals.share_se))
    has_weights = bool(np.isfinite(totals.weight).any())
    panels = [
        _draw_totals(
            totals,
            totals.difference,
            totals.difference_se,
            axes=axes,
            title="how much worse than the best",
            xlabel="summed difference in elpd (nats)",
        ),
        _draw_totals(
            totals,
            *shares,
            weight=100 * totals.weight if has_weights else None,
            axes=axes,
            title="how often it is the best",
            xlabel="share of subjects won (%)",
        ),
    ]
    legend = [_describe_family(comparison.families, family) for family in list_families(totals.costs)]
    legend += [WEIGHT] if has_weights else []
    heading = theme.join_lines(title, counted, f"bars: ± {NUM_ERRORS} standard errors")
    left = max(figures.LEFT, 0.2 + LETTER_INCHES * max(len(name_cost(cost)) for cost in totals.costs))
    return figures.arrange_panels(panels, num_columns=2, title=heading, legend=legend, axes=axes, left=left, between=0.3)


def _draw_totals(
    totals: Totals,
    value: np.ndarray,
    error: np.ndarray,
    *,
    axes: tuple[float, float],
    title: str,
    xlabel: str,
    weight: np.ndarray | None = None,
) -> hv.Overlay:
    """One panel: costs from top to bottom, families apart by their looks."""
    is_share = xlabel.endswith("(%)")
    num_costs = len(totals.costs)
    y = np.arange(num_costs)[::-1].astype(float)
    reach = NUM_ERRORS * np.nan_to_num(error)
    low, high = value - reach, value + reach
    if is_share:
        low, high = low.clip(0.0, 100.0), high.clip(0.0, 100.0)
    xlim = (-4.0, 104.0) if is_share else theme.pad_limits(low, high, [0.0], share=0.06)
    ylim = (-0.6, num_costs - 0.4)
    families = [find_family(cost) for cost in totals.costs]
    # Every other family is shaded.
    shaded = [y[k] for k, family in enumerate(families) if list_families(totals.costs).index(family) % 2 == 0]
    stripes = hv.Rectangles([(xlim[0], place - 0.5, xlim[1], place + 0.5) for place in shaded])
    parts: list[hv.Element] = [theme.style_fill(stripes, BAND_COLOR, alpha=0.4)]
    zero = Series("", REFERENCE_COLOR, dash="dashed")
    parts.append(theme.style_line(hv.Curve(([0.0, 0.0], ylim)), zero, width=0.8))
    if weight is not None:
        parts.append(theme.style_points(hv.Points((weight, y - 0.22), label=WEIGHT.label), WEIGHT, size=4))
    for family in list_families(totals.costs):
        look, own = FAMILY_LOOKS[family], [k for k, other in enumerate(families) if other == family]
        bars = hv.Segments((low[own], y[own], high[own], y[own]))
        parts.append(theme.style_segments(bars, look.color, width=1.4))
        parts.append(theme.style_points(hv.Points((value[own], y[own]), label=look.label), look, size=5.5))
    names = [name_cost(cost) for cost in totals.costs]
    return figures.frame_panel(
        hv.Overlay(parts),
        title=title,
        axes=axes,
        xlabel=xlabel,
        ylabel="",
        xlim=xlim,
        ylim=ylim,
        yticks=list(zip(y.tolist(), names if not is_share else [""] * num_costs, strict=True)),
    )


def _describe_family(families: xr.Dataset, family: str) -> Series:
    """The look of a family, with what its costs have won together."""
    look = FAMILY_LOOKS[family]._replace(dash="solid")
    if family not in families["family"].values:
        return look
    share, error = (float(families[name].sel(family=family)) for name in ("share_won", "share_won_se"))
    return look._replace(label=f"{look.label}: {share:.0%} won" + (f" (± {NUM_ERRORS * error:.0%})" if error > 0 else ""))


def draw_subject_winners(comparison: Comparison, *, title: str = "") -> hv.Layout:
    """A table of subjects and costs: how much worse than the subject's best, with a star for the winner.

    Args:
        comparison: between the costs.
        title: stands above the figure.
    """
    table = compute_subject_table(comparison)
    texts = np.array([[_write_difference(cell) for cell in row] for row in table.difference])
    texts[table.is_winner] = WINNER
    # Crosses are drawn, larger than a letter.
    texts[~table.is_good] = ""
    num_subjects, num_costs = table.difference.shape
    row = float(np.clip(6.0 / num_subjects, TABLE_ROW, MOST_ROW))
    axes = (max(LEAST_TABLE, TABLE_COLUMN * num_costs), max(1.5, row * num_subjects))
    panel = draw_cells(
        -table.difference,
        texts,
        rows=table.subjects,
        columns=[name_cost(cost, is_broken=True) for cost in table.costs],
        colors=LOSS_COLORS,
        limits=(0.0, CERTAIN_LOSS),
        extra=_cross_out(~table.is_good),
        axes=axes,
        xrotation=0,
        xlabel="",
        ylabel="subject",
    )
    note = f"elpd minus that of the best cost (nats); {WINNER} wins"
    note += f", {UNUSABLE} could not be fitted" if not table.is_good.all() else ""
    heading = theme.join_lines(title, note)
    left = max(0.5, 0.3 + LETTER_INCHES * max(map(len, table.subjects)))
    return figures.arrange_panels([panel], num_columns=1, title=heading, axes=axes, left=left)


def _write_difference(difference: float) -> str:
    # Not even a rounded zero has a sign.
    return f"{difference:.1f}".replace("-0.0", "0.0").replace("-", "−")


def _cross_out(is_crossed: np.ndarray) -> list[hv.Element]:
    """Grey cells with a cross, for what must not be used."""
    row, column = np.nonzero(is_crossed)
    if not row.size:
        return []
    up = len(is_crossed) - 1 - row
    cells = hv.Rectangles([(x - 0.48, y - 0.46, x + 0.48, y + 0.46) for x, y in zip(column, up, strict=True)])
    strokes = [
        (x - 0.48, y - tilt * 0.46, x + 0.48, y + tilt * 0.46) for x, y in zip(column, up, strict=True) for tilt in (-1, 1)
    ]
    lines = theme.style_segments(hv.Segments(strokes), REFERENCE_COLOR, width=0.7)
    return [theme.style_fill(cells, BAND_COLOR, alpha=1.0), lines]
