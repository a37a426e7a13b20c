"""A job as people see it: how far it is, how to stop it, how it ended."""

import html as escaping
from collections.abc import Callable

import panel as pn

from designstudio.core.durations import format_duration, format_estimate
from designstudio.dashboard.theme import card, html
from designstudio.runs.jobs import FAILED, FINISHED, LOST, RUNNING, STARTING, STOPPED, Job, JobStore

# Milliseconds between two looks.
PERIOD = 1000
WORDS = {
    STARTING: "starting", RUNNING: "running", FINISHED: "finished", FAILED: "failed", STOPPED: "stopped",
    LOST: "interrupted",
}  # fmt: skip


class JobCard(pn.viewable.Viewer):
    """Watches one job at a time. `on_end` is called once when a job that was watched ends; `on_look` at each look."""

    def __init__(
        self,
        store: JobStore,
        *,
        on_end: Callable[[Job], None] = lambda job: None,
        on_look: Callable[[Job], None] = lambda job: None,
    ) -> None:
        super().__init__()
        self.job: Job | None = None
        self._store, self._on_end, self._on_look = store, on_end, on_look
        self._was_active = False
        self._text = html("")
        # Stripes that move would keep the visitor's processor busy all the time.
        self._bar = pn.indicators.Progress(value=-1, max=100, sizing_mode="stretch_width", active=False, bar_color="primary")
        self._stop = pn.widgets.Button(name="Stop", button_type="warning", width=90, height=32)
        self._resume = pn.widgets.Button(name="Resume", button_type="primary", width=90, height=32)
        self._stop.on_click(lambda _: self._ask_to_stop())
        self._resume.on_click(lambda _: self._take_up())
        self._card = card(self._text, self._bar, pn.Row(self._stop, self._resume, margin=0), visible=False)
        self._periodic = pn.state.add_periodic_callback(self.look, period=PERIOD, start=False)

    def watch(self, job: Job) -> None:
        """Show this job from now on."""
        self.job, self._was_active = job, True
        self._card.visible = True
        self.look()

    def leave(self) -> None:
        """Show no job any more."""
        self.job, self._was_active = None, False
        self._card.visible = False
        if self._periodic.running:
            self._periodic.stop()

    def look(self) -> None:
        """Show how the job stands now."""
        job = self.job
        if job is None:
            return
        state = job.state
        is_active = state in (STARTING, RUNNING)
        self._show(job, state)
        self._on_look(job)
        if is_active:
            self._was_active = True
            job.end_if_overdue()
            if not self._periodic.running:
                self._periodic.start()
            return
        if self._periodic.running:
            self._periodic.stop()
        if self._was_active:
            self._was_active = False
            self._on_end(job)

    def _show(self, job: Job, state: str) -> None:
        progress = job.progress
        is_active = state in (STARTING, RUNNING)
        parts = [f"<b>{escaping.escape(job.title)}</b>: {WORDS.get(state, state)}"]
        if is_active:
            count = f", {progress.num_done} of {progress.num_total}" if progress.num_total else ""
            left = "" if progress.seconds_left is None else f", {format_estimate(progress.seconds_left)} left"
            stopping = ", stopping" if (job.folder / "stop").exists() else ""
            parts.append(f'<span class="muted">{escaping.escape(progress.stage)}{count}{left}{stopping}</span>')
        elif state == FINISHED:
            parts.append(f'<span class="muted">in {format_duration(float(job.outcome.get("seconds", 0)))}</span>')
        text = "<br>".join(parts)
        if state in (FAILED, LOST):
            text += f'<p class="failed">{escaping.escape(job.message)}</p>'
        elif state == STOPPED:
            text += f'<p class="notice">{escaping.escape(job.message)}</p>'
        # Only what changed travels to the browser.
        if self._text.object != text:
            self._text.object = text
        self._bar.visible = is_active
        self._bar.value = min(progress.percent, 100)
        self._stop.visible = is_active
        self._resume.visible = state in (STOPPED, LOST, FAILED)

    def _ask_to_stop(self) -> None:
        if self.job is not None:
            self.job.ask_to_stop()
            self.look()

    def _take_up(self) -> None:
        if self.job is not None:
            self._store.start(self.job)
            self._was_active = True
            self.look()

    def __panel__(self) -> pn.viewable.Viewable:
        return self._card
