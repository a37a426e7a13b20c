"""Figures of identifiability: correlations of the posterior, and regions that two parameters share.

See `designstudio.metrics.identifiability` for the correlations. Regions are those of highest density: the smallest that
contain a given share of the draws.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import contourpy
import holoviews as hv
import numpy as np
import xarray as xr
from jaxtyping import Float
from numpy.typing import ArrayLike
from scipy import ndimage

from designstudio.errors import StudioError, UnknownNameError
from designstudio.metrics.identifiability import score_correlations
from designstudio.metrics.samples import keep_good, shape_posteriors
from designstudio.viz import figures, theme
from designstudio.viz.confusion import arrange_cells, draw_cells, measure_cells
from designstudio.viz.theme import BLACK, CROSS, Series

PROBS = (0.5, 0.94)
TRUTH = Series("truth", BLACK, CROSS)
# The density is counted in whitened coordinates, on cells much smaller than the kernel, and drawn on a grid of its own.
NUM_BINS = 256
NUM_GRID = 200
WHITE_LIMIT = 6.0


class Correlations(NamedTuple):
    """Mean posterior correlations of one design; NaN on and above the diagonal, and everywhere if all fits failed."""

    symbols: list[str]
    matrix: Float[np.ndarray, "parameter parameter_other"]


class Region(NamedTuple):
    """A region of highest density: its outlines, as corners of polygons, and the share of the draws inside."""

    prob: float
    outlines: list[Float[np.ndarray, "corner 2"]]


def compute_correlations(summaries: xr.Dataset) -> Correlations:
    """Mean posterior correlations of the logarithms of all parameters, over the good fits."""
    labels = theme.label_quantities(summaries)
    names = [str(name) for name in summaries["parameter"].values]
    matrix = np.full((len(names), len(names)), np.nan)
    if summaries["is_good"].values.any():
        for (first, second), score in score_correlations(shape_posteriors(keep_good(summaries), (), ())).items():
            matrix[names.index(second), names.index(first)] = score.value
    return Correlations([labels[name].symbol for name in names], matrix)


def compute_regions(
    x: Float[np.ndarray, " draw"], y: Float[np.ndarray, " draw"], probs: Sequence[float] = PROBS
) -> list[Region]:
    """Regions of highest density of a pair of draws, the largest first.

    The density is a Gaussian kernel estimate with the shape of the draws' covariance, so narrow ridges stay narrow. Regions
    end where the draws end: smoothing does not carry them over the border of a prior.

    Raises:
        StudioError: if the draws lie on a line or a point.
    """
    draws = np.stack([x, y])
    centre = draws.mean(1, keepdims=True)
    try:
        root = np.linalg.cholesky(np.cov(draws))
    except np.linalg.LinAlgError:
        raise StudioError("Draws that do not vary, or only together, have no region: choose another pair.") from None
    density = _estimate_density(np.linalg.solve(root, draws - centre))
    low, high = draws.min(1), draws.max(1)
    across, up = (np.linspace(low[k], high[k], NUM_GRID) for k in (0, 1))
    grid = np.stack([part.ravel() for part in np.meshgrid(across, up)])
    heights = _look_up(density, np.linalg.solve(root, grid - centre)).reshape(NUM_GRID, NUM_GRID)
    at_draws = _look_up(density, np.linalg.solve(root, draws - centre))
    # A rim of zeros closes the outlines at the border.
    step = (high - low) * 1e-6
    across, up = (np.concatenate([[v[0] - s], v, [v[-1] + s]]) for v, s in ((across, step[0]), (up, step[1])))
    generator = contourpy.contour_generator(across, up, np.pad(heights, 1))
    return [
        Region(prob, [np.asarray(line) for line in generator.lines(float(np.quantile(at_draws, 1 - prob)))])
        for prob in sorted(probs, reverse=True)
    ]


def _estimate_density(white: Float[np.ndarray, "2 draw"]) -> np.ndarray:
    """A kernel density estimate of standardized, uncorrelated draws, with the bandwidth of Scott's rule."""
    edges = np.linspace(-WHITE_LIMIT, WHITE_LIMIT, NUM_BINS + 1)
    counts, _ = np.histogramdd(np.clip(white, -WHITE_LIMIT, WHITE_LIMIT).T, bins=[edges, edges])
    bandwidth = white.shape[1] ** (-1 / 6)
    return ndimage.gaussian_filter(counts, bandwidth / (edges[1] - edges[0]), mode="constant")


def _look_up(density: np.ndarray, white: Float[np.ndarray, "2 point"]) -> np.ndarray:
    cell = 2 * WHITE_LIMIT / NUM_BINS
    places = (np.clip(white, -WHITE_LIMIT, WHITE_LIMIT) + WHITE_LIMIT) / cell - 0.5
    return ndimage.map_coordinates(density, places, order=1, mode="nearest")


def draw_correlations(summaries_by_design: Mapping[str, xr.Dataset], *, title: str = "") -> hv.Layout:
    """Mean posterior correlations of all pairs of parameters, a panel for each design.

    Args:
        summaries_by_design: see `designstudio.metrics.summaries`.
        title: stands above the figure.
    """
    if not summaries_by_design:
        raise StudioError("There are no designs to draw.")
    tables = {design: compute_correlations(summaries) for design, summaries in summaries_by_design.items()}
    # Neither the first row nor the last column of a lower triangle has any cells.
    sides = max(len(table.symbols) for table in tables.values()) - 1
    if sides < 1:
        raise StudioError("Correlations need at least two free parameters, but there is only one.")
    axes = measure_cells(sides, sides)
    panels = []
    for design, (symbols, matrix) in tables.items():
        cells = matrix[1:, :-1]
        texts = np.array([[_write(cell) for cell in row] for row in cells])
        panels.append(
            draw_cells(
                cells,
                texts,
                rows=symbols[1:],
                columns=symbols[:-1],
                colors=theme.DIVERGING,
                limits=(-1.0, 1.0),
                title=design if len(tables) > 1 else "",
                axes=axes,
                xlabel="",
                ylabel="",
            )
        )
    symbols = max((table.symbols for table in tables.values()), key=len)
    what = "mean posterior correlation of log parameters"
    heading = theme.join_lines(title, what, theme.describe_fits(summaries_by_design))
    return arrange_cells(
        panels, rows=symbols, columns=symbols, axes=axes, num_columns=figures.count_columns(len(panels)), title=heading
    )


def _write(correlation: float) -> str:
    if np.isnan(correlation):
        return ""
    # Adding zero turns −0.00 into 0.00.
    return f"{round(correlation, 2) + 0.0:.2f}".replace("-", "−")


def draw_pair(
    draws_by_design: Mapping[str, Mapping[str, ArrayLike] | None],
    pair: tuple[str, str],
    *,
    truth: Mapping[str, float] | None = None,
    labels: Mapping[str, theme.QuantityLabel] | None = None,
    title: str = "",
) -> hv.Layout:
    """Regions that contain 50 % and 94 % of the draws of two quantities, for one data set and several designs.

    Args:
        draws_by_design: for each design the draws of its quantities, of any shape; None where the fit failed.
        pair: names of the quantities across and up.
        truth: where the cross stands, if there is one.
        labels: see `theme.label_quantities`; names are written as they are without.
        title: stands above the figure.

    Raises:
        UnknownNameError: if there are no draws of a quantity.
    """
    series = theme.make_series(draws_by_design)
    fills, lines, shown = [], [], []
    for design, draws in draws_by_design.items():
        if draws is None:
            continue
        for name in pair:
            if name not in draws:
                raise UnknownNameError("quantity", name, map(str, draws))
        x, y = (np.ravel(np.asarray(draws[name], float)) for name in pair)
        regions = compute_regions(x, y)
        for region, width, label in zip(regions, (0.9, 1.5), ("", design), strict=True):
            shown += region.outlines
            polygons = [{"x": outline[:, 0], "y": outline[:, 1]} for outline in region.outlines]
            fills.append(theme.style_fill(hv.Polygons(polygons), series[design].color, alpha=0.18))
            # Several outlines are one curve with gaps: one entry in the legend.
            gaps = [np.concatenate([outline, np.full((1, 2), np.nan)]) for outline in region.outlines]
            lines.append(theme.style_line(hv.Curve(np.concatenate(gaps), label=label), series[design], width=width))
    legend = [series[design]._replace(marker=None) for design, draws in draws_by_design.items() if draws is not None]
    marks = []
    if truth is not None:
        point = np.array([[float(truth[name]) for name in pair]])
        shown.append(point)
        marks.append(theme.style_points(hv.Points(point, label=TRUTH.label), TRUTH, size=9))
        legend.append(TRUTH)
    failed = [design for design, draws in draws_by_design.items() if draws is None]
    note = f"no region for {', '.join(failed)}: the fit failed" if failed else ""
    known = labels or {}
    xlabel, ylabel = (known[name].axis if name in known else name for name in pair)
    panel = figures.frame_panel(
        hv.Overlay([*fills, *lines, *marks]),
        title=theme.join_lines("regions of 50% and 94% of the draws", note),
        xlabel=xlabel,
        ylabel=ylabel,
        xlim=theme.pad_limits(*(part[:, 0] for part in shown)),
        ylim=theme.pad_limits(*(part[:, 1] for part in shown)),
    )
    return figures.arrange_panels([panel], num_columns=1, title=title, legend=legend)
