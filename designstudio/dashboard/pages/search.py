"""The search page: say which designs may be tried, and watch how the best one is found."""

import time
from collections.abc import Callable
from pathlib import Path

import panel as pn

from designstudio.core.files import read_json
from designstudio.dashboard.pages.page import Page
from designstudio.dashboard.parts.downloads import download_text
from designstudio.dashboard.parts.job_card import JobCard
from designstudio.dashboard.parts.search_form import SearchForm
from designstudio.dashboard.parts.search_results import SearchResults
from designstudio.dashboard.state.design_choice import DesignChoice
from designstudio.dashboard.state.search_choice import FRONT, INFORMATION, SearchChoice
from designstudio.dashboard.theme import card, html
from designstudio.dashboard.visitors import check_place, check_study, find_within
from designstudio.errors import StudioError
from designstudio.runs.jobs import Job, JobStore
from designstudio.runs.jobs.job import SEARCH, STUDY
from designstudio.search.search_result import SearchResult
from designstudio.search.watching import SearchWatch
from designstudio.study import Study, format_study, read_study
from designstudio.study.design import Design

CONTROLS_WIDTH = 370
# Seconds between two looks at the candidates.
PAUSE = 2.0
EMPTY = """<h2>Find the best design</h2>
<p>A search tries one design after the other: it simulates participants, fits each of them, and gives up early on designs
that are clearly beaten. It learns where good designs are, so later proposals are better guesses than the first. In the end
the best few are scored again on fresh data, beside your own design: what is chosen for being best looks better than it
is.</p>
<p>Everything on the left is filled in: <b>Start</b> runs it in a process of its own. You may leave this page, stop the
search and resume it later. A search that runs elsewhere, started from the command line, can be watched as well.</p>"""


class SearchPage(Page):
    """The question on the left; progress, history, front and best designs on the right."""

    def __init__(self, choice: DesignChoice, store: JobStore, *, on_open: Callable[[Study, Design], None]) -> None:
        super().__init__()
        self.state = SearchChoice(choice)
        self._store, self._on_open = store, on_open
        self.watch: SearchWatch | None = None
        self._folder: Path | None = None
        self._looked = 0.0
        self.form = SearchForm(self.state)
        self.results = SearchResults(on_open=self.open_trial)
        self._empty = html(EMPTY)
        self._shown = pn.Column(self.results, visible=False, sizing_mode="stretch_width", margin=0)
        self.job_card = JobCard(store, on_end=lambda _: self.look(is_forced=True), on_look=lambda _: self.look())
        self._periodic = pn.state.add_periodic_callback(self.look, period=int(1000 * PAUSE), start=False)
        self._make_widgets()
        for job in store.list():
            if job.kind == SEARCH and job.is_active:
                self.open(job)
                break

    def _make_widgets(self) -> None:
        self.start = pn.widgets.Button(name="Start", button_type="primary", height=36, width=160)
        self.start.on_click(lambda _: self._try(self._begin))
        self.file = pn.widgets.TextInput(name="study file", placeholder="study.toml", sizing_mode="stretch_width")
        self.place = pn.widgets.TextInput(
            name="folder of the search or storage address",
            placeholder="study-search or postgresql://user@host/name",
            sizing_mode="stretch_width",
        )
        self.follow = pn.widgets.Button(name="Watch", button_type="light", height=34)
        self.follow.on_click(lambda _: self._try(self._watch_elsewhere))

    def _begin(self) -> None:
        study, settings = self.state.to_study(), self.state.to_settings()
        aim = {INFORMATION: "information on prior and cost", FRONT: "error against minutes"}.get(
            self.state.objective, f"error of {', '.join(self.state.quantities)}"
        )
        low, high = self.state.trials
        title = f"{aim}, {low if low == high else f'{low} to {high}'} trials"
        self.open(self._store.begin(SEARCH, title, settings, files={STUDY: format_study(study)}))

    def open(self, job: Job) -> None:
        """Show a search of the store, whether it runs or has ended."""

        def attach() -> None:
            storage = job.settings.get("storage")
            self._set_watch(SearchWatch(read_study(job.folder / STUDY), storage or str(job.folder)), job.folder)

        self._try(attach)
        self.job_card.watch(job)

    def _watch_elsewhere(self) -> None:
        file, place = self.file.value.strip(), self.place.value.strip()
        if not file or not place:
            raise StudioError("To watch a search, give its study file and its folder or storage address.")
        runs = self._store.folder
        place = check_place(runs, place)
        watch = SearchWatch(check_study(read_study(find_within(runs, file))), place)
        result = watch.look(must_exist=True)
        self.job_card.leave()
        self._set_watch(watch, None if "://" in place else Path(place))
        if result is not None:
            self._show(result)
        self._periodic.start()

    def _set_watch(self, watch: SearchWatch, folder: Path | None) -> None:
        if self._periodic.running:
            self._periodic.stop()
        if self.watch is not None:
            self.watch.close()
        self.watch, self._folder, self._looked = watch, folder, 0.0
        self.results.clear(watch.question.title)
        self._empty.visible, self._shown.visible = False, True

    def look(self, *, is_forced: bool = False) -> None:
        """Read the candidates again, unless that was done a moment ago or nothing has changed."""
        now = time.monotonic()
        if self.watch is None or (not is_forced and now - self._looked < PAUSE):
            return
        self._looked = now
        try:
            result = self.watch.look(reads_again=is_forced)
        except StudioError as error:
            if self._periodic.running:
                self._periodic.stop()
            self._report(str(error))
            return
        if result is not None:
            self._show(result)

    def _show(self, result: SearchResult) -> None:
        self.results.show(result, {} if self._folder is None else read_json(self._folder / "result.json"))

    def open_trial(self, number: int) -> None:
        """Hand the design of a candidate to the design page."""

        def hand_over() -> None:
            if self.watch is not None:
                self._on_open(self.watch.question, self.results.find_design(number))

        self._try(hand_over)

    def _write_study(self) -> str:
        return format_study(self.state.to_study(), notes=["Made in the studio. Search with: designstudio search study.toml"])

    def __panel__(self) -> pn.viewable.Viewable:
        controls = pn.Column(
            self.form,
            card(html("<h2>Watch a search that runs elsewhere</h2><p class='muted'>Started with "
                      "<code>designstudio search</code> in the folder of the runs, or with a database; nothing is "
                      "written there.</p>"),
                 self.file, self.place, self.follow),
            width=CONTROLS_WIDTH, margin=0,
        )  # fmt: skip
        results = pn.Column(
            card(self._empty, pn.Row(self.start, download_text(self._write_study, STUDY, "Download study.toml"), margin=0)),
            self._message, self.job_card, self._shown,
            sizing_mode="stretch_width", margin=0,
        )  # fmt: skip
        return pn.Row(controls, results, sizing_mode="stretch_width", margin=0)
