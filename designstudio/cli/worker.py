"""`designstudio worker`: help with a search, on this machine or another."""

import os
import platform
from pathlib import Path
from typing import Annotated

import typer

from designstudio.cli.options import CostFileOption, JsonOption, check_output, use_cost_file, write_json
from designstudio.cli.stopping import stop_on_signal
from designstudio.errors import StudioError


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
    import time  # noqa: PLC0415
    from contextlib import nullcontext  # noqa: PLC0415

    from designstudio.search.folder import RunFolder  # noqa: PLC0415  (keeps `designstudio --help` fast)
    from designstudio.search.jobs import find_job  # noqa: PLC0415
    from designstudio.search.storage import close_storage, hide_password, open_storage  # noqa: PLC0415
    from designstudio.search.worker import run_worker  # noqa: PLC0415
    from designstudio.study.file import read_study  # noqa: PLC0415

    use_cost_file(cost_file)
    check_output(json)
    question = read_study(study).replace(seed=seed)
    if "://" not in storage and not Path(storage).exists():
        raise StudioError(f"There is no journal '{storage}': begin the search first, or give its database.")
    opened = open_storage(storage, heartbeat=heartbeat)
    parent = os.getppid()
    with stop_on_signal() as is_stopped:
        started = time.monotonic()
        found = find_job(question, opened, job)
        while found is None and time.monotonic() - started < wait and not is_stopped():
            time.sleep(0.5)
            found = find_job(question, opened, job)
        if found is None:
            raise StudioError(
                f"The storage '{hide_password(storage)}' has no search or sweep of this study file: start one with "
                "designstudio search or sweep, with the same file, seed and --storage."
            )
        folder = None if run is None else RunFolder(run)
        name = f"{platform.node()}/{os.getpid()}" if folder is None else folder.name_worker(number)
        with nullcontext() if folder is None else folder.lock_worker(number):
            num_finished = run_worker(
                found,
                name=name,
                # A worker that a search has started must not outlive it.
                should_stop=lambda: is_stopped() or (folder is not None and os.getppid() != parent),
                deadline=None if minutes is None else time.monotonic() + 60 * minutes,
                patience=wait if folder is None else 0.0,
            )
    close_storage(opened)
    typer.echo(f"{num_finished} candidates finished.")
    write_json(json, {"worker": name, "num_finished": num_finished})
