"""What is shown to participants, how many there are and how long a trial takes."""

import panel as pn
import param

from designstudio.dashboard.state.design import DesignChoice
from designstudio.dashboard.theme import html
from designstudio.study.stimuli import DISTRIBUTIONS, LIST, list_ranges

LOWEST, HIGHEST = 0.1, 7.0


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
        self.range = pn.widgets.RangeSlider(
            name="stimuli (stimulus unit)", start=LOWEST, end=HIGHEST, step=0.05, value=(choice.low, choice.high),
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
        self.distribution.param.watch(lambda event: self._change(distribution=event.new), "value")
        self.range.param.watch(lambda event: self._change(low=event.new[0], high=event.new[1]), "value_throttled")
        self.num_values.param.watch(lambda event: self._change(num_values=event.new), "value_throttled")
        self.participants.param.watch(lambda event: self._change(num_participants=event.new), "value")
        self.seconds.param.watch(lambda event: self._change(seconds_per_trial=event.new), "value")
        choice.param.watch(
            self._show, ["distribution", "low", "high", "num_values", "listed", "num_participants", "seconds_per_trial"]
        )
        self._show()

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
                self._listed.object = f'<p class="muted">stimuli: {values} (choose a spacing to change them)</p>'
            else:
                self.distribution.value = choice.distribution
                self.range.start, self.range.end = min(LOWEST, choice.low), max(HIGHEST, choice.high)
                self.range.value = (choice.low, choice.high)
            self._listed.visible, self.range.visible = is_list, not is_list
            self.num_values.visible = DISTRIBUTIONS.find(choice.distribution).has_num_values
            self.num_values.value = choice.num_values
            self.participants.value, self.seconds.value = choice.num_participants, choice.seconds_per_trial
        finally:
            self._is_syncing = False

    def __panel__(self) -> pn.viewable.Viewable:
        return pn.Column(
            self.range, self._listed, self.distribution, self.num_values, pn.Row(self.participants, self.seconds, margin=0),
            sizing_mode="stretch_width", margin=0,
        )  # fmt: skip
