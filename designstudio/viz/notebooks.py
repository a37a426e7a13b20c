"""Figures in notebooks."""

import sys

import holoviews as hv

from designstudio.viz import theme  # noqa: F401  (registers the backends)


def enable_display() -> None:
    """Let a notebook show figures as pictures, which HoloViews does once its extension is loaded; nothing anywhere else."""
    ipython = sys.modules.get("IPython")
    if ipython is not None and ipython.get_ipython() is not None and not hv.extension._loaded:
        hv.extension("matplotlib", logo=False)
