"""What `import designstudio as ds` offers: each command as one function.

They are the functions that the command line and the browser call, with a study, data or fits given as objects or as paths.
With a `folder` they leave there what the command leaves; without one they leave nothing. What they return shows itself on
one screen, and has `to_frame()` and `plot()`.
"""

import dataclasses
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import holoviews as hv

    from designstudio.core.presentation import AbstractResult
    from designstudio.core.progress import ProgressCallback
    from designstudio.evaluate.curves import PowerCurves
    from designstudio.evaluate.evaluate_study import StudyResult
    from designstudio.fitting.empirical_fit import EmpiricalFit
    from designstudio.fitting.fixed_values import GivenValue
    from designstudio.fitting.plan import Plan
    from designstudio.fitting.reading import LoadedData
    from designstudio.fitting.request import FitRequest
    from designstudio.search.search_result import SearchResult
    from designstudio.study import Study

AnyPath = str | os.PathLike[str]


def evaluate(
    study: "Study | AnyPath",
    *,
    fidelity: str | None = None,
    num_datasets: int | None = None,
    seed: int | None = None,
    folder: AnyPath | None = None,
    progress: "ProgressCallback | None" = None,
) -> "StudyResult":
    """Simulate, fit and score every design of a study.

    Args:
        study: the study, or its file.
        fidelity: `information`, `importance`, `nuts` or `paper`; by default the study's.
        num_datasets: simulated participants for each design; by default the study's.
        seed: of everything random; by default the study's.
        folder: where scores, summaries and figures are written.
        progress: called with a `Progress` as work gets done.

    Returns:
        Scores of all designs, and what they mean.
    """
    from designstudio.runs.evaluate import EvaluateRequest, run_evaluate  # noqa: PLC0415  (imported when it is used)

    request = EvaluateRequest(
        _as_study(study), fidelity=fidelity, num_datasets=num_datasets, seed=seed, folder=_as_path(folder)
    )
    return run_evaluate(request, progress=progress)


def power(
    study: "Study | AnyPath",
    along: str = "trials",
    values: Sequence[float] | None = None,
    *,
    target: float | None = None,
    participants: Sequence[int] | None = None,
    design: str | None = None,
    fidelity: str | None = None,
    num_datasets: int | None = None,
    seed: int | None = None,
    folder: AnyPath | None = None,
    progress: "ProgressCallback | None" = None,
) -> "PowerCurves":
    """The chance to reach each goal of a study along a variable of a design.

    Args:
        study: the study, or its file; it needs goals.
        along: `trials`, `participants`, a level such as `sigma[1]`, or a field of the stimuli such as `stimuli.high`.
        values: of that variable; by default 30, 60, 120 and 240. With a target, the fewest and the most that are tried.
        target: power for which the fewest participants are looked for; `along` is `participants` then.
        participants: numbers of participants, for power over participants and trials.
        design: name of the design that is varied; by default the study's first.
        fidelity: by default the study's.
        num_datasets: simulated participants for each point; by default the study's.
        seed: of everything random; by default the study's.
        folder: where curves and figure are written.
        progress: called with a `Progress` as work gets done.
    """
    from designstudio.runs.power import PowerRequest, run_power  # noqa: PLC0415

    request = PowerRequest(
        _as_study(study),
        along,
        values,
        participants=participants,
        design=design,
        fidelity=fidelity,
        num_datasets=num_datasets,
        seed=seed,
        folder=_as_path(folder),
        target=target,
    )
    return run_power(request, progress=progress)


def search(
    study: "Study | AnyPath",
    *,
    num_candidates: int | None = None,
    minutes: float | None = None,
    num_workers: int = 1,
    seed: int | None = None,
    folder: AnyPath | None = None,
    progress: "ProgressCallback | None" = None,
) -> "SearchResult":
    """Find the best design that a study allows, and check the finalists on fresh data sets.

    Args:
        study: the study, or its file; it needs a search.
        num_candidates: designs to try; by default 100, unless `minutes` says how long to search.
        minutes: how long to search.
        num_workers: processes that work at the same time. With one, the result depends on nothing but the study.
        seed: of everything random; by default the study's.
        folder: where the search keeps what it has finished, and finds it again to go on.
        progress: called with a `Progress` as work gets done.
    """
    from designstudio.runs.search import DEFAULT_BUDGET, SearchRequest, run_search  # noqa: PLC0415
    from designstudio.search.run_search import Budget  # noqa: PLC0415

    budget = DEFAULT_BUDGET if num_candidates is minutes is None else Budget(num_candidates, minutes)
    request = SearchRequest(_as_study(study), _as_path(folder), budget, seed=seed, num_workers=num_workers)
    return run_search(request, progress=progress)


def fit(
    data: "LoadedData | AnyPath",
    *,
    record: AnyPath | None = None,
    study: "Study | AnyPath | None" = None,
    design: str | None = None,
    fixed: "Mapping[str, GivenValue] | None" = None,
    costs: str | Sequence[str] | None = None,
    per_condition: Sequence[str] | None = None,
    request: "FitRequest | None" = None,
    pools: bool = False,
    columns: Mapping[str, str] | None = None,
    where: Sequence[str] = (),
    unit: str | None = None,
    seed: int | None = None,
    folder: AnyPath | None = None,
    progress: "ProgressCallback | None" = None,
) -> "EmpiricalFit":
    """Fit every participant under every cost, and compare the costs; or analyse as planned, and judge the plan's goals.

    Args:
        data: a table, a Psych-DS or BIDS folder, the word `example`, or what `read_data` has returned.
        record: the plan that was preregistered: it says how the data are analysed, and its goals are judged on them.
        study: the same from a study, or its file, that was not recorded.
        design: of that study, by default its first.
        fixed: known parameters: numbers, tables or their paths, or DataArrays, by name.
        costs: name of a cost, or of several; by default the paper's seven.
        per_condition: parameters with a value for each condition; by default what an expert would choose for the data.
        request: priors and settings, for those who want to say more; what is said here takes its place there.
        pools: whether subjects are also pooled partially.
        columns: the data's own names of columns, by role.
        where: which rows to keep, such as `block > 1`.
        unit: of stimulus and response.
        seed: of all random numbers.
        folder: where posteriors, results and figures are written, and costs that were finished before are found.
        progress: called with a `Progress` as work gets done.
    """
    from designstudio.errors import StudioError  # noqa: PLC0415
    from designstudio.fitting.fixed_values import read_fixed  # noqa: PLC0415
    from designstudio.fitting.reading import LoadedData  # noqa: PLC0415
    from designstudio.fitting.request import FitRequest  # noqa: PLC0415
    from designstudio.runs.fit import FitDataRequest, run_fit  # noqa: PLC0415
    from designstudio.runs.planned_fit import PlannedFitRequest, refuse_options, run_planned_fit  # noqa: PLC0415

    if record is not None or study is not None:
        plan = "record" if record is not None else "study"
        open_to_plan = {"costs": costs, "per_condition": per_condition, "request": request, "pools": pools, "seed": seed}
        refuse_options({**open_to_plan, "where": tuple(where) or None}, plan)
        if isinstance(data, LoadedData):
            raise StudioError(f"With {plan} the data are read as it says: give their path.")
        planned = PlannedFitRequest(
            os.fspath(data),
            _as_path(record),
            None if study is None else _as_study(study),
            design,
            fixed or {},
            columns=columns or {},
            unit=unit,
            folder=_as_path(folder),
        )
        return run_planned_fit(planned, progress=progress)
    names = (costs,) if isinstance(costs, str) else costs
    said = {
        "costs": None if names is None else tuple(names),
        "per_condition": None if per_condition is None else tuple(per_condition),
        "pools": pools or None,
        "seed": seed,
        "fixed": None if fixed is None else read_fixed(fixed),
    }
    given: dict[str, Any] = {name: value for name, value in said.items() if value is not None}
    whole = FitDataRequest(
        data if isinstance(data, LoadedData) else os.fspath(data),
        dataclasses.replace(FitRequest() if request is None else request, **given),
        chooses_conditions=per_condition is None,
        columns=columns or {},
        where=tuple(where),
        unit=unit,
        folder=_as_path(folder),
    )
    return run_fit(whole, progress=progress)


def plan(
    fit: "EmpiricalFit | AnyPath",
    *,
    cost: str | None = None,
    num_datasets: int = 100,
    folder: AnyPath | None = None,
    progress: "ProgressCallback | None" = None,
) -> "Plan":
    """The study that the fits of a pilot suggest, and how precisely it predicts the pilot.

    Args:
        fit: what `fit` has returned, or its folder.
        cost: which of the fits; by default those of the cost that predicts best.
        num_datasets: simulated participants to check the plan with; 0 for no check.
        folder: where the study, the check and its figure are written.
        progress: called with a `Progress` as work gets done.
    """
    from designstudio.fitting.empirical_fit import EmpiricalFit  # noqa: PLC0415
    from designstudio.runs.plan import PlanRequest, run_plan  # noqa: PLC0415

    source = fit if isinstance(fit, EmpiricalFit) else Path(fit)
    return run_plan(PlanRequest(source, cost, num_datasets, folder=_as_path(folder)), progress=progress)


def report(folder: AnyPath, *, out: AnyPath | None = None) -> Path:
    """Write one page about a run: an evaluation, a search, a sweep or a fit.

    Args:
        folder: of the run.
        out: the page to write; by default report.html in the folder.

    Returns:
        The path of the page.
    """
    from designstudio.runs.report import ReportRequest, run_report  # noqa: PLC0415

    return run_report(ReportRequest(Path(folder), _as_path(out)))


def plot(result: "AbstractResult", **options: Any) -> "hv.Layout":
    """A result as HoloViews figure, which notebooks show as a picture.

    Args:
        result: of any function of this module.
        options: `figure`, the name of one of the figures of this kind of result, and what that figure takes; see the
            functions of `designstudio.viz.plots`.

    Raises:
        StudioError: if there is no such figure.
    """
    from designstudio.viz.plots import enable_display, plot_result  # noqa: PLC0415  (imports the plotting stack)

    enable_display()
    return plot_result(result, **options)


def _as_study(study: "Study | AnyPath") -> "Study | Path":
    return Path(study) if isinstance(study, str | os.PathLike) else study


def _as_path(path: AnyPath | None) -> Path | None:
    return None if path is None else Path(path)
