"""`load_run`: the result of a run, read back from its folder; nothing is simulated or fitted again."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from designstudio.core.files import name_file
from designstudio.errors import StudioError
from designstudio.evaluate import curves
from designstudio.evaluate.curves import PowerCurves
from designstudio.evaluate.evaluate_study import StudyResult
from designstudio.evaluate.results import Evaluation, score_evaluation
from designstudio.fitting.empirical_fit import EmpiricalFit
from designstudio.fitting.fit_folder import load_fit
from designstudio.metrics.comparison import COUNTS, ModelRecovery
from designstudio.metrics.monte_carlo import Score, scores_from_dict
from designstudio.metrics.power import PowerScore
from designstudio.report.run_results import EVALUATION, FIT, SEARCH, find_kind, find_study, read_result
from designstudio.runs.power import CURVES, load_points
from designstudio.runs.search import name_fresh
from designstudio.search.feasible import find_design
from designstudio.search.finalists import Verification, compare_contenders
from designstudio.search.job import get_plan
from designstudio.search.ranking import build_contender
from designstudio.search.records import CandidateRecord
from designstudio.search.resolution import read_resolution
from designstudio.search.search_result import SearchResult, list_recorded
from designstudio.search.sweep import Grid, SweepResult
from designstudio.study import Study
from designstudio.study.design import Design

RunResult = StudyResult | SearchResult | SweepResult | PowerCurves | EmpiricalFit


def load_run(folder: Path | str, *, study: Path | str | None = None) -> RunResult:
    """The result of a finished run.

    Args:
        folder: that evaluate, search, sweep, power or fit has left.
        study: the study file, for folders of older versions that keep none.

    Raises:
        StudioError: if the folder holds no finished run, or lacks something.
    """
    source = Path(folder)
    if (source / CURVES).is_file():
        return _load_power(source)
    record = read_result(source)
    kind = find_kind(record)
    try:
        if kind == FIT:
            return load_fit(source)
        question = find_study(source, None if study is None else Path(study))
        if kind == EVALUATION:
            return _load_evaluations(source, record, question)
        return _load_search(source, record, question) if kind == SEARCH else _load_sweep(record, question)
    except (KeyError, TypeError, AttributeError, IndexError) as error:
        raise StudioError(
            f"The results in '{source}' are not complete ({type(error).__name__}: {error}): run the command of this folder "
            "again."
        ) from error


def load_evaluation(folder: Path | str, *, study: Path | str | None = None) -> StudyResult:
    """The result of a finished evaluation; see `load_run`.

    Raises:
        StudioError: if it was another command.
    """
    result = load_run(folder, study=study)
    if not isinstance(result, StudyResult):
        raise StudioError(f"'{folder}' holds no evaluation: give a folder that designstudio evaluate --out has written.")
    return result


def _load_evaluations(folder: Path, record: Mapping[str, Any], study: Study) -> StudyResult:
    entries = {entry["name"]: entry for entry in record["designs"]}
    evaluations = tuple(
        _load_evaluation(folder / f"{name_file(design.name)}.nc", entries[design.name], study, design)
        for design in study.designs
    )
    recovery = {
        name: _read_recovery(entry["model_recovery"]) for name, entry in entries.items() if "model_recovery" in entry
    }
    return StudyResult(study, evaluations, recovery, tuple(record["verdict"]))


def _load_evaluation(path: Path, entry: Mapping[str, Any], study: Study, design: Design) -> Evaluation:
    """One design, scored again from what was kept of every fit."""
    if not path.is_file():
        raise StudioError(f"'{path.parent}' holds no {path.name}: run the command of this folder again.")
    try:
        summaries = xr.load_dataset(path, engine="h5netcdf")
    except (OSError, ValueError, KeyError) as error:
        raise StudioError(f"'{path}' cannot be read ({error}): run the command of this folder again.") from None
    return score_evaluation(
        study,
        design,
        entry["fidelity"],
        summaries,
        seconds=float(entry["seconds"]),
        is_cached=bool(entry["is_cached"]),
        power={goal: _read_power(score, entry) for goal, score in entry["power"].items()},
    )


def _load_search(folder: Path, record: Mapping[str, Any], study: Study) -> SearchResult:
    records = tuple(_read_candidate(entry, study) for entry in list_recorded(record))
    return SearchResult(
        study,
        str(record["name"]),
        records,
        _load_verification(folder, record, study, records),
        seconds=float(record["seconds"]),
        importance=dict(record["importance"]),
        screened=int(record["screened"]),
        resolution=tuple(read_resolution(entry) for entry in record.get("resolution", [])),
    )


def _load_verification(
    folder: Path, record: Mapping[str, Any], study: Study, records: tuple[CandidateRecord, ...]
) -> Verification | None:
    """Finalists on fresh data; None if the search was stopped before, or older versions have kept no fits of theirs."""
    entries = [*record.get("finalists", []), *record.get("references", [])]
    names = [name_fresh(entry["evaluation"]["name"]) for entry in entries]
    if "finalists" not in record or not all((folder / name).is_file() for name in names):
        return None
    by_number, plan = {candidate.number: candidate for candidate in records}, get_plan(study)
    finalists = []
    for entry in record["finalists"]:
        candidate, name = by_number[int(entry["number"])], entry["evaluation"]["name"]
        design = find_design(plan, candidate.parameters, name)
        assert design is not None  # noqa: S101  (it was evaluated)
        evaluation = _load_evaluation(folder / name_fresh(name), entry["evaluation"], study, design)
        finalists.append(build_contender(study, evaluation, candidate))
    references = [
        build_contender(study, _load_evaluation(folder / name_fresh(design.name), entry["evaluation"], study, design), None)
        for design, entry in zip(study.designs, record["references"], strict=False)
    ]
    # Ranked anew: what earlier versions have kept was ranked by the data that chose it.
    return compare_contenders(study, finalists, references)


def _read_candidate(entry: Mapping[str, Any], study: Study) -> CandidateRecord:
    scores = scores_from_dict(entry["values"])
    exceeds: dict[str, float] = {}
    for constraint in get_plan(study).all_constraints if scores else ():
        if constraint.objective.label not in scores:
            raise StudioError(
                f"This search did not know '{constraint.objective.label}': an older version has made it; search again."
            )
        over = constraint.exceed(*scores[constraint.objective.label])
        exceeds[constraint.label] = over if math.isfinite(over) else math.inf
    return CandidateRecord(
        int(entry["number"]),
        str(entry["state"]),
        dict(entry["parameters"]),
        dict(entry["design"]),
        scores,
        int(entry["num_datasets"]),
        int(entry["num_failed"]),
        exceeds,
        entry["beaten_by"],
        float(entry["seconds"]),
        int(entry["compilations"]),
        str(entry["worker"]),
    )


def _load_sweep(record: Mapping[str, Any], study: Study) -> SweepResult:
    along = {name: tuple(float(value) for value in values) for name, values in record["along"].items()}
    points = tuple((dict(point["values"]), dict(point["evaluation"])) for point in record["points"])
    return SweepResult(study, Grid(str(record["design"]), along, study.fidelity, study.num_datasets), points)


def _load_power(folder: Path) -> PowerCurves:
    study = find_study(folder, None)
    points = load_points(folder)
    return PowerCurves(study, study.design(str(points.attrs["design"])), points)


def _read_power(entry: Mapping[str, Any], of: Mapping[str, Any]) -> PowerScore:
    """Power of a goal of an evaluation; results of older versions do not have what it is without the effect."""
    absent = entry.get("when_absent")
    # They count failed fits once for all goals.
    earlier = {"num_datasets": of["num_datasets"], "num_failed": of["convergence"]["failed"]}
    counts = {name: int(entry.get(name, earlier.get(name, 0))) for name in curves.COUNTS}
    type_s, type_m = (None if entry.get(name) is None else Score.from_dict(entry[name]) for name in ("type_s", "type_m"))
    return PowerScore(
        *Score.from_dict(entry),
        when_absent=None if absent is None else Score.from_dict(absent),
        absent=str(entry.get("absent", "it was not computed: run the command of this folder again")),
        nominal=entry.get("nominal"),
        kind=str(entry.get("kind", "")),
        rule=str(entry.get("rule", "")),
        type_s=type_s,
        type_m=type_m,
        **counts,
    )


def _read_recovery(entry: Mapping[str, Any]) -> ModelRecovery:
    costs = list(entry["confusion"])
    coords = {"simulated": costs, "fitted": costs}

    def tabulate(table: Mapping[str, Mapping[str, Any]], key: str | None = None) -> xr.DataArray:
        numbers = [[_number(cell if key is None else cell[key]) for cell in table[cost].values()] for cost in costs]
        return xr.DataArray(np.array(numbers), coords, ("simulated", "fitted"))

    def list_costs(numbers: list[Any]) -> xr.DataArray:
        return xr.DataArray(numbers, {"simulated": costs}, ("simulated",))

    # Earlier versions named a winner of every data set that was fitted, and counted the others.
    undecided = entry.get("undecided", {cost: {"value": 0.0, "mcse": 0.0} for cost in costs})
    none = dict.fromkeys(costs, 0)
    earlier = {**dict.fromkeys(COUNTS, none), "num_failed": entry.get("num_undecided", none)}
    counts = entry if "undecided" in entry else earlier
    return ModelRecovery(
        tabulate(entry["confusion"], "value"),
        tabulate(entry["confusion"], "mcse"),
        tabulate(entry["inversion"]),
        list_costs([_number(undecided[cost]["value"]) for cost in costs]),
        list_costs([_number(undecided[cost]["mcse"]) for cost in costs]),
        xr.Dataset({name: list_costs([int(counts[name][cost]) for cost in costs]) for name in COUNTS}),
    )


def _number(value: float | None) -> float:
    return math.nan if value is None else float(value)
