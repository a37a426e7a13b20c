"""Serve the studio from this machine."""

import asyncio
import ipaddress
import logging
import secrets
import socket
from pathlib import Path
from typing import Any

import panel as pn
from bokeh.server.server import Server
from tornado.websocket import WebSocketClosedError

from designstudio.core.configuration import configure
from designstudio.dashboard.app import TITLE, build_studio
from designstudio.dashboard.prewarm import prewarm_first_preview, prewarm_other_previews, prewarm_pages
from designstudio.errors import StudioError
from designstudio.runs.jobs import JobStore

HOME = "127.0.0.1"
# Bytes of a message from a browser: a file of 20 MB, as browsers write it.
MOST_BYTES = 30_000_000


def make_server(
    port: int,
    *,
    address: str = HOME,
    password: str | None = None,
    runs: Path | None = None,
    shows: bool = False,
    prewarms: bool = True,
) -> Server:
    """A server that is not started yet; with port 0 the system chooses one.

    Args:
        port: where it listens.
        address: others can reach it at any but the default.
        password: that visitors need.
        runs: folder of all runs.
        shows: whether to open a browser.
        prewarms: whether to compile what sliders lead to; the first preview is compiled in any case.

    Raises:
        StudioError: if the port is taken, or others could enter without a password.
    """
    if not _is_home(address) and not password:
        raise StudioError(
            f"The address {address!r} can be reached by others: give a password in DESIGNSTUDIO_PASSWORD, or stay at {HOME}."
        )
    port = _check_port(port, address)
    store = JobStore(runs)
    # Panel tells every visit at the level INFO.
    logging.getLogger("panel").setLevel(logging.WARNING)
    # That a tab was closed before its last update is nothing to warn about.
    logging.getLogger("bokeh.server.views.ws").setLevel(logging.ERROR)
    options: dict[str, Any] = {"websocket_max_message_size": MOST_BYTES}
    if password:
        options |= {"basic_auth": password, "cookie_secret": secrets.token_hex(32)}
    if not _is_home(address):
        options["websocket_origin"] = "*"
    configure()
    prewarm_first_preview()
    server = pn.serve(
        {"/": lambda: build_studio(store)}, port=port, address=address, show=shows, start=False, title=TITLE, verbose=False,
        **options,
    )  # fmt: skip
    for path, context in server._tornado.applications.items():
        prewarm_pages(context.application, path)
    if prewarms:
        prewarm_other_previews()
    return server


def run(server: Server) -> None:
    """Serve until Ctrl-C."""
    server.start()
    server.io_loop.asyncio_loop.set_exception_handler(_hear_of)
    try:
        server.io_loop.start()
    except KeyboardInterrupt:
        server.stop()


def _hear_of(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """That a tab was closed before its last update is nothing to tell."""
    if not isinstance(context.get("exception"), WebSocketClosedError):
        loop.default_exception_handler(context)


def _is_home(address: str) -> bool:
    try:
        return address == "localhost" or ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False


def _check_port(port: int, address: str) -> int:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((address, port))
        except OSError as error:
            raise StudioError(
                f"Port {port} of {address} cannot be used ({error.strerror}): choose another with --port."
            ) from None
        return int(probe.getsockname()[1])
