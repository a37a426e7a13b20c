"""A progress bar: how much is done, and how much time is left."""

from collections.abc import Iterator
from contextlib import contextmanager

from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar

from designstudio.cli.notes import notes_console
from designstudio.core.durations import format_estimate
from designstudio.core.progress import Progress, ProgressCallback


@contextmanager
def show_progress(title: str) -> Iterator[ProgressCallback]:
    """A callback that draws a bar on the terminal's error stream."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[note]}"),
        TimeElapsedColumn(),
    )
    bar = Bar(*columns, console=notes_console(), transient=True)
    task = bar.add_task(title, total=None, note="")

    def update(progress: Progress) -> None:
        # Not before: a mistake that is found first is one sentence, without an empty line of a bar.
        bar.start()
        if progress.num_total is None:
            bar.update(task, description=f"{title}: {progress.stage}", total=None, note="")
            return
        notes = [progress.unit]
        # Fits count their draws.
        notes += [f"{progress.details['num_draws']:,} draws"] if "num_draws" in progress.details else []
        if progress.is_done:
            notes.append("checking")
        elif progress.seconds_left is not None:
            notes.append(f"{format_estimate(progress.seconds_left)} left")
        bar.update(
            task,
            description=f"{title}: {progress.stage}",
            total=progress.num_total,
            completed=progress.num_done,
            note=", ".join(notes),
        )

    try:
        yield update
    finally:
        if bar.live.is_started:
            bar.stop()
