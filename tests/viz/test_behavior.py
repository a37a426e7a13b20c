"""Figures of behavior: the numbers by value, the drawing by smoke."""

import numpy as np
import pytest
import xarray as xr

from designstudio.errors import StudioError, UnknownNameError
from designstudio.model.trials.schema import make_trials
from designstudio.viz.behavior import compute_behavior, draw_behavior
from tests.viz.test_recovery import find_faults

CONDITIONS = ["clear", "blurred"]


@pytest.fixture
def trials():
    """Two data sets; the second is shorter."""
    rng = np.random.default_rng(1)
    stimulus = rng.uniform(1, 6, (2, 60))
    is_present = np.ones((2, 60), bool)
    is_present[1, 50:] = False
    return make_trials(
        stimulus,
        stimulus * np.exp(0.1 * rng.normal(size=stimulus.shape)),
        condition_index=np.tile([0, 1], (2, 30)),
        is_present=is_present,
        conditions=CONDITIONS,
        unit="m",
    )


@pytest.fixture
def band():
    grid = np.linspace(6, 1, 20)
    median = np.stack([grid, 0.9 * grid])
    dims = ("condition", "stimulus")
    values = {"low": (dims, 0.8 * median), "median": (dims, median), "high": (dims, 1.2 * median)}
    return xr.Dataset(values, coords={"condition": CONDITIONS, "stimulus": grid})


def test_conditions_are_split_and_padding_is_left_out(trials, band):
    clear, blurred = compute_behavior(trials, band, dataset=1)
    assert [clear.condition, blurred.condition] == CONDITIONS
    np.testing.assert_array_equal(clear.stimulus, trials["stimulus"].values[1, 0:50:2])
    np.testing.assert_array_equal(blurred.response, trials["response"].values[1, 1:50:2])


def test_band_is_sorted_by_stimulus(trials, band):
    _, blurred = compute_behavior(trials, band)
    np.testing.assert_allclose(blurred.grid, np.linspace(1, 6, 20))
    np.testing.assert_allclose(blurred.median, 0.9 * blurred.grid)
    np.testing.assert_allclose(blurred.low, 0.8 * blurred.median)
    np.testing.assert_allclose(blurred.high, 1.2 * blurred.median)


def test_behavior_is_drawn(trials, band, tmp_path):
    assert not find_faults(draw_behavior(trials, band, title="One participant"), tmp_path, "stimulus (m)", "response (m)")


def test_behavior_without_band_or_conditions_is_drawn(tmp_path):
    figure = draw_behavior(make_trials([1.0, 2.0, 3.0], [1.2, 1.9, 2.8]))
    assert not find_faults(figure, tmp_path, "stimulus (stimulus unit)", "response (stimulus unit)")


def test_what_does_not_fit_is_refused(trials, band):
    with pytest.raises(UnknownNameError, match=r"Unknown data set '7'\. Available: 0, 1"):
        draw_behavior(trials, band, dataset=7)
    with pytest.raises(UnknownNameError, match="Unknown condition of the band 'blurred'"):
        draw_behavior(trials, band.isel(condition=[0]))
    with pytest.raises(StudioError, match="The band has no 'median'"):
        draw_behavior(trials, band.drop_vars("median"))
