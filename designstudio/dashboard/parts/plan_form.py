"""What was known before the data: a record that plans the fit, and values that were measured."""

import html as escaping
from collections.abc import Callable
from typing import Any

import panel as pn
import param

from designstudio.dashboard.parts.fit_form import CHUNK
from designstudio.dashboard.state.fit_choice import MOST_MEGABYTES
from designstudio.dashboard.state.plan_choice import PlanChoice
from designstudio.dashboard.theme import html
from designstudio.fitting.reading.folders import SUFFIXES

ABOUT = (
    "<h2>Planned or measured beforehand</h2><p class='muted'>A record.json of preregister: then all is fitted as it says, "
    "and its goals are judged. Known parameters: numbers, or a table with a column of the parameter's name and columns "
    "subject, condition or both.</p>"
)


class PlanInput(pn.viewable.Viewer):
    """Drop a record, or a table of known values. `attempt` does something and says in a sentence why it could not."""

    def __init__(self, choice: PlanChoice, attempt: Callable[[Callable[[], Any]], None]) -> None:
        super().__init__()
        self._choice, self._attempt = choice, attempt
        self.record = self._make_dropper((".json",), lambda name, data: choice.take_record(data))
        self.known = self._make_dropper(SUFFIXES, choice.take_known_table)
        self.numbers = pn.widgets.TextInput(
            name="known numbers", placeholder="such as sigma=0.2", sizing_mode="stretch_width", margin=(3, 6)
        )
        self.numbers.param.watch(lambda event: self._attempt(lambda: choice.take_known_numbers(event.new)), "value")
        self.forget = pn.widgets.Button(name="Forget these", button_type="light", height=34, margin=(2, 6))
        self.forget.on_click(lambda _: self._attempt(choice.forget))
        self._said = html("")
        choice.param.watch(self._show, ["record", "known"])
        self._show()

    def _make_dropper(self, suffixes: tuple[str, ...], take: Callable[[str, bytes], None]) -> pn.widgets.FileDropper:
        dropper = pn.widgets.FileDropper(
            name="", multiple=False, accepted_filetypes=list(suffixes), max_file_size=f"{MOST_MEGABYTES}MB",
            chunk_size=CHUNK, previews=[], layout="compact", sizing_mode="stretch_width", margin=(4, 6),
        )  # fmt: skip

        def take_file(event: param.parameterized.Event) -> None:
            if event.new:
                name, content = list(event.new.items())[-1]
                data = content.encode() if isinstance(content, str) else bytes(content)
                self._attempt(lambda: take(name, data))

        dropper.param.watch(take_file, "value")
        return dropper

    def _show(self, *_: param.parameterized.Event) -> None:
        tables = self._choice.known_tables
        known = [f"Known: {n} {'from' if given in tables else '='} {given}." for n, given in self._choice.known.items()]
        said = [*self._choice.describe(), *known]
        self._said.object = "".join(f"<p class='muted'>{escaping.escape(sentence)}</p>" for sentence in said)
        self._said.visible = self.forget.visible = bool(said)
        if not said and self.numbers.value:
            self.numbers.value = ""

    def __panel__(self) -> pn.viewable.Viewable:
        return pn.Column(
            html(ABOUT),
            html("<p class='muted'>Record</p>"),
            self.record,
            html("<p class='muted'>Table of known values</p>"),
            self.known,
            self.numbers,
            self._said,
            self.forget,
            sizing_mode="stretch_width",
            margin=0,
        )
