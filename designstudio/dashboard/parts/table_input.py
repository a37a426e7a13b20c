"""Where a table comes from, and what was read of it."""

import html as escaping
from collections.abc import Callable
from typing import Any

import panel as pn
import param

from designstudio.dashboard.state.fit import MOST_MEGABYTES, FitChoice
from designstudio.dashboard.theme import html
from designstudio.fitting.reading.folders import SUFFIXES

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
