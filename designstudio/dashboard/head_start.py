"""A browser reads its scripts while the server builds what they will show.

Pages are all alike until the browser asks for their content, so each visitor gets one that was made beforehand, and a studio
of their own is built meanwhile. Panel calls that reusing sessions; nobody ever enters the session that is reused.
"""

import asyncio

import panel as pn
from bokeh.application import Application
from bokeh.application.application import SessionContext
from bokeh.application.handlers.handler import Handler
from bokeh.document import Document
from panel.io.session import generate_session
from tornado.httputil import HTTPServerRequest

THEMES = ("default", "dark")
# Seconds: building keeps the server from handing out scripts, so they go first.
HEAD_START = 0.15


def give_head_start(application: Application, path: str = "/") -> None:
    """Make the page of each theme, and hand it out from now on."""
    pn.config.reuse_sessions, pn.config.session_key_func = "warm", _find_key
    pn.state._session_key_funcs[path] = _find_key
    for theme in THEMES:
        pn.state._sessions[path, theme] = generate_session(application, payload={"arguments": {"theme": [theme.encode()]}})
    application.add(_ScriptsFirst())


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
        await asyncio.sleep(HEAD_START)
