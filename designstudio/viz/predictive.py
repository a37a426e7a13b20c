"""Whether a fit predicts what a subject did: responses, and the bands in which the model expects them."""

from typing import NamedTuple

import holoviews as hv
import numpy as np
import xarray as xr
from jaxtyping import Float

from designstudio.model.trials.schema import ONLY_CONDITION
from designstudio.viz import figures, theme
from designstudio.viz.behavior import IDENTITY
from designstudio.viz.theme import BLACK, Series

OBSERVED = Series("observed", BLACK, "o")
# Opacity of the bands, from the widest to the narrowest.
WIDE_ALPHA, NARROW_ALPHA = 0.18, 0.3


class Prediction(NamedTuple):
    """One condition: trials, quantiles of predicted responses over a grid of stimuli, and the share inside the widest."""

    condition: str
    stimulus: Float[np.ndarray, " trial"]
    response: Float[np.ndarray, " trial"]
    grid: Float[np.ndarray, " point"]
    quantiles: Float[np.ndarray, "point probability"]
    share_inside: float
    share_expected: float
    share_error: float

    @property
    def heading(self) -> str:
        """Which condition, and how much of it is where it should be."""
        expected = f"{100 * self.share_expected:.0f} ± {100 * self.share_error:.0f}%"
        shares = f"{self.share_inside:.0%} inside, expected {expected}"
        return shares if self.condition == ONLY_CONDITION else f"{self.condition}\n{shares}"


def compute_predictions(predicted: xr.Dataset) -> list[Prediction]:
    """What to draw for each condition in which the subject has trials; see `draw_predictive`."""
    ordered = predicted.transpose("condition", "stimulus", "probability", ...)
    index, stimuli, responses = (predicted[name].values for name in ("condition_index", "stimulus_shown", "response_given"))
    return [
        Prediction(
            condition,
            stimuli[index == k],
            responses[index == k],
            ordered["stimulus"].values,
            ordered["response"].values[k],
            float(ordered["share_inside"].values[k]),
            float(predicted.attrs["expected_inside"]),
            float(ordered["share_inside_se"].values[k]),
        )
        for k, condition in enumerate(predicted["condition"].values.astype(str).tolist())
    ]


def draw_predictive(predicted: xr.Dataset, *, title: str = "") -> hv.Layout:
    """Observed responses over the predicted median and bands, a panel for each condition, in the unit of the data.

    Args:
        predicted: of one subject under one cost; see `designstudio.fitting.predict.predict_responses`.
        title: stands above the figure.
    """
    rows = compute_predictions(predicted)
    levels = predicted["probability"].values.astype(float)
    looks = theme.make_series(row.condition for row in rows)
    # The same axes for all, so that conditions can be compared.
    xlim = theme.pad_limits(*(part for row in rows for part in (row.stimulus, row.grid)))
    ylim = theme.pad_limits(*(part for row in rows for part in (row.response, row.quantiles)))
    unit = predicted["stimulus"].attrs["units"]
    median = Series("predicted median", BLACK, dash="solid")
    panels = [
        figures.frame_panel(
            hv.Overlay(_draw_condition(row, looks[row.condition].color, levels, xlim, median)),
            title=row.heading,
            xlabel=f"stimulus ({unit})",
            ylabel=f"response ({unit})",
            xlim=xlim,
            ylim=ylim,
        )
        for row in rows
    ]
    return figures.arrange_panels(
        panels,
        num_columns=figures.count_columns(len(panels)),
        title=theme.join_lines(title, _describe_bands(predicted, levels)),
        legend=[OBSERVED, median, IDENTITY],
    )


def _describe_bands(predicted: xr.Dataset, levels: np.ndarray) -> str:
    widths = [f"{levels[-1 - k] - levels[k]:.0%}" for k in range(len(levels) // 2)]
    lapses = ", lapses included" if predicted.attrs.get("has_lapses") else ""
    return f"bands: {' and '.join(reversed(widths))} of predicted responses{lapses}"


def _draw_condition(
    row: Prediction, color: str, levels: np.ndarray, xlim: tuple[float, float], median: Series
) -> list[hv.Element]:
    parts: list[hv.Element] = []
    for k in range(len(levels) // 2):
        low, high = row.quantiles[:, k], row.quantiles[:, -1 - k]
        alpha = WIDE_ALPHA if k == 0 else NARROW_ALPHA
        grid = row.grid
        if grid.size == 1:
            # A single stimulus: the band needs some width to be seen.
            half = 0.02 * (xlim[1] - xlim[0])
            grid, low, high = grid + np.array([-half, half]), np.repeat(low, 2), np.repeat(high, 2)
        parts.append(theme.style_fill(hv.Area((grid, low, high), vdims=["low", "high"]), color, alpha=alpha))
    parts.append(theme.style_line(hv.Curve((xlim, xlim), label=IDENTITY.label), IDENTITY))
    # Observed responses are black on the coloured band: few need to be seen well, many must not hide it.
    faint = float(np.clip(60 / max(row.stimulus.size, 1), 0.25, 0.75))
    marks = hv.Points((row.stimulus, row.response), label=OBSERVED.label)
    parts.append(theme.style_points(marks, OBSERVED, size=3.2, alpha=faint))
    middle = np.flatnonzero(np.isclose(levels, 0.5))
    if middle.size:
        curve = hv.Curve((row.grid, row.quantiles[:, middle[0]]), label=median.label)
        parts.append(theme.style_line(curve, median._replace(color=color), width=1.6))
    return parts
