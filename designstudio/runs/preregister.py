"""`preregister`: freeze a plan before the data come."""

import dataclasses
from pathlib import Path

from designstudio.core.files import check_file
from designstudio.lab.record import Record, RecordOptions, make_record
from designstudio.lab.record_files import save_record
from designstudio.runs.folder import resolve_study, use_cost_file
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
    """

    study: Study | Path | str
    folder: Path
    design: str | None = None
    options: RecordOptions = dataclasses.field(default_factory=RecordOptions)
    cost_file: Path | None = None


def run_preregister(request: PreregisterRequest) -> tuple[Record, Design]:
    """Record a plan with its fingerprint; returns the record and the design that it is about."""
    use_cost_file(request.cost_file)
    check_file(request.folder)
    study = resolve_study(request.study)
    design = study.choose_design(request.design)
    record = make_record(study, design, request.options)
    save_record(record, request.folder)
    return record, design
