"""The base of all pages: parts that are built once the browser shows the rest, and a sentence for what went wrong."""

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
        self._waiting: list[tuple[pn.Column, Callable[[], list[Any]]]] = []

    def _try(self, act: Callable[[], Any]) -> None:
        """Do it, or say in a sentence why not."""
        try:
            act()
        except StudioError as error:
            self._report(str(error))
        else:
            self._message.visible = False

    def _report(self, sentence: str) -> None:
        self._message.object = f'<p class="failed">{escaping.escape(sentence)}</p>'
        self._message.visible = True

    def _later(self, make: Callable[[], list[Any]], **options: Any) -> pn.Column:
        """A place for parts that are made once the rest of the page stands in the browser: see `_fill_later`."""
        place = pn.Column(margin=0, **options)
        self._waiting.append((place, make))
        return place

    def _fill_later(self) -> None:
        """At once, if there is no browser that waits."""
        pn.state.onload(self._fill)

    def _fill(self) -> None:
        waiting, self._waiting = self._waiting, []
        # All in one message: the browser lays the page out once.
        with pn.io.hold():
            for place, make in waiting:
                place.objects = make()
