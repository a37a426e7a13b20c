"""What is fitted: costs, what differs between conditions, and whether people are pooled."""

import html as escaping

import panel as pn
import param

from designstudio.dashboard.state.fit import PARAMETERS, FitChoice
from designstudio.dashboard.theme import html
from designstudio.model.costs import PAPER_COST_NAMES, get_cost
from designstudio.viz.families import name_cost


class FitSettingsEditor(pn.viewable.Viewer):
    """The choices that decide what a fit says."""

    def __init__(self, choice: FitChoice) -> None:
        super().__init__()
        self._choice = choice
        known = {p.name: p for cost in reversed(PAPER_COST_NAMES) for p in get_cost(cost).all_parameters}
        self.costs = pn.widgets.CheckBoxGroup(
            name="costs", options={name_cost(cost): cost for cost in PAPER_COST_NAMES}, value=list(choice.costs)
        )
        self.per_condition = pn.widgets.MultiChoice(
            name="differs between conditions",
            # Meanings are short up to the colon; a name may stand for different things in different costs.
            options={f"{known[name].symbol}, {known[name].meaning.partition(':')[0]}": name for name in PARAMETERS},
            value=list(choice.per_condition), sizing_mode="stretch_width",
        )  # fmt: skip
        self.pools = pn.widgets.Checkbox(name="also pool the subjects partially", value=choice.pools)
        self._notes = html("")
        for name in ("costs", "per_condition", "pools"):
            widget = getattr(self, name)
            widget.param.watch(lambda event, name=name: choice.param.update(**{name: event.new}), "value")
        choice.param.watch(self._show, ["costs", "per_condition", "pools", "loaded"])
        self._show()

    def _show(self, *_: param.parameterized.Event) -> None:
        choice = self._choice
        self.costs.value, self.per_condition.value = list(choice.costs), list(choice.per_condition)
        self.pools.value = choice.pools
        self.per_condition.visible = choice.loaded is not None and choice.loaded.report.num_conditions > 1
        notes = "".join(f"<p class='muted'>{escaping.escape(note)}</p>" for note in choice.list_notes())
        self._notes.object, self._notes.visible = notes, bool(notes)

    def __panel__(self) -> pn.viewable.Viewable:
        return pn.Column(
            html("<h2>Fit</h2><p class='muted'>Every subject is fitted under every cost.</p>"),
            self.costs, self.per_condition, self._notes, self.pools, sizing_mode="stretch_width", margin=0,
        )  # fmt: skip
