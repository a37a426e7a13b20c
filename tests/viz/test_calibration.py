"""Calibration figures: the numbers by value, the drawing by smoke."""

import matplotlib.image
import matplotlib.pyplot as plt
import numpy as np
import pytest
import xarray as xr

from designstudio.errors import StudioError
from designstudio.metrics.calibration import simultaneous_band
from designstudio.viz.calibration import compute_panels, draw_calibration, draw_calibration_page
from designstudio.viz.figures import save_figure

SYMBOLS = {"mu_0": "μ₀", "sigma_0": "σ₀", "sigma_r": "σᵣ"}


@pytest.fixture
def ranks():
    """A calibrated quantity, one that is biased, one of which some fits failed and one of which all did."""
    rng = np.random.default_rng(1)
    uniform = rng.uniform(size=(3, 200))
    some_failed = np.where(np.arange(200) < 9, np.nan, uniform[2])
    values = {"mu_0": uniform[0], "sigma_0": uniform[1] ** 2, "sigma_r": some_failed, "beta": np.full(200, np.nan)}
    return xr.Dataset({name: ("dataset", numbers) for name, numbers in values.items()})


def test_panels_by_value(ranks):
    calibrated, biased, some_failed, all_failed = compute_panels(ranks)
    band = simultaneous_band(200)
    np.testing.assert_array_equal(calibrated.grid, band.grid)
    np.testing.assert_allclose(calibrated.upper, band.upper - band.grid)
    np.testing.assert_allclose(calibrated.lower, band.lower - band.grid)
    np.testing.assert_allclose(calibrated.difference[50], (ranks["mu_0"] <= 0.5).mean() - 0.5)
    # The square of a uniform number is below u with probability sqrt(u).
    np.testing.assert_allclose(biased.difference, np.sqrt(band.grid) - band.grid, atol=0.1)
    assert [panel.is_inside for panel in (calibrated, biased, some_failed, all_failed)] == [True, False, True, False]
    assert [panel.num_failed for panel in (calibrated, biased, some_failed, all_failed)] == [0, 0, 9, 200]
    np.testing.assert_array_equal(some_failed.upper, simultaneous_band(191).upper - band.grid)
    assert np.isnan(all_failed.difference).all()


def test_figure_has_a_titled_panel_for_each_quantity(ranks):
    figure = draw_calibration(ranks, title="quadratic effort", symbols=SYMBOLS)
    titles = [panel.opts.get("plot", backend="matplotlib").kwargs["title"] for panel in figure]
    assert titles == ["μ₀", "σ₀", "σᵣ (9 failed)", "beta (all failed)"]


def test_panels_share_their_axes(ranks):
    figure = draw_calibration(ranks, title="quadratic effort")
    limits = {panel.opts.get("plot", backend="matplotlib").kwargs["ylim"] for panel in figure}
    assert len(limits) == 1
    low, high = limits.pop()
    assert low == -high
    assert high > max(np.nanmax(panel.difference, initial=0) for panel in compute_panels(ranks))


def test_page_counts_the_panels_outside(ranks):
    page = draw_calibration_page({"quadratic": ranks, "linex": ranks[["mu_0"]]}, title="Calibration")
    title = page.opts.get("plot", backend="matplotlib").kwargs["title"]
    assert title == "Calibration\n1 of 4 outside their 95% band; exact fits have 0.2 on average"


def find_picture_faults(path):
    """What is wrong with a picture, and with what is left behind after drawing it."""
    pixels = matplotlib.image.imread(path)
    edges = (pixels[0], pixels[-1], pixels[:, 0], pixels[:, -1])
    faults = {
        "it is small": min(pixels.shape[:2]) <= 300,
        "it is empty": pixels[..., :3].std() <= 0.05,
        "it is cut off: its margins are not white": any((edge[..., :3] != 1).any() for edge in edges),
        "a figure is left open": plt.get_fignums() != [],
    }
    return [fault for fault, holds in faults.items() if holds]


@pytest.mark.parametrize("quantities", [["mu_0"], ["mu_0", "sigma_0", "sigma_r"], ["mu_0", "sigma_0", "sigma_r", "beta"]])
def test_figure_is_saved(ranks, tmp_path, quantities):
    figure = draw_calibration(ranks[quantities], title="quadratic effort", symbols=SYMBOLS)
    path = save_figure(figure, tmp_path / "new" / "quadratic_effort.v1.png")
    assert path == tmp_path / "new" / "quadratic_effort.v1.png"
    assert not find_picture_faults(path)


def test_page_with_different_quantities_is_saved(ranks, tmp_path):
    page = draw_calibration_page(
        {"quadratic": ranks[["mu_0"]], "quadratic_effort": ranks, "linex": ranks[["sigma_0", "beta"]]},
        title="Calibration",
        symbols=SYMBOLS,
    )
    assert not find_picture_faults(save_figure(page, tmp_path / "page.png"))


def test_nothing_to_draw_is_refused():
    with pytest.raises(StudioError, match="no ranks to draw"):
        draw_calibration(xr.Dataset(), title="empty")
    with pytest.raises(StudioError, match="no ranks to draw"):
        draw_calibration_page({}, title="empty")


def test_other_file_formats_are_refused(ranks, tmp_path):
    with pytest.raises(StudioError, match=r"saved as \.png files, but 'figure\.pdf' was given"):
        save_figure(draw_calibration(ranks, title="quadratic"), tmp_path / "figure.pdf")
