"""Fits of real data: recovery of the example's truth, units, fixed values, conditions that lack, failures, resuming."""

import dataclasses
import json

import numpy as np
import pytest
import xarray as xr

from designstudio.errors import DataError, StudioError
from designstudio.fitting import fit_subjects as module
from designstudio.fitting.fit_condition_groups import fit_condition_groups
from designstudio.fitting.fit_subjects import fit_subjects
from designstudio.fitting.models import build_models
from designstudio.fitting.request import FitRequest
from designstudio.fitting.units import convert_prior
from designstudio.inference.fit_datasets import fit_datasets
from designstudio.inference.hierarchical import PoolingSettings
from designstudio.inference.settings import FitSettings
from designstudio.model.costs import get_cost
from designstudio.model.likelihood.lapses import NO_LAPSES
from designstudio.model.perception.lognormal import MU_0, SIGMA_0
from designstudio.model.priors import Constant, HalfNormal, Interval, LogNormal, Uniform
from designstudio.model.scale import Scale
from tests.conftest import EXAMPLE_COSTS

QUICK = FitSettings(num_draws=500)


def take_subjects(loaded, num):
    """The same data with the first subjects only."""
    trials = loaded.trials.isel(dataset=slice(num))
    return dataclasses.replace(loaded, trials=trials)


def test_the_truth_of_the_example_lies_in_the_intervals(fit, truth):
    found = fit.summarize().sel(cost="quadratic_effort")
    columns = {"sigma[clear]": "sigma_clear", "sigma[blurred]": "sigma_blurred"}
    inside = []
    for name in [name for name in found["parameter"].values if name != "lapse_rate"]:
        true = truth[columns.get(name, name)]
        row = found.sel(parameter=name)
        inside.append((row["low"].values <= true) & (true <= row["high"].values))
    # 94 % of 72 intervals are 68; subjects and parameters are nearly independent.
    assert np.mean(inside) > 0.85


def test_the_simulated_cost_wins(fit):
    assert not fit.failures
    total = fit.comparison.total
    assert float(total["difference"].sel(cost="quadratic_effort")) == 0
    assert float(total["difference"].sel(cost="quadratic")) > 3 * float(total["difference_se"].sel(cost="quadratic"))
    assert float(total["share_won"].sel(cost="quadratic_effort")) > 0.7
    assert fit.comparison.num_undecided == 0


def test_a_second_mode_with_a_tenth_of_the_posterior_is_found(loaded):
    """S04 with one gross outlier: asymmetry lies near its lower end, or far from it and with much more perceptual noise."""
    trials = Scale(10.0, "N").apply(loaded.trials.isel(dataset=[3]).copy(deep=True))
    trials["response"][0, 56] *= 10
    # Each copy has its own random numbers.
    copies = trials.isel(dataset=[0] * 6).assign_coords(dataset=np.arange(6))
    request = FitRequest(costs=("asymmetric_quadratic",), per_condition=("sigma",))

    def build(low, high):
        own = dataclasses.replace(request, priors={"alpha": Uniform(low, high)})
        return build_models(own, trials, Scale(10.0, "N"))["asymmetric_quadratic"].model

    # By the evidence on either side of 0.3, where there is one mode.
    settings = FitSettings(num_draws=500, method="importance", batch_size=2, keeps_log_likelihood=False)
    sides = [fit_datasets(build(*ends), trials, settings=settings) for ends in ((0.1, 0.3), (0.3, 0.9))]
    low, high = (tree["diagnostics"]["log_evidence"].item() for tree in sides)
    expected = 1 / (1 + np.exp(low - high) * 0.2 / 0.6)
    assert 0.07 < expected < 0.13
    found = fit_condition_groups(build(0.1, 0.9), copies, fixed={}, settings=QUICK, seed=1)["posterior"]
    share = (found["alpha"].values > 0.3).mean(axis=(1, 2))
    # With a thousand draws a round it was less than a hundredth in most.
    assert 0.6 * expected < share.mean() < 1.4 * expected
    assert np.median(share) > 0.6 * expected


def test_intervals_hold_94_percent_of_the_draws_in_the_unit_of_the_data(fit):
    found = fit.summarize()
    mu_0 = 10 * fit.posteriors["quadratic"]["posterior"]["mu_0"].values.astype(float).reshape(12, -1)
    row = found.sel(cost="quadratic", parameter="mu_0")
    np.testing.assert_allclose(row["mean"], mu_0.mean(axis=1), rtol=1e-6)
    is_in = (mu_0 >= row["low"].values[:, None]) & (mu_0 <= row["high"].values[:, None])
    np.testing.assert_allclose(is_in.mean(axis=1), 0.94, atol=0.01)
    assert np.isnan(found["mean"].sel(cost="quadratic", parameter="beta")).all()


def test_every_unit_gives_the_same_answer(loaded, fit, request_of_two):
    few = take_subjects(loaded, 4)
    trials = few.trials.copy()
    for name in ("stimulus", "response"):
        trials[name] = (trials[name] * 1000).assign_attrs(units="mN")
    request = dataclasses.replace(request_of_two, costs=("quadratic_effort",))
    other = fit_subjects(dataclasses.replace(few, trials=trials), request)
    assert other.scale.factor == 1000 * fit.scale.factor
    found = other.summarize().sel(cost="quadratic_effort")
    expected = fit.summarize().sel(cost="quadratic_effort", subject=found["subject"])
    for statistic in ("mean", "sd", "low", "high"):
        for name in expected["parameter"].values:
            factor = 1000 if name == "mu_0" else 1
            np.testing.assert_allclose(
                found[statistic].sel(parameter=name), factor * expected[statistic].sel(parameter=name), rtol=0.02
            )


def test_known_values_may_differ_between_subjects_and_conditions(loaded, truth):
    labels = {"subject": truth["subject"].tolist(), "condition": ["clear", "blurred"]}
    sigma = xr.DataArray(np.stack([truth["sigma_clear"], truth["sigma_blurred"]], axis=1), coords=labels, dims=list(labels))
    # In another order than the data, and with somebody who is not among them.
    stranger = sigma.isel(subject=[0]).assign_coords(subject=["stranger"])
    shuffled = xr.concat([stranger, sigma.isel(subject=slice(None, None, -1))], "subject")
    fixed = {"sigma": shuffled, "mu_0": 20.0}
    # Without lapses there is much less to compile.
    request = FitRequest(costs=("quadratic_effort",), fixed=fixed, lapses=NO_LAPSES, settings=QUICK)
    fit = fit_subjects(loaded, request)
    constants = fit.posteriors["quadratic_effort"]["constant_data"]
    order = [["clear", "blurred"].index(label) for label in fit.conditions]
    np.testing.assert_allclose(constants["fixed_sigma"].values, sigma.values[:, order], rtol=1e-6)
    np.testing.assert_allclose(constants["fixed_mu_0"].values, 2.0)
    assert fit.summarize()["parameter"].values.tolist() == ["sigma_0", "sigma_r", "beta"]
    assert fit.comparison is None


@pytest.fixture(scope="module")
def patchy(loaded):
    """Four subjects; the first has no blurred trials, the second no clear ones."""
    few = take_subjects(loaded, 4)
    index = few.trials["condition_index"].values
    labels = few.trials["condition"].values.tolist()
    is_lost = np.zeros(index.shape, bool)
    is_lost[0], is_lost[1] = index[0] == labels.index("blurred"), index[1] == labels.index("clear")
    trials = few.trials.copy()
    trials["is_present"] = trials["is_present"] & ~is_lost
    return dataclasses.replace(few, trials=trials)


def test_subjects_may_lack_conditions(patchy, fit, request_of_two):
    request = dataclasses.replace(request_of_two, costs=("quadratic",))
    found = fit_subjects(patchy, request)
    assert not found.failures
    table, whole = (each.summarize().sel(cost="quadratic") for each in (found, fit))
    is_hidden = np.isnan(table["mean"].sel(parameter=["sigma[clear]", "sigma[blurred]"]).values)
    assert is_hidden.tolist() == [[False, True], [True, False], [False, False], [False, False]]
    # The others do not notice.
    expected = whole["mean"].sel(parameter=table["parameter"])
    np.testing.assert_allclose(table["mean"][2:], expected[2:4], rtol=0.05)
    # What a subject has no trials for is as before: the prior's mean and spread.
    draws = found.posteriors["quadratic"]["posterior"]["sigma"].sel(condition="blurred").values[0].ravel()
    prior = found.models["quadratic"].priors["sigma"].quantile(np.linspace(0.001, 0.999, 999))
    np.testing.assert_allclose([draws.mean(), draws.std()], [prior.mean(), prior.std()], rtol=0.06)
    # In the subject's own condition the fit is that of this condition alone.
    assert np.isnan(found.posteriors["quadratic"]["loo"]["elpd"].values).sum() == 120


def test_a_fit_that_fails_is_named_with_its_reason(loaded):
    # Nothing helps, so it is tried once more only.
    once = {"num_careful_repeats": 2, "num_patient_repeats": 1}
    settings = FitSettings(method="importance", num_draws=500, min_ess=1e6, **once)
    fit = fit_subjects(
        take_subjects(loaded, 2), FitRequest(costs=EXAMPLE_COSTS, per_condition=("sigma",), settings=settings)
    )
    assert {(failure.subject, failure.cost) for failure in fit.failures} == {
        (s, c) for s in ("S01", "S02") for c in EXAMPLE_COSTS
    }
    assert all("fewer than 1e+06" in failure.reason for failure in fit.failures)
    record = json.loads(json.dumps(fit.as_dict(), allow_nan=False))
    assert record["convergence"]["quadratic"]["failed"] == 2
    assert "effective draws" in record["convergence"]["quadratic"]["failed_subjects"]["S01"]
    assert record["subjects"]["S01"]["quadratic"]["elpd_loo"] is None
    assert record["comparison"]["num_undecided"] == 2


def test_a_run_that_was_stopped_goes_on(loaded, request_of_two, fit, folder, monkeypatch):
    (folder / "posterior_quadratic_effort.nc").rename(folder / "hidden.nc")
    fitted = []
    monkeypatch.setattr(
        module, "fit_condition_groups", lambda model, *_, **__: fitted.append(model.actor.cost.name) or 1 / 0
    )
    with pytest.raises(ZeroDivisionError):
        fit_subjects(loaded, request_of_two, folder=folder)
    # The first cost was found.
    assert fitted == ["quadratic_effort"]
    (folder / "hidden.nc").rename(folder / "posterior_quadratic_effort.nc")
    again = fit_subjects(loaded, request_of_two, folder=folder)
    assert len(fitted) == 1
    xr.testing.assert_identical(again.comparison.total, fit.comparison.total)


def test_pooling_names_the_median_subject_in_the_unit_of_the_data(pooled_fit, truth):
    group = pooled_fit.as_dict()["group"]["quadratic_effort"]
    for name, true in (("mu_0", truth["mu_0"]), ("sigma[clear]", truth["sigma_clear"]), ("beta", truth["beta"])):
        median = group[name]["median"]
        assert median["low"] < np.median(true) < median["high"]
        assert group[name]["spread"]["mean"] > 0


@pytest.mark.parametrize("change", [{"seed": 2}, {"per_condition": ()}, {"priors": {"mu_0": Uniform(0.5, 4)}}])
def test_another_question_is_not_answered_with_what_was_kept(loaded, request_of_two, fit, folder, monkeypatch, change):
    monkeypatch.setattr(module, "fit_condition_groups", lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        fit_subjects(loaded, dataclasses.replace(request_of_two, **change), folder=folder)


def test_progress_names_the_cost_and_ends_with_all_subjects(loaded):
    seen = []
    request = FitRequest(costs=EXAMPLE_COSTS, per_condition=("sigma",), settings=QUICK)
    fit_subjects(take_subjects(loaded, 3), request, progress=seen.append)
    assert seen[0].stage == "cost 1 of 2, quadratic"
    assert seen[-1].stage == "cost 2 of 2, quadratic_effort"
    assert (seen[-1].num_done, seen[-1].num_total) == (6, 6)
    assert seen[-1].seconds_left == 0


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"costs": ("quadratc",)}, "Unknown cost 'quadratc'"),
        ({"costs": ()}, "No cost was named"),
        ({"costs": ("linex", "linex")}, "'linex' was named twice"),
        ({"fixed": {"gamma": 1.0}}, "Unknown parameter 'gamma'. Available: mu_0"),
        ({"fixed": {"sigma": -1.0}}, "must be a positive number"),
        ({"fixed": {"sigma": 0.1}, "per_condition": ("sigma",)}, "both fixed and per condition"),
        ({"fixed": {"sigma": 0.1}, "priors": {"sigma": Uniform(0.1, 0.2)}}, "is fixed and has a prior"),
        ({"priors": {"sigma": Constant(0.1)}}, "fix the parameter instead"),
        ({"priors": {"mu_0": Uniform(100, 200)}}, "where the actor was trained"),
        ({"seed": -1}, "0 or more"),
        ({"fixed": {"sigma": xr.DataArray([0.1], coords={"subject": ["S01"]}, dims="subject")}}, "subject 'S02'"),
        ({"fixed": {"sigma": xr.DataArray([0.1, 0.2], dims="subject")}}, "no labels"),
        ({"pooling": PoolingSettings(spread_shares={"sigma_1": 1.0})}, "Unknown parameter 'sigma_1'"),
    ],
)
def test_what_cannot_be_asked_is_refused_before_anything_is_fitted(loaded, tmp_path, monkeypatch, change, words):
    monkeypatch.setattr(module, "fit_condition_groups", lambda *_, **__: pytest.fail("something was fitted"))
    request = dataclasses.replace(FitRequest(costs=("quadratic",)), **change)
    with pytest.raises(StudioError, match=words):
        fit_subjects(loaded, request, folder=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_one_subject_cannot_be_pooled(loaded):
    with pytest.raises(DataError, match="needs at least two"):
        fit_subjects(take_subjects(loaded, 1), FitRequest(costs=("quadratic",), pools=True))


MILLISECONDS = Scale(500.0, "ms")


@pytest.mark.parametrize(
    "prior",
    [Uniform(100, 2000), HalfNormal(300), LogNormal(800, 0.4), LogNormal(800, 0.4, Interval(100, 3000)), Constant(700)],
)
def test_priors_in_the_unit_of_the_data_say_the_same_in_the_actors(prior):
    converted = convert_prior(prior, MU_0, MILLISECONDS)
    probabilities = np.array([0.01, 0.3, 0.5, 0.9])
    np.testing.assert_allclose(500 * converted.quantile(probabilities), prior.quantile(probabilities))
    assert type(converted) is type(prior)


def test_priors_of_shares_and_log_units_stay_as_they_are():
    assert convert_prior(HalfNormal(0.2), SIGMA_0, MILLISECONDS) == HalfNormal(0.2)
    alpha = get_cost("linex").parameters[0]
    assert convert_prior(Uniform(0.001, 0.01), alpha, MILLISECONDS) == Uniform(0.5, 5.0)


def test_a_prior_on_odds_with_a_unit_cannot_be_converted():
    beta = get_cost("absolute_effort").parameters[0]
    with pytest.raises(StudioError, match="odds have a unit"):
        convert_prior(Uniform(0.5, 1), beta, MILLISECONDS)
    assert convert_prior(Uniform(0.5, 1), beta, Scale(1.0, "s")) == Uniform(0.5, 1)
