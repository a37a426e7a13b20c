"""Figures as files of a folder."""

from collections.abc import Mapping
from pathlib import Path

import holoviews as hv

from designstudio.viz.figures import save_figure

SUFFIXES = (".png", ".svg")


def write_figures(figures: Mapping[str, hv.Layout], folder: Path) -> list[str]:
    """Write each figure as PNG and as SVG; returns the names of the former."""
    for name, figure in figures.items():
        save_figure(figure, *(folder / f"{name}{suffix}" for suffix in SUFFIXES))
    return [f"{name}{SUFFIXES[0]}" for name in figures]
