"""A progress bar: data sets done, draws made, time left."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar

from designstudio.cli.notes import notes_console


@contextmanager
def show_progress(title: str) -> Iterator[Callable[[Any], None]]:
    """A callback for fits and evaluations that draws a bar on the terminal's error stream."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("data sets, {task.fields[note]}"),
        TimeElapsedColumn(),
    )
    with Bar(*columns, console=notes_console(), transient=True) as bar:
        task = bar.add_task(title, total=None, note="compiling")

        def update(progress: Any) -> None:
            is_done = progress.num_done >= progress.num_datasets
            left = "checking" if is_done else f"about {progress.seconds_left:.0f} s left"
            # Fits count their draws, evaluations do not.
            draws = f"{progress.num_draws:,} draws, " if hasattr(progress, "num_draws") else ""
            bar.update(
                task,
                description=f"{title}: {progress.stage}",
                total=progress.num_datasets,
                completed=progress.num_done,
                note=draws + left,
            )

        yield update
