"""The effect that one wants to show, and the sizes of the experiment to compare."""

import html as escaping

import panel as pn
import param

from designstudio.dashboard.state.power_choice import BOTH, INFORMATION, PARTICIPANTS, TRIALS, PowerChoice
from designstudio.dashboard.theme import card, html
from designstudio.study.goals import EXCLUDES, GROUPS_DIFFER, NARROWER

KINDS = {
    EXCLUDES: "a participant's cost is not neutral",
    NARROWER: "a participant is measured precisely",
    GROUPS_DIFFER: "two groups of participants differ",
}
VARIABLES = {TRIALS: "trials", PARTICIPANTS: "participants", BOTH: "both"}
FIDELITIES = {"quick preview": INFORMATION, "importance": "importance", "NUTS": "nuts"}
WIDE = {"sizing_mode": "stretch_width"}


class PowerForm(pn.viewable.Viewer):
    """Widgets of a `PowerChoice`."""

    def __init__(self, choice: PowerChoice) -> None:
        super().__init__()
        self._choice, of, self._is_syncing = choice, choice.param, False
        self._about, self._goal, self._hint = html(""), html(""), html("")
        self.kind = pn.widgets.RadioBoxGroup(name="goal")
        self.quantity = pn.widgets.Select(name="parameter", **WIDE)
        self.width = pn.widgets.FloatInput.from_param(of.width, name="narrower than", step=0.01, **WIDE)
        self.other = pn.widgets.FloatInput.from_param(of.other_value, name="value in the second group", step=0.01, **WIDE)
        self.along = pn.widgets.RadioButtonGroup(name="vary", button_type="light")
        self.trials = pn.widgets.IntRangeSlider.from_param(of.trials, name="trials of a participant", step=2, **WIDE)
        self.participants = pn.widgets.IntRangeSlider.from_param(of.participants, name="participants of a group", **WIDE)
        self.num_points = pn.widgets.IntInput.from_param(of.num_points, name="sizes along each", **WIDE)
        self.datasets = pn.widgets.IntInput.from_param(of.num_datasets, name="data sets a size", step=50, **WIDE)
        self.fidelity = pn.widgets.RadioButtonGroup.from_param(
            of.fidelity, name="how", options=FIDELITIES, button_type="light"
        )
        self.kind.param.watch(lambda event: self._change(kind=event.new), "value")
        self.quantity.param.watch(lambda event: self._change(quantity=event.new), "value")
        self.along.param.watch(lambda event: self._change(along=event.new), "value")
        choice.param.watch(self._show, ["kind", "quantity", "along", "fidelity"])
        choice.design.param.watch(self._show, [name for name in choice.design.param if name != "name"])
        choice.other_value = choice.suggest_other()
        self._show()

    def _change(self, **changes: str) -> None:
        if self._is_syncing or None in changes.values():
            return
        with param.parameterized.batch_call_watchers(self._choice):
            self._choice.param.update(**changes)
            self._choice.follow_design()
            if "quantity" in changes or "kind" in changes:
                self._choice.other_value = self._choice.suggest_other()

    def _show(self, *_: param.parameterized.Event) -> None:
        """Widgets say what the choice says, and offer what makes sense for it."""
        if self._is_syncing:
            return
        self._is_syncing = True
        try:
            choice = self._choice
            choice.follow_design()
            self.kind.param.update(options={KINDS[kind]: kind for kind in choice.list_kinds()}, value=choice.kind)
            self.quantity.param.update(options=choice.list_quantities(), value=choice.quantity)
            self.along.param.update(options={VARIABLES[v]: v for v in choice.list_variables()}, value=choice.along)
            self.along.visible = len(choice.list_variables()) > 1
            unit = choice.name_unit()
            self.width.name, self.other.name = f"narrower than{unit}", f"value in the second group{unit}"
            self.width.visible, self.other.visible = choice.kind == NARROWER, choice.kind == GROUPS_DIFFER
            self.trials.visible, self.participants.visible = choice.along != PARTICIPANTS, choice.along != TRIALS
            self._describe()
        finally:
            self._is_syncing = False

    def _describe(self) -> None:
        design = self._choice.design
        levels = " / ".join(f"{sigma:g}" for sigma in sorted(design.sigmas))
        people = f", {design.num_participants} participants a group" if self._choice.kind == GROUPS_DIFFER else ""
        self._about.object = (
            f'<p class="muted">For the design of the Design page: {sum(design.trials)} trials at σ {levels}{people}, '
            f"cost {escaping.escape(design.cost)}. Trials are shared between the levels as they are there.</p>"
        )
        self._goal.object = {
            EXCLUDES: '<p class="muted">Their interval excludes the value at which the cost has no effect.</p>',
            NARROWER: '<p class="muted">Their interval is narrower than a width.</p>',
            GROUPS_DIFFER: '<p class="muted">A t test between the estimates of the groups is significant.</p>',
        }[self._choice.kind]
        if self._choice.kind == GROUPS_DIFFER and not self._choice.is_spread():
            self._goal.object += (
                '<p class="notice">All participants of a group are alike, so groups are told apart too easily: let them '
                "differ, on the Design page.</p>"
            )
        quick = self._choice.fidelity == INFORMATION
        self._hint.object = (
            '<p class="muted">Predicted from the information in the data, within seconds: check it with simulations.</p>'
            if quick
            else '<p class="muted">Every simulated participant is fitted.</p>'
        )

    def __panel__(self) -> pn.viewable.Viewable:
        return pn.Column(
            card(html("<h2>Effect</h2>"), self._about, self.kind, self._goal, self.quantity, self.width, self.other),
            card(html("<h2>Sizes to compare</h2>"), self.along, self.trials, self.participants,
                 pn.Row(self.num_points, self.datasets, margin=0)),
            card(html("<h2>How</h2>"), self.fidelity, self._hint),
            sizing_mode="stretch_width", margin=0,
        )  # fmt: skip
