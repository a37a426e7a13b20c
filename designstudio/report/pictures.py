"""Figures inside a page: as SVG if that is small enough, else as PNG."""

import base64
import tempfile
from pathlib import Path

import holoviews as hv

from designstudio.errors import StudioError
from designstudio.report.blocks import Figure
from designstudio.viz.figures import save_figure

# A picture of thousands of points takes less room as pixels.
LARGEST_SVG = 400_000
DPI = 200
TYPES = {".svg": "image/svg+xml", ".png": "image/png"}


def render_figure(
    figure: hv.core.Dimensioned, caption: str, *, is_small: bool = False, largest_svg: int = LARGEST_SVG
) -> Figure:
    """A figure that is drawn for the page; as pixels if it has more bytes than `largest_svg`."""
    with tempfile.TemporaryDirectory() as folder:
        path = save_figure(figure, Path(folder) / "figure.svg")
        if path.stat().st_size > largest_svg:
            save_figure(figure, path.with_suffix(".png"), dpi=DPI)
        return embed_figure(Path(folder), "figure", caption, is_small=is_small, largest_svg=largest_svg)


def embed_figure(folder: Path, name: str, caption: str, *, is_small: bool = False, largest_svg: int = LARGEST_SVG) -> Figure:
    """A figure that a run has left in its folder, as SVG or PNG.

    Raises:
        StudioError: if it is not there.
    """
    paths = [folder / f"{name}{suffix}" for suffix in TYPES if (folder / f"{name}{suffix}").is_file()]
    if not paths:
        raise StudioError(
            f"The figure {name}.svg is missing in '{folder}': run the command of this folder again, which draws it anew."
        )
    # An image can neither run scripts nor load anything, whatever its file holds.
    path = next((path for path in paths if path.stat().st_size <= largest_svg), paths[-1])
    data = base64.b64encode(path.read_bytes()).decode()
    return Figure(f"data:{TYPES[path.suffix]};base64,{data}", caption, is_small)


def has_figure(folder: Path, name: str) -> bool:
    """Whether a run has left a figure."""
    return any((folder / f"{name}{suffix}").is_file() for suffix in TYPES)
