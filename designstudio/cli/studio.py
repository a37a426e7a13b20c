"""`designstudio app`: the studio in the browser."""

import os
from pathlib import Path
from typing import Annotated

import typer

from designstudio.cli.notes import note


def app(
    port: Annotated[int, typer.Option(help="Where to listen; 0 for any free port.")] = 5006,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Whether to open a browser.")] = True,
    address: Annotated[str, typer.Option(help="Others can reach the studio at any but the default.")] = "127.0.0.1",
    runs: Annotated[
        Path | None, typer.Option(help="Folder of all runs; default: the user's data folder.", metavar="DIR")
    ] = None,
    prewarm: Annotated[
        bool, typer.Option("--prewarm/--no-prewarm", help="Whether to compile, after the start, what sliders may lead to.")
    ] = True,
) -> None:
    """Open the studio in the browser: design, search, fit, power.

    Only this machine can reach it. For others, choose an --address and set a password in DESIGNSTUDIO_PASSWORD.

    Example: designstudio app --port 5007 --no-browser
    """
    from designstudio.dashboard.serve import make_server, run  # noqa: PLC0415  (keeps `designstudio --help` fast)

    note("Starting the studio ...")
    password = os.environ.get("DESIGNSTUDIO_PASSWORD")
    server = make_server(port, address=address, password=password, runs=runs, shows=browser, prewarms=prewarm)
    typer.echo(f"The studio is at http://{address}:{server.port}. Press Ctrl-C to stop it; jobs go on.")
    run(server)
