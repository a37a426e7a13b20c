"""`fit`: which cost explains these participants, and what are their parameters?"""

import dataclasses
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import xarray as xr

from designstudio.core.files import read_json, replace_file
from designstudio.core.progress import ProgressCallback, report_stage
from designstudio.core.run_record import AGAIN, name_from
from designstudio.errors import StudioError
from designstudio.fitting.data_checks import check_data
from designstudio.fitting.empirical_fit import EmpiricalFit
from designstudio.fitting.fit_folder import ESTIMATES, REQUEST, RESULT, TRIALS, save_fit
from designstudio.fitting.fit_subjects import fit_subjects
from designstudio.fitting.planned import PlannedAnalysis
from designstudio.fitting.posterior_cache import locate
from designstudio.fitting.reading import LoadedData, example_path, read_data
from designstudio.fitting.reading.load import MIN_TRIALS
from designstudio.fitting.request import FitRequest
from designstudio.fitting.units import OTHER_STIMULI, compare_stimuli
from designstudio.inference.hierarchical import PoolingSettings
from designstudio.model.family import DEFAULT_FAMILY
from designstudio.model.likelihood.lapses import NO_LAPSES
from designstudio.model.scale import Scale
from designstudio.model.trials import load_trials
from designstudio.runs.folder import Notify, check_folder, check_kind, ignore, keep_run, use_cost_file
from designstudio.runs.jobs.job import FIT

EXAMPLE = "example"


@dataclasses.dataclass(frozen=True)
class FitDataRequest:
    """What is to be fitted to which data.

    Attributes:
        data: a table, a Psych-DS or BIDS folder, the word `example`, or data that were read already.
        fit: costs, fixed values and settings.
        chooses_conditions: whether parameters that differ between conditions are chosen, if `fit` names none.
        columns: the data's own names of columns, by role.
        where: which rows to keep.
        unit: of stimulus and response.
        min_trials: subjects with fewer trials are left out.
        num_drawn: subjects whose predictions are drawn.
        name: of the data; by default that of the file.
        folder: where posteriors, results and figures are written, and costs that were finished before are found.
        cost_file: a user's file of costs, which is executed.
    """

    data: LoadedData | Path | str
    fit: FitRequest = dataclasses.field(default_factory=FitRequest)
    chooses_conditions: bool = True
    columns: Mapping[str, str] = dataclasses.field(default_factory=dict)
    where: tuple[str, ...] = ()
    unit: str | None = None
    min_trials: int = MIN_TRIALS
    num_drawn: int = 6
    name: str | None = None
    folder: Path | None = None
    cost_file: Path | None = None


def run_fit(request: FitDataRequest, *, progress: ProgressCallback | None = None, notify: Notify = ignore) -> EmpiricalFit:
    """Fit every participant under every cost, and write the folder of the run.

    Args:
        request: what is to be fitted.
        progress: called as work gets done; what it raises ends the work, of which finished costs are kept.
        notify: told what was read and what was chosen.
    """
    use_cost_file(request.cost_file)
    check_folder(request.folder)
    loaded, name = _load(request)
    fit, notes = choose_conditions(request.fit, loaded) if request.chooses_conditions else (request.fit, [])
    # What only Python can ask has no command.
    is_repeatable = not isinstance(request.data, LoadedData) and not fit.priors and not fit.own_priors and not fit.is_exact
    task = FitTask(
        loaded,
        fit,
        name,
        request.folder,
        request.num_drawn,
        request.cost_file,
        (lambda fixed, folder: _write_command(fit, request, fixed, folder)) if is_repeatable else None,
        notes=tuple(notes),
    )
    return fit_and_write(task, progress=progress, notify=notify)


@dataclasses.dataclass(frozen=True)
class FitTask:
    """A fit whose data were read and whose choices were made.

    Attributes:
        loaded: the data. fit: what is fitted. name: of the data.
        folder: of the run. num_drawn: subjects whose predictions are drawn. cost_file: a user's file of costs.
        write_command: gives the command that repeats the fit, from names of files of known values and the folder; None if no
            command does.
        notes: what was chosen for the user.
        scale: between the unit of the data and the actor's; by default what suits the data.
        plan: the analysis that was planned, if this is one.
        files: names of what `write_command` writes.
    """

    loaded: LoadedData
    fit: FitRequest
    name: str
    folder: Path | None
    num_drawn: int
    cost_file: Path | None
    write_command: Callable[[Mapping[str, str], Path], list[str]] | None
    notes: tuple[str, ...] = ()
    scale: Scale | None = None
    plan: PlannedAnalysis | None = None
    files: tuple[str, ...] = ()


def fit_and_write(task: FitTask, *, progress: ProgressCallback | None = None, notify: Notify = ignore) -> EmpiricalFit:
    """Check the data, fit them, and write the folder of the run; see `run_fit`."""
    if task.num_drawn < 0:
        raise StudioError(f"--draw must be 0 or more, but {task.num_drawn} was given.")
    # Before anything is compiled: data that no fit could make sense of are refused here.
    doubts = check_data(task.loaded.trials, allows_lapses=task.fit.lapses != NO_LAPSES)
    for sentence in (*task.loaded.report.sentences(), *doubts, *task.notes):
        notify(sentence)
    if task.folder is not None:
        check_same_data(task.folder, task.loaded.trials, task.plan)
    report_stage(progress, "compiling")
    result = fit_subjects(
        task.loaded, task.fit, name=task.name, folder=task.folder, scale=task.scale, plan=task.plan, progress=progress
    )
    if task.folder is not None:
        report_stage(progress, "drawing figures")
        _write_fit(result, task, task.folder)
    return result


def check_same_data(folder: Path, trials: xr.Dataset, plan: PlannedAnalysis | None) -> None:
    """Refuse a folder that holds something else than fits of these data, planned as they are now.

    Raises:
        StudioError: naming the folder.
    """
    check_kind(folder, FIT)
    found = read_json(folder / REQUEST)
    if (folder / TRIALS).is_file():
        try:
            kept = load_trials(folder / TRIALS)
        except StudioError:
            # Damaged: written anew.
            kept = trials
        if not _is_same(kept, trials):
            raise StudioError(f"'{folder}' holds fits of other data: choose another folder with --out.")
    if found:
        before = (found.get("plan") or {}).get("fingerprint")
        if before != (None if plan is None else plan.fingerprint):
            held = "a fit without a plan" if before is None else f"the fit that was planned as {str(before)[:16]}"
            raise StudioError(f"'{folder}' holds {held}: choose another folder with --out.")


def _is_same(one: xr.Dataset, other: xr.Dataset) -> bool:
    """Whether two data sets of trials hold the same trials of the same subjects."""
    names = ("stimulus", "response", "condition_index", "is_present", "subject", "condition")
    arrays = [(one[name].values, other[name].values) for name in names]
    is_equal = all(np.array_equal(a, b, equal_nan=a.dtype.kind == "f") for a, b in arrays)
    return is_equal and one["stimulus"].attrs["units"] == other["stimulus"].attrs["units"]


def _load(request: FitDataRequest) -> tuple[LoadedData, str]:
    if isinstance(request.data, LoadedData):
        return request.data, request.name or "data"
    path = example_path() if request.data == EXAMPLE else Path(request.data)
    reading = {"columns": request.columns, "where": request.where, "unit": request.unit, "min_trials": request.min_trials}
    return read_data(path, **reading), path.stem if request.name is None else request.name  # type: ignore[arg-type]


def choose_conditions(request: FitRequest, loaded: LoadedData) -> tuple[FitRequest, list[str]]:
    """What differs between conditions: what was asked for, or else what an expert would choose; and what to know of it."""
    noise, location = DEFAULT_FAMILY.perceptual_noise, DEFAULT_FAMILY.prior_location
    if request.per_condition or loaded.report.num_conditions < 2 or noise.name in request.fixed:
        return request, []
    notes = [f"Conditions are taken to differ in {noise.meaning} ({noise.name}) only: choose others with --per-condition."]
    ratio = compare_stimuli(loaded.trials)
    if ratio > OTHER_STIMULI:
        notes.append(
            f"But their mean stimuli differ by a factor of {ratio:.2f}: if people can expect other stimuli in each, "
            f"--per-condition {location.name} is the better choice."
        )
    return dataclasses.replace(request, per_condition=(noise.name,)), notes


def _write_fit(result: EmpiricalFit, task: FitTask, folder: Path) -> None:
    """Posteriors, results, figures, and the command that repeats the fit."""
    from designstudio.viz import fits  # noqa: PLC0415  (imports the plotting stack)
    from designstudio.viz.figures import write_figures  # noqa: PLC0415

    save_fit(result, folder)
    names = [RESULT, REQUEST, TRIALS, ESTIMATES]
    names += [locate(folder, "posterior", cost).name for cost in result.posteriors]
    names += [locate(folder, "pooled", cost).name for cost in result.pooled]
    figures = write_figures(fits.draw_fit(result, subjects=result.subjects[: task.num_drawn]), folder)
    fixed = {name: _write_fixed(name, value, folder) for name, value in result.request.fixed.items()}
    names += [text for text in fixed.values() if text.endswith(".csv")]
    names += task.files
    command = [] if task.write_command is None else task.write_command(fixed, folder)
    keep_run(folder, command, cost_file=task.cost_file if command else None, files=[*names, *figures])


def _write_fixed(name: str, value: float | xr.DataArray, folder: Path) -> str:
    """A known value as a command names it: a number, or a table in the folder."""
    if not isinstance(value, xr.DataArray):
        return repr(float(value))
    file = f"fixed_{name}.csv"
    with replace_file(folder / file) as part:
        value.rename(name).to_dataframe()[[name]].reset_index().to_csv(part, index=False)
    return file


def _write_spread(pooling: PoolingSettings) -> list[str]:
    pairs = [("", pooling.spread_share)] if pooling.spread_share != PoolingSettings.spread_share else []
    pairs += [(f"{name}=", share) for name, share in pooling.spread_shares.items()]
    return [part for name, share in pairs for part in ("--group-spread", f"{name}{share:g}")]


def _write_command(fit: FitRequest, request: FitDataRequest, fixed: Mapping[str, str], folder: Path) -> list[str]:
    """The command that repeats a fit: what was chosen for the user is in it, too."""
    data = str(request.data)
    command = ["designstudio", "fit", data if data == EXAMPLE else name_from(data, folder)]
    command += ["--costs", ",".join(fit.costs), "--per-condition", ",".join(fit.per_condition) or "none"]
    pairs = [("--where", text) for text in request.where]
    pairs += [("--column", f"{role}={column}") for role, column in request.columns.items()]
    pairs += [("--fixed", f"{name}={text}") for name, text in fixed.items()]
    command += [part for pair in pairs for part in pair]
    command += ["--unit", request.unit] if request.unit is not None else []
    command += ["--min-trials", str(request.min_trials), "--method", fit.settings.method]
    command += ["--draws", str(fit.settings.num_draws), "--seed", str(fit.seed)]
    command += ["--lapses", str(fit.lapses), "--interval", f"{fit.interval:.12g}"]
    command += ["--pool", *_write_spread(fit.pooling)] if fit.pools else []
    command += ["--draw", str(request.num_drawn)]
    command += [part for path in fit.actors.values() for part in ("--actor", name_from(path, folder))]
    return [*command, "--out", AGAIN]
