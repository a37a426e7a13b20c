"""The fit page: a table of trials in, costs and parameters of people out."""

from collections.abc import Callable

import panel as pn
import param

from designstudio.dashboard.pages.page import Page
from designstudio.dashboard.parts.fit_form import ColumnEditor, FitSettingsEditor, TableInput, write_reading
from designstudio.dashboard.parts.fit_results import FitResults
from designstudio.dashboard.parts.job_card import JobCard
from designstudio.dashboard.parts.plan_form import PlanInput
from designstudio.dashboard.parts.planner import Planner
from designstudio.dashboard.state.design_choice import DesignChoice
from designstudio.dashboard.state.fit_choice import FitChoice
from designstudio.dashboard.theme import card, html, side_by_side
from designstudio.fitting.fit_folder import load_fit
from designstudio.runs.jobs import FINISHED, Job, JobStore
from designstudio.runs.jobs.job import FIT, PLAN


class FitPage(Page):
    """Data, what was read of them, what is fitted; then the fit, and the plan that follows from it.

    Args:
        choice: what the design page works on.
        store: where jobs are.
        on_plan: called with the job of a plan when it has ended well; its folder holds a study.
    """

    def __init__(self, choice: DesignChoice, store: JobStore, *, on_plan: Callable[[Job], None]) -> None:
        super().__init__()
        self.design, self._store = choice, store
        self.choice = FitChoice()
        self.table = TableInput(self.choice, self._try)
        self.columns = ColumnEditor(self.choice)
        self.settings = FitSettingsEditor(self.choice)
        self.plan = PlanInput(self.choice.plan, self._try)
        self.reading = html("")
        self.begin = pn.widgets.Button(name="Fit", button_type="primary", height=36, width=120, margin=(8, 6))
        self.begin.on_click(lambda _: self._try(self._begin))
        self.job_card = JobCard(store, on_end=self._take_ended, on_look=lambda _: self._show_choice())
        self.planner = Planner(store, self._try, on_plan)
        self.results = FitResults(self.planner.__panel__())
        self.inputs = pn.Card(
            side_by_side(card(self.table, self.columns), card(self.reading), card(self.settings, self.plan, self.begin)),
            title="Data and what is fitted ▾", sizing_mode="stretch_width", margin=(6, 6),
        )  # fmt: skip
        self.choice.param.watch(self._show_choice, ["file", "content", "loaded", "problem"])
        self._show_choice()
        self._attach_running()

    # What the visitor does.

    def _begin(self) -> None:
        settings = self.choice.to_settings()
        what = ", ".join(settings["request"]["costs"]) if "request" in settings else "as planned"
        title = f"{self.choice.file}: {what}"
        self.results.clear()
        self.job_card.watch(self._store.begin(FIT, title, settings, files=self.choice.list_files()))

    def open(self, job: Job) -> None:
        """Show a fit, finished or not, and the data that it is of."""
        self.results.clear()
        self._try(lambda: self.choice.take_job(job))
        self.job_card.watch(job)

    def _attach_running(self) -> None:
        """A fit that runs is found again by every tab, and so is the fit that is being planned from."""
        for job in self._store.list():
            source = self._store.find(str(job.settings.get("fit", ""))) if job.kind == PLAN else job
            if job.kind in (FIT, PLAN) and job.is_active and source is not None:
                self.open(source)
                return

    # What the visitor sees.

    def _take_ended(self, job: Job) -> None:
        if job.state == FINISHED:
            self._try(lambda: self._show_fit(job))

    def _show_fit(self, job: Job) -> None:
        fit = load_fit(job.folder)
        self.results.show(fit)
        self.planner.show(job, fit)
        # Room for the results; a click brings it back.
        self.inputs.collapsed = True

    def _show_choice(self, *_: param.parameterized.Event) -> None:
        text = write_reading(self.choice)
        # Only what changed travels to the browser.
        if self.reading.object != text:
            self.reading.object = text
        job = self.job_card.job
        self.begin.disabled = self.choice.loaded is None or (job is not None and job.is_active)

    def __panel__(self) -> pn.viewable.Viewable:
        return pn.Column(
            self.inputs, self._message, self.job_card, self.results, sizing_mode="stretch_width", margin=0,
        )  # fmt: skip
