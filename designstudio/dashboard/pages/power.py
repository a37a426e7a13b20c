"""The power page: how large an experiment must be to show an effect."""

import html as escaping
from pathlib import Path

import holoviews as hv
import panel as pn
import param
import xarray as xr

from designstudio.dashboard.pages.page import Page
from designstudio.dashboard.parts.downloads import download_figure, download_table, download_text
from designstudio.dashboard.parts.job_card import JobCard
from designstudio.dashboard.parts.power_form import PowerForm
from designstudio.dashboard.parts.power_results import tabulate_power, write_power, write_smallest, write_warnings
from designstudio.dashboard.state.design_choice import DesignChoice
from designstudio.dashboard.state.power_choice import PowerChoice
from designstudio.dashboard.theme import card, html
from designstudio.errors import StudioError
from designstudio.runs.jobs import FINISHED, Job, JobStore
from designstudio.runs.jobs.job import POWER, STUDY
from designstudio.runs.power import load_points
from designstudio.study import Study, format_study, read_study
from designstudio.viz.figures import AXES_INCHES as PRINT_INCHES
from designstudio.viz.power import LEVELS, draw_power_contours, draw_power_curve

CONTROLS_WIDTH = 370
# Of the figure on the page.
AXES_INCHES = (6.2, 3.0)
# Below the figure: Bokeh forgets the last line of a legend when it measures a layout.
LEGEND_PIXELS = 30
EMPTY = """<h2>How large must the experiment be?</h2>
<p>Power is the chance that an experiment shows an effect that is there: that a participant's interval excludes the neutral
value of the cost, that it is narrow enough, or that a t test tells two groups of participants apart. Choose an effect and
the sizes to compare: the curve shows how power grows with trials or participants, and the page reads off the smallest
experiment that reaches your target. Every power stands beside the false-positive rate: how often the same is found where the
effect is absent.</p>
<p>Everything on the left is filled in: <b>Compute power</b> gives a quick preview.</p>"""
CURVE = (
    "Chance to reach the goal; dotted, the same without the effect: the false-positive rate. Bands are two Monte Carlo "
    "errors; the dashed line is the target."
)
NUMBERS = "± is the Monte Carlo error; in brackets with the effect absent."
CONTOURS = (
    "Chance to reach the goal over participants of each group and trials of each participant: the darker, the higher; "
    "hatched where it is found too often without the effect, so that nobody should count on it. The table has the Monte "
    "Carlo errors, and what the chance is without the effect."
)


class PowerPage(Page):
    """Effect and sizes on the left; the figure, the answer in words and the table on the right."""

    def __init__(self, choice: DesignChoice, store: JobStore) -> None:
        super().__init__()
        self.state, self._store = PowerChoice(choice), store
        self.power: xr.Dataset | None = None
        self._study: Study | None = None
        self.form = PowerForm(self.state)
        self._empty, self._answer, self._heading, self._table = html(EMPTY), html(""), html(""), html("")
        self._figure = pn.pane.HoloViews(None, linked_axes=False, margin=(5, 5, LEGEND_PIXELS, 5))
        self.start = pn.widgets.Button(name="Compute power", button_type="primary", height=36, width=160)
        self.start.on_click(lambda _: self._try(self._begin))
        self.target = pn.widgets.FloatSlider(
            name="target power", start=0.5, end=0.99, step=0.01, value=self.state.target, width=300
        )
        self.target.param.watch(self._take_target, "value")
        self._shown = self._arrange()
        self.job_card = JobCard(store, on_end=self._take_result)
        for job in store.list():
            if job.kind == POWER and job.is_active:
                self.open(job)
                break

    def _begin(self) -> None:
        study, settings = self.state.to_study(), self.state.to_settings()
        title = f"{study.goals[0].label}, {self.state.along}"
        self._attach(self._store.begin(POWER, title, settings, files={STUDY: format_study(study)}))

    def _attach(self, job: Job) -> None:
        self._empty.visible = False
        self.job_card.watch(job)

    def open(self, job: Job) -> None:
        """Show the power that a job computes, or has computed."""
        self.power = None
        self._show()
        self._attach(job)

    def _take_result(self, job: Job) -> None:
        if job.state == FINISHED:
            self._try(lambda: self._load(job.folder))

    def _load(self, folder: Path) -> None:
        self._study, self.power = read_study(folder / STUDY), load_points(folder)
        self._show()

    def _take_target(self, event: param.parameterized.Event) -> None:
        self.state.target = float(event.new)
        self._show()

    def _show(self) -> None:
        self._shown.visible = self.power is not None
        if self.power is None or self._study is None:
            return
        goal, design = self._study.goals[0], self._study.designs[0]
        about = f"{self._study.num_datasets} simulated participants for each size, {self._study.fidelity}"
        caption = CONTOURS if self._is_map() else CURVE
        self._heading.object = (
            f"<h2>Chance that {escaping.escape(str(goal))}</h2><p class='muted'>{caption} {escaping.escape(about)}.</p>"
        )
        self._answer.object = write_smallest(self.power, self.state.target, design.seconds_per_trial)
        self._answer.object += write_warnings(self.power)
        self._table.object = write_power(self.power)
        self._figure.object = self._draw(AXES_INCHES)

    def _is_map(self) -> bool:
        return self.power is not None and {"participants", "trials"} <= set(self.power.dims)

    def _draw(self, axes: tuple[float, float] | None = None) -> hv.Layout:
        """On the page, or for print."""
        if self.power is None:
            raise StudioError("There is nothing to draw yet.")
        size = PRINT_INCHES if axes is None else axes
        if self._is_map():
            levels = tuple(sorted({*LEVELS, float(self.state.target)}))
            return draw_power_contours(self.power, levels=levels, target=float(self.state.target), axes=size)
        return draw_power_curve(self.power, target=float(self.state.target), axes=size)

    def _tabulate(self) -> object:
        if self.power is None:
            raise StudioError("There is no table yet.")
        return tabulate_power(self.power)

    def _write_study(self) -> str:
        return format_study(self.state.to_study(), notes=["Made in the studio. Compute with: designstudio power study.toml"])

    def _arrange(self) -> pn.Column:
        return pn.Column(
            card(self.target, self._answer),
            card(self._heading, self._figure, pn.Row(download_figure(self._draw, "power"), margin=0)),
            card(html(f"<h2>Numbers</h2><p class='muted'>{NUMBERS}</p>"), self._table,
                 pn.Row(download_table(self._tabulate, "power"), margin=0)),
            sizing_mode="stretch_width", margin=0, visible=False,
        )  # fmt: skip

    def __panel__(self) -> pn.viewable.Viewable:
        results = pn.Column(
            card(self._empty, pn.Row(self.start, download_text(self._write_study, STUDY, "Download study.toml"), margin=0)),
            self._message, self.job_card, self._shown,
            sizing_mode="stretch_width", margin=0,
        )  # fmt: skip
        return pn.Row(pn.Column(self.form, width=CONTROLS_WIDTH, margin=0), results, sizing_mode="stretch_width", margin=0)
