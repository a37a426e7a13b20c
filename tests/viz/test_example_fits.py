"""All figures of real fits: what the library computes is what is drawn."""

import dataclasses

import holoviews as hv
import numpy as np
import pytest
import xarray as xr

from designstudio.errors import UnknownNameError
from designstudio.fitting.plan import compare_precision, plan_study
from designstudio.fitting.predict import compare_prior_means, infer_cost_function, predict_responses
from designstudio.model.likelihood.model import BehaviorModel
from designstudio.viz.figures import write_figures
from designstudio.viz.fits import draw_fit, draw_fit_costs, draw_fit_predictive, draw_fit_prior_means
from tests.viz.test_calibration import find_picture_faults
from tests.viz.test_recovery import read_title

BEST = "quadratic_effort"


def take(panel, kind, label=None):
    """Elements of a panel."""
    return [part for part in panel if isinstance(part, kind) and label in (None, part.label)]


def list_titles(figure):
    return [panel.opts.get("plot", backend="matplotlib").kwargs["title"] for panel in figure]


def spoil(fit, cost, subject):
    """The same fits, but for one that failed."""
    posterior = fit.posteriors[cost].copy(deep=True)
    place = fit.subjects.index(subject)
    posterior["diagnostics"]["is_good"][place] = False
    posterior["diagnostics"]["reason"] = posterior["diagnostics"]["reason"].astype(object)
    posterior["diagnostics"]["reason"][place] = "R-hat 1.30"
    return dataclasses.replace(fit, posteriors={**fit.posteriors, cost: posterior})


@pytest.fixture(scope="module")
def drawn(fit):
    return draw_fit(fit, subjects=fit.subjects[:6])


def test_everything_is_drawn_of_a_fit_alone(drawn, fit):
    predictive = {f"predictive_{BEST}_S{k:02d}" for k in range(1, 7)}
    others = {"comparison", "winners", "prior_means", "cost_functions_S01", *(f"subjects_{cost}" for cost in fit.models)}
    assert set(drawn) == predictive | others


def test_quantiles_and_trials_are_those_of_the_predictions(drawn, fit):
    predicted = predict_responses(fit, BEST, "S02")
    for k, panel in enumerate(drawn[f"predictive_{BEST}_S02"]):
        wide, narrow = take(panel, hv.Area)
        for band, (low, high) in ((wide, (0.03, 0.97)), (narrow, (0.25, 0.75))):
            np.testing.assert_allclose(band.dimension_values(0), predicted["stimulus"])
            expected = predicted["response"].isel(condition=k)
            np.testing.assert_allclose(band.dimension_values(1), expected.sel(probability=low))
            np.testing.assert_allclose(band.dimension_values(2), expected.sel(probability=high))
        (median,) = take(panel, hv.Curve, "predicted median")
        np.testing.assert_allclose(median.dimension_values(1), predicted["response"].sel(probability=0.5)[k])
        (marks,) = take(panel, hv.Points, "observed")
        own = fit.trials.isel(dataset=1)
        is_own = own["is_present"].values & (own["condition_index"].values == k)
        np.testing.assert_array_equal(np.sort(marks.dimension_values(1)), np.sort(own["response"].values[is_own]))


def test_the_share_in_the_heading_is_that_of_the_data(drawn, fit):
    predicted = predict_responses(fit, BEST, "S03")
    titles = list_titles(drawn[f"predictive_{BEST}_S03"])
    for title, condition, share in zip(titles, fit.conditions, predicted["share_inside"].values, strict=True):
        assert title.startswith(f"{condition}\n{share:.0%} inside, expected 94 ± ")
    # Counted once more, from the drawn band.
    panel = next(iter(drawn[f"predictive_{BEST}_S03"]))
    band, (marks,) = take(panel, hv.Area)[0], take(panel, hv.Points, "observed")
    x, y = (np.log(marks.dimension_values(axis)) for axis in (0, 1))
    grid, low, high = (np.log(band.dimension_values(axis)) for axis in (0, 1, 2))
    inside = np.mean((y > np.interp(x, grid, low)) & (y < np.interp(x, grid, high)))
    assert inside == pytest.approx(float(predicted["share_inside"][0]), abs=0.035)


def test_costs_and_prior_means_are_those_of_the_fit(drawn, fit):
    for panel, cost in zip(drawn["cost_functions_S01"], ("quadratic", BEST), strict=True):
        found = infer_cost_function(fit, cost, "S01")
        (band,) = take(panel, hv.Area)
        for axis, values in enumerate((np.log2(found["error"]), found["low"], found["high"])):
            np.testing.assert_allclose(band.dimension_values(axis), values, atol=1e-9)
    (panel,) = drawn["prior_means"]
    means = compare_prior_means(fit)["mean"].sel(cost=["quadratic", BEST]).values
    marks = [part.dimension_values(1) for part in take(panel, hv.Points)]
    np.testing.assert_allclose(np.sort(marks), np.sort(means.T))
    (line,) = take(panel, hv.Curve, "mean stimulus")
    assert line.dimension_values(1)[0] == pytest.approx(float(fit.trials["stimulus"].mean()))


def test_costs_and_prior_means_that_differ_between_conditions_are_drawn(fit):
    """The parts that draw them take what the library makes of such a fit."""
    model = fit.models[BEST]
    posterior = fit.posteriors[BEST].copy()
    draws = posterior["posterior"].to_dataset()
    for name, factor in (("mu_0", 1.5), ("beta", 0.5)):
        draws[name] = xr.concat([draws[name], factor * draws[name]], draws["condition"]).transpose(..., "condition")
    posterior["posterior"] = xr.DataTree(draws)
    own = dataclasses.replace(
        fit,
        models={BEST: BehaviorModel(model.actor, num_conditions=2, per_condition=("sigma", "mu_0", "beta"))},
        posteriors={BEST: posterior},
        comparison=None,
    )
    (panel,) = draw_fit_costs(own, "S01")
    found = infer_cost_function(own, BEST, "S01")
    for condition in fit.conditions:
        (curve,) = take(panel, hv.Curve, condition)
        np.testing.assert_allclose(curve.dimension_values(1), found["median"].sel(condition=condition))
    figure = draw_fit_prior_means(own)
    assert list_titles(figure) == fit.conditions
    first, second = (np.sort(take(panel, hv.Points)[0].dimension_values(1)) for panel in figure)
    np.testing.assert_allclose(second, 1.5 * first)


def test_a_figure_says_if_its_fit_cannot_be_used(fit):
    spoiled = spoil(fit, BEST, "S02")
    warning = "quadratic effort has no usable fit (R-hat 1.30)"
    assert warning in read_title(draw_fit_predictive(spoiled, BEST, "S02"))
    assert warning in read_title(draw_fit_costs(spoiled, "S02"))
    assert warning not in read_title(draw_fit_predictive(spoiled, BEST, "S01"))
    assert "1 of 24 fits failed" in read_title(draw_fit_prior_means(spoiled))


def test_pooled_fits_have_a_figure_of_shrinkage_and_plans_one_of_precision(pooled_fit, tmp_path):
    precision = compare_precision(pooled_fit, plan_study(pooled_fit), num_datasets=20)
    names = write_figures(draw_fit(pooled_fit, subjects=["S12"], precision=precision), tmp_path)
    expected = {f"subjects_{BEST}", f"shrinkage_{BEST}", "prior_means", "cost_functions_S12", "precision"}
    expected.add(f"predictive_{BEST}_S12")
    assert {name.removesuffix(".png") for name in names} == expected
    assert {path.name for path in tmp_path.iterdir()} == {f"{name}{end}" for name in expected for end in (".png", ".svg")}
    assert {name: faults for name in names if (faults := find_picture_faults(tmp_path / name))} == {}


def test_known_prior_means_are_not_drawn_and_strangers_refused(fit):
    known = BehaviorModel(fit.models["quadratic"].actor, num_conditions=2, per_condition=("sigma",), fixed=("mu_0",))
    own = dataclasses.replace(fit, models={"quadratic": known}, posteriors={}, comparison=None)
    assert draw_fit(own, subjects=[]) == {}
    with pytest.raises(UnknownNameError, match="Unknown subject 'Eve'"):
        draw_fit(fit, subjects=["Eve"])
