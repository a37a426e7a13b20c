"""Save HoloViews figures as files, with matplotlib."""

from pathlib import Path

import holoviews as hv
import holoviews.plotting.mpl  # registers matplotlib; a current backend such as bokeh stays current

from designstudio.errors import StudioError

DPI = 150


def save_figure(figure: hv.core.Dimensioned, path: str | Path, *, dpi: int = DPI) -> Path:
    """Draw a HoloViews object with matplotlib into a PNG file.

    Args:
        figure: what to draw.
        path: ends in .png; its folder is made if needed.
        dpi: pixels per inch.

    Returns:
        The path.
    """
    path = Path(path)
    if path.suffix != ".png":
        raise StudioError(f"Figures are saved as .png files, but {path.name!r} was given.")
    path.parent.mkdir(parents=True, exist_ok=True)
    renderer = hv.plotting.mpl.MPLRenderer
    # As hv.extension does: switch to Agg, which needs no screen and works in a dashboard's threads, unless in a notebook.
    renderer.load_nb()
    # HoloViews remembers margins by id(figure), and a new figure can get the id of one that is gone: labels would be cut.
    renderer.drawn.clear()
    hv.save(figure, path, fmt="png", backend="matplotlib", dpi=dpi)
    return path
