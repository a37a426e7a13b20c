"""Figures of behavior: the responses of one data set, and what a model predicts for them.

The predictions are a Dataset with the dims `condition` and `stimulus` and the variables `low`, `median` and `high`; how they
are computed is not this module's concern.
"""

from typing import NamedTuple

import holoviews as hv
import numpy as np
import xarray as xr
from jaxtyping import Float

from designstudio.errors import StudioError, UnknownNameError
from designstudio.model.trials.schema import ONLY_CONDITION, check_trials
from designstudio.viz import figures, theme
from designstudio.viz.theme import REFERENCE_COLOR, Series

BAND_VARIABLES = ("low", "median", "high")
IDENTITY = Series("response = stimulus", REFERENCE_COLOR, dash="dotted")


class Behavior(NamedTuple):
    """What is shown of one condition: trials, and the band over a grid of stimuli, which may be empty."""

    condition: str
    stimulus: Float[np.ndarray, " trial"]
    response: Float[np.ndarray, " trial"]
    grid: Float[np.ndarray, " point"]
    low: Float[np.ndarray, " point"]
    median: Float[np.ndarray, " point"]
    high: Float[np.ndarray, " point"]


def compute_behavior(trials: xr.Dataset, band: xr.Dataset | None = None, *, dataset: int = 0) -> list[Behavior]:
    """What to draw for each condition of one data set.

    Args:
        trials: see `designstudio.model.trials.schema`.
        band: the predictions for the same conditions, if there are any.
        dataset: number of the data set.

    Raises:
        StudioError: if trials or band have another form.
        UnknownNameError: if there is no such data set, or no band for a condition.
    """
    check_trials(trials)
    if dataset not in trials["dataset"].values:
        raise UnknownNameError("data set", str(dataset), map(str, trials["dataset"].values))
    chosen = trials.sel(dataset=dataset)
    rows = []
    for k, condition in enumerate(str(name) for name in trials["condition"].values):
        is_shown = chosen["is_present"].values & (chosen["condition_index"].values == k)
        stimulus, response = (chosen[name].values[is_shown] for name in ("stimulus", "response"))
        rows.append(Behavior(condition, stimulus, response, *_select_band(band, condition)))
    return rows


def _select_band(band: xr.Dataset | None, condition: str) -> list[np.ndarray]:
    if band is None:
        return [np.empty(0)] * 4
    if missing := [name for name in (*BAND_VARIABLES, "condition", "stimulus") if name not in band.variables]:
        raise StudioError(
            f"The band has no {missing[0]!r}: it needs {', '.join(BAND_VARIABLES)} over condition and stimulus."
        )
    if condition not in band["condition"].values:
        raise UnknownNameError("condition of the band", condition, map(str, band["condition"].values))
    chosen = band.sel(condition=condition).sortby("stimulus")
    return [chosen[name].values.astype(float) for name in ("stimulus", *BAND_VARIABLES)]


def draw_behavior(
    trials: xr.Dataset,
    band: xr.Dataset | None = None,
    *,
    dataset: int = 0,
    title: str = "",
    band_label: str = "median and 94% band of predictions",
) -> hv.Layout:
    """Responses against stimuli, a colour for each condition, over the band of predictions.

    Args:
        trials: see `designstudio.model.trials.schema`.
        band: low, median and high over (condition, stimulus), if there are predictions.
        dataset: number of the data set.
        title: stands above the figure.
        band_label: what line and band are; below the title.
    """
    rows = compute_behavior(trials, band, dataset=dataset)
    # A lone condition has no name worth a legend.
    names = {row.condition: "responses" if row.condition == ONLY_CONDITION else row.condition for row in rows}
    series = dict(zip(names, theme.make_series(names.values()).values(), strict=True))
    # Trials lie close together: solid lines for all medians, the colours and markers tell the conditions apart.
    series = {condition: look._replace(dash=None if band is None else "solid") for condition, look in series.items()}
    faint = float(np.clip(60 / max(len(row.stimulus) for row in rows), 0.35, 0.8))
    bands, lines, points = [], [], []
    for row in rows:
        look = series[row.condition]
        bands.append(theme.style_fill(hv.Area((row.grid, row.low, row.high), vdims=["low", "high"]), look.color, alpha=0.22))
        if band is not None:
            lines.append(theme.style_line(hv.Curve((row.grid, row.median)), look, width=1.5))
        marks = hv.Points((row.stimulus, row.response), label=look.label)
        points.append(theme.style_points(marks, look, size=3.5, alpha=faint))
    xlim = theme.pad_limits(*(part for row in rows for part in (row.stimulus, row.grid)))
    ylim = theme.pad_limits(*(part for row in rows for part in (row.response, row.low, row.high)))
    identity = theme.style_line(hv.Curve((xlim, xlim), label=IDENTITY.label), IDENTITY)
    unit = trials["stimulus"].attrs["units"]
    panel = figures.frame_panel(
        hv.Overlay([*bands, identity, *points, *lines]),
        title="" if band is None else band_label,
        xlabel=f"stimulus ({unit})",
        ylabel=f"response ({unit})",
        xlim=xlim,
        ylim=ylim,
    )
    legend = [*series.values(), IDENTITY]
    return figures.arrange_panels([panel], num_columns=1, title=title, legend=legend)
