"""Notebooks of the documentation run from top to bottom, as Jupyter runs them."""

import ast
import contextlib
import functools
import json
from pathlib import Path

import holoviews as hv
import pytest

from designstudio.viz.figures import save_figure

FOLDER = Path(__file__).parents[1] / "docs" / "notebooks"


def list_code(path):
    """Sources of the cells with code."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]


def run_cell(source, names):
    """What a cell shows: the value of its last line, if that is an expression."""
    tree = ast.parse(source)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "cell", "exec"), names)  # noqa: S102
    return None if last is None else eval(compile(ast.Expression(last.value), "cell", "eval"), names)  # noqa: S307


@functools.cache
def run_notebook(path):
    """What its cells show; run once for all tests."""
    names = {"__name__": "__main__"}
    with contextlib.chdir(path.parent):
        return [run_cell(source, names) for source in list_code(path)]


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.ipynb")), ids=lambda path: path.stem)
def test_a_notebook_runs(path):
    assert any(value is not None for value in run_notebook(path))


def test_five_lines_lead_from_a_study_to_a_figure(tmp_path):
    path = FOLDER / "first_study.ipynb"
    assert sum(len(cell.splitlines()) for cell in list_code(path)) <= 5
    *_, screen, figure, table = run_notebook(path)
    assert "two-levels" in screen._repr_html_()
    assert isinstance(figure, hv.Layout)
    assert save_figure(figure, tmp_path / "figure.png").stat().st_size > 10_000
    assert table.loc["beta", "wide-levels"] < table.loc["beta", "one-level-high"]


def test_a_notebook_is_kept_without_what_it_showed():
    for path in FOLDER.glob("*.ipynb"):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        assert not any(cell.get("outputs") for cell in cells), f"clear the outputs of {path.name}"
