"""`designstudio train`: learn the optimal actions of a cost."""

import dataclasses
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from designstudio.cli.notes import note, notes_console
from designstudio.cli.options import CostFileOption, JsonOption, write_json
from designstudio.core.files import check_file
from designstudio.core.progress import Progress as TrainingProgress


def train(
    cost: Annotated[str, typer.Argument(help="Name of the cost.")],
    architecture: Annotated[str, typer.Option(help="coefficients (ours) or paper.")] = "coefficients",
    method: Annotated[str | None, typer.Option(help="gauss_newton or monte_carlo; default: the architecture's.")] = None,
    steps: Annotated[int | None, typer.Option(help="Updates at most; default: the architecture's.")] = None,
    target_median: Annotated[float, typer.Option(help="Stop when the median relative error is this small ...")] = 1e-5,
    target_p99: Annotated[float, typer.Option(help="... and its 99 % quantile this small.")] = 1e-4,
    seed: Annotated[int, typer.Option(help="Seed of weights and examples.")] = 0,
    measured: Annotated[int, typer.Option(help="Fresh decisions to measure the errors on.")] = 20_000,
    out: Annotated[Path | None, typer.Option(help="Actor file to write; default: COST.actor.", metavar="FILE")] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Ignore a checkpoint of an interrupted training.")] = False,
    cost_file: CostFileOption = None,
    json: JsonOption = None,
) -> None:
    """Train an amortized actor for a cost. An interrupted training continues when the same command is given again.

    Example: designstudio train my_cost --cost-file my_cost.py --out my_cost.actor
    """
    from designstudio.runs.train import TrainRequest, run_train  # noqa: PLC0415  (keeps `designstudio --help` fast)

    check_file(json)
    request = TrainRequest(
        cost, out, architecture, method, steps, target_median, target_p99, seed, measured, fresh, cost_file
    )
    recipe, out = request.recipe, request.path
    with _bar() as bar:
        task = bar.add_task(cost, total=recipe.num_steps, error="solving the exact actions to compare with")
        result = run_train(request, progress=lambda progress: _show(bar, task, progress), notify=note)
    accuracy = result.accuracy
    typer.echo(
        f"{cost}: median relative error {accuracy.median:.1e}, p99 {accuracy.p99:.1e}, max {accuracy.max:.1e} on "
        f"{accuracy.num_actions:,} fresh decisions, after {result.num_steps:,} steps in {result.seconds:.1f} s."
    )
    if not result.has_reached_target:
        typer.echo(
            f"The targets (median {recipe.target_median:.0e}, p99 {recipe.target_p99:.0e}) were not both reached; "
            "the best actor seen was kept. Give more --steps for a better one."
        )
    typer.echo(f"Written to {out} ({out.stat().st_size / 1024:.1f} KiB).")
    record = {
        "cost": cost,
        "recipe": dataclasses.asdict(recipe),
        "accuracy": dataclasses.asdict(accuracy),
        "num_steps": result.num_steps,
        "seconds": result.seconds,
        "has_reached_target": result.has_reached_target,
        "file": str(out),
    }
    write_json(json, record)


def _bar() -> Progress:
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed:,}/{task.total:,} steps"),
        TimeElapsedColumn(),
        TextColumn("at most"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[error]}"),
    )
    # Gone at the end, as all bars are: a mistake that is found first leaves nothing but its sentence.
    return Progress(*columns, console=notes_console(), transient=True)


def _show(bar: Progress, task: TaskID, progress: TrainingProgress) -> None:
    accuracy = progress.details["accuracy"]
    error = f"relative error: median {accuracy.median:.1e}, p99 {accuracy.p99:.1e}"
    bar.update(task, completed=progress.num_done, error=error)
