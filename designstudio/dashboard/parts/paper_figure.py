"""A figure as it is printed, on a page: with what it shows, and buttons to take it along."""

import html as escaping
from collections.abc import Callable

import holoviews as hv
import panel as pn
from bokeh.themes import Theme

from designstudio.dashboard.parts.downloads import download_figure
from designstudio.dashboard.theme import card, html
from designstudio.errors import StudioError

# These figures have black marks: they are shown on white, whatever the page looks like.
PAPER = Theme(json={})
# Bokeh leaves too little room below a legend.
LOOK = {
    "background": "white",
    "color": "#1b1f24",
    # Names that Panel's themes have for the colour of letters.
    "--panel-on-surface-color": "#1b1f24",
    "--bs-body-color": "#1b1f24",
    "border-radius": "6px",
    "overflow-x": "auto",
    "padding-bottom": "16px",
}


class PaperFigure(pn.viewable.Viewer):
    """Draws when it is told to. Title and caption are HTML."""

    def __init__(
        self, title: str, caption: str, name: str, make: Callable[[], hv.Layout], *extra: pn.viewable.Viewable
    ) -> None:
        super().__init__()
        self._make, self._pane = make, None
        self._place = pn.Column(sizing_mode="stretch_width", margin=0)
        self._card = card(
            html(f"<h2>{title}</h2><p class='muted'>{caption}</p>"), *extra, self._place, download_figure(make, name)
        )

    @property
    def figure(self) -> hv.Layout | None:
        """What is shown; None if there is nothing."""
        return None if self._pane is None else self._pane.object

    def draw(self) -> None:
        """Draw anew, or say in a sentence why not."""
        try:
            figure = self._make()
        except StudioError as error:
            self._pane = None
            self._place.objects = [html(f'<p class="notice">{escaping.escape(str(error))}</p>')]
            return
        self._pane = pn.pane.HoloViews(figure, backend="bokeh", theme=PAPER, margin=(4, 6))
        self._place.objects = [pn.Column(self._pane, styles=LOOK, sizing_mode="stretch_width", margin=0)]

    def hide(self, is_hidden: bool = True) -> None:
        """Show no card, or show it again."""
        self._card.visible = not is_hidden

    def __panel__(self) -> pn.viewable.Viewable:
        return self._card
