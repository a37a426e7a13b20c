"""Fitting many data sets: same results whatever else is fitted, nothing dropped, nothing compiled twice."""

import dataclasses
import itertools
import json
import os
import subprocess
import sys

import arviz_stats
import jax
import numpy as np
import pytest

from designstudio.errors import StudioError, UnknownNameError
from designstudio.inference.batches import run_nuts
from designstudio.inference.correction import predict_correction
from designstudio.inference.fit_datasets import fit_datasets
from designstudio.inference.posterior import count_failures, load_posterior, save_posterior
from designstudio.inference.settings import FitSettings
from designstudio.model.actors import ExactActor, load_actor
from designstudio.model.costs import get_cost
from designstudio.model.likelihood.model import BehaviorModel
from designstudio.model.parameters import population_priors
from designstudio.model.simulate import draw_participants, draw_stimuli, label_participants, simulate_trials
from designstudio.model.trials import TrialsError, make_trials

SETTINGS = FitSettings(method="importance", num_draws=200, batch_size=4)


def simulate(model, num_datasets, num_trials=45):
    people = draw_participants(model, num_datasets, key=jax.random.key(1), population=population_priors(model.parameters))
    stimuli = draw_stimuli(num_datasets, model.num_conditions, num_trials, low=0.5, high=5.0, key=jax.random.key(2))
    return people, simulate_trials(model, people, stimuli, key=jax.random.key(3))


@pytest.fixture(scope="module")
def model():
    """Two uncertainty levels, everything free."""
    return BehaviorModel(ExactActor(get_cost("quadratic_effort")), num_conditions=2, per_condition=("sigma",))


@pytest.fixture(scope="module")
def trials(model):
    return simulate(model, 6)[1]


@pytest.fixture(scope="module")
def posterior(model, trials):
    return fit_datasets(model, trials, settings=SETTINGS, seed=4)


def test_the_posterior_has_the_groups_and_labels_that_arviz_expects(posterior, model):
    assert set(posterior.children) >= {"posterior", "sample_stats", "log_likelihood", "observed_data", "constant_data"}
    assert posterior["posterior"]["sigma"].dims == ("dataset", "chain", "draw", "condition")
    assert posterior["posterior"]["mu_0"].attrs["symbol"] == "μ₀"
    summary = arviz_stats.summary(posterior["posterior"].to_dataset().isel(dataset=0, drop=True), var_names=["beta"])
    assert float(summary["r_hat"].iloc[0]) < 1.05
    one = posterior.isel(dataset=1)
    assert np.isfinite(arviz_stats.loo(one).elpd)


def test_the_settings_seed_and_versions_come_with_the_result(posterior):
    assert json.loads(posterior.attrs["settings"])["num_draws"] == 200
    assert posterior.attrs["seed"] == 4
    assert "jax" in json.loads(posterior.attrs["versions"])


def test_the_same_seed_gives_the_same_bits_and_another_seed_does_not(model, trials, posterior):
    again = fit_datasets(model, trials, settings=SETTINGS, seed=4)
    other = fit_datasets(model, trials, settings=SETTINGS, seed=5)
    for name in model.free:
        np.testing.assert_array_equal(again["posterior"][name], posterior["posterior"][name])
        assert (other["posterior"][name].values != posterior["posterior"][name].values).any()


def test_adding_data_sets_leaves_the_earlier_ones_as_they_are(model, trials, posterior):
    fewer = fit_datasets(model, trials.isel(dataset=slice(0, 3)), settings=SETTINGS, seed=4)
    for name in model.free:
        np.testing.assert_array_equal(fewer["posterior"][name], posterior["posterior"][name][:3])


def test_nuts_and_importance_sampling_agree_even_where_walls_cut_a_confounded_posterior():
    # One level: mu_0 and beta trade off along a ridge that ends at the bounds of their priors.
    model = BehaviorModel(ExactActor(get_cost("quadratic_effort")), fixed=("sigma",))
    num_datasets = 40
    truth = {"mu_0": 1.5, "sigma_0": 0.2, "sigma": 0.1, "sigma_r": 0.15, "beta": 0.9}
    people = label_participants(model.parameters, {name: np.full(num_datasets, value) for name, value in truth.items()})
    stimuli = draw_stimuli(num_datasets, 1, 90, low=0.25, high=5.0, key=jax.random.key(2))
    trials = simulate_trials(model, people, stimuli, key=jax.random.key(3))
    weighted, chains = (
        fit_datasets(
            model,
            trials,
            fixed={"sigma": 0.1},
            settings=FitSettings(method=method, num_draws=500, batch_size=num_datasets, keeps_log_likelihood=False),
            seed=4,
        )
        for method in ("importance", "nuts")
    )
    assert chains["diagnostics"]["is_good"].values.mean() > 0.9
    for name in model.free:
        a, b = (posterior["posterior"][name] for posterior in (weighted, chains))
        sd = a.std(("chain", "draw"))
        difference = (b.mean(("chain", "draw")) - a.mean(("chain", "draw"))) / sd
        assert float(np.abs(difference).max()) < 0.3
        # Errors of single data sets average out; what is left is bias.
        assert abs(float(difference.mean())) < 0.025
        assert float((b.std(("chain", "draw")) / sd).mean()) == pytest.approx(1.0, abs=0.02)


def fit_in_vain(monkeypatch, change):
    """A fit that is never good enough, and all runs of its chains, each changed before anybody sees it."""
    # In the shapes of the test above, so that nothing is compiled for it.
    model = BehaviorModel(ExactActor(get_cost("quadratic_effort")), fixed=("sigma",))
    people, trials = simulate(model, 3, 90)
    runs = []

    def record(model, observations, start, keys, settings, *, is_wanted, needs_jumps):
        found = run_nuts(model, observations, start, keys, settings, is_wanted=is_wanted, needs_jumps=needs_jumps)
        found = change(found, len(runs))
        runs.append((start.start, found, is_wanted, needs_jumps))
        return found

    monkeypatch.setattr("designstudio.inference.stages.run_nuts", record)
    impossible = FitSettings(method="nuts", num_draws=500, batch_size=40, keeps_log_likelihood=False, min_ess=1e9)
    posterior = fit_datasets(model, trials, fixed={"sigma": people["sigma"]}, settings=impossible)
    assert not posterior["diagnostics"]["is_good"].values.any()
    # Once; as long again; and three times more.
    assert len(runs) == 5
    return posterior, runs


def check_kept(posterior, runs):
    """The posterior has so many-th draws of so many runs, in whatever order devices have the data sets."""
    kept = [np.asarray(found.values["beta"])[is_wanted] for _, found, is_wanted, _ in runs]
    kept = np.concatenate(kept, axis=2)[:, :, :: len(runs)]
    assert sorted(kept[:, 0, 0]) == sorted(posterior["posterior"]["beta"].values[:, 0, 0])
    assert sorted(kept[:, 0, -1]) == sorted(posterior["posterior"]["beta"].values[:, 0, -1])


def test_chains_that_are_not_good_enough_go_on_from_where_they_are(monkeypatch):
    posterior, runs = fit_in_vain(monkeypatch, lambda found, _: found)
    for (_, before, is_wanted, _), (start, *_) in itertools.pairwise(runs):
        np.testing.assert_array_equal(np.asarray(start.y)[is_wanted], np.asarray(before.chains.last)[is_wanted])
        for given, known in zip(*map(jax.tree.leaves, (start.whitening, before.chains.whitening)), strict=True):
            np.testing.assert_array_equal(np.asarray(given)[is_wanted], np.asarray(known)[is_wanted])
    assert not any(needs_jumps.any() for *_, needs_jumps in runs)
    check_kept(posterior, runs[1:])


def test_chains_that_did_not_jump_do_when_going_on_was_not_enough_and_only_that_is_kept(monkeypatch):
    def deny_jumps(found, number):
        return found._replace(has_jumps=np.zeros(len(found.has_jumps), bool)) if number < 2 else found

    posterior, runs = fit_in_vain(monkeypatch, deny_jumps)
    assert [needs_jumps.any() for *_, needs_jumps in runs] == [False, False, True, True, True]
    assert posterior["diagnostics"]["has_jumps"].values.all()
    check_kept(posterior, runs[2:])


def test_draws_of_the_fast_rule_are_brought_to_the_careful_one():
    model = BehaviorModel(load_actor("absolute_effort"), fixed=("sigma",))
    people, trials = simulate(model, 4)
    settings = FitSettings(method="importance", num_draws=200, batch_size=4, keeps_log_likelihood=False)
    posterior = fit_datasets(model, trials, fixed={"sigma": people["sigma"]}, settings=settings)
    error = posterior["diagnostics"]["rule_error"].values
    assert ((error > 0) & (error < 0.2)).all()
    # With no tolerance all draws are corrected: a few change, and what they say stays the same.
    strict = dataclasses.replace(settings, max_rule_error=0.0)
    corrected = fit_datasets(model, trials, fixed={"sigma": people["sigma"]}, settings=strict)
    for name in model.free:
        before, after = posterior["posterior"][name], corrected["posterior"][name]
        assert not np.array_equal(before, after)
        shift = (after.mean(("chain", "draw")) - before.mean(("chain", "draw"))) / before.std(("chain", "draw"))
        assert float(np.abs(shift).max()) < 0.2


def test_what_a_fast_likelihood_leaves_out_is_predicted_where_it_is_smooth():
    rng = np.random.default_rng(0)
    draws = {"one": rng.lognormal(size=(2, 4, 500)), "two": rng.normal(size=(2, 4, 500, 2))}
    x, y = np.log(draws["one"]), draws["two"][..., 1]
    smooth = 0.3 + 0.2 * x - 0.1 * x * y + 0.05 * y**2
    # The second data set's is noise, which no regression tells.
    truth = np.stack([smooth[0], smooth[1] + rng.normal(size=(4, 500))])
    predicted, left = predict_correction(draws, truth[:, :, ::10], 10)
    np.testing.assert_allclose(predicted[0], truth[0], atol=1e-6)
    assert left[0] < 1e-6
    assert left[1] == pytest.approx(1.0, abs=0.2)
    # Where all were computed there is nothing to predict.
    assert np.isinf(predict_correction(draws, truth, 1)[1]).all()


def test_a_fast_rule_that_is_far_off_fails_the_fit(monkeypatch):
    model = BehaviorModel(load_actor("absolute_effort"), fixed=("sigma",))
    people, trials = simulate(model, 4)
    settings = FitSettings(method="importance", num_draws=200, batch_size=4, keeps_log_likelihood=False)

    def wild(model, fast, careful, values, *, chunk_size, is_wanted=None):
        return 30 * jax.random.normal(jax.random.key(0), values["beta"].shape)

    monkeypatch.setattr("designstudio.inference.correction.compute_correction", wild)
    posterior = fit_datasets(model, trials, fixed={"sigma": people["sigma"]}, settings=settings)
    assert not posterior["diagnostics"]["is_good"].values.any()
    assert "fast likelihood is off by" in str(posterior["diagnostics"]["reason"].values[0])


def test_a_fast_rule_that_is_found_to_be_off_only_with_more_care_gives_way_to_all_trials(monkeypatch):
    model = BehaviorModel(load_actor("absolute_effort"), fixed=("sigma",))
    people, trials = simulate(model, 4)
    # At first there are too few draws for anybody to look at the likelihood.
    settings = FitSettings(method="importance", num_draws=200, batch_size=4, min_ess=2500, keeps_log_likelihood=False)

    def wild(model, fast, careful, values, *, chunk_size, is_wanted=None):
        return (0 if fast.ranges is None else 30) * jax.random.normal(jax.random.key(0), values["beta"].shape)

    monkeypatch.setattr("designstudio.inference.correction.compute_correction", wild)
    found = fit_datasets(model, trials, fixed={"sigma": people["sigma"]}, settings=settings)["diagnostics"].to_dataset()
    assert set(found["stage"].values) == {"importance, more care, all trials"}
    assert found["is_good"].values.all()


def test_the_pointwise_likelihood_belongs_to_its_trial(model, trials, posterior):
    pointwise = posterior["log_likelihood"]["response"].isel(dataset=2, chain=1, draw=7).values
    draw = posterior["posterior"].isel(dataset=2, chain=1, draw=7)
    values = {name: draw[name].values for name in model.free}
    one = trials.isel(dataset=2)
    for trial in (0, 50, 89):
        k = int(one["condition_index"][trial])
        s0, s, sr = float(values["sigma_0"]), float(values["sigma"][k]), float(values["sigma_r"])
        weight = s0**2 / (s0**2 + s**2)
        post = s0**2 * s**2 / (s0**2 + s**2)
        mean = weight * np.log(float(one["stimulus"][trial])) + (1 - weight) * np.log(float(values["mu_0"]))
        mean += np.log(float(values["beta"])) + (post - 3 * sr**2) / 2
        variance = (weight * s) ** 2 + sr**2
        error = np.log(float(one["response"][trial])) - mean
        assert pointwise[trial] == pytest.approx(-0.5 * np.log(2 * np.pi * variance) - error**2 / (2 * variance), abs=2e-3)


def test_a_second_design_in_the_same_buckets_compiles_nothing(model, trials, posterior):
    compiled = []
    jax.monitoring.register_event_duration_secs_listener(
        lambda event, _, **__: compiled.append(event) if event.endswith("backend_compile_duration") else None
    )
    fit_datasets(model, trials, settings=SETTINGS, seed=4)
    compiled.clear()
    other = simulate(model, 3, num_trials=40)[1]
    compiled.clear()
    fit_datasets(model, other, settings=SETTINGS, seed=9)
    assert compiled == []


def test_what_fails_is_returned_with_a_reason_and_counted(model, trials):
    strict = FitSettings(method="importance", num_draws=200, batch_size=4, min_ess=1e6, keeps_log_likelihood=False)
    posterior = fit_datasets(model, trials, settings=strict)
    assert count_failures(posterior) == {"num_datasets": 6, "num_failed": 6}
    assert all("effective draws are fewer than 1e+06" in reason for reason in posterior["diagnostics"]["reason"].values)
    assert np.isfinite(posterior["posterior"]["mu_0"]).all()


def test_good_draws_that_are_too_few_are_joined_by_more_for_each_data_set_alone(model, trials, posterior):
    # A run has 2,000 weighted draws: more can only come from several.
    settings = FitSettings(method="importance", num_draws=200, batch_size=4, min_ess=2500, keeps_log_likelihood=False)
    joined = fit_datasets(model, trials, settings=settings, seed=4)
    found = joined["diagnostics"].to_dataset()
    assert found["is_good"].values.sum() >= 4
    assert (found["importance_ess"].values[found["is_good"].values] >= 2500).all()
    # Of these draws 800 are kept, and worth no more.
    assert (found["ess"].values <= 800).all()
    assert (found["ess_tail"].values[found["is_good"].values] >= 400).all()
    fewer = fit_datasets(model, trials.isel(dataset=slice(0, 3)), settings=settings, seed=4)
    one, other = joined["posterior"].to_dataset().mean(("chain", "draw")), posterior["posterior"].to_dataset()
    spread = other.std(("chain", "draw"))
    for name in model.free:
        np.testing.assert_array_equal(fewer["posterior"][name], joined["posterior"][name][:3])
        assert (abs(one[name] - other[name].mean(("chain", "draw"))) < 0.2 * spread[name]).all()


def test_progress_is_reported_up_to_the_last_data_set(model, trials):
    seen = []
    fit_datasets(model, trials, settings=SETTINGS, seed=4, progress=seen.append)
    assert seen[-1].num_done == seen[-1].num_total == 6
    assert seen[-1].details["num_draws"] > 0
    assert seen[0].seconds_left >= 0


@pytest.mark.parametrize("suffix", [".nc", ".zarr"])
def test_a_posterior_survives_saving_and_loading(posterior, tmp_path, suffix):
    path = tmp_path / f"fit{suffix}"
    save_posterior(posterior, path)
    save_posterior(posterior, path)
    loaded = load_posterior(path)
    np.testing.assert_array_equal(loaded["posterior"]["sigma"], posterior["posterior"]["sigma"])
    assert loaded.attrs["settings"] == posterior.attrs["settings"]
    assert list(loaded["diagnostics"]["stage"].values) == list(posterior["diagnostics"]["stage"].values)
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


def test_foreign_files_are_refused_with_a_sentence(tmp_path):
    (tmp_path / "fit.nc").write_bytes(b"no posterior")
    with pytest.raises(StudioError, match="cannot be read as a posterior"):
        load_posterior(tmp_path / "fit.nc")
    with pytest.raises(StudioError, match="There is no posterior"):
        load_posterior(tmp_path / "other.nc")
    with pytest.raises(StudioError, match=r"\.nc .* or \.zarr"):
        load_posterior(tmp_path / "fit.csv")


@pytest.mark.parametrize(
    ("stimulus", "response", "sentence"),
    [
        ([1.0, 2.0, np.nan], [1.0, 2.0, 3.0], "stimulus"),
        ([1.0, 2.0, 3.0], [1.0, 0.0, 3.0], "response"),
        ([1.0, 2.0, 3.0], [1.0, -2.0, 3.0], "response"),
        ([1e6, 2e6, 3e6], [1e6, 2e6, 3e6], "unit"),
    ],
)
def test_impossible_data_are_refused_with_a_sentence(stimulus, response, sentence):
    model = BehaviorModel(ExactActor(get_cost("quadratic_effort")))
    with pytest.raises(TrialsError, match=sentence):
        fit_datasets(model, make_trials(stimulus, response), settings=SETTINGS)


@pytest.mark.parametrize(
    ("stimulus", "response"),
    [
        ([2.0], [1.9]),
        ([2.0] * 30, list(np.exp(np.random.default_rng(0).normal(0.5, 0.1, 30)))),
        (list(np.linspace(1, 4, 30)), [2.0] * 30),
        (list(np.linspace(1, 4, 30)), list(np.linspace(1, 4, 30))),
    ],
    ids=["one trial", "constant stimulus", "constant response", "no noise"],
)
def test_data_that_tell_little_are_fitted_and_flagged(stimulus, response):
    model = BehaviorModel(ExactActor(get_cost("quadratic_effort")))
    posterior = fit_datasets(model, make_trials(stimulus, response), settings=SETTINGS)
    assert not posterior["diagnostics"]["is_good"].values.any()
    assert posterior["diagnostics"]["reason"].values[0]
    assert np.isfinite(posterior["posterior"]["mu_0"]).all()


def test_settings_that_cannot_work_are_refused():
    with pytest.raises(UnknownNameError, match="nust"):
        FitSettings(method="nust")
    with pytest.raises(StudioError, match="num_chains"):
        FitSettings(num_chains=1)
    with pytest.raises(StudioError, match="num_draws"):
        FitSettings(num_draws=10)


SCRIPT = """
import jax, numpy as np, sys
from tests.inference.test_fit_datasets import SETTINGS, simulate
from designstudio.model.actors import ExactActor, load_actor
from designstudio.model.likelihood.model import BehaviorModel
from designstudio.model.costs import get_cost
from designstudio.inference.fit_datasets import fit_datasets
model = BehaviorModel(ExactActor(get_cost("quadratic_effort")), num_conditions=2, per_condition=("sigma",))
posterior = fit_datasets(model, simulate(model, 6)[1], settings=SETTINGS, seed=4)
np.save(sys.argv[1], posterior["posterior"]["mu_0"].values)
print(len(jax.local_devices()))
"""


def test_one_device_and_several_give_the_same_posterior(posterior, tmp_path):
    # Another number of devices than this process has.
    num_devices = 1 if len(jax.local_devices()) > 1 else 2
    flags = f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count={num_devices}"
    path = tmp_path / "draws.npy"
    result = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(path)],
        env={**os.environ, "XLA_FLAGS": flags},
        capture_output=True,
        text=True,
        check=True,
    )
    assert result.stdout.strip() == str(num_devices)
    found, expected = np.load(path), posterior["posterior"]["mu_0"].values
    # Rounding differs between programs: sums of weights by some 1e-5, which tips one in a hundred of a thousand choices of a
    # draw in resampling. What is concluded does not change.
    assert np.mean(~np.isclose(found, expected, rtol=1e-3)) < 0.03
    axes, sd = (1, 2), expected.std(axis=(1, 2))
    np.testing.assert_array_less(np.abs(found.mean(axis=axes) - expected.mean(axis=axes)), 0.01 * sd)
