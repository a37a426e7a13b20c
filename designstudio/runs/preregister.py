"""`preregister`: freeze a plan before the data come."""

import dataclasses
from pathlib import Path

from designstudio.core.files import check_file
from designstudio.core.progress import ProgressCallback, report_stage
from designstudio.evaluate.evaluate_design import evaluate_design
from designstudio.evaluate.results import Evaluation
from designstudio.lab.record import Record, RecordOptions, choose_participants, make_record
from designstudio.lab.record_files import check_target, save_record
from designstudio.lab.record_power import NO_GOALS, NOT_WANTED
from designstudio.runs.evaluate import announce_edges, announce_time
from designstudio.runs.folder import Notify, ignore, resolve_study, use_cost_file
from designstudio.study import Study
from designstudio.study.design import Design


@dataclasses.dataclass(frozen=True)
class PreregisterRequest:
    """Which plan is to be recorded.

    Attributes:
        study: the question, or its file.
        folder: where the record is written; nothing in it is overwritten.
        design: name of the design to run; by default the study's first.
        options: what a study file does not say.
        cost_file: a user's file of costs, which is executed.
        has_power: whether the power of the design is computed, or found in the cache, and recorded.
        fidelity: how, in place of the study's.
        num_datasets: on how many simulated participants, in place of the study's.
    """

    study: Study | Path | str
    folder: Path
    design: str | None = None
    options: RecordOptions = dataclasses.field(default_factory=RecordOptions)
    cost_file: Path | None = None
    has_power: bool = True
    fidelity: str | None = None
    num_datasets: int | None = None


def run_preregister(
    request: PreregisterRequest, *, progress: ProgressCallback | None = None, notify: Notify = ignore
) -> tuple[Record, Design]:
    """Record a plan, with its power and its fingerprint; returns the record and the design that it is about.

    Args:
        request: which plan.
        progress: called as power gets computed; what it raises ends the work, of which finished blocks are kept.
        notify: told how long it will take, if that is long, and who lies outside of analysis prior or actor.
    """
    use_cost_file(request.cost_file)
    check_file(request.folder)
    check_target(request.folder)
    study = resolve_study(request.study)
    design = study.choose_design(request.design)
    how = study.replace(fidelity=request.fidelity, num_datasets=request.num_datasets)
    record = record_plan(
        study, design, request.options, how=how, has_power=request.has_power, progress=progress, notify=notify
    )
    save_record(record, request.folder)
    return record, design


def record_plan(
    study: Study,
    design: Design,
    options: RecordOptions | None = None,
    *,
    how: Study | None = None,
    has_power: bool = True,
    progress: ProgressCallback | None = None,
    notify: Notify = ignore,
) -> Record:
    """The record of a plan, with its power.

    Args:
        study: the question.
        design: that is run.
        options: what a study file does not say.
        how: the study with another fidelity or number of data sets, with which power is computed.
        has_power: whether it is.
        progress: called as power gets computed.
        notify: told how long it will take, if that is long, and who lies outside of analysis prior or actor.
    """
    options = RecordOptions() if options is None else options
    # Before power is computed: what cannot be recorded is refused here.
    make_record(study, design, options)
    evaluation = _evaluate(how or study, design, options, progress, notify) if has_power and study.goals else None
    why_not = NOT_WANTED if study.goals else NO_GOALS
    return make_record(study, design, options, evaluation=evaluation, why_not=why_not)


def _evaluate(
    study: Study, design: Design, options: RecordOptions, progress: ProgressCallback | None, notify: Notify
) -> Evaluation:
    """The design with the participants who are planned, which matters to goals about groups."""
    planned = choose_participants(design, options)
    announce_time(study, [planned], notify)
    announce_edges(study, [planned], notify)
    report_stage(progress, "compiling")
    return evaluate_design(study, planned, progress=progress)
