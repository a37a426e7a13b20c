"""Which column of a table means what, and which rows are read."""

import panel as pn
import param

from designstudio.dashboard.state.fit import FitChoice
from designstudio.fitting.reading.columns import REQUIRED, ROLES

NONE, OPEN = "(none)", "(choose)"
UNIT = "such as s or mm"


class ColumnEditor(pn.viewable.Viewer):
    """A choice for each role, filled with what was recognised; unit, filter and fewest trials."""

    def __init__(self, choice: FitChoice) -> None:
        super().__init__()
        self._choice, self._is_syncing = choice, False
        self.roles = {
            role: pn.widgets.Select(name=role, options={self._name_nothing(role): ""}, width=158, margin=(3, 6))
            for role in ROLES
        }
        self.unit = pn.widgets.TextInput(name="unit", placeholder=UNIT, width=158, margin=(3, 6))
        self.where = pn.widgets.TextInput(
            name="rows to keep", placeholder="such as keep == 1 and rt < 2.5", sizing_mode="stretch_width", margin=(3, 6)
        )
        self.min_trials = pn.widgets.IntInput(name="fewest trials of a subject", start=1, width=158, margin=(3, 6))
        for role, widget in self.roles.items():
            widget.param.watch(lambda event, role=role: self._take_column(role, event.new), "value")
        for name in ("unit", "where", "min_trials"):
            getattr(self, name).param.watch(lambda event, name=name: self._take(name, event.new), "value")
        self._layout = pn.Column(
            pn.FlexBox(*self.roles.values(), self.unit, self.min_trials, sizing_mode="stretch_width", margin=0),
            self.where, sizing_mode="stretch_width", margin=0,
        )  # fmt: skip
        choice.param.watch(self._show, ["file", "names", "columns", "unit", "where", "min_trials", "loaded"])
        self._show()

    def _name_nothing(self, role: str) -> str:
        return OPEN if role in REQUIRED else NONE

    def _take_column(self, role: str, column: str) -> None:
        if not self._is_syncing:
            self._choice.choose_column(role, column)

    def _take(self, name: str, value: str | int | None) -> None:
        if not self._is_syncing and value is not None:
            self._choice.change_reading(**{name: value})

    def _show(self, *_: param.parameterized.Event) -> None:
        """Widgets say what the choice says."""
        self._is_syncing = True
        try:
            choice = self._choice
            self._layout.visible = bool(choice.file)
            found = choice.recognise_columns()
            for role, widget in self.roles.items():
                widget.options = {self._name_nothing(role): "", **{name: name for name in choice.names}}
                # Of the file's name, or chosen for a table that has no such column.
                widget.value = found[role] if found[role] in choice.names else ""
                widget.visible = bool(choice.names)
            self.unit.value, self.where.value = choice.unit, choice.where
            self.unit.placeholder = UNIT if choice.loaded is None else choice.loaded.report.unit
            self.min_trials.value = choice.min_trials
        finally:
            self._is_syncing = False

    def __panel__(self) -> pn.viewable.Viewable:
        return self._layout
