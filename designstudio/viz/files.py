"""Texts and figures as files of a folder."""

import os
from collections.abc import Mapping
from pathlib import Path

import holoviews as hv

from designstudio.viz.figures import save_figure

SUFFIXES = (".png", ".svg")


def write_text(path: Path, text: str) -> None:
    """Write a text, all or nothing."""
    part = path.with_name(f".{path.name}")
    part.write_text(text, encoding="utf-8")
    os.replace(part, path)


def write_figures(figures: Mapping[str, hv.Layout], folder: Path) -> list[str]:
    """Write each figure as PNG and as SVG; returns the names of the former."""
    for name, figure in figures.items():
        save_figure(figure, *(folder / f"{name}{suffix}" for suffix in SUFFIXES))
    return [f"{name}{SUFFIXES[0]}" for name in figures]
