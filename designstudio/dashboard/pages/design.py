"""The design page: controls of a design, and the behaviour, posterior, scores and verdict that it predicts."""

import time

import holoviews as hv
import panel as pn
import param

from designstudio.dashboard.figures.live_design import BehaviorFigure, PosteriorFigure, Shown
from designstudio.dashboard.pages.page import Page
from designstudio.dashboard.parts.design_form import PopulationEditor, StimulusEditor
from designstudio.dashboard.parts.downloads import download_figure, download_table, download_text
from designstudio.dashboard.parts.job_card import JobCard
from designstudio.dashboard.parts.level_editor import LevelEditor
from designstudio.dashboard.parts.score_tables import tabulate_recovery, write_recovery, write_tiles, write_verdict
from designstudio.dashboard.previews import preview_study
from designstudio.dashboard.state.design_choice import DesignChoice
from designstudio.dashboard.theme import COLORS, card, figure_card, html, side_by_side
from designstudio.errors import StudioError
from designstudio.evaluate.preview import Preview
from designstudio.evaluate.results import Evaluation
from designstudio.runs.jobs import FINISHED, Job, JobStore
from designstudio.runs.jobs.job import EVALUATE, STUDY
from designstudio.runs.load import load_evaluation
from designstudio.study import Study, format_study, parse_study, read_study
from designstudio.study.design import PRESETS, Design
from designstudio.viz.behavior import draw_behavior
from designstudio.viz.designs import draw_designs
from designstudio.viz.theme import label_quantities

CONTROLS_WIDTH = 370
# Buttons that come later need no room of their own then.
BUTTON_HEIGHT = 34
MOST_PINS = 4
# Largest study file that is read.
MOST_LETTERS = 200_000
# Milliseconds between numbers and figures: too few to be noticed by one visitor, enough for the numbers of ten.
FIGURES_LATER = 80
# Presets whose stimuli lie where actors were trained.
SHOWN_PRESETS = [name for name, preset in PRESETS.items() if name != "force"]
CURRENT = "this design"


class DesignPage(Page):
    """Controls on the left; behaviour, posterior, scores and verdict on the right."""

    def __init__(self, choice: DesignChoice, store: JobStore) -> None:
        super().__init__()
        self.choice, self._store = choice, store
        self.preview: Preview | None = None
        self.checked: Evaluation | None = None
        self.pins: dict[str, Evaluation] = {}
        self.seconds, self._is_drawn_soon = 0.0, False
        # Tiles and verdict are one text: no browser can show the tiles of one design above the verdict of another.
        self._summary, self._table = html(""), html("")
        self._behavior, self._posterior = BehaviorFigure(), PosteriorFigure()
        self.job_card = JobCard(store, on_end=self._take_checked)
        self.update()
        choice.param.watch(self.update, [name for name in choice.param if name != "name"])

    # What the visitor does.

    def _take_preset(self, event: param.parameterized.Event) -> None:
        if event.new in PRESETS:
            self._try(lambda: self.choice.take_preset(event.new))

    def _take_file(self, event: param.parameterized.Event) -> None:
        if not event.new:
            return

        def take() -> None:
            if len(event.new) > MOST_LETTERS:
                raise StudioError(f"A study file has at most {MOST_LETTERS} letters, but this one has {len(event.new)}.")
            try:
                text = event.new.decode()
            except UnicodeDecodeError:
                raise StudioError(f"{self.file.filename!r} is not a text file: choose a study file (.toml).") from None
            self.choice.take(parse_study(text, self.file.filename or STUDY))

        self._try(take)

    def _pin(self) -> None:
        if self.preview is None:
            return
        self.pins = dict(list(self.pins.items())[-(MOST_PINS - 1) :])
        number = 1 + max((int(name.removeprefix("pin ")) for name in self.pins), default=0)
        self.pins[f"pin {number}"] = self.preview.evaluation
        self.unpin.visible = True
        self._show_results()

    def _unpin(self) -> None:
        self.pins = {}
        self.unpin.visible = False
        self._show_results()

    def _begin_check(self) -> None:
        def begin() -> None:
            study = self.choice.to_study(fidelity=self.fidelity.value, num_datasets=int(self.datasets.value))
            title = f"{study.designs[0].num_trials} trials at {len(study.designs[0].conditions)} levels, {study.cost}"
            self.attach(self._store.begin(EVALUATE, title, {}, files={STUDY: format_study(study)}))

        self._try(begin)

    def take(self, study: Study, design: Design | None = None) -> None:
        """Work on a design of a study, or say why not."""
        self._try(lambda: self.choice.take(study, design))

    def attach(self, job: Job) -> None:
        """Watch a check, perhaps one that another tab has begun."""
        self.job_card.watch(job)

    def open(self, job: Job) -> None:
        """Show the design of a check, and its result when there is one."""
        self._try(lambda: self.choice.take(read_study(job.folder / STUDY)))
        self.attach(job)
        if job.state == FINISHED:
            self._take_checked(job)

    def _take_checked(self, job: Job) -> None:
        if job.state == FINISHED:
            self._try(lambda: self._set_checked(load_evaluation(job.folder, study=job.folder / STUDY).evaluations[0]))

    def _set_checked(self, evaluation: Evaluation) -> None:
        self.checked = evaluation
        self._show_results()

    # What the visitor sees.

    def update(self, *events: param.parameterized.Event) -> None:
        """Compute and show anew; a check of another design is shown no longer."""
        if events:
            self.checked = None

        def compute() -> None:
            started = time.perf_counter()
            self.preview = preview_study(self.choice.to_study(fidelity="information"))
            self._write_results()
            if events:
                self._draw_soon()
            else:
                self._draw()
            self.seconds = time.perf_counter() - started

        self._try(compute)

    def _show_results(self) -> None:
        self._write_results()
        self._draw()

    def _write_results(self) -> None:
        if self.preview is None:
            return
        # In one message: numbers of two designs must not stand on one page.
        with pn.io.hold():
            self._summary.object = write_tiles(self.preview.evaluation) + write_verdict(self.preview.verdict)
            self._table.object = write_recovery(self._list_evaluations())

    def _draw_soon(self) -> None:
        """Figures take longest: they follow numbers, also those that other visitors are waiting for."""
        document = pn.state.curdoc
        if document is None or document.session_context is None:
            self._draw()
        elif not self._is_drawn_soon:
            self._is_drawn_soon = True
            document.add_timeout_callback(self._draw, FIGURES_LATER)

    def _draw(self) -> None:
        self._is_drawn_soon = False
        if self.preview is None:
            return
        labels = {name: label.axis for name, label in label_quantities(self.preview.evaluation.summaries).items()}
        self._behavior.show(self.preview)
        self._posterior.show(self._list_shown(), labels)

    def _list_evaluations(self) -> dict[str, Evaluation]:
        if self.preview is None:
            return {}
        found = {CURRENT: self.preview.evaluation}
        if self.checked is not None:
            found["simulated"] = self.checked
        same_cost = {n: e for n, e in self.pins.items() if e.study.cost == self.preview.evaluation.study.cost}
        return found | same_cost

    def _list_shown(self) -> list[Shown]:
        colors = {CURRENT: COLORS[0], "simulated": COLORS[1]}
        rest = iter(COLORS[2:])
        return [
            Shown(label, evaluation, colors.get(label) or next(rest), label == "simulated")
            for label, evaluation in self._list_evaluations().items()
        ]

    def _print_behavior(self) -> hv.Layout:
        if self.preview is None:
            raise StudioError("There is nothing to draw yet.")
        return draw_behavior(self.preview.trials, self.preview.band, title="One simulated participant")

    def _print_design(self) -> hv.Layout:
        design = self.choice.to_design()
        return draw_designs({design.name: design}, unit=self.choice.scale.unit)

    def _write_study(self) -> str:
        study = self.choice.to_study(fidelity=self.fidelity.value, num_datasets=int(self.datasets.value))
        return format_study(study, notes=["Made in the studio. Evaluate it with: designstudio evaluate study.toml"])

    def __panel__(self) -> pn.viewable.Viewable:
        figures = side_by_side(
            figure_card(
                "Behaviour of one simulated participant",
                "Points: simulated trials. Line and band: median and 94 % of responses, a colour for each level. "
                "Dotted: response = stimulus.",
                self._behavior.figure,
                self._later(lambda: [download_figure(self._print_behavior, "behaviour")], min_height=BUTTON_HEIGHT),
            ),
            figure_card(
                "Prior against cost: predicted posterior",
                "Regions of 50 % and 94 % for a typical participant; the cross is the truth. A long ridge: the data cannot "
                "tell the two apart.",
                self._posterior.figure,
                self._later(lambda: [download_figure(self._print_design, "design")], min_height=BUTTON_HEIGHT),
            ),
        )
        results = pn.Column(
            self._message,
            card(self._summary),
            figures,
            self._later(lambda: [self._make_recovery(), self._make_check()], sizing_mode="stretch_width"),
            sizing_mode="stretch_width", margin=0,
        )  # fmt: skip
        controls = self._later(self._make_controls, width=CONTROLS_WIDTH)
        self._fill_later()
        return pn.Row(controls, results, sizing_mode="stretch_width", margin=0)

    # What stands there a moment later.

    def _make_controls(self) -> list[pn.Column]:
        self.levels, self.stimuli = LevelEditor(self.choice), StimulusEditor(self.choice)
        self.population = PopulationEditor(self.choice)
        self.preset = pn.widgets.Select(
            name="start from a published design",
            options=["own design", *SHOWN_PRESETS],
            value="own design",
            sizing_mode="stretch_width",
        )
        self.preset.param.watch(self._take_preset, "value")
        self.file = pn.widgets.FileInput(accept=".toml", multiple=False, sizing_mode="stretch_width")
        self.file.param.watch(self._take_file, "value")
        return [
            card(html("<h2>Design</h2>"), self.preset, self.levels, self.stimuli),
            card(html("<h2>Participants</h2>"), self.population),
            card(html("<h2>Study file</h2><p class='muted'>Open one, or take this design along.</p>"),
                 self.file, pn.Row(download_text(self._write_study, STUDY, "Download study.toml"), margin=0)),
        ]  # fmt: skip

    def _make_recovery(self) -> pn.Column:
        self.pin = pn.widgets.Button(name="Pin this design", button_type="light", height=34)
        self.unpin = pn.widgets.Button(name="Remove pins", button_type="light", height=34, visible=False)
        self.pin.on_click(lambda _: self._pin())
        self.unpin.on_click(lambda _: self._unpin())
        table = download_table(lambda: tabulate_recovery(self._list_evaluations()), "recovery")
        return card(html("<h2>Recovery</h2>"), self._table, pn.Row(self.pin, self.unpin, table, margin=0))

    def _make_check(self) -> pn.Column:
        self.fidelity = pn.widgets.RadioButtonGroup(
            name="fidelity", options=["importance", "nuts"], value="importance", button_type="light"
        )
        self.datasets = pn.widgets.IntInput(name="simulated participants", value=100, start=10, end=5000, step=50, width=150)
        self.check = pn.widgets.Button(name="Check with simulations", button_type="primary", height=36)
        self.check.on_click(lambda _: self._begin_check())
        return card(
            html("<h2>Check with simulations</h2><p class='muted'>The numbers above are quick fits of "
                 "summaries. This fits all trials of simulated participants.</p>"),
            pn.FlexBox(self.fidelity, self.datasets, self.check, align_items="end", margin=0), self.job_card,
        )  # fmt: skip
