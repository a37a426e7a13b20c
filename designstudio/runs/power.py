"""`power`: what more trials or participants would buy."""

import dataclasses
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import xarray as xr

from designstudio.core.files import replace_file, write_json
from designstudio.core.progress import ProgressCallback, report_stage
from designstudio.core.run_record import AGAIN, STUDY
from designstudio.errors import StudioError
from designstudio.evaluate.curves import (
    NUMBERS,
    PARTICIPANTS,
    WORDS,
    PowerCurves,
    check_values,
    frame_points,
    map_power,
    read_power,
    tabulate_sizes,
    trace_power,
    vary_design,
    warn_of_curves,
)
from designstudio.evaluate.find_size import FEWEST, MOST, find_sizes
from designstudio.evaluate.goals import bound_power
from designstudio.runs.evaluate import announce_edges_along, announce_time
from designstudio.runs.folder import (
    Notify,
    check_folder,
    check_same_study,
    ignore,
    keep_run,
    resolve_study,
    use_cost_file,
)
from designstudio.runs.jobs.job import POWER
from designstudio.study import Study
from designstudio.study.design import Design

TRIALS = "trials"
VALUES = (30, 60, 120, 240)
CURVES, TABLE = "power.nc", "power.csv"


@dataclasses.dataclass(frozen=True)
class PowerRequest:
    """Along what power is to be computed.

    Attributes:
        study: the question, with goals, or its file.
        along: `trials`, `participants`, a level such as `sigma[1]`, or a field of the stimuli such as `stimuli.high`.
        values: of that variable; by default 30, 60, 120 and 240. With a target, the fewest and the most that are tried.
        participants: numbers of participants, for power over participants and trials; `along` is `trials` then.
        design: name of the design to vary; by default the study's first.
        fidelity: in place of the study's.
        num_datasets: simulated participants for each point, in place of the study's.
        seed: of everything random, in place of the study's.
        folder: where curves and figure are written; nowhere if None.
        cost_file: a user's file of costs, which is executed.
        target: power for which the fewest participants are looked for, by goals of whole studies; `along` is
            `participants` then.
    """

    study: Study | Path | str
    along: str = TRIALS
    values: Sequence[float] | None = None
    participants: Sequence[float] | None = None
    design: str | None = None
    fidelity: str | None = None
    num_datasets: int | None = None
    seed: int | None = None
    folder: Path | None = None
    cost_file: Path | None = None
    target: float | None = None


def run_power(request: PowerRequest, *, progress: ProgressCallback | None = None, notify: Notify = ignore) -> PowerCurves:
    """The chance to reach each goal of a study along a variable of its design; writes the folder of the run.

    Args:
        request: along what.
        progress: called as work gets done; what it raises ends the work, of which finished blocks are kept.
        notify: told how long it will take, if that is long, and who lies outside of analysis prior or actor.
    """
    use_cost_file(request.cost_file)
    check_folder(request.folder)
    study = resolve_study(request.study)
    study = study.replace(fidelity=request.fidelity, num_datasets=request.num_datasets, seed=request.seed)
    check_same_study(request.folder, POWER, study)
    design = study.choose_design(request.design)
    if request.target is None:
        result = PowerCurves(
            study, design, _trace(study, design, request, progress, notify).assign_attrs(design=design.name)
        )
    else:
        result = _find_sizes(study, design, request, request.target, progress)
    if request.folder is not None:
        report_stage(progress, "drawing figures")
        _write_power(result, request, request.folder)
    return result


def _trace(
    study: Study, design: Design, request: PowerRequest, progress: ProgressCallback | None, notify: Notify
) -> xr.Dataset:
    """Power along one variable or two."""
    values = VALUES if request.values is None else request.values
    check_values(request.along, values)
    # More participants need no more simulations.
    designs = [vary_design(design, request.along, value) for value in values]
    announce_time(study, designs, notify)
    announce_edges_along(study, {f"{request.along} {v:g}": d for v, d in zip(values, designs, strict=True)}, notify)
    report_stage(progress, "compiling")
    if request.participants is None:
        return trace_power(study, design, request.along, list(values), progress=progress)
    if request.along != TRIALS:
        raise StudioError(f"--participants goes with --along trials, but --along {request.along} was given.")
    trials, participants = (
        _as_counts(name, given) for name, given in ((TRIALS, values), (PARTICIPANTS, request.participants))
    )
    return map_power(study, design, trials=trials, participants=participants, progress=progress)


def _find_sizes(
    study: Study, design: Design, request: PowerRequest, target: float, progress: ProgressCallback | None
) -> PowerCurves:
    """The fewest participants that reach a target."""
    if request.along != PARTICIPANTS:
        raise StudioError(f"--target goes with --along participants, but --along {request.along} was given.")
    if request.participants is not None:
        raise StudioError("--target takes no --participants: --values 10,80 says between what they are looked for.")
    if request.num_datasets is not None:
        raise StudioError("--target takes no --datasets: studies are simulated until the answer is precise.")
    tried = _as_counts(PARTICIPANTS, (FEWEST, MOST) if request.values is None else request.values)
    report_stage(progress, "compiling")
    found = find_sizes(study, design, target, fewest=min(tried), most=max(tried), progress=progress)
    points = tabulate_sizes(found.powers).assign_attrs(design=design.name, target=target)
    return PowerCurves(study, design, points, found.answers)


def load_points(folder: Path) -> xr.Dataset:
    """Power that a run has computed, over goal and variables; see `designstudio.evaluate.curves`.

    Raises:
        StudioError: if the folder holds none, or one of an older version, without false-positive rates.
    """
    try:
        points = xr.load_dataset(folder / CURVES, engine="h5netcdf")
    except (OSError, ValueError, KeyError):
        raise StudioError(f"'{folder.name}' holds no power: compute it again.") from None
    if not set(NUMBERS) <= set(points):
        raise StudioError(f"'{folder.name}' holds power without its false-positive rate: compute it again.")
    return points


def describe_power(result: PowerCurves) -> dict[str, Any]:
    """Power as plain data, for JSON."""
    points = result.points
    goals = {
        str(goal): {name: _plain(points[name].sel(goal=goal).item()) for name in ("nominal", *WORDS)}
        for goal in points["goal"].values
    }
    rows = [_describe_point(points, row) for row in frame_points(points).to_dict("records")]
    unit = result.study.describe_unit()
    described = {"design": result.design.name, **unit, "goals": goals, "points": rows, "warnings": warn_of_curves(points)}
    return {**described, "answers": [answer.as_dict() for answer in result.answers]} if result.answers else described


def _describe_point(points: xr.Dataset, row: dict[str, Any]) -> dict[str, Any]:
    """The numbers of a point, and between what its chances lie if many fits have failed; null if few have."""
    power = read_power(points.sel({str(dim): row[str(dim)] for dim in points["value"].dims}))
    present, absent = (None if bounds is None else list(bounds) for bounds in bound_power(power))
    return {**{name: _plain(value) for name, value in row.items()}, "bounds": present, "bounds_when_absent": absent}


def _write_power(result: PowerCurves, request: PowerRequest, folder: Path) -> None:
    """Curves as netCDF, CSV and JSON, and their figure."""
    from designstudio.viz.figures import write_figures  # noqa: PLC0415  (imports the plotting stack)
    from designstudio.viz.power import draw_power  # noqa: PLC0415

    folder.mkdir(parents=True, exist_ok=True)
    write_json(folder / "result.json", describe_power(result))
    with replace_file(folder / CURVES) as part:
        result.points.to_netcdf(part, engine="h5netcdf")
    with replace_file(folder / TABLE) as part:
        result.to_frame().to_csv(part, index=False)
    names = [
        "result.json",
        CURVES,
        TABLE,
        *write_figures({"power": draw_power(result.points, **find_target(result))}, folder),
    ]
    command = ["designstudio", "power", STUDY, "--design", result.design.name, "--along", request.along]
    command += [] if request.target is None else ["--target", f"{request.target:.12g}"]
    values = VALUES if request.values is None and request.target is None else request.values
    command += [] if values is None else ["--values", _join(values)]
    command += [] if request.participants is None else ["--participants", _join(request.participants)]
    keep_run(folder, [*command, "--out", AGAIN], study=result.study, cost_file=request.cost_file, files=names)


def find_target(result: PowerCurves) -> dict[str, float]:
    """Of the line in a figure, if a target was asked for."""
    return {"target": result.answers[0].target} if result.answers else {}


def _plain(value: Any) -> Any:
    """For JSON, which has no NaN."""
    if isinstance(value, str | int):
        return value
    return None if math.isnan(value) else float(value)


def _as_counts(variable: str, values: Sequence[float]) -> list[int]:
    check_values(variable, values)
    for value in values:
        if value != int(value):
            raise StudioError(f"{variable} must be whole numbers, but {value:g} was given.")
    return [int(value) for value in values]


def _join(values: Sequence[float]) -> str:
    return ",".join(f"{value:.12g}" for value in values)
