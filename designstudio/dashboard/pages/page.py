"""What pages have in common: they try what a visitor asks for, and say in a sentence why it cannot be."""

import html as escaping
from collections.abc import Callable
from typing import Any

import panel as pn

from designstudio.dashboard.theme import html
from designstudio.errors import StudioError


class Page(pn.viewable.Viewer):
    """A page with a place for what went wrong."""

    def __init__(self) -> None:
        super().__init__()
        self._message = html("", visible=False)

    def _try(self, act: Callable[[], Any]) -> None:
        """Do it, or say in a sentence why not."""
        try:
            act()
        except StudioError as error:
            self._say(str(error))
        else:
            self._message.visible = False

    def _say(self, sentence: str) -> None:
        self._message.object = f'<p class="failed">{escaping.escape(sentence)}</p>'
        self._message.visible = True
