"""Figures of recovery: estimates against truths, contraction against z-score, and coverage.

Only good fits are drawn; titles count the others. See `designstudio.metrics.summaries` for what goes in.
"""

import itertools
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

import holoviews as hv
import numpy as np
import xarray as xr
from jaxtyping import Float

from designstudio.errors import UnknownNameError
from designstudio.metrics.intervals import INTERVAL
from designstudio.metrics.quantity.contraction import Contraction
from designstudio.metrics.quantity.coverage import Coverage
from designstudio.metrics.quantity.moments import SAME
from designstudio.metrics.quantity.z_score import ZScore
from designstudio.metrics.samples import QuantitySample, keep_good, sample_quantity
from designstudio.viz import figures, theme
from designstudio.viz.theme import BLACK, BLUE, REFERENCE_COLOR, VERMILION, QuantityLabel, Series

# Posteriors much wider than the prior are possible, and rare: they are drawn at the edge.
LEAST_CONTRACTION = -0.5
TRUTH = Series("truth", BLACK, dash="dashed")
MISSED = Series("interval misses the truth", VERMILION, "d", "solid")

Column = Float[np.ndarray, " dataset"]


class Recovery(NamedTuple):
    """What one panel of `draw_recovery` shows: the good fits, sorted by their means."""

    label: QuantityLabel
    dataset: np.ndarray
    truth: Column
    mean: Column
    low: Column
    high: Column

    @property
    def is_constant(self) -> bool:
        """Whether there is nothing to draw the means against: all truths are the same, or there are none."""
        if self.truth.size == 0 or np.isnan(self.truth).any():
            return True
        return bool(np.ptp(self.truth) <= SAME * np.abs(self.truth).max())

    @property
    def is_missed(self) -> np.ndarray:
        """Whether each interval leaves out the truth; where there is none, it does not."""
        return (self.truth < self.low) | (self.truth > self.high)


class Shrinkage(NamedTuple):
    """What `draw_contraction` shows of one quantity and design."""

    contraction: Column
    z_score: Column


class CoverageBar(NamedTuple):
    """What `draw_coverage` shows of one quantity and design; low and high are 2 standard errors away, within 0 and 1."""

    value: float
    low: float
    high: float


def compute_recovery(summaries: xr.Dataset) -> dict[str, Recovery]:
    """What to draw for each quantity."""
    good = keep_good(summaries)
    panels = {}
    for quantity, label in theme.label_quantities(summaries).items():
        chosen = good.sel(quantity=quantity)
        chosen = chosen.isel(dataset=np.argsort(chosen["mean"].values))
        columns = [chosen[name].values.astype(float) for name in ("truth", "mean", "low", "high")]
        panels[quantity] = Recovery(label, chosen["dataset"].values, *columns)
    return panels


def compute_contraction(summaries: xr.Dataset) -> dict[str, Shrinkage]:
    """Contraction (1 - posterior variance / prior variance) and z-score ((mean - truth) / sd) of each quantity."""
    return {
        name: Shrinkage(Contraction().values(sample), ZScore().values(sample)) for name, sample in _sample(summaries).items()
    }


def compute_coverage(summaries: xr.Dataset) -> dict[str, CoverageBar]:
    """Share of intervals that contain the truth, for each quantity; NaN where there is no truth."""
    scores = {quantity: Coverage().score(sample) for quantity, sample in _sample(summaries).items()}
    return {
        quantity: CoverageBar(value, *np.clip([value - 2 * mcse, value + 2 * mcse], 0.0, 1.0).tolist())
        for quantity, (value, mcse) in scores.items()
    }


def draw_recovery(
    summaries_by_design: Mapping[str, xr.Dataset],
    *,
    quantities: Sequence[str] | None = None,
    interval: float = INTERVAL,
    title: str = "",
) -> hv.Layout:
    """Posterior means and intervals against the truth: a column for each quantity, a row for each design.

    Where all truths are the same, intervals are sorted by their means and the truth is a line across them.

    Args:
        summaries_by_design: see `designstudio.metrics.summaries`.
        quantities: which to draw, and in which order; by default all.
        interval: probability of the intervals, for the legend.
        title: stands above the figure.
    """
    chosen = list(theme.choose_quantities(summaries_by_design, quantities))
    by_design = {design: compute_recovery(summaries) for design, summaries in summaries_by_design.items()}
    num_columns = figures.count_columns(len(chosen))
    looks = (Series(f"posterior mean and {interval:.0%} interval", BLUE, "o", "solid"), MISSED)
    drawn: list[hv.Overlay | hv.Empty] = []
    # Blocks of as many columns as fit on a page, the designs below each other within a block.
    for block in (chosen[start : start + num_columns] for start in range(0, len(chosen), num_columns)):
        for design, panels in by_design.items():
            heading = design if len(by_design) > 1 else ""
            for quantity in block:
                peers = [other[quantity] for other in by_design.values() if quantity in other]
                is_missing = quantity not in panels
                drawn.append(hv.Empty() if is_missing else _draw_recovery(panels[quantity], peers, looks, heading))
            drawn += [hv.Empty()] * (num_columns - len(block))
    heading = theme.join_lines(title, theme.describe_fits(summaries_by_design))
    return figures.arrange_panels(drawn, num_columns=num_columns, title=heading, legend=[*looks, TRUTH])


def _draw_recovery(panel: Recovery, peers: Sequence[Recovery], looks: tuple[Series, Series], title: str) -> hv.Overlay:
    """One panel, on axes that suit the same quantity of all designs."""
    label = panel.label.axis
    place = np.arange(1.0, len(panel.mean) + 1) if panel.is_constant else panel.truth
    ylim = theme.pad_limits(*(values for peer in peers for values in (peer.low, peer.high, peer.truth)))
    if panel.is_constant:
        xlim = (0.0, max(len(peer.mean) for peer in peers) + 1.0)
        line = np.resize(panel.truth, 2) if panel.truth.size else np.full(2, np.nan)
        xlabel, ylabel = "data set, ordered by its mean", label
    else:
        xlim = theme.pad_limits(*(peer.truth for peer in peers))
        line = np.array(xlim)
        xlabel, ylabel = f"true {label}", f"estimated {label}"
    # The more intervals, the fainter: single ones matter less than the means.
    faint = float(np.clip(40 / max(len(place), 1), 0.15, 0.6))
    bars, points = [], []
    for is_chosen, series in zip((~panel.is_missed, panel.is_missed), looks, strict=True):
        x, low, high = place[is_chosen], panel.low[is_chosen], panel.high[is_chosen]
        bars.append(theme.style_segments(hv.Segments((x, low, x, high)), series.color, alpha=faint))
        marks = hv.Points((x, panel.mean[is_chosen], panel.dataset[is_chosen]), vdims="dataset", label=series.label)
        points.append(theme.style_points(marks, series, size=3.5).opts(tools=["hover"], backend="bokeh"))
    truth = theme.style_line(hv.Curve((xlim, line), label=TRUTH.label), TRUTH)
    overlay = hv.Overlay([*bars, *points, truth])
    return figures.frame_panel(overlay, title=title, xlim=xlim, ylim=ylim, xlabel=xlabel, ylabel=ylabel)


def draw_contraction(
    summaries_by_design: Mapping[str, xr.Dataset],
    *,
    color_by: Literal["quantity", "design"] = "quantity",
    quantities: Sequence[str] | None = None,
    title: str = "",
) -> hv.Layout:
    """Posterior z-score against posterior contraction, a point for each data set.

    Good estimates lie on the right (the data say much more than the prior) and within 2 of zero (the posterior is as wide as
    its errors).

    Args:
        summaries_by_design: see `designstudio.metrics.summaries`.
        color_by: "quantity" gives each design a panel and each quantity a colour, "design" the reverse.
        quantities: which to draw, and in which order; by default all.
        title: stands above the figure.
    """
    if color_by not in ("quantity", "design"):
        raise UnknownNameError("way to colour", color_by, ("quantity", "design"))
    by_design = {design: compute_contraction(summaries) for design, summaries in summaries_by_design.items()}
    symbols = {name: label.symbol for name, label in theme.choose_quantities(summaries_by_design, quantities).items()}
    designs = {design: design for design in by_design}
    panels, colors = (designs, symbols) if color_by == "quantity" else (symbols, designs)
    table: dict[str, dict[str, Shrinkage]] = {panel: {} for panel in panels}
    for design, name in itertools.product(designs, symbols):
        if name in by_design[design]:
            panel, color = (design, name) if color_by == "quantity" else (name, design)
            table[panel][color] = by_design[design][name]
    looks = {color: look._replace(label=colors[color], dash=None) for color, look in theme.make_series(colors).items()}
    everything = [cloud for clouds in table.values() for cloud in clouds.values()]
    xlim = theme.pad_limits(*(cloud.contraction.clip(LEAST_CONTRACTION) for cloud in everything), [0.0, 1.0])
    ylim = theme.pad_limits(*(cloud.z_score for cloud in everything), [-2.5, 2.5])
    drawn = []
    for panel, clouds in table.items():
        marks = [mark for color, cloud in clouds.items() for mark in _draw_cloud(cloud, looks[color])]
        drawn.append(
            figures.frame_panel(
                hv.Overlay([*_draw_references(), *marks]),
                title=panels[panel] if len(panels) > 1 else "",
                xlabel="posterior contraction",
                ylabel="posterior z-score",
                xlim=xlim,
                ylim=ylim,
            )
        )
    num_beyond = sum(int((cloud.contraction < LEAST_CONTRACTION).sum()) for cloud in everything)
    num_unknown = sum(int(np.isnan(cloud.z_score).sum()) for cloud in everything)
    notes = [
        f"◂ {num_beyond} with contraction below {LEAST_CONTRACTION:g}".replace("-", "−") if num_beyond else "",
        f"{num_unknown} without a truth are not drawn" if num_unknown else "",
    ]
    heading = theme.join_lines(title, theme.describe_fits(summaries_by_design), *notes)
    return figures.arrange_panels(
        drawn, num_columns=figures.count_columns(len(drawn)), title=heading, legend=list(looks.values())
    )


def _draw_cloud(cloud: Shrinkage, series: Series) -> list[hv.Points]:
    """Points, and arrowheads at the edge for those that lie far beyond it and would squeeze all others."""
    is_beyond = cloud.contraction < LEAST_CONTRACTION
    inside = hv.Points((cloud.contraction[~is_beyond], cloud.z_score[~is_beyond]), label=series.label)
    beyond = hv.Points((np.full(is_beyond.sum(), LEAST_CONTRACTION), cloud.z_score[is_beyond]))
    return [
        theme.style_points(inside, series, size=3.5, alpha=0.7),
        theme.style_points(beyond, series._replace(marker="<"), alpha=0.7),
    ]


def _draw_references() -> list[hv.Element]:
    dotted = Series("", REFERENCE_COLOR, dash="dotted")
    lines = [hv.HLine(-2), hv.HLine(2), hv.VLine(0), hv.VLine(1)]
    zero = theme.style_line(hv.HLine(0), dotted._replace(dash="solid"), width=0.8)
    return [zero, *(theme.style_line(line, dotted, width=0.8) for line in lines)]


def draw_coverage(
    summaries_by_design: Mapping[str, xr.Dataset],
    *,
    quantities: Sequence[str] | None = None,
    interval: float = INTERVAL,
    title: str = "",
) -> hv.Layout:
    """Percentage of intervals that contain the truth, with two Monte Carlo standard errors, and the percentage that should.

    Args:
        summaries_by_design: see `designstudio.metrics.summaries`.
        quantities: which to draw, and in which order; by default all.
        interval: probability of the intervals, which their coverage should meet.
        title: stands above the figure.
    """
    labels = theme.choose_quantities(summaries_by_design, quantities)
    by_design = {design: compute_coverage(summaries) for design, summaries in summaries_by_design.items()}
    series = {label: look._replace(dash="solid") for label, look in theme.make_series(by_design).items()}
    nominal = Series(f"nominal, {interval:.0%}", BLACK, dash="dashed")
    xlim = (-0.5, len(labels) - 0.5)
    parts = [theme.style_line(hv.Curve((xlim, [100 * interval] * 2), label=nominal.label), nominal)]
    # Designs side by side, half of the room between neighbouring quantities left free.
    offsets = 0.5 * (np.arange(len(by_design)) - (len(by_design) - 1) / 2) / max(len(by_design), 2)
    shown = [100 * interval, 100.0]
    for offset, (design, coverages) in zip(offsets, by_design.items(), strict=True):
        x = offset + np.array([k for k, name in enumerate(labels) if name in coverages])
        value, low, high = 100 * np.array([coverages[name] for name in labels if name in coverages]).reshape(-1, 3).T
        bars = theme.style_segments(hv.Segments((x, low, x, high)), series[design].color, width=1.2)
        parts += [bars, theme.style_points(hv.Points((x, value), label=design), series[design], size=5)]
        shown += [*low.tolist(), *high.tolist()]
    # As wide as the marks of all designs, or the symbols below them, need.
    column = max(0.2 * (len(by_design) + 1), 0.12 + 0.07 * max(len(label.symbol) for label in labels.values()))
    axes = (max(figures.AXES_INCHES[0], column * len(labels)), figures.AXES_INCHES[1])
    has_value = {name: any(np.isfinite(c[name].value) for c in by_design.values() if name in c) for name in labels}
    panel = figures.frame_panel(
        hv.Overlay(parts),
        axes=axes,
        xlabel="",
        ylabel=f"coverage of {interval:.0%} intervals (%)",
        xticks=[(k, label.symbol + ("" if has_value[n] else "\nno value")) for k, (n, label) in enumerate(labels.items())],
        xlim=xlim,
        ylim=theme.pad_limits(shown),
    )
    heading = theme.join_lines(title, theme.describe_fits(summaries_by_design))
    legend = [*series.values(), nominal]
    bottom = 0.3 if all(has_value.values()) else 0.45
    return figures.arrange_panels([panel], num_columns=1, title=heading, legend=legend, axes=axes, bottom=bottom)


def _sample(summaries: xr.Dataset) -> dict[str, QuantitySample]:
    """The good fits of each quantity."""
    good = keep_good(summaries)
    return {str(name): sample_quantity(good, name) for name in good["quantity"].values}
