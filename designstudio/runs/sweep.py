"""`sweep`: a design over a grid of values."""

import dataclasses
from collections.abc import Callable, Mapping
from pathlib import Path

from designstudio.core.files import write_json
from designstudio.core.progress import ProgressCallback
from designstudio.core.run_record import AGAIN, STUDY
from designstudio.errors import StudioError
from designstudio.runs.evaluate import announce_edges_along, announce_time
from designstudio.runs.folder import Notify, check_folder, ignore, keep_run, resolve_study, use_cost_file
from designstudio.runs.search import find_source
from designstudio.search import sweep as sweeping
from designstudio.search.sweep import Grid, SweepResult
from designstudio.study import Study


@dataclasses.dataclass(frozen=True)
class SweepRequest:
    """What is to be varied.

    Attributes:
        study: the question, or its file.
        along: values of one variable, or of two.
        folder: where the sweep keeps what it has finished, and finds it again.
        design: name of the design to vary; by default the study's first.
        fidelity: in place of the study's.
        num_datasets: simulated participants for each point, in place of the study's.
        seed: of everything random, in place of the study's.
        num_workers: processes that work at the same time.
        storage: address of a database to share; by default a journal in the folder.
        cost_file: a user's file of costs, which is executed.
    """

    study: Study | Path | str
    along: Mapping[str, tuple[float, ...]]
    folder: Path
    design: str | None = None
    fidelity: str | None = None
    num_datasets: int | None = None
    seed: int | None = None
    num_workers: int = 1
    storage: str | None = None
    cost_file: Path | None = None


def run_sweep(
    request: SweepRequest,
    *,
    progress: ProgressCallback | None = None,
    notify: Notify = ignore,
    should_stop: Callable[[], bool] = lambda: False,
) -> SweepResult:
    """Evaluate all points of a grid, or go on with it, and write the folder of the run.

    Args:
        request: what is to be varied.
        progress: called as work gets done.
        notify: told how long it will take, if that is long, and who lies outside of analysis prior or actor.
        should_stop: asked again and again; if true, the sweep ends after the points that have begun.
    """
    use_cost_file(request.cost_file)
    check_folder(request.folder)
    study = resolve_study(request.study)
    study = study.replace(fidelity=request.fidelity, num_datasets=request.num_datasets, seed=request.seed)
    if not study.designs:
        raise StudioError("The study names no designs to vary: add [[designs]].")
    if not 1 <= len(request.along) <= 2:
        raise StudioError("A sweep goes along one variable or two different ones.")
    name = study.designs[0].name if request.design is None else study.design(request.design).name
    grid = Grid(name, dict(request.along), study.fidelity, study.num_datasets)
    sweeping.check_grid(study, grid)
    points = {" and ".join(f"{n} {v:g}" for n, v in point.items()): grid.build(study, point) for point in grid.points}
    announce_time(study, list(points.values()), notify)
    announce_edges_along(study, points, notify)
    result = sweeping.run_sweep(
        study,
        grid,
        request.folder,
        storage=request.storage,
        num_workers=request.num_workers,
        source=find_source(request.study, request.folder, request.num_workers, request.seed, request.cost_file),
        progress=progress,
        should_stop=should_stop,
    )
    _write_sweep(result, request)
    return result


def _write_sweep(result: SweepResult, request: SweepRequest) -> None:
    folder, names = request.folder, ["result.json"]
    write_json(folder / "result.json", result.as_dict())
    if result.is_finished and result.question.goals:
        from designstudio.viz.figures import write_figures  # noqa: PLC0415
        from designstudio.viz.power import draw_power  # noqa: PLC0415  (imports the plotting stack)

        names += write_figures({"power": draw_power(result.tabulate_power())}, folder)
    texts = [f"{name}={','.join(f'{value:.12g}' for value in values)}" for name, values in result.grid.along.items()]
    varied = [part for text in texts for part in ("--along", text)]
    command = ["designstudio", "sweep", STUDY, "--design", result.grid.design, *varied, "--out", AGAIN]
    keep_run(folder, command, study=result.question, cost_file=request.cost_file, files=names)
