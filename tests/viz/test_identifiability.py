"""Figures of identifiability: the numbers by value, the drawing by smoke."""

import holoviews as hv
import matplotlib.colors
import numpy as np
import pytest
from matplotlib.path import Path
from scipy import stats

from designstudio.errors import StudioError, UnknownNameError
from designstudio.viz import theme
from designstudio.viz.identifiability import compute_correlations, compute_regions, draw_correlations, draw_pair
from tests.viz.test_recovery import NUM, NUM_FAILED, find_faults, make_summaries, read_title


def make_draws(num=4000, correlation=-0.8, seed=1):
    rng = np.random.default_rng(seed)
    return rng.multivariate_normal([3.0, 0.5], [[0.04, 0.02 * correlation], [0.02 * correlation, 0.01]], num)


def measure_area(outline):
    x, y = outline.T
    return abs(np.dot(x, np.roll(y, 1)) - np.dot(y, np.roll(x, 1))) / 2


def test_correlations_are_means_over_good_fits():
    summaries = make_summaries()
    symbols, matrix = compute_correlations(summaries)
    assert symbols == ["μ₀", "σ₀", "β"]
    covariance = summaries["log_covariance"].values[NUM_FAILED:]
    deviation = np.sqrt(np.diagonal(covariance, axis1=1, axis2=2))
    expected = (covariance / (deviation[:, :, None] * deviation[:, None, :])).mean(0)
    np.testing.assert_allclose(matrix[np.tril_indices(3, -1)], expected[np.tril_indices(3, -1)])
    assert np.isnan(matrix[np.triu_indices(3)]).all()


def test_correlations_are_unknown_if_all_fits_failed():
    assert np.isnan(compute_correlations(make_summaries(num_failed=NUM)).matrix).all()


@pytest.mark.parametrize("correlation", [0.0, -0.8, 0.995])
def test_regions_of_a_normal_posterior_have_its_area(correlation):
    draws = make_draws(20_000, correlation)
    regions = compute_regions(*draws.T)
    assert [region.prob for region in regions] == [0.94, 0.5]
    for region in regions:
        assert len(region.outlines) == 1
        exact = np.pi * stats.chi2(2).ppf(region.prob) * 0.02 * np.sqrt(1 - correlation**2)
        # The kernel makes the estimate a little wider than the posterior.
        np.testing.assert_allclose(measure_area(region.outlines[0]), exact, rtol=0.1)
        np.testing.assert_allclose(Path(region.outlines[0]).contains_points(draws).mean(), region.prob, atol=0.02)


def test_regions_end_at_the_border_of_the_draws():
    draws = np.abs(np.random.default_rng(1).normal(size=(5000, 2)))
    for region in compute_regions(*draws.T):
        corners = np.concatenate(region.outlines)
        assert corners.min() > -1e-3
        assert sum(Path(outline).contains_points(draws).mean() for outline in region.outlines) > region.prob - 0.02


def test_separate_modes_have_separate_regions():
    draws = np.concatenate([make_draws(2000), make_draws(2000) + np.array([3.0, 1.0])])
    largest, smallest = compute_regions(*draws.T)
    assert len(largest.outlines) == len(smallest.outlines) == 2


def test_draws_without_spread_are_refused():
    with pytest.raises(StudioError, match="do not vary"):
        compute_regions(np.ones(100), np.arange(100.0))


def test_correlations_are_drawn(tmp_path):
    designs = {"wide": make_summaries(), "narrow": make_summaries(2, num_failed=0)}
    figure = draw_correlations(designs, title="Correlations")
    assert read_title(figure).endswith("wide: 3 of 40 fits failed")
    ticks = next(iter(figure)).opts.get("plot", backend="matplotlib").kwargs
    assert [text for _, text in ticks["xticks"]] == ["μ₀", "σ₀"]
    assert [text for _, text in ticks["yticks"]] == ["σ₀", "β"]
    assert not find_faults(figure, tmp_path, "wide", "narrow")


def test_correlations_remain_if_all_fits_failed(tmp_path):
    figure = draw_correlations({"one": make_summaries(num_failed=NUM)})
    assert "40 of 40 fits failed" in read_title(figure)
    assert not find_faults(figure, tmp_path)


def test_correlations_need_two_parameters():
    alone = make_summaries().isel(parameter=[0], parameter_other=[0])
    with pytest.raises(StudioError, match="at least two free parameters"):
        draw_correlations({"one": alone})
    with pytest.raises(StudioError, match="no designs to draw"):
        draw_correlations({})


@pytest.fixture
def draws_by_design():
    columns = {"wide": make_draws().reshape(4, 1000, 2), "narrow": make_draws(correlation=0.0).reshape(4, 1000, 2)}
    return {design: {"mu_0": draws[..., 0], "beta": draws[..., 1]} for design, draws in columns.items()}


def test_pair_is_drawn(draws_by_design, tmp_path):
    labels = theme.label_quantities(make_summaries())
    figure = draw_pair(draws_by_design, ("mu_0", "beta"), truth={"mu_0": 3.0, "beta": 0.5}, labels=labels)
    assert not find_faults(figure, tmp_path, "μ₀ (stimulus unit)", "β")


def test_pair_names_the_designs_whose_fit_failed(draws_by_design):
    title = read_title(draw_pair({**draws_by_design, "short": None}, ("mu_0", "beta")))
    assert "no region for short: the fit failed" in title


def test_pair_of_unknown_quantities_is_refused(draws_by_design):
    with pytest.raises(UnknownNameError, match=r"Unknown quantity 'gamma'\. Available: mu_0, beta"):
        draw_pair(draws_by_design, ("mu_0", "gamma"))


@pytest.mark.parametrize("current", ["matplotlib", "bokeh"])
def test_regions_have_the_colours_of_their_designs(draws_by_design, current):
    before = hv.Store.current_backend
    hv.Store.set_current_backend(current)
    try:
        drawn = hv.renderer("matplotlib").get_plot(draw_pair(draws_by_design, ("mu_0", "beta"))).state
    finally:
        hv.Store.set_current_backend(before)
    colors = {matplotlib.colors.to_hex(artist.get_facecolor()[0]).upper() for artist in drawn.axes[0].collections}
    assert colors == {theme.BLUE, theme.VERMILION}
