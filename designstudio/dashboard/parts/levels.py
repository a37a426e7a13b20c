"""The levels of a design as points to drag, and as sliders for those who would rather type."""

import holoviews as hv
import numpy as np
import panel as pn
import param

from designstudio.dashboard.state.design import MOST_LEVELS, MOST_TRIALS, DesignChoice
from designstudio.dashboard.theme import COLORS
from designstudio.parameters import SIGMA

LOWEST, HIGHEST = SIGMA.box.low, 0.4
FEWEST_TRIALS = 5
SUBSCRIPTS = "₁₂₃₄"


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
                name=f"σ{SUBSCRIPTS[k]} (log units)", start=LOWEST, end=SIGMA.box.high, step=0.005,
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
        self._pipe = hv.streams.Pipe(data=self._list_points())
        self._points = hv.DynamicMap(self._draw, streams=[self._pipe])
        self._stream = hv.streams.PointDraw(source=self._points, num_objects=MOST_LEVELS, add=True, drag=True)
        self._stream.param.watch(self._take_points, "data")
        self.number.param.watch(self._take_number, "value")
        for widget in (*self.sigmas, *self.trials):
            widget.param.watch(self._take_sliders, "value_throttled")
        choice.param.watch(self._show, ["sigmas", "trials"])
        self._show()

    def _draw(self, data: list[tuple[float, int, str]]) -> hv.Points:
        return hv.Points(data, ["sigma", "trials"], ["color"]).opts(
            color="color", size=14, line_color="white", height=170, responsive=True, xlim=(0, HIGHEST),
            ylim=(0, MOST_TRIALS), xlabel="perceptual uncertainty σ (log units)", ylabel="trials", show_grid=True,
            toolbar=None, active_tools=["point_draw"], default_tools=[],
        )  # fmt: skip

    def _list_points(self) -> list[tuple[float, int, str]]:
        pairs = sorted(zip(self._choice.sigmas, self._choice.trials, strict=True))
        return [(sigma, trials, COLORS[k]) for k, (sigma, trials) in enumerate(pairs)]

    def _show(self, *_: param.parameterized.Event) -> None:
        """Widgets and points say what the choice says."""
        if self._is_syncing:
            return
        self._is_syncing = True
        try:
            self.number.value = len(self._choice.sigmas)
            pairs = list(zip(self._choice.sigmas, self._choice.trials, strict=True))
            for k, row in enumerate(self._rows):
                row.visible = k < len(pairs)
                if k < len(pairs):
                    self.sigmas[k].value, self.trials[k].value = float(pairs[k][0]), int(pairs[k][1])
            self._pipe.send(self._list_points())
        finally:
            self._is_syncing = False

    def _take_points(self, event: param.parameterized.Event) -> None:
        data = event.new
        if self._is_syncing or not data or not len(data.get("sigma", [])):
            return
        sigmas = [round(float(np.clip(value, LOWEST, SIGMA.box.high)), 3) for value in data["sigma"]][:MOST_LEVELS]
        trials = [int(np.clip(round(float(value)), FEWEST_TRIALS, MOST_TRIALS)) for value in data["trials"]][:MOST_LEVELS]
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
            pn.pane.HoloViews(self._points, sizing_mode="stretch_width", height=175),
            *self._rows,
            sizing_mode="stretch_width",
            margin=0,
        )
