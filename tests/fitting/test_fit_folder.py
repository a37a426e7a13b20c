"""Fits as files: everything comes back, and damage is named."""

import dataclasses
import json

import numpy as np
import pytest
import xarray as xr

from designstudio.errors import StudioError
from designstudio.fitting.fit_folder import load_fit, save_fit
from designstudio.fitting.reading import example_path
from designstudio.fitting.request import FitRequest, request_as_dict, request_from_dict
from designstudio.model.priors import HalfNormal, Interval, LogNormal, Uniform
from designstudio.model.scale import Scale
from tests.conftest import EXAMPLE_COSTS

STATISTICS = {"mean", "sd", "low", "high"}


@pytest.fixture(scope="module")
def both(fit, pooled_fit):
    """All that a fit can have."""
    return dataclasses.replace(fit, pooled=pooled_fit.pooled)


@pytest.fixture(scope="module")
def saved(both, tmp_path_factory):
    folder = tmp_path_factory.mktemp("saved") / "new"
    save_fit(both, folder)
    return folder


def test_a_fit_comes_back_whole(both, saved):
    fit = both
    names = {path.name for path in saved.iterdir()}
    kept = {"posterior_quadratic.nc", "posterior_quadratic_effort.nc", "pooled_quadratic_effort.nc"}
    assert names == {"trials.nc", "request.json", "result.json", "estimates.csv", *kept}
    again = load_fit(saved)
    xr.testing.assert_identical(again.trials, fit.trials)
    assert (again.name, again.report, again.scale, again.notes) == (fit.name, fit.report, fit.scale, fit.notes)
    assert again.seconds == fit.seconds
    for cost in EXAMPLE_COSTS:
        xr.testing.assert_equal(again.posteriors[cost], fit.posteriors[cost])
        assert repr(again.models[cost].priors) == repr(fit.models[cost].priors)
        assert again.models[cost].per_condition == ("sigma",)
    xr.testing.assert_equal(again.pooled["quadratic_effort"], fit.pooled["quadratic_effort"])
    assert again.as_dict() == fit.as_dict()


def test_data_in_seconds_stay_numbers(fit, tmp_path):
    trials = fit.trials.copy()
    for name in ("stimulus", "response"):
        trials[name] = trials[name].assign_attrs(units="s")
    trees = {cost: tree.copy() for cost, tree in fit.posteriors.items()}
    for tree in trees.values():
        tree["observed_data"]["response"].attrs["units"] = "s"
    save_fit(dataclasses.replace(fit, trials=trials, scale=Scale(10.0, "s"), posteriors=trees), tmp_path)
    again = load_fit(tmp_path)
    assert again.posteriors["quadratic"]["observed_data"]["response"].dtype == float
    assert again.trials["stimulus"].dtype == float


def test_requests_come_back():
    sigma = xr.DataArray([[0.1, np.nan]], coords={"subject": ["a"], "condition": ["x", "y"]}, dims=["subject", "condition"])
    request = FitRequest(
        costs=("linex",),
        fixed={"sigma": sigma, "sigma_r": 0.1},
        per_condition=("mu_0",),
        priors={"mu_0": Uniform(1, 2), "sigma_0": HalfNormal(0.2), "alpha": LogNormal(1, 0.5, Interval(0.1, 4))},
        on_data_scale=True,
        pools=True,
        seed=9,
        interval=0.8,
        own_priors={"linex": {"sigma": Uniform(0.1, 0.2)}},
        is_exact=True,
    )
    again = request_from_dict(json.loads(json.dumps(request_as_dict(request), allow_nan=False)))
    xr.testing.assert_identical(again.fixed["sigma"], sigma)
    assert again.fixed["sigma_r"] == 0.1
    assert again.priors == request.priors
    assert again.settings == request.settings
    assert (again.interval, again.own_priors, again.is_exact) == (0.8, request.own_priors, True)
    assert (again.costs, again.per_condition, again.on_data_scale, again.pools, again.seed) == (
        request.costs,
        request.per_condition,
        True,
        True,
        9,
    )


def test_the_record_has_the_agreed_form(saved):
    record = json.loads((saved / "result.json").read_text())
    assert set(record) == {
        "name",
        "unit",
        "interval",
        "subjects",
        "comparison",
        "group",
        "exclusions",
        "scale",
        "convergence",
        "verdict",
        "predictive",
        "lapses",
        "notes",
        "seconds",
        "settings",
        "versions",
    }
    assert (record["name"], record["unit"]) == ("example", "N")
    assert record["interval"] == {"probability": 0.94, "kind": "equal-tailed"}
    assert len(record["subjects"]) == 12
    entry = record["subjects"]["S01"]["quadratic_effort"]
    assert set(entry["parameters"]) == {
        "mu_0",
        "sigma_0",
        "sigma[blurred]",
        "sigma[clear]",
        "sigma_r",
        "beta",
        "lapse_rate",
    }
    assert all(set(numbers) == STATISTICS for numbers in entry["parameters"].values())
    assert entry["is_good"] is True
    assert entry["reason"] == ""
    assert (entry["rhat_max"] is None) != (entry["khat"] is None)
    assert {"elpd_loo", "elpd_se", "pareto_k_bad"} <= set(entry)
    assert set(record["comparison"]) == {"table", "totals", "families", "num_undecided", "num_close"}
    assert set(record["comparison"]["totals"]["quadratic"]) >= {"elpd", "difference", "difference_se", "weight", "share_won"}
    assert record["group"]["quadratic_effort"]["sigma[clear]"].keys() == {"median", "spread"}
    assert set(record["group"]["quadratic_effort"]["mu_0"]["median"]) == STATISTICS
    # In newtons.
    assert 10 < record["group"]["quadratic_effort"]["mu_0"]["median"]["mean"] < 40
    assert record["convergence"]["quadratic"] == {"good": 12, "failed": 0, "failed_subjects": {}}
    assert record["scale"] == {"factor": 10.0, "unit": "N", "actor_unit": "10 N", "note": ""}
    assert record["exclusions"]["num_trials"] == 1440


def test_what_is_not_a_fit_is_refused_with_a_sentence(tmp_path, saved):
    with pytest.raises(StudioError, match="no fit in"):
        load_fit(tmp_path)
    (tmp_path / "request.json").write_text("{}")
    with pytest.raises(StudioError, match="not of the form"):
        load_fit(tmp_path)
    (tmp_path / "request.json").write_text("{")
    with pytest.raises(StudioError, match="cannot be read"):
        load_fit(tmp_path)
    record = json.loads((saved / "request.json").read_text())
    del record["scale"]
    (tmp_path / "request.json").write_text(json.dumps(record))
    with pytest.raises(StudioError, match="not complete"):
        load_fit(tmp_path)
    with pytest.raises(StudioError, match="is a file"):
        save_fit(load_fit(saved), example_path())
