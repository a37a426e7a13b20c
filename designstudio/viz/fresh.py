"""Finalists of a search and the study's own designs, on fresh data sets: marks that several figures share."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import holoviews as hv
import numpy as np

from designstudio.metrics.monte_carlo import Score, scores_from_dict
from designstudio.search.search_result import SearchResult
from designstudio.study import Objective
from designstudio.viz import theme
from designstudio.viz.theme import GREEN, ORANGE, PURPLE, SKY, Series

# Monte Carlo standard errors on both sides of a value.
NUM_ERRORS = 2
FINALIST = Series("finalist (its trial), fresh data", GREEN, "d")
_COLORS, _MARKERS = (PURPLE, ORANGE, SKY), ("s", "^", "v", "p", "h")


class Fresh(NamedTuple):
    """A design on fresh data sets; `number` is that of the finalist's trial, None for one of the study's own designs."""

    name: str
    number: int | None
    scores: dict[str, Score]
    look: Series

    @property
    def text(self) -> str:
        """Which design it is."""
        return self.name if self.number is None else str(self.number)


def list_fresh(result: SearchResult) -> list[Fresh]:
    """Finalists, then the study's own designs; none if nothing was verified."""
    if result.verification is None:
        return []
    found = result.verification
    finalists = [(f.name, f.candidate.number, f.fresh) for f in found.finalists if f.candidate is not None]
    return _give_looks(finalists, [(reference.name, reference.fresh) for reference in found.references])


def read_fresh_record(record: Mapping[str, Any]) -> list[Fresh]:
    """The same from the result.json of a search."""
    finalists = [
        (f"finalist-{place + 1}", int(entry["number"]), scores_from_dict(entry["fresh"]))
        for place, entry in enumerate(record.get("finalists", []))
    ]
    references = [
        (str(entry["evaluation"]["name"]), scores_from_dict(entry["fresh"])) for entry in record.get("references", [])
    ]
    return _give_looks(finalists, references)


def _give_looks(
    finalists: Sequence[tuple[str, int, dict[str, Score]]], references: Sequence[tuple[str, dict[str, Score]]]
) -> list[Fresh]:
    found = [Fresh(name, number, scores, FINALIST) for name, number, scores in finalists]
    for place, (name, scores) in enumerate(references):
        look = Series(f"{name}, fresh data", _COLORS[place % len(_COLORS)], _MARKERS[place % len(_MARKERS)])
        found.append(Fresh(name, None, scores, look))
    return found


def list_looks(fresh: Sequence[Fresh]) -> list[Series]:
    """For a legend."""
    return list(dict.fromkeys(entry.look for entry in fresh))


def read_values(fresh: Sequence[Fresh], objective: Objective) -> np.ndarray:
    """Values and errors, over (design, 2)."""
    return np.array([entry.scores[objective.label] for entry in fresh], float).reshape(-1, 2)


def draw_fresh(fresh: Sequence[Fresh], x: np.ndarray, y: np.ndarray) -> list[hv.Element]:
    """Marks with their errors.

    Args:
        fresh: the designs.
        x: their places across, and the errors of these, over (design, 2).
        y: the same for up.
    """
    parts: list[hv.Element] = []
    for look in list_looks(fresh):
        chosen = [place for place, entry in enumerate(fresh) if entry.look == look]
        bars = draw_bars(x[chosen], y[chosen])
        marks = hv.Points((x[chosen, 0], y[chosen, 0]), label=look.label)
        parts += [theme.style_segments(bars, look.color, width=1.4), theme.style_points(marks, look, size=6)]
    return parts


def draw_bars(x: np.ndarray, y: np.ndarray) -> hv.Segments:
    """Errors up, and across where there are any; places and errors over (mark, 2)."""
    low, high = (np.stack([x[:, 0], y[:, 0] + sign * NUM_ERRORS * y[:, 1]], axis=1) for sign in (-1, 1))
    left, right = (np.stack([x[:, 0] + sign * NUM_ERRORS * x[:, 1], y[:, 0]], axis=1) for sign in (-1, 1))
    has_width = x[:, 1] > 0
    return hv.Segments(np.concatenate([np.hstack([low, high]), np.hstack([left, right])[has_width]]))
