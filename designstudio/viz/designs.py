"""Designs as pictures: which stimuli are shown at which level, and how often.

Each level is a band across its stimuli, as thick as it has trials, with a stroke for each trial (or every few, where there
are many) at a stimulus that it may show; a grid or list has a bar at each of its values. All panels have the same scales.
"""

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import holoviews as hv
import numpy as np
from jaxtyping import Float

from designstudio.errors import StudioError
from designstudio.model.parameters import STIMULUS_UNIT
from designstudio.study.design import Design, Stimuli
from designstudio.viz import figures, theme
from designstudio.viz.search_labels import label_parameter
from designstudio.viz.theme import BLUE

AXES_INCHES = (2.7, 1.9)
# More strokes than this would be a solid block.
MOST_STROKES = 90
# Shares of the height of a panel: the thickest band, and the smallest distance of levels that are drawn to scale.
THICKEST, CLOSEST = 0.26, 0.28
# Share of the width, on the right, for the numbers of trials.
ROOM = 0.36
MARGIN = 0.18


class Row(NamedTuple):
    """One level of one design.

    Attributes:
        text: its value, or its name.
        place: of its middle, from 0 to 1.
        thickness: in proportion to its trials.
        num_trials: of a participant.
        support: smallest and largest stimulus.
        strokes: where they stand; for a grid or list the values themselves.
        is_range: whether anything between smallest and largest may be shown.
    """

    text: str
    place: float
    thickness: float
    num_trials: int
    support: tuple[float, float]
    strokes: Float[np.ndarray, " stroke"]
    is_range: bool

    @property
    def span(self) -> tuple[float, float]:
        """Lower and upper edge."""
        return self.place - self.thickness / 2, self.place + self.thickness / 2


def compute_rows(designs: Mapping[str, Design]) -> dict[str, list[Row]]:
    """What to draw of each design.

    Levels of a single parameter lie on one logarithmic scale for all designs, unless those of some design are too close to
    each other; then the levels of each design are rows at equal distances, as are conditions that set no level or several.
    """
    conditions = [condition for design in designs.values() for condition in design.conditions]
    most_trials = max(condition.num_trials for condition in conditions)
    per_stroke = count_per_stroke(designs)
    parameter = find_level(designs)
    places = place_to_scale(designs)
    rows = {}
    for name, design in designs.items():
        ordered = (
            sorted(design.conditions, key=lambda c: c.levels[parameter]) if parameter else list(design.conditions)[::-1]
        )
        spaced = np.linspace(0, 1, len(ordered)) if len(ordered) > 1 else np.array([0.5])
        # Rows may be many: then all are thinner.
        thickest = THICKEST if places else min(THICKEST, 0.7 / max(len(d.conditions) for d in designs.values()))
        rows[name] = [
            Row(
                f"{condition.levels[parameter]:g}" if parameter else condition.name,
                places[condition.levels[parameter]] if places and parameter else float(spaced[k]),
                thickest * condition.num_trials / most_trials,
                condition.num_trials,
                design.stimuli_of(condition).support,
                _place_strokes(design.stimuli_of(condition), max(1, round(condition.num_trials / per_stroke))),
                not design.stimuli_of(condition).shown_values,
            )
            for k, condition in enumerate(ordered)
        ]
    return rows


def find_level(designs: Mapping[str, Design]) -> str | None:
    """The one parameter that all designs set, to another value in each condition; None if there is no such."""
    names = {design.levels for design in designs.values()}
    if len(names) != 1 or len(parameters := names.pop()) != 1:
        return None
    values = [[condition.levels[parameters[0]] for condition in design.conditions] for design in designs.values()]
    return parameters[0] if all(len(set(levels)) == len(levels) for levels in values) else None


def place_to_scale(designs: Mapping[str, Design]) -> dict[float, float] | None:
    """Height of each level on a logarithmic scale, from 0 to 1; None if there is no such scale, or bands would touch."""
    parameter = find_level(designs)
    if parameter is None:
        return None
    levels = [sorted(condition.levels[parameter] for condition in design.conditions) for design in designs.values()]
    low, high = min(map(min, levels)), max(map(max, levels))
    if low == high:
        return {low: 0.5}
    places = {level: math.log(level / low) / math.log(high / low) for values in levels for level in values}
    gaps = [places[b] - places[a] for values in levels for a, b in itertools.pairwise(values)]
    return places if min(gaps, default=1.0) >= CLOSEST else None


def count_per_stroke(designs: Mapping[str, Design]) -> int:
    """How many trials a stroke stands for, in all panels."""
    return math.ceil(max(c.num_trials for design in designs.values() for c in design.conditions) / MOST_STROKES)


def draw_designs(
    designs: Mapping[str, Design], *, title: str = "", unit: str = STIMULUS_UNIT, shows_minutes: bool = True
) -> hv.Layout:
    """A panel for each design: its stimuli across, its levels up, and how many trials they have.

    Args:
        designs: by what they are called in the figure.
        title: stands above the figure.
        unit: of the stimuli.
        shows_minutes: whether it is known how long a trial takes.

    Raises:
        StudioError: if there are none.
    """
    if not designs:
        raise StudioError("There are no designs to draw.")
    rows, parameter = compute_rows(designs), find_level(designs)
    ends = np.array([row.support for design in rows.values() for row in design])
    low, high = float(ends.min()), float(ends.max())
    width = (high - low) or 1.0
    # A level may have the unit of the stimuli, too.
    ylabel = label_parameter(parameter).axis.replace(STIMULUS_UNIT, unit) if parameter else ""
    per_stroke = count_per_stroke(designs)
    is_range = {row.is_range for design in rows.values() for row in design}
    notes = [f"a stroke for {'each trial' if per_stroke == 1 else f'every {per_stroke} trials'}"] if True in is_range else []
    notes += ["a bar for each stimulus of a grid or list"] if False in is_range else []
    if parameter:
        notes.append(
            f"{label_parameter(parameter).symbol} {'on a log scale' if place_to_scale(designs) else 'not to scale'}"
        )
    panels = []
    for name, design in designs.items():
        panels.append(
            figures.frame_panel(
                hv.Overlay(_draw_rows(rows[name], width)),
                title=theme.join_lines(name, _describe(design, shows_minutes), str(design.stimuli)),
                axes=AXES_INCHES,
                xlabel=f"stimulus ({unit})",
                ylabel=ylabel,
                xlim=(low - 0.06 * width, high + ROOM * width),
                ylim=(-MARGIN, 1 + MARGIN),
                xticks=[(tick, f"{tick:g}") for tick in figures.round_ticks(low, high)],
                yticks=[(row.place, row.text) for row in rows[name]],
            )
        )
    letters = max(len(row.text) for design in rows.values() for row in design)
    left = max(figures.LEFT, 0.35 + figures.INCHES_PER_LETTER * letters)
    heading = theme.join_lines(title, "; ".join(notes))
    num_columns = min(2, len(panels)) if len(panels) in (2, 4) else min(3, len(panels))
    return figures.arrange_panels(panels, num_columns=num_columns, title=heading, axes=AXES_INCHES, left=left)


def _draw_rows(rows: Sequence[Row], width: float) -> list[hv.Element]:
    """Bands, their strokes, and the numbers of trials to the right of them."""
    parts: list[hv.Element] = []
    bands = [(row.support[0], row.span[0], row.support[1], row.span[1]) for row in rows if row.is_range]
    if bands:
        parts.append(theme.style_fill(hv.Rectangles(bands), BLUE, alpha=0.25))
    for is_range, thickness in ((True, 0.8), (False, 3.0)):
        strokes = [(x, row.span[0], x, row.span[1]) for row in rows if row.is_range == is_range for x in row.strokes]
        if strokes:
            parts.append(theme.style_segments(hv.Segments(strokes), BLUE, width=thickness))
    texts = [(row.support[1] + 0.03 * width, row.place, f"{row.num_trials} trials") for row in rows]
    return [*parts, theme.align_texts(hv.Labels(texts), "left")]


def _describe(design: Design, shows_minutes: bool) -> str:
    people = f", {design.num_participants} participants" if design.num_participants > 1 else ""
    minutes = f", {design.minutes:.3g} min" if shows_minutes else ""
    return f"{design.num_trials} trials{minutes}{people}"


def _place_strokes(stimuli: Stimuli, num: int) -> np.ndarray:
    """Stimuli of evenly spread trials; or all values that are shown."""
    if stimuli.shown_values:
        return np.unique(stimuli.shown_values)
    return stimuli.place((np.arange(num) + 0.5) / num)
