"""What a search has found until now: history, front, the best designs, and in the end the finalists."""

import dataclasses
import html as escaping
from collections.abc import Callable, Mapping
from typing import Any

import holoviews as hv
import pandas as pd
import panel as pn
from bokeh.events import Tap

from designstudio.dashboard.figures.live_search import (
    Watched,
    draw_live_front,
    draw_live_history,
    find_clicked,
    list_points,
)
from designstudio.dashboard.parts.candidates import (
    tabulate_finalists,
    write_best,
    write_counts,
    write_finalists,
    write_pictures,
)
from designstudio.dashboard.parts.downloads import download_figure, download_table
from designstudio.dashboard.parts.score_tables import write_verdict
from designstudio.dashboard.theme import card, figure_card, html, prepare_plot
from designstudio.errors import StudioError
from designstudio.search.feasible import find_design
from designstudio.search.finalists import choose_finalists
from designstudio.search.job import get_plan
from designstudio.search.records import CandidateRecord
from designstudio.search.search_result import SearchResult, list_recorded
from designstudio.study.design import Design
from designstudio.viz.designs import draw_designs
from designstudio.viz.fresh import read_fresh_record
from designstudio.viz.front import draw_front
from designstudio.viz.history import compute_history, draw_history
from designstudio.viz.search import list_candidates

FRESH = "<p class='muted'>± is the Monte Carlo error. What was chosen for its score was also lucky: believe fresh data.</p>"
NUM_BEST, NUM_DRAWN = 8, 4
WAITING = '<p class="notice">No design has been tried yet: programs are compiled, and designs are screened for a start.</p>'
HISTORY = """<span style="color:#0072B2">●</span> complete, <span style="color:#6B7280">○</span> given up early,
<span style="color:#D55E00">×</span> breaks a constraint; bars are two Monte Carlo errors. The line is the best so far, with
its band. Diamonds are scores on fresh data, <span style="color:#009E73">◆</span> of finalists. Candidates far worse than the
others stand at the edge. <b>Click a point to open its design.</b>"""
FRONT = """<span style="color:#0072B2">●</span> no other design is better in both, <span style="color:#6B7280">○</span>
beaten; bars are two Monte Carlo errors. Diamonds are scores on fresh data, <span style="color:#009E73">◆</span> of
finalists. <b>Click a point to open its design.</b>"""


class SearchResults(pn.viewable.Viewer):
    """One search at a time; `on_open` is called with the number of the candidate whose design somebody wants to see."""

    def __init__(self, *, on_open: Callable[[int], None]) -> None:
        super().__init__()
        self.shown: Watched | None = None
        self.record: Mapping[str, Any] = {}
        self._on_open = on_open
        self.candidate = pn.widgets.Select(name="candidate", options=[], width=110)
        self.candidate.param.watch(lambda event: self._mark(event.new), "value")
        self.open_design = pn.widgets.Button(name="Open in Design", button_type="primary", height=34, align="end")
        self.open_design.on_click(lambda _: None if self.candidate.value is None else on_open(int(self.candidate.value)))
        self._pipe = hv.streams.Pipe(data=None)
        self.history = self._make_figure(draw_live_history, is_front=False)
        self.front = self._make_figure(draw_live_front, is_front=True)
        self._heading, self._counts, self._verdict = html(""), html(""), html("")
        self._finalists, self._best, self._pictures = html(""), html(""), html("")
        self._waiting = html(WAITING)
        self._overview = card(self._heading, self._counts, self._waiting, self._verdict)
        self._end_card = card(
            html(f"<h2>Finalists on fresh data</h2>{FRESH}"), self._finalists,
            pn.Row(download_table(lambda: tabulate_finalists(self.record), "finalists"), margin=0),
        )  # fmt: skip
        self._history_card = figure_card("History", HISTORY, self.history, download_figure(self._print_history, "history"))
        self._front_card = figure_card("Pareto front", FRONT, self.front, download_figure(self._print_front, "front"))
        self._best_card = card(
            html("<h2>Best designs so far</h2>"), self._best, self._pictures,
            pn.Row(self.candidate, self.open_design, margin=0),
            pn.Row(html("<span class='muted'>all candidates</span>", width=65, sizing_mode=None),
                   download_table(self._tabulate_candidates, "candidates"),
                   html("<span class='muted'>pictures</span>", width=60, sizing_mode=None),
                   download_figure(self._print_designs, "designs"), margin=0),
        )  # fmt: skip
        self._show_parts()

    def _make_figure(self, draw: Callable[[Watched | None], hv.Overlay], *, is_front: bool) -> hv.DynamicMap:
        """A figure that hears clicks; HoloViews hears those on an element, but not those on an overlay."""

        def hear(plot: Any, _: Any) -> None:
            if "click" not in plot.handles:
                plot.handles["click"] = plot.state.on_event(
                    Tap, lambda event: self.click(event.x, event.y, is_front=is_front)
                )

        # Every element has to ask for axes that follow the data: a figure that begins empty would keep those of nothing.
        follows = [getattr(hv.opts, kind)(framewise=True) for kind in ("Polygons", "Curve", "Segments", "Points")]
        return prepare_plot(hv.DynamicMap(draw, streams=[self._pipe]).opts(*follows), hooks=[hear])

    def clear(self, title: str) -> None:
        """Another search, of which nothing is known yet."""
        self.shown, self.record = None, {}
        self._heading.object = f"<h2>{escaping.escape(title or 'Search')}</h2>"
        self.candidate.param.update(options=[], value=None)
        self._verdict.object = ""
        self._show_parts()

    def show(self, result: SearchResult, record: Mapping[str, Any]) -> None:
        """What is known now; `record` is its result.json, empty while there is none."""
        # A search that goes on has finalists of an earlier end: they are not those of now.
        self.record = record if len(list_recorded(record)) == len(result.records) else {}
        best = list_best(result)
        numbers = [entry.number for entry in best]
        chosen = self.candidate.value if self.candidate.value in numbers else next(iter(numbers), None)
        self.shown = Watched(result, tuple(read_fresh_record(self.record)), chosen)
        self.candidate.param.update(options=numbers, value=chosen)
        self._pipe.send(self.shown)
        self._counts.object = write_counts(result)
        self._verdict.object = write_verdict(self.record.get("verdict", []))
        self._finalists.object = write_finalists(self.record, result.question.designs)
        self._best.object = write_best(best, result.objectives)
        first = result.objectives[0]
        notes = {f"candidate {entry.number}": f"{first.label}: {entry.scores[first.label]}" for entry in best}
        self._pictures.object = write_pictures(self._list_drawn(), notes)
        self._show_parts()

    def find_design(self, number: int) -> Design:
        """The design of a candidate.

        Raises:
            StudioError: if it has none yet.
        """
        for entry in () if self.shown is None else self.shown.result.finished:
            if entry.number == number and self.shown is not None:
                design = find_design(get_plan(self.shown.result.question), entry.parameters, f"candidate {number}")
                if design is not None:
                    return design
        raise StudioError(f"Candidate {number} has no design yet: choose one that is finished.")

    def click(self, x: float | None, y: float | None, *, is_front: bool = False) -> None:
        """Open the design of the candidate at this place of a figure, if there is one."""
        if self.shown is None or (is_front and len(self.shown.result.objectives) < 2):
            return
        up, *others = self.shown.result.objectives
        points = list_points(self.shown, others[0] if is_front else None, up)
        limits = None if is_front else compute_history(self.shown.result, up, self.shown.fresh).shown
        number = find_clicked(points, x, y, limits=limits)
        if number is not None:
            self._on_open(number)

    def _mark(self, number: int | None) -> None:
        if self.shown is not None and number != self.shown.chosen:
            self.shown = self.shown._replace(chosen=number)
            self._pipe.send(self.shown)

    def _show_parts(self) -> None:
        result = None if self.shown is None else self.shown.result
        has_trials = result is not None and bool(result.finished)
        self._counts.visible = self._history_card.visible = has_trials
        self._waiting.visible = not has_trials
        self._front_card.visible = result is not None and has_trials and len(result.objectives) > 1
        self._best_card.visible = bool(self.candidate.options)
        self._end_card.visible = bool(self.record.get("finalists") or self.record.get("references"))

    # What the visitor takes along.

    def _get(self) -> Watched:
        if self.shown is None:
            raise StudioError("There is nothing to draw yet.")
        return self.shown

    def _list_drawn(self) -> dict[str, Design]:
        numbers = [entry.number for entry in list_best(self._get().result)][:NUM_DRAWN]
        return {f"candidate {number}": self.find_design(number) for number in numbers}

    def _print_history(self) -> hv.Layout:
        return draw_history(self._get().result, fresh=self._get().fresh)

    def _print_front(self) -> hv.Layout:
        return draw_front(self._get().result, fresh=self._get().fresh)

    def _print_designs(self) -> hv.Layout:
        question = self._get().result.question
        return draw_designs(self._list_drawn(), title=question.title, unit=question.conversion.unit)

    def _tabulate_candidates(self) -> pd.DataFrame:
        return pd.DataFrame(list_candidates(self._get().result))

    def __panel__(self) -> pn.viewable.Viewable:
        return pn.Column(
            self._overview, self._end_card, self._front_card, self._history_card, self._best_card,
            sizing_mode="stretch_width", margin=0,
        )  # fmt: skip


def list_best(result: SearchResult) -> list[CandidateRecord]:
    """The best candidates so far, more of them than there will be finalists."""
    plan = dataclasses.replace(get_plan(result.question), num_finalists=NUM_BEST)
    return choose_finalists(result.question.replace(search=plan), result.records)
