"""`designstudio worker`: help with a search, on this machine or another."""

from pathlib import Path
from typing import Annotated

import typer

from designstudio.cli.options import CostFileOption, JsonOption, write_json
from designstudio.cli.stopping import stop_on_signal
from designstudio.core.files import check_file


def worker(
    study: Annotated[Path, typer.Argument(help="The study file of the search.", metavar="STUDY")],
    storage: Annotated[str, typer.Option(help="The search's database, or its journal file.", metavar="URL")],
    minutes: Annotated[float | None, typer.Option(help="Leave after so long; default: when nothing is left to do.")] = None,
    seed: Annotated[int | None, typer.Option(help="The search's seed, if it was given one.")] = None,
    wait: Annotated[float, typer.Option(help="Seconds to wait for work that is not lined up yet.")] = 60.0,
    heartbeat: Annotated[int, typer.Option(help="Seconds between signs of life.")] = 10,
    job: Annotated[str | None, typer.Option(hidden=True)] = None,
    run: Annotated[Path | None, typer.Option(hidden=True)] = None,
    number: Annotated[int, typer.Option(hidden=True)] = 0,
    cost_file: CostFileOption = None,
    json: JsonOption = None,
) -> None:
    """Take candidates of a search from its database, until none is left.

    Start as many as you like, on any machine that reaches the database and has the study file. They may join, leave or be
    killed at any time: the candidate of a worker that is gone is done by another.

    Example: designstudio worker study.toml --storage postgresql://user@host/name
    """
    from designstudio.runs.worker import WorkerRequest, run_worker_process  # noqa: PLC0415  (keeps `designstudio --help` fast)

    check_file(json)
    request = WorkerRequest(study, storage, minutes, seed, wait, heartbeat, job, run, number, cost_file)
    with stop_on_signal() as is_stopped:
        result = run_worker_process(request, should_stop=is_stopped)
    typer.echo(f"{result.num_finished} candidates finished.")
    write_json(json, result._asdict())
