"""Tables of coloured cells: which model wins when which model made the data.

Confusion answers: data of this model, how often does each model win? Inversion answers what an experimenter asks: this model
has won, how likely is it that each model made the data? Inversion takes all models as equally likely beforehand, whatever
the numbers of their data sets.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import holoviews as hv
import numpy as np
import xarray as xr
from jaxtyping import Float

from designstudio.core.numbers import format_percent
from designstudio.errors import StudioError
from designstudio.viz import figures, theme

DIMS = ("simulated", "fitted")
UNDECIDED = "undecided"
# Inches of a cell, of the smallest and the largest table, and of a letter of its labels.
CELL_INCHES, MIN_INCHES, MAX_INCHES, LETTER_INCHES = 0.5, 2.0, 4.0, 0.07
# By the formula it would be 0.18, but thin white letters on strong colours read better than it says.
DARK_LUMINANCE = 0.24


class Confusion(NamedTuple):
    """Rows: the model that made the data; columns: the model that won. NaN where there is nothing to divide by.

    If some data sets are undecided, these are the last of `fitted`, and a column of the confusion only.
    """

    simulated: list[str]
    fitted: list[str]
    confusion: Float[np.ndarray, "simulated fitted"]
    inversion: Float[np.ndarray, "simulated winner"]


def compute_confusion(matrix: xr.DataArray, undecided: xr.DataArray | None = None) -> Confusion:
    """Conditional probabilities from counts.

    Args:
        matrix: how many data sets of each `simulated` model each `fitted` model has won; shares are possible, too.
        undecided: how many no model has won; the confusion has them as its last column.

    Raises:
        StudioError: if it has other dims, or negative entries.
    """
    if set(matrix.dims) != set(DIMS):
        raise StudioError(
            f"A confusion matrix has the dims {', '.join(DIMS)}, but {', '.join(map(str, matrix.dims))} were given."
        )
    counts = matrix.transpose(*DIMS).values.astype(float)
    simulated, fitted = ([str(name) for name in matrix[dim].values] for dim in DIMS)
    num_models = len(fitted)
    if undecided is not None:
        counts = np.column_stack([counts, undecided.sel(simulated=matrix["simulated"]).values])
        fitted.append(UNDECIDED)
    if not (counts >= 0).all():
        raise StudioError("A confusion matrix holds counts or shares, but some entries are negative or missing.")
    confusion = _divide(counts, counts.sum(1, keepdims=True))
    # Equal numbers of all models, for inversion; a model without data sets takes no part.
    won = confusion[:, :num_models]
    return Confusion(simulated, fitted, confusion, _divide(won, np.nansum(won, 0, keepdims=True)))


def _divide(numerator: np.ndarray, denominator: np.ndarray) -> np.ndarray:
    return np.divide(numerator, denominator, out=np.full_like(numerator, np.nan), where=denominator > 0)


def draw_confusion(
    matrix: xr.DataArray,
    *,
    undecided: xr.DataArray | None = None,
    title: str = "",
    kind: str = "cost",
    num_failed: int = 0,
    num_datasets: int | None = None,
) -> hv.Layout:
    """Confusion and inversion side by side, in percent.

    Args:
        matrix: see `compute_confusion`.
        undecided: how many data sets of each `simulated` model no model has won, in counts or shares like the matrix; they
            get a column of the confusion.
        title: stands above the figure.
        kind: what is compared, for the axes.
        num_failed: data sets that are not in the matrix because their fits failed; the title counts them.
        num_datasets: all data sets; by default those of the matrix, if it holds counts, and the failed ones.
    """
    simulated, fitted, *tables = compute_confusion(matrix, undecided)
    if undecided is not None:
        # Who made the data is asked of winners only.
        tables[1] = np.column_stack([tables[1], np.full(len(simulated), np.nan)])
    rows, columns = ([name.replace("_", " ") for name in names] for names in (simulated, fitted))
    axes = measure_cells(len(rows), len(columns))
    headings = ("confusion: P(fitted | simulated)", "inversion: P(simulated | fitted)")
    panels = [
        draw_cells(
            table,
            np.array([["–" if np.isnan(cell) else format_percent(cell) for cell in row] for row in table]),
            rows=rows,
            columns=columns,
            colors=theme.SEQUENTIAL,
            limits=(0.0, 1.0),
            title=heading,
            axes=axes,
            xlabel=f"fitted {kind}",
            ylabel=f"simulated {kind}",
        )
        for heading, table in zip(headings, tables, strict=True)
    ]
    if num_datasets is None:
        if num_failed and (matrix % 1).any():
            raise StudioError(
                "The matrix holds shares: give num_datasets, so that the failed ones can be counted among them."
            )
        num_datasets = round(float(matrix.sum())) + num_failed
    note = theme.describe_failures(num_failed, num_datasets)
    return arrange_cells(panels, rows=rows, columns=columns, axes=axes, num_columns=2, title=theme.join_lines(title, note))


def draw_cells(
    values: np.ndarray,
    texts: np.ndarray,
    *,
    rows: Sequence[str],
    columns: Sequence[str],
    colors: Sequence[str],
    limits: tuple[float, float],
    extra: Sequence[hv.Element] = (),
    **options: Any,
) -> hv.Overlay:
    """A panel of coloured cells with a text in each; cells of NaN stay white.

    Args:
        values: decide the colours; one for each row and column.
        texts: stand in the cells.
        rows: names, from top to bottom.
        columns: names, from left to right.
        colors: a colour map.
        limits: values of its two ends.
        extra: what else is drawn over the cells; columns are counted from the left, rows from the bottom, both from 0.
        **options: see `figures.frame_panel`.
    """
    num_rows, num_columns = values.shape
    up = np.arange(num_rows)[::-1]
    mesh = theme.set_options(
        hv.QuadMesh((np.arange(num_columns), np.arange(num_rows), values[::-1]), ["column", "row"], "value"),
        matplotlib={"cmap": list(colors), "clim": limits, "edgecolors": "white", "linewidths": 1.0},
        bokeh={"cmap": list(colors), "clim": limits, "line_color": "white", "line_width": 1.5},
    )
    # HoloViews looks for the smallest value, and numpy warns if there is none.
    overlay = [] if np.isnan(values).all() else [mesh]
    is_dark = find_dark(values, colors, limits)
    for is_chosen, color in ((is_dark, "white"), (~is_dark, "black")):
        row, column = np.nonzero(is_chosen & (texts != ""))
        labels = hv.Labels((column, up[row], texts[row, column]), ["column", "row"], "text")
        overlay.append(theme.style_texts(labels, color))
    return figures.frame_panel(
        hv.Overlay([*overlay, *extra]),
        xlim=(-0.5, num_columns - 0.5),
        ylim=(-0.5, num_rows - 0.5),
        xticks=list(enumerate(columns)),
        yticks=list(zip(up.tolist(), rows, strict=True)),
        **{"xrotation": _rotate(columns), **options},
    )


def arrange_cells(
    panels: Sequence[hv.Overlay], *, rows: Sequence[str], columns: Sequence[str], title: str, **options: Any
) -> hv.Layout:
    """Panels of cells, with room for the names of rows and columns; for the options see `figures.arrange_panels`."""
    across = LETTER_INCHES * max(map(len, rows))
    below = LETTER_INCHES * max(map(len, columns)) if _rotate(columns) else 0.0
    return figures.arrange_panels(panels, title=title, left=0.4 + across, bottom=0.5 + below, **options)


def measure_cells(num_rows: int, num_columns: int) -> tuple[float, float]:
    """Inches of a panel across and up."""
    across, up = (float(np.clip(CELL_INCHES * num, MIN_INCHES, MAX_INCHES)) for num in (num_columns, num_rows))
    return across, up


def find_dark(values: np.ndarray, colors: Sequence[str], limits: tuple[float, float]) -> np.ndarray:
    """Which cells are so dark that white reads better on them than black, by the relative luminance of WCAG."""
    channels = np.array([[int(color[k : k + 2], 16) for k in (1, 3, 5)] for color in colors]) / 255
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    luminance = linear @ [0.2126, 0.7152, 0.0722]
    share = (np.nan_to_num(values) - limits[0]) / (limits[1] - limits[0])
    place = np.rint(np.clip(share, 0, 1) * (len(colors) - 1)).astype(int)
    return ~np.isnan(values) & (luminance[place] < DARK_LUMINANCE)


def _rotate(names: Sequence[str]) -> int:
    """Degrees by which names below the cells are turned: not at all if they fit."""
    across, _ = measure_cells(1, len(names))
    return 90 if LETTER_INCHES * max(map(len, names)) > across / len(names) else 0
