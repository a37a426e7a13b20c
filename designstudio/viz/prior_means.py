"""Prior means of all subjects as each cost estimates them (the paper's figure 5 B)."""

from collections.abc import Mapping
from typing import NamedTuple

import holoviews as hv
import numpy as np
import xarray as xr
from jaxtyping import Float

from designstudio.metrics.intervals import INTERVAL
from designstudio.model.family import DEFAULT_FAMILY
from designstudio.viz import figures, theme
from designstudio.viz.estimates import SHARED
from designstudio.viz.families import FAMILY_LOOKS, get_look, list_families, name_cost, order_costs
from designstudio.viz.theme import BLACK, REFERENCE_COLOR, Series

SUBJECT = Series("a subject", REFERENCE_COLOR, dash="solid")
MEDIAN = Series("median of subjects", BLACK, dash="solid")
STIMULI = Series("mean stimulus", BLACK, dash="dashed")
COLUMN_INCHES, LEAST_INCHES, HEIGHT_INCHES = 0.85, 3.6, 2.4
# Panels of conditions stand side by side if they are not wider than this.
PAGE_INCHES = 11.0
# Intervals of more subjects than this would hide each other.
MOST_INTERVALS = 12
# Of the room between two costs, what their subjects are spread over.
SPREAD = 0.5


class PriorMeans(NamedTuple):
    """Subjects in the order of their prior means; NaN where a fit cannot be used, or there are no trials."""

    subjects: list[str]
    costs: list[str]
    mean: Float[np.ndarray, "subject cost"]
    low: Float[np.ndarray, "subject cost"]
    high: Float[np.ndarray, "subject cost"]
    median: Float[np.ndarray, " cost"]


def compute_prior_means(prior_means: xr.Dataset) -> dict[str, PriorMeans]:
    """What to draw in each condition, or (`SHARED`) in all of them; see `draw_prior_means`."""
    costs = order_costs(prior_means["cost"].values.astype(str).tolist())
    usable = prior_means[["mean", "low", "high"]].where(prior_means["is_good"]).sel(cost=costs)
    whole = usable if "condition" in usable.dims else usable.expand_dims(condition=[SHARED])
    found = {}
    for condition in whole["condition"].values.astype(str).tolist():
        chosen = whole.sel(condition=condition).transpose("subject", "cost")
        mean, low, high = (chosen[name].values.astype(float) for name in ("mean", "low", "high"))
        masked = np.ma.masked_invalid(mean)
        order = np.argsort(np.ma.median(masked, axis=1).filled(np.inf), kind="stable")
        subjects = chosen["subject"].values.astype(str)[order].tolist()
        median = np.ma.median(masked, axis=0).filled(np.nan)
        found[condition] = PriorMeans(subjects, costs, mean[order], low[order], high[order], median)
    return found


def draw_prior_means(
    prior_means: xr.Dataset, *, mean_stimuli: Mapping[str, float] | None = None, title: str = ""
) -> hv.Layout:
    """Prior mean of every subject under every cost, a thin line for each subject and a thick one for their median.

    Conditions that differ in their prior means have panels of their own.

    Args:
        prior_means: see `designstudio.fitting.predict.compare_prior_means`.
        mean_stimuli: for reference, by condition (`SHARED` for all of them).
        title: stands above the figure.
    """
    found = compute_prior_means(prior_means)
    stimuli = {condition: (mean_stimuli or {}).get(condition) for condition in found}
    num_subjects, num_costs = (prior_means.sizes[name] for name in ("subject", "cost"))
    has_intervals = num_subjects <= MOST_INTERVALS
    drawn = [part for shown in found.values() for part in ((shown.low, shown.high) if has_intervals else (shown.mean,))]
    axes = (max(LEAST_INCHES, COLUMN_INCHES * num_costs), HEIGHT_INCHES)
    panels = [
        figures.frame_panel(
            hv.Overlay(_draw_condition(shown, stimuli[condition], has_intervals=has_intervals)),
            title=condition,
            axes=axes,
            xlabel="",
            ylabel=f"prior mean {DEFAULT_FAMILY.prior_location.symbol} ({prior_means.attrs['units']})",
            xlim=(-0.5, num_costs - 0.5),
            # The same for all, so that conditions can be compared.
            ylim=theme.pad_limits(*drawn, [stimulus for stimulus in stimuli.values() if stimulus is not None]),
            xticks=[(k, name_cost(cost, is_broken=True)) for k, cost in enumerate(shown.costs)],
        )
        for condition, shown in found.items()
    ]
    is_good = prior_means["is_good"].values
    heading = theme.join_lines(
        title,
        f"mean and {prior_means.attrs.get('interval', INTERVAL):.0%} interval of every subject"
        if has_intervals
        else f"means of {num_subjects} subjects; their intervals are not drawn",
        theme.describe_failures(int((~is_good).sum()), is_good.size),
    )
    costs = prior_means["cost"].values.astype(str).tolist()
    legend = [FAMILY_LOOKS[family]._replace(dash=None) for family in list_families(costs)]
    legend += [SUBJECT, MEDIAN] if num_costs > 1 else [MEDIAN]
    legend += [STIMULI] if any(stimulus is not None for stimulus in stimuli.values()) else []
    num_columns = max(1, int(PAGE_INCHES // axes[0]))
    return figures.arrange_panels(panels, num_columns=num_columns, title=heading, legend=legend, axes=axes)


def _draw_condition(shown: PriorMeans, mean_stimulus: float | None, *, has_intervals: bool) -> list[hv.Element]:
    num_subjects, num_costs = shown.mean.shape
    offsets = SPREAD * (np.arange(num_subjects) - (num_subjects - 1) / 2) / max(num_subjects, 2)
    x = np.arange(num_costs) + (offsets[:, None] if has_intervals else np.zeros((num_subjects, 1)))
    faint = 0.6 if has_intervals else float(np.clip(20 / num_subjects, 0.3, 0.6))
    # All subjects as one line, with a gap after each: dozens of lines take seconds.
    gap = np.full((num_subjects, 1), np.nan)
    lines = hv.Curve((np.hstack([x, gap]).ravel(), np.hstack([shown.mean, gap]).ravel()), label=SUBJECT.label)
    parts: list[hv.Element] = [theme.style_line(lines, SUBJECT, width=0.7, alpha=faint)]
    for k, cost in enumerate(shown.costs):
        look = get_look(cost)
        is_known = np.isfinite(shown.mean[:, k])
        if has_intervals:
            bars = hv.Segments((x[is_known, k], shown.low[is_known, k], x[is_known, k], shown.high[is_known, k]))
            parts.append(theme.style_segments(bars, look.color, width=0.9, alpha=0.6))
        names = [name for name, known in zip(shown.subjects, is_known, strict=True) if known]
        marks = hv.Points((x[is_known, k], shown.mean[is_known, k], names), vdims="subject", label=look.label)
        parts.append(theme.style_points(marks, look, size=3.0, alpha=0.9).opts(tools=["hover"], backend="bokeh"))
    # A lone cost has no line from one to the next; its median is as wide as its subjects.
    across = np.arange(num_costs) if num_costs > 1 else np.array([-SPREAD, SPREAD]) / 2
    middle = hv.Curve((across, np.broadcast_to(shown.median, across.shape)), label=MEDIAN.label)
    parts.append(theme.style_line(middle, MEDIAN, width=2.2))
    if mean_stimulus is not None:
        line = hv.Curve(((-0.5, num_costs - 0.5), [mean_stimulus] * 2), label=STIMULI.label)
        parts.append(theme.style_line(line, STIMULI))
    return parts
