"""A stand-in for drawing, where files of figures matter and what is on them does not: figures have tests of their own."""

from designstudio.report import pictures
from designstudio.viz import figures


def draw_quickly(patch):
    """Until the patch is undone, figures are saved as a few bytes."""
    for module in (figures, pictures):
        patch.setattr(module, "save_figure", _write_picture)


def _write_picture(figure, *paths, dpi=100):
    for path in paths:
        path.write_text('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>')
    return paths[0]
