"""Figures of comparison: the numbers by value, the drawing by smoke."""

import numpy as np
import pytest
import xarray as xr

from designstudio.errors import StudioError
from designstudio.viz import theme
from designstudio.viz.confusion import compute_confusion, draw_confusion, find_dark
from tests.viz.test_recovery import find_faults, read_title

COSTS = ["quadratic", "absolute", "asymmetric_quadratic"]


def make_matrix(counts):
    counts = np.asarray(counts)
    coords = {"simulated": COSTS[: counts.shape[0]], "fitted": COSTS[: counts.shape[1]]}
    return xr.DataArray(counts, dims=("simulated", "fitted"), coords=coords)


def test_confusion_and_inversion_by_value():
    table = compute_confusion(make_matrix([[8, 2], [10, 30]]))
    assert table.simulated == table.fitted == COSTS[:2]
    np.testing.assert_allclose(table.confusion, [[0.8, 0.2], [0.25, 0.75]])
    # The models count the same, although one has four times as many data sets.
    np.testing.assert_allclose(table.inversion, [[0.8 / 1.05, 0.2 / 0.95], [0.25 / 1.05, 0.75 / 0.95]])


def test_order_of_dims_does_not_matter():
    matrix = make_matrix([[8, 2], [10, 30]])
    np.testing.assert_array_equal(compute_confusion(matrix.T).confusion, compute_confusion(matrix).confusion)


def test_models_without_data_sets_or_wins_are_unknown():
    table = compute_confusion(make_matrix([[5, 5, 0], [0, 0, 0]]))
    np.testing.assert_array_equal(np.isnan(table.confusion), [[False] * 3, [True] * 3])
    np.testing.assert_array_equal(table.inversion[0], [1, 1, np.nan])


def test_white_text_stands_on_dark_cells_only():
    values = np.array([[0.0, 0.1, 0.9, 1.0, np.nan]])
    np.testing.assert_array_equal(find_dark(values, theme.SEQUENTIAL, (0, 1)), [[False, False, True, True, False]])


def test_confusion_is_drawn(tmp_path):
    figure = draw_confusion(make_matrix([[8, 1, 1], [3, 7, 0], [0, 0, 0]]), title="Which cost?", num_failed=2)
    assert read_title(figure) == "Which cost?\n2 of 22 fits failed"
    labels = "fitted cost", "simulated cost", "confusion: P(fitted | simulated)", "inversion: P(simulated | fitted)"
    assert not find_faults(figure, tmp_path, *labels)


def test_cells_hold_percentages():
    figure = draw_confusion(make_matrix([[8, 2], [0, 0]]))
    texts = [text for part in next(iter(figure)) if part.group == "Labels" for text in part.dimension_values("text")]
    assert sorted(texts) == ["20%", "80%", "–", "–"]


def test_undecided_data_sets_have_a_column_of_the_confusion_and_none_of_the_inversion(tmp_path):
    undecided = xr.DataArray([10, 0], dims="simulated", coords={"simulated": COSTS[:2]})
    matrix = make_matrix([[8, 2], [10, 30]])
    table = compute_confusion(matrix, undecided)
    assert table.fitted == [*COSTS[:2], "undecided"]
    np.testing.assert_allclose(table.confusion, [[0.4, 0.1, 0.5], [0.25, 0.75, 0]])
    np.testing.assert_allclose(table.inversion, [[0.4 / 0.65, 0.1 / 0.85], [0.25 / 0.65, 0.75 / 0.85]])
    figure = draw_confusion(matrix, undecided=undecided)
    texts = [[t for part in panel if part.group == "Labels" for t in part.dimension_values("text")] for panel in figure]
    assert sorted(texts[0]) == ["0%", "10%", "25%", "40%", "50%", "75%"]
    assert texts[1].count("–") == 2
    assert not find_faults(figure, tmp_path, "fitted cost", "simulated cost")


def test_failures_among_shares_need_the_number_of_data_sets():
    shares = make_matrix([[0.8, 0.2], [0.3, 0.7]])
    assert read_title(draw_confusion(shares, num_failed=2, num_datasets=100)) == "2 of 100 fits failed"
    with pytest.raises(StudioError, match="num_datasets"):
        draw_confusion(shares, num_failed=2)


def test_other_matrices_are_refused():
    with pytest.raises(StudioError, match="has the dims simulated, fitted, but simulated, chosen were given"):
        draw_confusion(make_matrix([[1, 0], [0, 1]]).rename(fitted="chosen"))
    with pytest.raises(StudioError, match="negative or missing"):
        draw_confusion(make_matrix([[1, -1], [0, 1]]))
