"""`fit` as it was planned: by a record, or by a study and one of its designs."""

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from designstudio.core.files import write_text
from designstudio.core.progress import ProgressCallback
from designstudio.core.run_record import AGAIN, name_from
from designstudio.errors import StudioError
from designstudio.fitting.empirical_fit import EmpiricalFit
from designstudio.fitting.fixed_values import GivenValue, read_fixed
from designstudio.fitting.planned import RECORD, STUDY
from designstudio.fitting.reading import example_path
from designstudio.lab.planned_fit import plan_fit
from designstudio.lab.record import Record
from designstudio.lab.record_files import RECORD as RECORD_FILE
from designstudio.lab.record_files import format_record, load_record
from designstudio.lab.verify import check_record
from designstudio.runs.fit import EXAMPLE, FitTask, fit_and_write
from designstudio.runs.folder import Notify, check_folder, ignore, resolve_study, use_cost_file
from designstudio.runs.preregister import record_plan
from designstudio.study import Study


@dataclasses.dataclass(frozen=True)
class PlannedFitRequest:
    """Which data are to be fitted as which plan says; the plan says all that decides about results.

    Attributes:
        data: a table, a Psych-DS or BIDS folder, or the word `example`.
        record: record.json, or its folder; either this or a study.
        study: the question, or its file, that was not recorded.
        design: of the study, by default its first.
        fixed: values of parameters that the plan takes as measured: numbers or tables, by name.
        actors: files of trained actors, by cost.
        columns: the data's own names of columns, by role.
        unit: of stimulus and response, if the data do not say it.
        num_drawn: subjects whose predictions are drawn.
        name: of the data; by default that of the file.
        folder: where posteriors, results, figures and the record are written.
        cost_file: a user's file of costs, which is executed.
    """

    data: Path | str
    record: Path | None = None
    study: Study | Path | str | None = None
    design: str | None = None
    fixed: Mapping[str, GivenValue] = dataclasses.field(default_factory=dict)
    actors: Mapping[str, Path] = dataclasses.field(default_factory=dict)
    columns: Mapping[str, str] = dataclasses.field(default_factory=dict)
    unit: str | None = None
    num_drawn: int = 6
    name: str | None = None
    folder: Path | None = None
    cost_file: Path | None = None


def refuse_options(given: Mapping[str, Any], plan: str) -> None:
    """Refuse options about which the plan has decided.

    Args:
        given: as the door calls them; those that were left open are None or False.
        plan: how the door names the plan.

    Raises:
        StudioError: naming the options.
    """
    named = [name for name, value in given.items() if value is not None and value is not False and value != []]
    if named:
        verb = "is" if len(named) == 1 else "are"
        raise StudioError(
            f"{' and '.join(named)} {verb} not to be given with {plan}, which says how the data are analysed: leave that "
            f"out, or fit once more without {plan} for what was not planned."
        )


def run_planned_fit(
    request: PlannedFitRequest, *, progress: ProgressCallback | None = None, notify: Notify = ignore
) -> EmpiricalFit:
    """Fit every participant as it was planned, judge every goal, and write the folder of the run.

    Args:
        request: which data, and which plan.
        progress: called as work gets done; what it raises ends the work, of which finished costs are kept.
        notify: told what was read, and what deviates from the plan.
    """
    use_cost_file(request.cost_file)
    check_folder(request.folder)
    path = example_path() if request.data == EXAMPLE else Path(request.data)
    record, source = _find_record(request, progress, notify)
    planned = plan_fit(
        record,
        path,
        source=source,
        fixed=read_fixed(request.fixed),
        actors=request.actors,
        columns=request.columns,
        unit=request.unit,
    )
    for sentence in planned.analysis.deviations:
        notify(f"Deviation: {sentence}")

    def write_command(fixed: Mapping[str, str], folder: Path) -> list[str]:
        write_text(folder / RECORD_FILE, format_record(record))
        return _write_command(request, fixed, folder)

    task = FitTask(
        planned.loaded,
        planned.request,
        path.stem if request.name is None else request.name,
        request.folder,
        request.num_drawn,
        request.cost_file,
        write_command,
        scale=planned.scale,
        plan=planned.analysis,
        files=(RECORD_FILE,),
    )
    return fit_and_write(task, progress=progress, notify=notify)


def _find_record(request: PlannedFitRequest, progress: ProgressCallback | None, notify: Notify) -> tuple[Record, str]:
    """The record that was made, and found unchanged; or that of the study as it is now, with its power."""
    if (request.record is None) == (request.study is None):
        raise StudioError("A planned fit needs a record or a study: give one of both.")
    if request.record is not None:
        if request.design is not None:
            raise StudioError("A record is of one design: leave --design out, or give a study.")
        stored = load_record(request.record)
        differences = check_record(stored)
        if stored.stated != stored.record.fingerprint:
            raise StudioError(
                f"The record '{request.record}' was changed after it was made (its fingerprint is no longer "
                f"{stored.stated[:16]}): give it as it was written."
            )
        for difference in differences:
            notify(difference.sentence)
        return stored.record, RECORD
    study = resolve_study(request.study or "")
    record = record_plan(study, study.choose_design(request.design), progress=progress, notify=notify)
    return record, STUDY


def _write_command(request: PlannedFitRequest, fixed: Mapping[str, str], folder: Path) -> list[str]:
    """The command that repeats a fit, with the record in its folder."""
    data = str(request.data)
    command = ["designstudio", "fit", data if data == EXAMPLE else name_from(data, folder), "--record", RECORD_FILE]
    pairs = [("--column", f"{role}={column}") for role, column in request.columns.items()]
    pairs += [("--fixed", f"{name}={fixed[name]}") for name in request.fixed]
    pairs += [("--actor", name_from(path, folder)) for path in request.actors.values()]
    command += [part for pair in pairs for part in pair]
    command += ["--unit", request.unit] if request.unit is not None else []
    return [*command, "--draw", str(request.num_drawn), "--out", AGAIN]
