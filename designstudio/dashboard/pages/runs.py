"""The runs page: everything done so far."""

import html as escaping
import time
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import panel as pn
import param

from designstudio.core.durations import format_duration
from designstudio.dashboard.parts.downloads import download_file, download_table
from designstudio.dashboard.parts.job_card import WORDS
from designstudio.dashboard.theme import card, html
from designstudio.runs.jobs import Job, JobStore

# Milliseconds between two looks at the folder.
PERIOD = 2000
COLUMNS = ("started", "what", "title", "state", "took", "folder")
# Files that belong to the machinery.
HIDDEN = ("job.json", "progress.json", "outcome.json", "stop")
LARGEST = 100_000_000


class RunsPage(pn.viewable.Viewer):
    """A table of runs; one can be chosen, looked at, opened and taken along."""

    def __init__(self, store: JobStore, *, on_open: Callable[[Job], None]) -> None:
        super().__init__()
        self._store, self._on_open = store, on_open
        self.chosen = pn.widgets.Select(name="run", options={}, sizing_mode="stretch_width")
        self.open_button = pn.widgets.Button(name="Open", button_type="primary", width=110, height=34)
        self.open_button.on_click(lambda _: self._open())
        self._table, self._details = html(""), html("")
        self._files = pn.FlexBox(sizing_mode="stretch_width", margin=0)
        self.chosen.param.watch(self._show_details, "value")
        self.refresh()
        self._periodic = pn.state.add_periodic_callback(self.refresh, period=PERIOD, start=True)

    def refresh(self) -> None:
        """Look at the folder again."""
        jobs = self._store.list()
        table = tabulate_jobs(jobs)
        text = _write_table(table) if jobs else (
            "<p class='notice'>Nothing has been run yet. Check a design with simulations, start a search, or fit data: "
            "it will appear here.</p>"
        )  # fmt: skip
        if self._table.object != text:
            self._table.object = text
            options = {f"{job.title} ({job.kind}, {_format_date(job.created)})": job.name for job in jobs}
            self.chosen.options = options
            if self.chosen.value not in options.values():
                self.chosen.value = next(iter(options.values()), None)
            self._show_details()

    def _show_details(self, *_: param.parameterized.Event) -> None:
        job = self._store.find(self.chosen.value) if self.chosen.value else None
        if job is None:
            self._details.object, self._files.objects = "", []
            return
        settings = "".join(
            f"<tr><td>{escaping.escape(str(k))}</td><td>{escaping.escape(str(v)[:200])}</td></tr>"
            for k, v in job.settings.items()
        )
        message = f'<p class="failed">{escaping.escape(job.message)}</p>' if job.message else ""
        self._details.object = f"<p>Folder: <code>{escaping.escape(str(job.folder))}</code></p>{message}" + (
            f'<div class="scroll"><table class="ds words"><tbody>{settings}</tbody></table></div>' if settings else ""
        )
        files = [path for path in sorted(job.folder.iterdir()) if _is_shown(path)]
        self._files.objects = [download_file(path) for path in files]

    def _open(self) -> None:
        job = self._store.find(self.chosen.value) if self.chosen.value else None
        if job is not None:
            self._on_open(job)

    def __panel__(self) -> pn.viewable.Viewable:
        return pn.Column(
            card(
                html("<h2>Runs</h2>"), self._table,
                pn.Row(download_table(lambda: tabulate_jobs(self._store.list()), "runs"), margin=0),
            ),
            card(
                html("<h2>One run</h2>"), pn.Row(self.chosen, self.open_button, margin=0), self._details,
                html("<p class='muted'>Files of this run, to download:</p>"), self._files,
            ),
            sizing_mode="stretch_width",
        )  # fmt: skip


def tabulate_jobs(jobs: list[Job]) -> pd.DataFrame:
    """Jobs as a table, one row each."""
    rows = []
    for job in jobs:
        seconds = job.outcome.get("seconds")
        took = "" if seconds is None else format_duration(float(seconds))
        rows.append((_format_date(job.created), job.kind, job.title, WORDS.get(job.state, job.state), took, job.name))
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _write_table(table: pd.DataFrame) -> str:
    # Where a run lies is said below, for the one that is chosen: a tablet has no room for it here.
    shown = table.drop(columns="folder")
    head = "".join(f"<th>{name}</th>" for name in shown)
    rows = "".join(
        "<tr>" + "".join(f"<td>{escaping.escape(str(cell))}</td>" for cell in row) + "</tr>" for row in shown.values.tolist()
    )
    return f'<div class="scroll"><table class="ds words"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>'


def _format_date(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(seconds))


def _is_shown(path: Path) -> bool:
    return path.is_file() and not path.name.startswith(".") and path.name not in HIDDEN and path.stat().st_size < LARGEST
