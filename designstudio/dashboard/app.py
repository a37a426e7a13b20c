"""The whole studio, for one visitor."""

import html as escaping
from collections.abc import Callable
from typing import Any

import panel as pn
import param

from designstudio.core.configuration import configure_once
from designstudio.dashboard.pages.design import DesignPage
from designstudio.dashboard.resources import choose_resources
from designstudio.dashboard.state.design_choice import DesignChoice
from designstudio.dashboard.theme import ACCENT, CSS, html, is_dark
from designstudio.runs.jobs import Job, JobStore
from designstudio.runs.jobs.job import EVALUATE, FIT, PLAN, POWER, SEARCH, STUDY
from designstudio.study import Study, read_study
from designstudio.study.design import Design

choose_resources()

TITLE = "designstudio"
DESIGN, SEARCHING, FITTING, POWERS, RUNS = "Design", "Search", "Fit", "Power", "Runs"
WAITING = "<p class='muted'>One moment ...</p>"
PAGE_OF_KIND = {EVALUATE: DESIGN, SEARCH: SEARCHING, FIT: FITTING, POWER: POWERS, PLAN: DESIGN}


class Studio:
    """All pages. Those that nobody has looked at yet are not built: the first should be there at once."""

    def __init__(self, store: JobStore) -> None:
        self.store, self.choice = store, DesignChoice()
        self._built: dict[str, Any] = {DESIGN: DesignPage(self.choice, store)}
        self._makers: dict[str, Callable[[], Any]] = {
            SEARCHING: self._make_search,
            FITTING: self._make_fit,
            POWERS: self._make_power,
            RUNS: self._make_runs,
        }
        self._rooms = {name: pn.Column(html(WAITING), sizing_mode="stretch_width", min_height=600) for name in self._makers}
        self.tabs = pn.Tabs((DESIGN, self._built[DESIGN]), *self._rooms.items(), dynamic=True, sizing_mode="stretch_width")
        self.tabs.param.watch(self._enter, "active")
        self._find_running()

    def page(self, name: str) -> Any:
        """A page, built if it is new."""
        if name not in self._built:
            self._built[name] = self._makers[name]()
            self._rooms[name].objects = [self._built[name]]
        return self._built[name]

    def show(self, name: str) -> None:
        """Go to a page."""
        self.page(name)
        self.tabs.active = [DESIGN, *self._rooms].index(name)

    def open_job(self, job: Job) -> None:
        """Show a run where it belongs."""
        name = PAGE_OF_KIND.get(job.kind, RUNS)
        if job.kind == PLAN:
            self.open_plan(job)
            return
        # Shown first: Panel looks elsewhere for the style sheets of what is not part of a page yet.
        self.show(name)
        self.page(name).open(job)

    def open_plan(self, job: Job) -> None:
        """Work on the study that a plan has written."""
        self.open_design(read_study(job.folder / STUDY))

    def open_design(self, study: Study, design: Design | None = None) -> None:
        """Work on one design of a study."""
        self.show(DESIGN)
        self.page(DESIGN).take(study, design)

    def _enter(self, event: param.parameterized.Event) -> None:
        name = [DESIGN, *self._rooms][event.new]
        self.page(name)

    def _find_running(self) -> None:
        """Work that runs is found again by every tab; pages of their own find theirs when they are built."""
        # A plan has nothing to show before it ends; the page of its fit finds it.
        running = next((job for job in self.store.list() if job.is_active and job.kind != PLAN), None)
        if running is not None:
            self.open_job(running)

    def _make_search(self) -> Any:
        from designstudio.dashboard.pages.search import SearchPage  # noqa: PLC0415  (built when somebody looks)

        return SearchPage(self.choice, self.store, on_open=self.open_design)

    def _make_fit(self) -> Any:
        from designstudio.dashboard.pages.fit import FitPage  # noqa: PLC0415

        return FitPage(self.choice, self.store, on_plan=self.open_plan)

    def _make_power(self) -> Any:
        from designstudio.dashboard.pages.power import PowerPage  # noqa: PLC0415

        return PowerPage(self.choice, self.store)

    def _make_runs(self) -> Any:
        from designstudio.dashboard.pages.runs import RunsPage  # noqa: PLC0415

        return RunsPage(self.store, on_open=self.open_job)


def build_studio(store: JobStore | None = None) -> pn.template.base.BasicTemplate:
    """The studio in its template."""
    configure_once()
    studio = Studio(JobStore() if store is None else store)
    template = pn.template.BootstrapTemplate(
        title=TITLE,
        header_background=ACCENT,
        theme="dark" if is_dark() else "default",
        raw_css=[CSS],
        site_url="./",
        # Panel's would turn for all visitors whenever the server does something for one of them.
        busy_indicator=None,
    )
    template.header.append(_link_to_other_theme())
    template.main.append(studio.tabs)
    return template


def _link_to_other_theme() -> pn.pane.HTML:
    other, label = ("default", "light") if is_dark() else ("dark", "dark")
    return pn.pane.HTML(
        f'<a href="?theme={escaping.escape(other)}" style="color:white" aria-label="{label} theme">{label} theme</a>',
        margin=(10, 10),
    )
