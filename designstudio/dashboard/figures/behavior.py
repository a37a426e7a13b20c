"""Simulated behaviour of one participant, with the band in which responses are expected."""

from typing import Any

import holoviews as hv
import numpy as np

from designstudio.dashboard.theme import COLORS, text_color
from designstudio.evaluate.preview import Preview
from designstudio.present.behavior import compute_behavior


def draw_preview(data: Preview | None) -> hv.Overlay:
    """Always the same elements, so that only their data travel to the browser."""
    rows = [] if data is None else compute_behavior(data.trials, data.band)
    colors = {row.condition: COLORS[k % len(COLORS)] for k, row in enumerate(rows)}
    bands = [
        {
            "stimulus": np.concatenate([row.grid, row.grid[::-1]]),
            "response": np.concatenate([row.low, row.high[::-1]]),
            "level": row.condition,
            "color": colors[row.condition],
        }
        for row in rows
    ]
    medians = [
        {"stimulus": row.grid, "response": row.median, "level": row.condition, "color": colors[row.condition]}
        for row in rows
    ]
    points: dict[str, Any] = {
        "stimulus": np.concatenate([row.stimulus for row in rows]) if rows else [],
        "response": np.concatenate([row.response for row in rows]) if rows else [],
        "level": np.concatenate([[row.condition] * len(row.stimulus) for row in rows]) if rows else [],
        "color": np.concatenate([[colors[row.condition]] * len(row.stimulus) for row in rows]) if rows else [],
    }
    ends = [min(row.grid[0] for row in rows), max(row.grid[-1] for row in rows)] if rows else [0.25, 5.0]
    kdims, vdims = ["stimulus", "response"], ["level", "color"]
    return hv.Overlay(
        [
            hv.Polygons(bands, kdims, vdims).opts(color="color", line_alpha=0, fill_alpha=0.18),
            hv.Curve((ends, ends), *kdims).opts(color=text_color(), line_dash="dotted", line_width=1.2, alpha=0.7),
            hv.Contours(medians, kdims, vdims).opts(color="color", line_width=2, cmap=None),
            hv.Points(points, kdims, vdims).opts(
                color="color", size=5, alpha=0.65, line_color=None, tools=["hover"], marker="circle"
            ),
        ]
    ).opts(xlabel="stimulus s (stimulus unit)", ylabel="response r (stimulus unit)", show_legend=False)
