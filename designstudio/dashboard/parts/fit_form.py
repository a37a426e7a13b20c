"""The form of the fit page: a table, what its columns mean, and what is fitted."""

import html as escaping
from collections.abc import Callable
from typing import Any

import panel as pn
import param

from designstudio.dashboard.state.fit_choice import MOST_MEGABYTES, FitChoice
from designstudio.dashboard.state.plan_choice import PARAMETERS
from designstudio.dashboard.theme import html
from designstudio.fitting.reading.columns import REQUIRED, ROLES
from designstudio.fitting.reading.folders import SUFFIXES
from designstudio.model.costs import PAPER_COST_NAMES, get_cost
from designstudio.viz.families import name_cost

NONE, OPEN = "(none)", "(choose)"
UNIT = "such as s or mm"
# Bytes of a message: far below what the connection takes.
CHUNK = 1_000_000
EMPTY = """
<h2>What a table must look like</h2>
<p>One row for each trial. A first line names the columns: who responded, in which condition, to which stimulus, with which
response. Stimulus and response are positive numbers in the same unit.</p>
<table class="ds"><thead><tr><th>subject</th><th>condition</th><th>stimulus</th><th>response</th></tr></thead><tbody>
<tr><td>S01</td><td>clear</td><td>21.4</td><td>19.7</td></tr>
<tr><td>S01</td><td>blurred</td><td>8.8</td><td>12.2</td></tr>
<tr><td>S02</td><td>clear</td><td>10.8</td><td>10.1</td></tr></tbody></table>
<p class="muted">Commas, semicolons or tabs separate columns. Other names of columns are recognised, or can be chosen; a
table without conditions is fine, and so are further columns: rows can be filtered by them.</p>
<p class="muted">No data at hand? The example has 12 simulated people who reproduce forces, seen clearly or blurred.</p>
"""


class TableInput(pn.viewable.Viewer):
    """Drop a table, or load the example. `attempt` does something and says in a sentence why it could not."""

    def __init__(self, choice: FitChoice, attempt: Callable[[Callable[[], Any]], None]) -> None:
        super().__init__()
        self._choice, self._attempt = choice, attempt
        self.dropper = pn.widgets.FileDropper(
            name="", multiple=False, accepted_filetypes=list(SUFFIXES), max_file_size=f"{MOST_MEGABYTES}MB",
            chunk_size=CHUNK, previews=[], layout="compact", sizing_mode="stretch_width", margin=(4, 6),
            # By which it is told from other places to drop files.
            css_classes=["table-input"],
        )  # fmt: skip
        self.dropper.param.watch(self._take_file, "value")
        self.example = pn.widgets.Button(name="Load the example", button_type="light", height=34, margin=(2, 6))
        self.example.on_click(lambda _: self._attempt(choice.take_example))

    def _take_file(self, event: param.parameterized.Event) -> None:
        if not event.new:
            return
        # Only the last counts; the others are let go.
        name, content = list(event.new.items())[-1]
        data = content.encode() if isinstance(content, str) else bytes(content)
        self._attempt(lambda: self._choice.take_table(name, data))

    def __panel__(self) -> pn.viewable.Viewable:
        return pn.Column(
            html(f"<h2>Data</h2><p class='muted'>Drop a CSV or TSV file, at most {MOST_MEGABYTES} MB.</p>"),
            self.dropper, self.example, sizing_mode="stretch_width", margin=0,
        )  # fmt: skip


def write_reading(choice: FitChoice) -> str:
    """What was read, or why nothing was, or what could be."""
    if not choice.file:
        return EMPTY
    name = f"<h2>{escaping.escape(choice.file)}</h2>"
    if choice.loaded is None:
        return f'{name}<p class="failed">{escaping.escape(choice.problem)}</p>'
    report = choice.loaded.report
    tiles = "".join(
        f'<div class="tile"><b>{number}</b><span>{word}</span></div>'
        for number, word in (
            (report.num_subjects, "subjects"),
            (report.num_conditions, "conditions"),
            (report.num_trials, "trials"),
        )
    )
    items = "".join(f"<li>{escaping.escape(sentence)}</li>" for sentence in report.sentences())
    return f'{name}<div class="tiles">{tiles}</div><ul class="verdict">{items}</ul>'


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
        choice.plan.param.watch(self._show, ["record"])
        self._show()

    def _show(self, *_: param.parameterized.Event) -> None:
        choice = self._choice
        self.costs.value, self.per_condition.value = list(choice.costs), list(choice.per_condition)
        self.pools.value = choice.pools
        has_plan = bool(choice.plan.record)
        self.costs.disabled = self.pools.disabled = has_plan
        has_several = choice.loaded is not None and choice.loaded.report.num_conditions > 1
        self.per_condition.visible = has_several and not has_plan
        notes = "".join(f"<p class='muted'>{escaping.escape(note)}</p>" for note in choice.list_notes())
        self._notes.object, self._notes.visible = notes, bool(notes)

    def __panel__(self) -> pn.viewable.Viewable:
        return pn.Column(
            html("<h2>Fit</h2><p class='muted'>Every subject is fitted under every cost.</p>"),
            self.costs, self.per_condition, self._notes, self.pools, sizing_mode="stretch_width", margin=0,
        )  # fmt: skip
