"""`evaluate`: simulate, fit and score every design of a study."""

import dataclasses
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from designstudio.core.durations import format_estimate
from designstudio.core.files import name_file, replace_file, write_json
from designstudio.core.progress import ProgressCallback, report_stage
from designstudio.core.run_record import AGAIN, STUDY
from designstudio.core.tables import write_csv
from designstudio.evaluate.edges import foresee_edges
from designstudio.evaluate.evaluate_design import estimate_seconds
from designstudio.evaluate.evaluate_study import StudyResult, evaluate_study
from designstudio.evaluate.example_fit import fit_example
from designstudio.evaluate.limits import check_designs
from designstudio.runs.folder import (
    Notify,
    check_folder,
    check_same_study,
    ignore,
    keep_run,
    resolve_study,
    use_cost_file,
)
from designstudio.runs.jobs.job import EVALUATE
from designstudio.study import Study
from designstudio.study.design import Design

# Work that takes longer than this, in seconds, is announced.
LONG = 5.0
# Participants who are looked at before any is simulated.
NUM_FORESEEN = 100
# Points of a curve that are named.
NUM_PLACES = 3


@dataclasses.dataclass(frozen=True)
class EvaluateRequest:
    """What is to be evaluated.

    Attributes:
        study: the question, or its file.
        fidelity: in place of the study's.
        num_datasets: simulated participants for each design, in place of the study's.
        seed: of everything random, in place of the study's.
        folder: where scores, summaries and figures are written; nowhere if None.
        cost_file: a user's file of costs, which is executed.
    """

    study: Study | Path | str
    fidelity: str | None = None
    num_datasets: int | None = None
    seed: int | None = None
    folder: Path | None = None
    cost_file: Path | None = None


def run_evaluate(
    request: EvaluateRequest, *, progress: ProgressCallback | None = None, notify: Notify = ignore
) -> StudyResult:
    """Evaluate all designs, and write the folder of the run.

    Args:
        request: what is to be evaluated.
        progress: called as work gets done; what it raises ends the work, of which finished blocks are kept.
        notify: told how long it will take, if that is long, and who lies outside of analysis prior or actor.
    """
    use_cost_file(request.cost_file)
    check_folder(request.folder)
    study = resolve_study(request.study)
    study = study.replace(fidelity=request.fidelity, num_datasets=request.num_datasets, seed=request.seed)
    check_same_study(request.folder, EVALUATE, study)
    announce_time(study, study.designs, notify)
    announce_edges(study, study.designs, notify)
    report_stage(progress, "compiling")
    result = evaluate_study(study, progress=progress)
    if request.folder is not None:
        report_stage(progress, "drawing figures")
        write_evaluation(result, request.folder, cost_file=request.cost_file)
    return result


def announce_time(study: Study, designs: Sequence[Design], notify: Notify) -> None:
    """Tell how long an evaluation of designs will take, if that is long."""
    seconds = estimate_seconds(study, designs)
    if seconds > LONG:
        what = f"{len(designs)} designs, {study.num_datasets} data sets each, by {study.fidelity}"
        notify(f"{what}: {format_estimate(seconds)}.")


def announce_edges(study: Study, designs: Sequence[Design], notify: Notify) -> None:
    """Tell about participants whom fit or actor cannot represent, before they are simulated.

    Raises:
        StudioError: if the designs need more memory than there is.
    """
    check_designs(study, designs)
    num_datasets = min(study.num_datasets, NUM_FORESEEN)
    said = [f"{d.name}: {sentence}" for d in designs for sentence in foresee_edges(study, d, num_datasets=num_datasets)]
    for sentence in dict.fromkeys(said):
        notify(sentence)


def announce_edges_along(study: Study, points: Mapping[str, Design], notify: Notify) -> None:
    """The same for points of a curve or grid, by what was varied: what holds at several points is told once.

    Raises:
        StudioError: if a design needs more memory than there is.
    """
    check_designs(study, list(points.values()))
    num_datasets = min(study.num_datasets, NUM_FORESEEN)
    places: dict[str, list[str]] = {}
    examples: dict[str, list[str]] = {}
    known: dict[str, list[str]] = {}
    for place, design in points.items():
        # How many take part changes nothing about them.
        same = repr(dataclasses.replace(design, num_participants=1))
        if same not in known:
            known[same] = foresee_edges(study, design, num_datasets=num_datasets)
        for sentence in known[same]:
            what = re.sub(r"[0-9.]+%?", "", sentence)
            places.setdefault(what, []).append(place)
            examples.setdefault(what, []).append(sentence)
    for what, where in places.items():
        more = f" and {len(where) - NUM_PLACES} more points" if len(where) > NUM_PLACES + 1 else ""
        named = ", ".join(where[:NUM_PLACES] if more else where)
        at = "every point" if len(where) == len(points) else f"{named}{more}"
        differs = f" (numbers of {where[-1]})" if len(set(examples[what])) > 1 else ""
        notify(f"{next(iter(points.values())).name}, at {at}{differs}: {examples[what][-1]}")


def write_evaluation(result: StudyResult, folder: Path, *, cost_file: Path | None = None) -> list[str]:
    """Write the folder of an evaluation; returns the names of its files.

    Scores are JSON and CSV, summaries netCDF, figures PNG and SVG, of which the PNG files are named.
    """
    from designstudio.viz.evaluation import draw_evaluation  # noqa: PLC0415  (imports the plotting stack)
    from designstudio.viz.figures import write_figures  # noqa: PLC0415

    folder.mkdir(parents=True, exist_ok=True)
    write_json(folder / "result.json", result.as_dict())
    write_csv(folder / "scores.csv", list_scores(result))
    names = ["result.json", "scores.csv"]
    for evaluation in result.evaluations:
        names.append(f"{name_file(evaluation.design.name)}.nc")
        with replace_file(folder / names[-1]) as part:
            evaluation.summaries.to_netcdf(part, engine="h5netcdf")
    examples = {design.name: fit_example(result.study, design) for design in result.study.designs}
    names += write_figures(draw_evaluation(result, examples), folder)
    first = result.evaluations[0]
    study = result.study.replace(fidelity=first.fidelity, num_datasets=first.num_datasets)
    command = ["designstudio", "evaluate", STUDY, "--out", AGAIN]
    return keep_run(folder, command, study=study, cost_file=cost_file, files=names)


def list_scores(result: StudyResult) -> list[dict[str, str]]:
    """One row a score."""
    return [
        {
            "design": evaluation.design.name,
            "quantity": quantity,
            "score": name,
            "value": f"{value:.6g}",
            "mcse": f"{mcse:.2g}",
        }
        for evaluation in result.evaluations
        for quantity, scores in evaluation.recovery.items()
        for name, (value, mcse) in scores.items()
    ]
