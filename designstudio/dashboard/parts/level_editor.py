"""The levels of a design as points to drag, and as sliders for those who would rather type."""

from collections.abc import Callable
from typing import Any

import numpy as np
import panel as pn
import param
from bokeh.models import ColumnDataSource, PointDrawTool
from bokeh.plotting import figure

from designstudio.dashboard.figures.live_figure import make_figure
from designstudio.dashboard.state.design_choice import MOST_LEVELS, MOST_TRIALS, DesignChoice
from designstudio.dashboard.theme import COLORS
from designstudio.model.family import DEFAULT_FAMILY

NOISE = DEFAULT_FAMILY.perceptual_noise
LOWEST, HIGHEST = NOISE.box.low, 0.4
FEWEST_TRIALS = 5
SUBSCRIPTS = "₁₂₃₄"
Levels = list[tuple[float, int]]
HEIGHT = 175


class LevelEditor(pn.viewable.Viewer):
    """Each point is a level: across its uncertainty, up its trials."""

    def __init__(self, choice: DesignChoice) -> None:
        super().__init__()
        self._choice, self._is_syncing = choice, False
        self.number = pn.widgets.RadioButtonGroup(
            name="uncertainty levels", options=list(range(1, MOST_LEVELS + 1)), value=len(choice.sigmas), button_type="light"
        )
        self.sigmas = [
            pn.widgets.FloatSlider(
                name=f"σ{SUBSCRIPTS[k]} (log units)", start=LOWEST, end=NOISE.box.high, step=0.005,
                sizing_mode="stretch_width", margin=(2, 8),
            )
            for k in range(MOST_LEVELS)
        ]  # fmt: skip
        self.trials = [
            pn.widgets.IntSlider(
                name=f"trials at σ{SUBSCRIPTS[k]}", start=FEWEST_TRIALS, end=MOST_TRIALS, step=5,
                sizing_mode="stretch_width", margin=(2, 8),
            )
            for k in range(MOST_LEVELS)
        ]  # fmt: skip
        self._rows = [pn.Row(self.sigmas[k], self.trials[k], margin=0) for k in range(MOST_LEVELS)]
        self._place = pn.Column(sizing_mode="stretch_width", margin=0)
        self._figure = LevelFigure(
            most_levels=MOST_LEVELS, most_trials=MOST_TRIALS, highest=HIGHEST, on_drag=self._take_points
        )
        self.number.param.watch(self._take_number, "value")
        for widget in (*self.sigmas, *self.trials):
            widget.param.watch(self._take_sliders, "value_throttled")
        choice.param.watch(self._show, ["sigmas", "trials"])
        self._show()

    def _show(self, *_: param.parameterized.Event) -> None:
        """Widgets and points say what the choice says."""
        if self._is_syncing:
            return
        self._is_syncing = True
        try:
            self.number.value = len(self._choice.sigmas)
            pairs = list(zip(self._choice.sigmas, self._choice.trials, strict=True))
            for k, (sigma, trials) in enumerate(pairs):
                self.sigmas[k].value, self.trials[k].value = float(sigma), int(trials)
            if len(self._place) != len(pairs):
                self._place.objects = self._rows[: len(pairs)]
            self._figure.show(pairs)
        finally:
            self._is_syncing = False

    def _take_points(self, levels: Levels) -> None:
        if not levels:
            # Somebody removed the last one: put it back.
            self._show()
            return
        sigmas = [round(float(np.clip(sigma, LOWEST, NOISE.box.high)), 3) for sigma, _ in levels][:MOST_LEVELS]
        trials = [int(np.clip(trials, FEWEST_TRIALS, MOST_TRIALS)) for _, trials in levels][:MOST_LEVELS]
        self._change(sigmas, trials)

    def _take_number(self, event: param.parameterized.Event) -> None:
        if self._is_syncing:
            return
        sigmas, trials = list(self._choice.sigmas), list(self._choice.trials)
        total = sum(trials)
        while len(sigmas) < event.new:
            sigmas.append(min(max(sigmas) * 1.5, HIGHEST))
        # The same time for the participant, shared equally.
        self._change(sigmas[: event.new], [max(FEWEST_TRIALS, total // event.new)] * event.new)

    def _take_sliders(self, _: param.parameterized.Event) -> None:
        if self._is_syncing:
            return
        num = len(self._choice.sigmas)
        self._change([float(w.value) for w in self.sigmas[:num]], [int(w.value) for w in self.trials[:num]])

    def _change(self, sigmas: list[float], trials: list[int]) -> None:
        if sigmas != self._choice.sigmas or trials != self._choice.trials:
            self._choice.param.update(sigmas=sigmas, trials=trials)

    def __panel__(self) -> pn.viewable.Viewable:
        return pn.Column(
            pn.Row(pn.widgets.StaticText(value="uncertainty levels", margin=(10, 8)), self.number),
            pn.pane.Bokeh(self._figure.figure, sizing_mode="stretch_width"),
            self._place,
            sizing_mode="stretch_width",
            margin=0,
        )


class LevelFigure:
    """Calls `on_drag` with all levels when somebody has moved, added or removed one."""

    def __init__(self, *, most_levels: int, most_trials: int, highest: float, on_drag: Callable[[Levels], None]) -> None:
        self._on_drag, self._is_showing = on_drag, False
        self._source = ColumnDataSource({"x": [], "y": [], "color": []})
        self.figure: figure = make_figure(
            "perceptual uncertainty σ (log units)", "trials", height=HEIGHT, tools="", toolbar_location=None,
            x_range=(0, highest), y_range=(0, most_trials),
        )  # fmt: skip
        points = self.figure.scatter("x", "y", source=self._source, color="color", size=15, line_color="white")
        tool = PointDrawTool(renderers=[points], num_objects=most_levels, empty_value=COLORS[-1])
        self.figure.add_tools(tool)
        self.figure.toolbar.active_tap = tool
        self._source.on_change("data", self._take)

    def show(self, levels: Levels) -> None:
        """Replace the points."""
        ordered = sorted(levels)
        self._is_showing = True
        try:
            self._source.data = {
                "x": [sigma for sigma, _ in ordered],
                "y": [trials for _, trials in ordered],
                "color": [COLORS[k % len(COLORS)] for k in range(len(ordered))],
            }
        finally:
            self._is_showing = False

    def _take(self, attr: str, old: Any, new: Any) -> None:
        if not self._is_showing:
            self._on_drag([(float(x), round(float(y))) for x, y in zip(new["x"], new["y"], strict=True)])
