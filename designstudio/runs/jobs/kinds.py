"""What jobs do: the library calls of the command line, with results where it would have put them."""

import json
from collections.abc import Callable

from designstudio.core.progress import Progress
from designstudio.runs.jobs.job import FINISHED, Job
from designstudio.runs.jobs.work import Reporter

STUDY = "study.toml"
EVALUATE, SEARCH, POWER, FIT, PLAN = "evaluate", "search", "power", "fit", "plan"
POWER_FILE, PRECISION_FILE = "power.nc", "precision.nc"


def run_job(job: Job, reporter: Reporter) -> bool:
    """Do it; returns whether it came to its end."""
    from designstudio.errors import UnknownNameError  # noqa: PLC0415

    if job.kind not in KINDS:
        raise UnknownNameError("kind of job", job.kind, list(KINDS))
    return KINDS[job.kind](job, reporter)


def _evaluate(job: Job, reporter: Reporter) -> bool:
    from designstudio.evaluate.study import evaluate_study  # noqa: PLC0415
    from designstudio.study.file import read_study  # noqa: PLC0415
    from designstudio.viz.evaluation import write_evaluation  # noqa: PLC0415

    question = read_study(job.folder / STUDY)
    result = evaluate_study(question, progress=reporter.tell_or_stop)
    reporter.tell_or_stop(Progress("drawing figures"))
    write_evaluation(result, job.folder)
    return True


def _search(job: Job, reporter: Reporter) -> bool:
    from designstudio.search.pool import Source  # noqa: PLC0415
    from designstudio.search.run import Budget, run_search  # noqa: PLC0415
    from designstudio.study.file import read_study  # noqa: PLC0415
    from designstudio.viz.search import write_search  # noqa: PLC0415

    settings = job.settings
    path = job.folder / STUDY
    result = run_search(
        read_study(path),
        job.folder,
        Budget(settings.get("candidates", settings.get("trials")), settings.get("minutes")),
        storage=settings.get("storage"),
        num_workers=int(settings.get("workers", 1)),
        source=Source(path.resolve(), None, None),
        progress=reporter.tell,
        should_stop=reporter.should_stop,
    )
    write_search(result, job.folder)
    return not reporter.should_stop()


def _power(job: Job, reporter: Reporter) -> bool:
    from designstudio.evaluate.curves import map_power, trace_power  # noqa: PLC0415
    from designstudio.study.file import read_study  # noqa: PLC0415

    settings = job.settings
    question = read_study(job.folder / STUDY)
    design = question.design(settings["design"]) if settings.get("design") else question.designs[0]

    tell = reporter.tell_or_stop
    if settings.get("participants"):
        result = map_power(question, design, trials=settings["values"], participants=settings["participants"], progress=tell)
    else:
        result = trace_power(question, design, settings["along"], settings["values"], progress=tell)
    result.to_netcdf(job.folder / POWER_FILE, engine="h5netcdf")
    result.to_dataframe().reset_index().to_csv(job.folder / "power.csv", index=False)
    return True


def _fit(job: Job, reporter: Reporter) -> bool:
    from designstudio.fitting.files import save_fit  # noqa: PLC0415
    from designstudio.fitting.reading import read_data  # noqa: PLC0415
    from designstudio.fitting.request_files import request_from_dict  # noqa: PLC0415
    from designstudio.fitting.run import fit_subjects  # noqa: PLC0415

    settings = job.settings
    reading = dict(settings["reading"])
    loaded = read_data(job.folder / reading.pop("file"), **reading)
    request = request_from_dict(settings["request"])
    result = fit_subjects(
        loaded,
        request,
        name=settings["name"],
        folder=job.folder,
        progress=reporter.tell_or_stop,
    )
    save_fit(result, job.folder)
    return True


def _plan(job: Job, reporter: Reporter) -> bool:
    from designstudio.errors import StudioError  # noqa: PLC0415
    from designstudio.fitting.files import load_fit  # noqa: PLC0415
    from designstudio.fitting.plan import compare_precision, plan_study  # noqa: PLC0415
    from designstudio.fitting.plan_words import list_notes  # noqa: PLC0415
    from designstudio.study import write_study  # noqa: PLC0415

    source = Job(job.folder.parent / str(job.settings["fit"]))
    if source.state != FINISHED:
        raise StudioError(f"The fit {source.title!r} is not finished: wait for it, or resume it.")
    fit = load_fit(source.folder)
    study = plan_study(fit, job.settings.get("cost"))
    notes = list_notes(fit, study)
    write_study(study, job.folder / STUDY, notes=notes, overwrite=True)
    (job.folder / "notes.json").write_text(json.dumps(notes, indent=2))
    precision = compare_precision(
        fit,
        study,
        num_datasets=int(job.settings.get("datasets", 100)),
        progress=reporter.tell_or_stop,
    )
    precision.to_netcdf(job.folder / PRECISION_FILE, engine="h5netcdf")
    return True


KINDS: dict[str, Callable[[Job, Reporter], bool]] = {
    EVALUATE: _evaluate,
    SEARCH: _search,
    POWER: _power,
    FIT: _fit,
    PLAN: _plan,
}
