"""From participants who were fitted to the next experiment."""

import html as escaping
import json
from collections.abc import Callable
from typing import Any

import holoviews as hv
import pandas as pd
import panel as pn
import xarray as xr

from designstudio.dashboard.parts.downloads import download_table, download_text
from designstudio.dashboard.parts.fit_tables import write_precision
from designstudio.dashboard.parts.job_card import JobCard
from designstudio.dashboard.parts.paper_figure import PaperFigure
from designstudio.dashboard.theme import card, html
from designstudio.errors import StudioError
from designstudio.fitting.empirical_fit import EmpiricalFit
from designstudio.fitting.plan import choose_cost
from designstudio.runs.jobs import FINISHED, Job, JobStore
from designstudio.runs.jobs.job import PLAN, STUDY
from designstudio.runs.plan import PRECISION
from designstudio.viz.families import name_cost
from designstudio.viz.precision import draw_precision

INTRODUCTION = """<h2>Plan the next experiment from these participants</h2>
<p>The people who were fitted become the population of a study, and their experiment the design to beat. Simulated
participants then show how precise the plan expects fits to be, beside how precise yours are.</p>"""


class Planner(pn.viewable.Viewer):
    """Begins plans and shows them. `on_plan` is called once when a plan that was waited for has ended well."""

    def __init__(
        self, store: JobStore, attempt: Callable[[Callable[[], Any]], None], on_plan: Callable[[Job], None]
    ) -> None:
        super().__init__()
        self._store, self._attempt, self._on_plan = store, attempt, on_plan
        self._source: Job | None = None
        self._is_awaited = False
        self.precision: xr.Dataset | None = None
        self.cost = pn.widgets.Select(name="people minimise", width=220)
        self.datasets = pn.widgets.IntInput(name="simulated participants", value=100, start=10, end=2000, step=50, width=150)
        self.begin = pn.widgets.Button(name="Plan", button_type="primary", height=36, margin=(23, 8))
        self.begin.on_click(lambda _: self._attempt(self._begin))
        self.job_card = JobCard(store, on_end=self._take, on_look=lambda job: self._allow(not job.is_active))
        self._notes, self._table = html(""), html("")
        self.figure = PaperFigure(
            "Planned and achieved precision", "Above the line: fits were less precise than planned.", "precision", self._draw
        )
        self._results = pn.Column(
            card(self._notes, self._table, pn.Row(
                download_table(self._tabulate, "precision"),
                download_text(self._read_study, STUDY, f"Download {STUDY}"), margin=0)),
            self.figure, visible=False, sizing_mode="stretch_width", margin=0,
        )  # fmt: skip

    def show(self, source: Job, fit: EmpiricalFit) -> None:
        """Plan from this fit; a plan that there is already is shown."""
        self._source = source
        self.cost.options = {name_cost(cost): cost for cost in fit.posteriors}
        try:
            self.cost.value = choose_cost(fit)
        except StudioError:
            self.cost.value = next(iter(fit.posteriors))
        self._results.visible, self.precision = False, None
        self.job_card.leave()
        known = (job for job in self._store.list() if job.kind == PLAN and job.settings.get("fit") == source.name)
        newest = next(known, None)
        if newest is not None:
            self._watch(newest)

    def _begin(self) -> None:
        if self._source is None:
            raise StudioError("There is no fit to plan from yet.")
        title = f"{self._source.title}: plan for {name_cost(self.cost.value)}"
        settings = {"fit": self._source.name, "cost": self.cost.value, "datasets": int(self.datasets.value or 100)}
        self._watch(self._store.begin(PLAN, title, settings))

    def _watch(self, job: Job) -> None:
        # The design page is not taken over by a plan of yesterday.
        self._is_awaited = job.is_active
        self._results.visible = False
        self.job_card.watch(job)

    def _allow(self, is_allowed: bool) -> None:
        self.begin.disabled = not is_allowed
        # A plan that is taken up again is waited for as well.
        self._is_awaited = self._is_awaited or not is_allowed

    def _take(self, job: Job) -> None:
        if job.state != FINISHED:
            return
        self._attempt(lambda: self._show_plan(job))
        if self._is_awaited:
            self._is_awaited = False
            self._attempt(lambda: self._on_plan(job))

    def _show_plan(self, job: Job) -> None:
        try:
            with xr.open_dataset(job.folder / PRECISION, engine="h5netcdf") as opened:
                self.precision = opened.load()
            notes = json.loads((job.folder / "result.json").read_text())["notes"]
        except (OSError, ValueError, LookupError):
            raise StudioError(f"The plan {job.title!r} is not whole: plan again.") from None
        items = "".join(f"<li>{escaping.escape(str(note))}</li>" for note in notes)
        self._notes.object = f'<h2>Planned and achieved precision</h2><ul class="verdict">{items}</ul>'
        self._table.object = write_precision(self.precision)
        self.figure.draw()
        self._results.visible = True

    def _draw(self) -> hv.Layout:
        if self.precision is None:
            raise StudioError("There is no plan yet.")
        return draw_precision(self.precision)

    def _tabulate(self) -> pd.DataFrame:
        return pd.DataFrame() if self.precision is None else self.precision.to_dataframe().reset_index()

    def _read_study(self) -> str:
        job = self.job_card.job
        return "" if job is None else (job.folder / STUDY).read_text()

    def __panel__(self) -> pn.viewable.Viewable:
        return pn.Column(
            card(html(INTRODUCTION), pn.Row(self.cost, self.datasets, self.begin, margin=0)), self.job_card, self._results,
            sizing_mode="stretch_width", margin=0,
        )  # fmt: skip
