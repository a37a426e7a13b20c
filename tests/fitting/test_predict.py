"""Predictions of fits: bands hold the responses they should, costs and prior means are those of the draws."""

import numpy as np
import pytest

from designstudio.errors import UnknownNameError
from designstudio.fitting.predict import compare_prior_means, infer_cost_function, predict_responses


@pytest.fixture(scope="module")
def checks(fit):
    return [predict_responses(fit, "quadratic_effort", subject) for subject in fit.subjects]


def test_bands_of_the_right_cost_hold_the_responses_they_should(checks):
    inside = np.array([check["share_inside"].values for check in checks])
    # 1440 trials, of which the fit has seen all.
    assert inside.mean() == pytest.approx(0.94, abs=0.025)
    assert checks[0].attrs["expected_inside"] == pytest.approx(0.94)
    pit = np.sort(np.concatenate([check["pit"].values for check in checks]))
    assert np.abs(pit - (np.arange(pit.size) + 0.5) / pit.size).max() < 0.04


def test_quantiles_are_in_order_and_in_the_unit_of_the_data(checks, fit):
    for check in checks:
        assert (np.diff(check["response"].transpose(..., "probability").values, axis=-1) > 0).all()
        assert check["condition"].values.tolist() == fit.conditions
    subject = fit.trials.isel(dataset=0)
    assert float(checks[0]["stimulus"].min()) == pytest.approx(float(subject["stimulus"].min()))
    median = checks[0]["response"].sel(probability=0.5).mean()
    assert float(median) == pytest.approx(float(subject["response"].mean()), rel=0.2)


def test_the_share_inside_is_that_of_the_quantiles(checks, fit):
    check = checks[3]
    inside = []
    for k in range(2):
        is_in = check["condition_index"].values == k
        x, y = (np.log(check[name].values[is_in]) for name in ("stimulus_shown", "response_given"))
        low, high = (
            np.interp(x, np.log(check["stimulus"].values), np.log(check["response"].values[k, :, at])) for at in (0, -1)
        )
        inside.append(np.mean((y > low) & (y < high)))
    np.testing.assert_allclose(inside, check["share_inside"], atol=0.035)


def test_costs_are_zero_where_the_response_is_right_and_reach_one(fit):
    for cost in fit.models:
        found = infer_cost_function(fit, cost, "S03")
        at_right = found.sel(error=1.0, method="nearest")
        np.testing.assert_allclose([at_right[name] for name in ("low", "median", "high")], 0, atol=1e-3)
        assert float(found["high"].max()) == pytest.approx(1)
    # Effort makes smaller responses cheaper.
    assert float(infer_cost_function(fit, "quadratic_effort", "S11")["median"].min()) < -0.01
    assert float(infer_cost_function(fit, "quadratic", "S11")["median"].min()) == pytest.approx(0, abs=1e-6)


def test_the_cost_of_a_draw_is_the_formula(fit):
    found = infer_cost_function(fit, "quadratic", "S01")
    error = found["error"].values
    np.testing.assert_allclose(found["median"], (error - 1) ** 2, rtol=1e-4, atol=1e-6)


def test_prior_means_are_those_of_the_summary(fit):
    found = compare_prior_means(fit)
    summary = fit.summarize().sel(parameter="mu_0")
    np.testing.assert_allclose(found["mean"], summary["mean"])
    np.testing.assert_allclose(found["low"], summary["low"])
    assert found["mean"].dims == ("subject", "cost")
    assert found["is_good"].values.all()
    assert found.attrs["units"] == "N"


def test_unknown_subjects_and_costs_are_refused(fit):
    with pytest.raises(UnknownNameError, match="'nobody'"):
        predict_responses(fit, "quadratic", "nobody")
    with pytest.raises(UnknownNameError, match="'linex'"):
        infer_cost_function(fit, "linex", "S01")
