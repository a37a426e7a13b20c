"""`plan`: from the fits of a pilot to the study of the next experiment."""

import dataclasses
from pathlib import Path
from typing import Any

from designstudio.core.files import check_file, replace_file, write_json
from designstudio.core.progress import ProgressCallback, report_stage
from designstudio.core.run_record import AGAIN, name_from
from designstudio.errors import StudioError
from designstudio.fitting.empirical_fit import EmpiricalFit
from designstudio.fitting.fit_folder import load_fit
from designstudio.fitting.plan import Plan, compare_precision, plan_study
from designstudio.fitting.plan_words import describe_pilot, describe_population, list_notes
from designstudio.runs.folder import check_folder, keep_run, use_cost_file
from designstudio.study import write_study
from designstudio.study.schema.priors import write_prior

PLANNED, PRECISION = "study.toml", "precision.nc"
FEWEST_DATASETS = 10


@dataclasses.dataclass(frozen=True)
class PlanRequest:
    """What is to be planned.

    Attributes:
        fit: of the pilot, or its folder.
        cost: which of the fits; by default those of the cost that predicts best.
        num_datasets: simulated participants to check the plan with; 0 for no check.
        out: a study file to write.
        replaces: whether that file may be replaced.
        folder: where the study, the check and its figure are written; nowhere if None.
        cost_file: a user's file of costs, which is executed.
    """

    fit: EmpiricalFit | Path | str
    cost: str | None = None
    num_datasets: int = 100
    out: Path | None = None
    replaces: bool = False
    folder: Path | None = None
    cost_file: Path | None = None


def run_plan(request: PlanRequest, *, progress: ProgressCallback | None = None) -> Plan:
    """Turn fitted subjects into a study, and compare how precisely they were fitted with what the study predicts.

    Args:
        request: what is to be planned.
        progress: called as work gets done; what it raises ends the work.
    """
    use_cost_file(request.cost_file)
    check_folder(request.folder)
    check_file(request.out)
    if request.out is not None and request.out.exists() and not request.replaces:
        raise StudioError(f"There is a file '{request.out}' already: choose another name, or replace it with --force.")
    if request.num_datasets != 0 and request.num_datasets < FEWEST_DATASETS:
        raise StudioError(
            f"--datasets needs at least {FEWEST_DATASETS}, or 0 for no check, but {request.num_datasets} was given."
        )
    fit = request.fit if isinstance(request.fit, EmpiricalFit) else load_fit(request.fit)
    study = plan_study(fit, request.cost)
    notes = list_notes(fit, study)
    if request.out is not None:
        write_study(study, request.out, notes=notes, overwrite=request.replaces)
    precision = None
    if request.num_datasets:
        report_stage(progress, "compiling")
        precision = compare_precision(fit, study, num_datasets=request.num_datasets, progress=progress)
    result = Plan(fit, study, tuple(notes), precision)
    if request.folder is not None:
        report_stage(progress, "drawing figures")
        _write_plan(result, request, request.folder)
    return result


def describe_plan(plan: Plan) -> dict[str, Any]:
    """A plan as plain data, for JSON."""
    fit, study = plan.fit, plan.study
    return {
        "data": fit.name,
        "cost": study.cost,
        "unit": fit.scale.unit,
        "factor": fit.scale.factor,
        "notes": list(plan.notes),
        "population": {name: write_prior(prior) for name, prior in study.population.priors.items()},
        "population_in_words": describe_population(study),
        "pilot": describe_pilot(study),
        "precision": [] if plan.precision is None else plan.to_frame().to_dict("records"),
    }


def _write_plan(plan: Plan, request: PlanRequest, folder: Path) -> None:
    """The study, the check as netCDF and JSON, and its figure."""
    folder.mkdir(parents=True, exist_ok=True)
    write_study(plan.study, folder / PLANNED, notes=list(plan.notes), overwrite=True)
    write_json(folder / "result.json", describe_plan(plan))
    names = [PLANNED, "result.json"]
    if plan.precision is not None:
        from designstudio.viz.figures import write_figures  # noqa: PLC0415  (imports the plotting stack)
        from designstudio.viz.precision import draw_precision  # noqa: PLC0415

        with replace_file(folder / PRECISION) as part:
            plan.precision.to_netcdf(part, engine="h5netcdf")
        title = f"{plan.fit.name}: planned and achieved precision"
        names += [PRECISION, *write_figures({"precision": draw_precision(plan.precision, title=title)}, folder)]
    command: list[str] = []
    if not isinstance(request.fit, EmpiricalFit):
        command = ["designstudio", "plan", "--from", name_from(request.fit, folder), "--cost", plan.study.cost]
        command += ["--datasets", str(request.num_datasets), "--out", AGAIN]
    keep_run(folder, command, cost_file=request.cost_file if command else None, files=names)
