"""The form of the design page: who takes part, and which stimuli they see; levels are in `level_editor.py`."""

from html import escape

import panel as pn
import param

from designstudio.dashboard.state.design_choice import DesignChoice
from designstudio.dashboard.theme import html
from designstudio.errors import StudioError
from designstudio.model.parameters import Parameter
from designstudio.study.stimuli import DISTRIBUTIONS, LIST, list_ranges

LOWEST, HIGHEST = 0.1, 7.0
NUM_STEPS = 100


class PopulationEditor(pn.viewable.Viewer):
    """A slider for each parameter of the cost that was chosen."""

    def __init__(self, choice: DesignChoice) -> None:
        super().__init__()
        self._choice, self._is_syncing = choice, False
        self.cost = pn.widgets.Select.from_param(choice.param.cost, name="cost function", sizing_mode="stretch_width")
        self.spread = pn.widgets.FloatSlider(
            name="participants differ by (log units)", start=0.0, end=0.3, step=0.01, value=choice.spread,
            sizing_mode="stretch_width",
        )  # fmt: skip
        self.knows_sigma = pn.widgets.Checkbox.from_param(choice.param.knows_sigma, name="σ is measured beforehand (known)")
        self.keeps = pn.widgets.Checkbox.from_param(
            choice.param.keeps_population, name="participants as in the study that was opened"
        )
        self.sliders: dict[str, pn.widgets.FloatSlider] = {}
        self._sliders = pn.Column(sizing_mode="stretch_width", margin=0)
        self._note = html("")
        self.spread.param.watch(lambda event: choice.param.update(spread=event.new), "value_throttled")
        choice.param.watch(self._build, ["cost", "base", "keeps_population", "unit", "factor"])
        choice.param.watch(self._show, ["values", "spread"])
        self._build()

    def _build(self, *_: param.parameterized.Event) -> None:
        self.keeps.visible = self._choice.base is not None
        is_kept = self._choice.keeps_population and self._choice.base is not None
        self.sliders = {} if is_kept else {p.name: self._make_slider(p) for p in self._choice.parameters}
        self._sliders.objects = list(self.sliders.values())
        self.spread.visible = not is_kept
        population = self._choice.to_population() if is_kept else None
        lines = [] if population is None else [f"{name}: {prior}" for name, prior in population.priors.items()]
        self._note.object = "".join(f'<p class="muted">{line}</p>' for line in lines)
        self._note.visible = is_kept

    def _make_slider(self, parameter: Parameter) -> pn.widgets.FloatSlider:
        box = parameter.box
        value = float(self._choice.values.get(parameter.name, self._choice.suggest_value(parameter.name)))
        slider = pn.widgets.FloatSlider(
            name=f"{parameter.label}, {parameter.meaning}", start=box.low, end=box.high,
            step=(box.high - box.low) / NUM_STEPS,
            value=min(max(value, box.low), box.high), sizing_mode="stretch_width", margin=(2, 8),
            format="0.000" if box.high < 100 else "0",
        )  # fmt: skip

        def take(event: param.parameterized.Event) -> None:
            if not self._is_syncing:
                self._choice.values = {**self._choice.values, parameter.name: float(event.new)}

        slider.param.watch(take, "value_throttled")
        return slider

    def _show(self, *_: param.parameterized.Event) -> None:
        self._is_syncing = True
        try:
            for name, slider in self.sliders.items():
                if name in self._choice.values:
                    slider.value = min(max(float(self._choice.values[name]), slider.start), slider.end)
            self.spread.value = min(self._choice.spread, self.spread.end)
        finally:
            self._is_syncing = False

    def __panel__(self) -> pn.viewable.Viewable:
        return pn.Column(
            self.cost, self._sliders, self._note, self.spread, self.keeps, self.knows_sigma,
            sizing_mode="stretch_width", margin=0,
        )  # fmt: skip


class StimulusEditor(pn.viewable.Viewer):
    """Range, spacing, participants, seconds."""

    def __init__(self, choice: DesignChoice) -> None:
        super().__init__()
        self._choice, self._is_syncing = choice, False
        self.distribution = pn.widgets.Select(
            name="spacing of stimuli",
            options={DISTRIBUTIONS[name].label: name for name in list_ranges()},
            value=choice.distribution, sizing_mode="stretch_width",
        )  # fmt: skip
        self.unit = pn.widgets.TextInput(name="unit, such as ms", sizing_mode="stretch_width")
        self.factor = pn.widgets.FloatInput(name="one unit of the actor in it", start=1e-9, sizing_mode="stretch_width")
        self._error = html("")
        self.range = pn.widgets.RangeSlider(
            name="stimuli", start=LOWEST, end=HIGHEST, step=0.05, value=(choice.low, choice.high),
            sizing_mode="stretch_width",
        )  # fmt: skip
        self.num_values = pn.widgets.IntSlider(
            name="number of values", start=2, end=20, value=choice.num_values, sizing_mode="stretch_width"
        )
        self.participants = pn.widgets.IntInput(
            name="participants", start=1, end=1000, value=choice.num_participants, sizing_mode="stretch_width"
        )
        self.seconds = pn.widgets.FloatInput(
            name="seconds per trial", start=0.1, end=600, step=0.5, value=choice.seconds_per_trial,
            sizing_mode="stretch_width",
        )  # fmt: skip
        self._listed = html("")
        self.unit.param.watch(self._change_unit, "value")
        self.factor.param.watch(self._change_unit, "value")
        self.distribution.param.watch(lambda event: self._change(distribution=event.new), "value")
        self.range.param.watch(lambda event: self._change(low=event.new[0], high=event.new[1]), "value_throttled")
        self.num_values.param.watch(lambda event: self._change(num_values=event.new), "value_throttled")
        self.participants.param.watch(lambda event: self._change(num_participants=event.new), "value")
        self.seconds.param.watch(lambda event: self._change(seconds_per_trial=event.new), "value")
        choice.param.watch(
            self._show,
            [
                *("distribution", "low", "high", "num_values", "listed", "num_participants", "seconds_per_trial"),
                *("unit", "factor", "base"),
            ],
        )
        self._show()

    def _change_unit(self, *_: param.parameterized.Event) -> None:
        if self._is_syncing:
            return
        unit, factor = self.unit.value.strip(), float(self.factor.value or 1.0)
        try:
            # Whoever names no unit any more wants the actor's.
            self._choice.change_unit(unit, factor if unit else 1.0)
            self._error.object = ""
        except StudioError as error:
            self._error.object = f'<p class="muted">{escape(str(error))}</p>'

    def _change(self, **changes: object) -> None:
        if not self._is_syncing:
            self._choice.param.update(**changes)

    def _show(self, *_: param.parameterized.Event) -> None:
        self._is_syncing = True
        try:
            choice = self._choice
            is_list = choice.distribution == LIST
            if is_list:
                values = ", ".join(f"{value:g}" for value in choice.listed)
                unit = f" {escape(choice.unit)}" if choice.unit else ""
                self._listed.object = f'<p class="muted">stimuli: {values}{unit} (choose a spacing to change them)</p>'
            else:
                self.distribution.value = choice.distribution
                size = float(choice.factor)
                self.range.name = f"stimuli ({choice.scale.unit})"
                self.range.step = 0.05 * size
                self.range.start, self.range.end = min(LOWEST * size, choice.low), max(HIGHEST * size, choice.high)
                self.range.value = (choice.low, choice.high)
            self.unit.value, self.factor.value = choice.unit, float(choice.factor)
            # The numbers of a study that was opened are in its own unit.
            self.unit.disabled = self.factor.disabled = choice.base is not None
            self.factor.visible = bool(choice.unit)
            self._listed.visible, self.range.visible = is_list, not is_list
            self.num_values.visible = DISTRIBUTIONS.find(choice.distribution).has_num_values
            self.num_values.value = choice.num_values
            self.participants.value, self.seconds.value = choice.num_participants, choice.seconds_per_trial
        finally:
            self._is_syncing = False

    def __panel__(self) -> pn.viewable.Viewable:
        return pn.Column(
            self.range, self._listed, self.distribution, self.num_values, pn.Row(self.participants, self.seconds, margin=0),
            pn.Row(self.unit, self.factor, margin=0), self._error,
            sizing_mode="stretch_width", margin=0,
        )  # fmt: skip
