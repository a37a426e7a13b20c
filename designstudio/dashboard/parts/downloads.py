"""Buttons that hand out tables and figures as files."""

import io
import tempfile
from collections.abc import Callable
from pathlib import Path

import holoviews as hv
import pandas as pd
import panel as pn

from designstudio.viz.figures import save_figure


def download_figure(make: Callable[[], hv.core.Dimensioned], name: str) -> pn.Row:
    """Buttons for PNG and SVG; the figure is drawn for print when somebody wants it."""

    def draw(suffix: str) -> io.BytesIO:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"{name}{suffix}"
            save_figure(make(), path)
            return io.BytesIO(path.read_bytes())

    return pn.Row(
        *(_button(lambda suffix=suffix: draw(suffix), f"{name}{suffix}", suffix[1:].upper()) for suffix in (".png", ".svg")),
        margin=0,
    )


def download_table(make: Callable[[], pd.DataFrame], name: str) -> pn.widgets.FileDownload:
    """A button for CSV."""
    return _button(lambda: io.BytesIO(make().to_csv(index=False).encode()), f"{name}.csv", "CSV")


def download_text(make: Callable[[], str], name: str, label: str) -> pn.widgets.FileDownload:
    """A button for a text file."""
    return _button(lambda: io.BytesIO(make().encode()), name, label, width=None)


def download_file(path: Path, label: str | None = None) -> pn.widgets.FileDownload:
    """A button for a file that exists."""
    return _button(lambda: io.BytesIO(path.read_bytes()), path.name, label or path.name, width=None)


def _button(make: Callable[[], io.BytesIO], name: str, label: str, width: int | None = 76) -> pn.widgets.FileDownload:
    return pn.widgets.FileDownload(
        callback=make, filename=name, label=label, button_type="light", embed=False, auto=True, height=30, width=width,
        margin=(2, 4), description=f"Download {name}",
    )  # fmt: skip
