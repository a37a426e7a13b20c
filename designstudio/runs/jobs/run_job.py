"""What jobs do: the commands, with results where the command line would have put them.

Each imports what its kind needs: all together take half a second more.
"""

import dataclasses
from collections.abc import Callable

from designstudio.errors import StudioError, UnknownNameError
from designstudio.runs.jobs.job import EVALUATE, FINISHED, FIT, PLAN, POWER, SEARCH, STUDY, Job
from designstudio.runs.jobs.work import Reporter


def run_job(job: Job, reporter: Reporter) -> bool:
    """Do it; returns whether it came to its end."""
    if job.kind not in KINDS:
        raise UnknownNameError("kind of job", job.kind, list(KINDS))
    KINDS[job.kind](job, reporter)
    # All but a search end by an exception where they should stop.
    return not reporter.should_stop()


def _evaluate(job: Job, reporter: Reporter) -> None:
    from designstudio.runs.evaluate import EvaluateRequest, run_evaluate  # noqa: PLC0415

    run_evaluate(EvaluateRequest(job.folder / STUDY, folder=job.folder), progress=reporter.report_or_stop)


def _search(job: Job, reporter: Reporter) -> None:
    from designstudio.runs.search import SearchRequest, run_search  # noqa: PLC0415
    from designstudio.search.run_search import Budget  # noqa: PLC0415

    settings = job.settings
    request = SearchRequest(
        job.folder / STUDY,
        job.folder,
        Budget(settings.get("candidates", settings.get("trials")), settings.get("minutes")),
        num_workers=int(settings.get("workers", 1)),
        storage=settings.get("storage"),
    )
    run_search(request, progress=reporter.report, should_stop=reporter.should_stop)


def _power(job: Job, reporter: Reporter) -> None:
    from designstudio.runs.power import PowerRequest, run_power  # noqa: PLC0415

    # Jobs without participants say so by leaving them out, or by an empty list.
    settings = {**job.settings, "participants": job.settings.get("participants") or None}
    run_power(PowerRequest(job.folder / STUDY, folder=job.folder, **settings), progress=reporter.report_or_stop)


def _fit(job: Job, reporter: Reporter) -> None:
    from designstudio.fitting.fixed_values import read_fixed  # noqa: PLC0415
    from designstudio.fitting.request import request_from_dict  # noqa: PLC0415
    from designstudio.runs.fit import FitDataRequest, run_fit  # noqa: PLC0415
    from designstudio.runs.planned_fit import PlannedFitRequest, run_planned_fit  # noqa: PLC0415

    settings, reading = job.settings, dict(job.settings["reading"])
    fixed = read_fixed(settings.get("fixed", {}), folder=job.folder)
    if "record" in settings:
        planned = PlannedFitRequest(
            str(job.folder / reading["file"]),
            job.folder / settings["record"],
            fixed=fixed,
            columns=reading.get("columns", {}),
            unit=reading.get("unit"),
            num_drawn=int(reading.get("num_drawn", 6)),
            name=settings["name"],
            folder=job.folder,
        )
        run_planned_fit(planned, progress=reporter.report_or_stop)
        return
    asked = request_from_dict(settings["request"])
    request = FitDataRequest(
        job.folder / reading.pop("file"),
        dataclasses.replace(asked, fixed={**asked.fixed, **fixed}),
        chooses_conditions=False,
        name=settings["name"],
        folder=job.folder,
        **{**reading, "where": tuple(reading.get("where", ()))},
    )
    run_fit(request, progress=reporter.report_or_stop)


def _plan(job: Job, reporter: Reporter) -> None:
    from designstudio.runs.plan import PlanRequest, run_plan  # noqa: PLC0415

    source = Job(job.folder.parent / str(job.settings["fit"]))
    if source.state != FINISHED:
        raise StudioError(f"The fit {source.title!r} is not finished: wait for it, or resume it.")
    request = PlanRequest(source.folder, job.settings.get("cost"), int(job.settings.get("datasets", 100)), folder=job.folder)
    run_plan(request, progress=reporter.report_or_stop)


KINDS: dict[str, Callable[[Job, Reporter], None]] = {
    EVALUATE: _evaluate,
    SEARCH: _search,
    POWER: _power,
    FIT: _fit,
    PLAN: _plan,
}
