"""A progress bar for fits: data sets done, draws made, time left."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar

if TYPE_CHECKING:  # they import JAX and the samplers, for which `designstudio --help` should not wait
    from designstudio.evaluate.progress import EvaluationCallback, EvaluationProgress
    from designstudio.fit.run import Progress, ProgressCallback


@contextmanager
def show_progress(title: str) -> "Iterator[ProgressCallback]":
    """A callback that draws a bar on the terminal's error stream."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("data sets, {task.fields[draws]:,} draws, {task.fields[left]}"),
        TimeElapsedColumn(),
    )
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=None, draws=0, left="compiling")

        def update(progress: "Progress") -> None:
            left = f"about {progress.seconds_left:.0f} s left" if progress.num_done < progress.num_datasets else "checking"
            bar.update(
                task,
                description=f"{title}: {progress.stage}",
                total=progress.num_datasets,
                completed=progress.num_done,
                draws=progress.num_draws,
                left=left,
            )

        yield update


@contextmanager
def show_evaluation(title: str) -> "Iterator[EvaluationCallback]":
    """A callback that draws a bar for the data sets of all designs."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("data sets, {task.fields[left]}"),
        TimeElapsedColumn(),
    )
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=None, left="compiling")

        def update(progress: "EvaluationProgress") -> None:
            bar.update(
                task,
                description=f"{title} {progress.stage}",
                total=progress.num_datasets,
                completed=progress.num_done,
                left=f"about {progress.seconds_left:.0f} s left",
            )

        yield update
