"""What is made before the first visitor comes: compiled previews, and a page of each theme.

Previews are compiled for the sizes that sliders lead to. Pages are all alike until the browser asks for their content, so
each visitor gets one that was made beforehand, and a studio of their own is built while the browser reads its scripts.
Panel calls that reusing sessions; nobody ever enters the session that is reused.
"""

import asyncio
import importlib
import threading
import time

import panel as pn
from bokeh.application import Application
from bokeh.application.application import SessionContext
from bokeh.application.handlers.handler import Handler
from bokeh.document import Document
from panel.io.session import generate_session
from tornado.httputil import HTTPServerRequest

from designstudio.dashboard.previews import preview_study
from designstudio.dashboard.state.design_choice import DesignChoice
from designstudio.errors import StudioError

THEMES = ("default", "dark")
# Trials in all: one for each size that shapes are padded to.
SIZES = (90, 200, 400)
LEVELS = (2, 1, 3, 4)
# Seconds between two previews, so that pages come first.
PAUSE = 0.2
# Seconds: building a studio keeps the server from handing out scripts, so they go first.
SCRIPTS_FIRST = 0.15


def prewarm_first_preview() -> None:
    """Compile and keep what every visitor sees first."""
    _preview(DesignChoice())


def prewarm_other_previews() -> threading.Thread:
    """Compile what sliders lead to, in a thread of its own."""
    thread = threading.Thread(target=_prewarm_all, daemon=True, name="designstudio-prewarm")
    thread.start()
    return thread


def prewarm_pages(application: Application, path: str = "/") -> None:
    """Make the page of each theme, and hand it out from now on."""
    pn.config.reuse_sessions, pn.config.session_key_func = "warm", _find_key
    pn.state._session_key_funcs[path] = _find_key
    for theme in THEMES:
        pn.state._sessions[path, theme] = generate_session(application, payload={"arguments": {"theme": [theme.encode()]}})
    application.add(_ScriptsFirst())


def _prewarm_all() -> None:
    # Pages that are built when somebody looks bring their libraries along.
    for name in ("search", "fit", "power", "runs"):
        importlib.import_module(f"designstudio.dashboard.pages.{name}")
    for size in SIZES:
        for num in LEVELS:
            sigmas = [0.1 * (k + 1) for k in range(num)]
            _preview(DesignChoice(sigmas=sigmas, trials=[size // num] * num))
            time.sleep(PAUSE)


def _preview(choice: DesignChoice) -> None:
    try:
        preview_study(choice.to_study(fidelity="information"))
    except StudioError:
        # Nobody waits for this; the page will say it.
        return


def _find_key(request: HTTPServerRequest) -> tuple[str, str]:
    """Pages differ by nothing but their theme."""
    theme = request.arguments.get("theme", [b""])[0].decode(errors="replace")
    return request.path, theme if theme in THEMES else THEMES[0]


class _ScriptsFirst(Handler):
    """Lets a studio wait until its visitor's scripts are on their way."""

    def modify_document(self, doc: Document) -> None:
        """Nothing is added."""

    async def on_session_created(self, session_context: SessionContext) -> None:
        """Wait a moment; a browser that is faster waits with it."""
        await asyncio.sleep(SCRIPTS_FIRST)
