"""Figures of power: the numbers by value, the drawing by smoke."""

import numpy as np
import pytest
import xarray as xr

from designstudio.errors import StudioError
from designstudio.metrics.monte_carlo import Score
from designstudio.metrics.power import PowerScore
from designstudio.viz.power import (
    compute_excess,
    compute_hatching,
    compute_isolines,
    compute_power_curves,
    draw_power,
    draw_power_contours,
    draw_power_curve,
)
from tests.viz.test_recovery import find_faults, read_title

DIMS = ("goal", "num_trials")


@pytest.fixture
def curves():
    value = np.array([[0.99, 0.5, 0.1], [0.5, 0.2, 0.0]])
    mcse = np.array([[0.01, 0.05, 0.03], [0.05, 0.04, 0.01]])
    coords = {"goal": ["excludes 1", "narrower than 0.2"], "num_trials": [300, 100, 50]}
    return xr.Dataset({"value": (DIMS, value), "mcse": (DIMS, mcse)}, coords=coords)


@pytest.fixture
def power():
    """A plane: power is the number of participants over ten, however many trials there are."""
    participants, trials = np.arange(0, 11, 2), np.array([50, 100, 200])
    values = np.broadcast_to(participants[:, None] / 10, (6, 3))
    return xr.DataArray(values, dims=("participants", "trials"), coords={"participants": participants, "trials": trials})


def test_curves_by_value(curves):
    first, second = compute_power_curves(curves)
    assert [first.goal, second.goal] == ["excludes 1", "narrower than 0.2"]
    np.testing.assert_array_equal(first.place, [50, 100, 300])
    np.testing.assert_array_equal(first.value, [0.1, 0.5, 0.99])
    np.testing.assert_allclose(first.low, [0.04, 0.4, 0.97])
    np.testing.assert_allclose(first.high, [0.16, 0.6, 1.0])
    assert second.low[0] == 0


def test_each_goal_has_a_curve_with_its_effect_absent_where_that_is_known(curves, tmp_path):
    absent = np.array([[0.05, 0.04, 0.03], [np.nan] * 3])
    both = curves.assign(when_absent=(DIMS, absent), when_absent_mcse=(DIMS, 0 * absent + 0.01))
    first, without, second = compute_power_curves(both)
    assert [first.goal, without.goal, second.goal] == ["excludes 1", "excludes 1, effect absent", "narrower than 0.2"]
    assert without.of == "excludes 1"
    np.testing.assert_array_equal(without.value, [0.03, 0.04, 0.05])
    assert not find_faults(draw_power_curve(both), tmp_path, "number of trials", "power")


def test_texts_keep_their_order(curves):
    named = curves.assign_coords(num_trials=["many", "some", "few"]).rename(num_trials="plan")
    np.testing.assert_array_equal(compute_power_curves(named)[0].place, [0, 1, 2])
    np.testing.assert_array_equal(compute_power_curves(named)[0].value, [0.99, 0.5, 0.1])


def test_isolines_of_a_plane_are_straight(power):
    half, target = compute_isolines(power, (0.5, 0.8))
    for isoline, x in ((half, 5.0), (target, 8.0)):
        corners = isoline.line[~np.isnan(isoline.line[:, 0])]
        np.testing.assert_allclose(corners[:, 0], x)
        assert corners[:, 1].min() == 50
        assert corners[:, 1].max() == 200
        np.testing.assert_allclose(isoline.place, [x, 125.0], atol=1.0)
        # Nothing crosses the number.
        assert np.abs(corners[:, 1] - isoline.place[1]).min() > 0.04 * 150


def test_levels_that_are_not_reached_have_no_line(power):
    missing = compute_isolines(power / 2)[-1]
    assert missing.line.size == 0
    assert missing.place is None


def test_curve_is_drawn(curves, tmp_path):
    assert not find_faults(draw_power_curve(curves, title="Power"), tmp_path, "number of trials", "power")


def test_axis_takes_the_words_of_its_coordinate(curves, tmp_path):
    spread = curves.rename(num_trials="spread").assign_coords(spread=[0.3, 0.2, 0.1])
    spread["spread"].attrs = {"long_name": "spread of stimuli", "units": "log units"}
    assert not find_faults(draw_power_curve(spread), tmp_path, "spread of stimuli (log units)")


def test_curve_over_texts_is_drawn(curves, tmp_path):
    named = curves.assign_coords(num_trials=["many", "some", "few"]).rename(num_trials="plan")
    assert not find_faults(draw_power_curve(named), tmp_path, "plan")


def with_rates(power, rates, nominal=0.06):
    """Power with false-positive rates over trials, known to 0.01."""
    absent = xr.zeros_like(power) + xr.DataArray(np.asarray(rates, float), dims="trials")
    return xr.Dataset({"value": power, "when_absent": absent, "when_absent_mcse": 0 * absent + 0.01, "nominal": nominal})


def test_excess_says_the_same_as_a_power_score():
    for rate, errs in ((0.05, False), (0.07, False), (0.09, True), (np.nan, False)):
        score = PowerScore(0.8, 0.03, Score(rate, 0.01), "beta is 1 for everybody", 0.06, "excludes", "a rule")
        point = xr.Dataset({"when_absent": rate, "when_absent_mcse": 0.01, "nominal": score.nominal})
        excess = compute_excess(point)
        assert errs == score.errs_too_often == (excess is not None and bool(excess > 0))


def test_hatching_covers_where_the_rate_is_too_high_and_nothing_else(power):
    # Clearly above 0.06 means above 0.08: from 50 to 125 trials, half of the axis.
    points = with_rates(power, [0.11, 0.09, 0.05])
    strokes = compute_hatching(compute_excess(points))
    corners = strokes[~np.isnan(strokes[:, 0])]
    assert corners[:, 1].max() == pytest.approx(125, abs=1)
    assert corners[:, 1].min() == pytest.approx(50, abs=1)
    assert (corners[:, 0].min(), corners[:, 0].max()) == pytest.approx((0, 10), abs=0.5)
    assert compute_hatching(compute_excess(with_rates(power, [0.05, 0.05, 0.05]))).size == 0


def read_legend(figure):
    return [part.label for panel in figure for part in panel if "false-positive" in part.label]


def test_contours_show_where_power_is_not_to_be_counted_on(power, tmp_path):
    figure = draw_power_contours(with_rates(power, [0.5, 0.3, 0.02]))
    assert not find_faults(figure, tmp_path, "number of participants", "number of trials")
    assert read_legend(figure) == ["not to be counted on: false-positive rate above 6%"]
    assert read_legend(draw_power_contours(with_rates(power, [0.02, 0.02, 0.02]))) == []
    # Of an interval that should be narrow there is no such rate, and of a quantity nobody knows it.
    assert read_title(draw_power_contours(with_rates(power, [np.nan] * 3, nominal=np.nan))) == ""
    assert read_title(draw_power_contours(with_rates(power, [np.nan] * 3))) == "false-positive rate not known"


def test_contours_of_several_goals_have_a_panel_each(power, tmp_path):
    goals = [with_rates(power, [0.5, 0.5, 0.5]), with_rates(power / 2, [np.nan] * 3)]
    both = xr.concat(goals, xr.DataArray(["effort", "ratio"], dims="goal", name="goal"))
    figure = draw_power(both)
    assert len(figure) == 2
    assert not find_faults(figure, tmp_path, "effort", "ratio\nfalse-positive rate not known")


def test_power_over_any_two_variables_is_drawn_also_where_one_of_them_has_one_value(power, tmp_path):
    whole = with_rates(power, [0.1, 0.1, 0.1]).assign(mcse=0 * power + 0.02).expand_dims(goal=["effort"])
    other = whole.rename(participants="sigma[1]")
    assert not find_faults(draw_power(other.isel({"sigma[1]": [0, 5]})), tmp_path, "sigma[1]", "power")
    labels = {part.label for panel in draw_power(other.isel(trials=[0, 2])) for part in panel}
    assert {"effort, trials 50", "effort, trials 200, effect absent"} <= labels
    for one in ({"trials": [0]}, {"participants": [0]}, {"participants": [0], "trials": [0]}):
        assert not find_faults(draw_power(whole.isel(one)), tmp_path, "power")


def test_contours_are_drawn(power, tmp_path):
    figure = draw_power_contours(power.to_dataset(name="value"), title="Power")
    assert not find_faults(figure, tmp_path, "number of participants", "number of trials")
    texts = [text for part in next(iter(figure)) if part.group == "Labels" for text in part.dimension_values(2)]
    assert texts == ["0.5", "0.8", "0.95"]


def test_contours_with_gaps_and_extremes_are_drawn(power, tmp_path):
    values = np.where(power > 0.5, 1.0, 0.0)
    values[2, 1] = np.nan
    assert not find_faults(
        draw_power_contours(power.copy(data=values).transpose("trials", "participants").to_dataset(name="value")), tmp_path
    )


def test_other_dims_are_refused(curves, power):
    with pytest.raises(StudioError, match="'goal' and one other, but goal were given"):
        draw_power_curve(curves.isel(num_trials=0))
    with pytest.raises(
        StudioError, match="two or more participants and trials, but the sizes are: participants 6, trials 1"
    ):
        draw_power_contours(power.isel(trials=[0]).to_dataset(name="value"))
