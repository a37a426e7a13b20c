"""What a fit says in the end: decided only what is decided, wild trials named, and shapes that nothing explains."""

import dataclasses

import numpy as np
import pytest

from designstudio.fitting import predictive_checks
from designstudio.fitting.compare_costs import compare_costs
from designstudio.fitting.comparison import is_total_decided
from designstudio.fitting.estimates import list_estimates, tabulate_estimates
from designstudio.fitting.fit_subjects import fit_subjects
from designstudio.fitting.fit_verdict import list_lapses
from designstudio.fitting.predict import predict_responses
from designstudio.fitting.predictive_checks import CHECKS, UNLIKELY, check_predictions
from tests.fitting.make_posteriors import make_posteriors


@pytest.fixture(scope="module")
def wild(loaded, request_of_two):
    """The example, with every twentieth response ten times too large."""
    trials = loaded.trials.copy(deep=True)
    trials["response"] = trials["response"] * np.where(np.arange(trials.sizes["trial"]) % 20 == 7, 10.0, 1.0)
    return fit_subjects(dataclasses.replace(loaded, trials=trials), request_of_two, name="wild")


def test_wild_trials_change_neither_the_winner_nor_the_estimates(fit, wild):
    assert wild.verdict[0].startswith("quadratic_effort predicts left-out trials best")
    clean, dirty = (one.summarize().sel(cost="quadratic_effort") for one in (fit, wild))
    for name in ("mu_0", "sigma_r", "beta"):
        difference = (dirty["mean"] - clean["mean"]).sel(parameter=name).values
        assert abs(difference.mean()) < clean["mean"].sel(parameter=name).std(ddof=1).item() / np.sqrt(12), name


def test_wild_trials_are_named_as_lapses(wild):
    found = list_lapses(wild, "quadratic_effort")
    assert sum(lapse.trial % 20 == 8 for lapse in found) >= 0.95 * 72
    assert sum(lapse.trial % 20 != 8 for lapse in found) <= 10
    assert any("more likely lapses than not" in sentence for sentence in wild.verdict)
    assert wild.as_dict()["lapses"]["quadratic_effort"][0]["probability"] > 0.9


def test_bands_are_those_of_responses_and_lapses(fit, wild):
    clean, dirty = (predict_responses(one, "quadratic_effort", "S03") for one in (fit, wild))
    assert dirty.attrs["has_lapses"]
    widest = [one["response"].sel(probability=0.97).values for one in (clean, dirty)]
    # One response in twenty may lie anywhere between the least and the greatest; half of all lie where they did.
    assert (widest[1] > 0.9 * widest[0]).all()
    assert (widest[1][:, 0] > 1.5 * widest[0][:, 0]).all()
    middle = [one["response"].sel(probability=0.5).values for one in (clean, dirty)]
    np.testing.assert_allclose(middle[1], middle[0], rtol=0.1)
    inside = []
    for k in range(2):
        is_in = dirty["condition_index"].values == k
        x, y = (np.log(dirty[name].values[is_in]) for name in ("stimulus_shown", "response_given"))
        ends = (np.log(dirty["response"].values[k, :, at]) for at in (0, -1))
        low, high = (np.interp(x, np.log(dirty["stimulus"].values), end) for end in ends)
        inside.append(np.mean((y > low) & (y < high)))
    np.testing.assert_allclose(inside, dirty["share_inside"], atol=0.04)
    # Responses ten times too large are unlikely, not impossible: that of the greatest of a hundred is not 1 - 1e-9.
    assert np.sort(dirty["pit"].values)[-2] < 1 - 1e-4


def test_simulated_actors_pass_the_checks_of_their_own_cost(fit):
    p = fit.predictive["p"].sel(cost="quadratic_effort")
    assert list(p["check"].values) == list(CHECKS)
    assert (p.values > 0.01).all()


def test_responses_that_bend_as_no_candidate_does_are_noticed(fit):
    """The same fits, held against responses that bend, depend on the trial before, and scatter with the stimulus."""
    trials = fit.trials.copy(deep=True)
    x = np.log(trials["stimulus"].values)
    centred = x - x.mean()
    before = np.concatenate([np.zeros((12, 1)), centred[:, :-1]], axis=1)
    noise = np.random.default_rng(0).normal(size=x.shape)
    bent = np.log(trials["response"].values) - 0.15 * centred**2 + 0.1 * before + 0.15 * (centred > 0) * noise
    trials["response"] = trials["response"].copy(data=np.exp(bent))
    found = check_predictions(dataclasses.replace(fit, trials=trials))["p"].sel(cost="quadratic_effort")
    for check in ("curvature", "spread", "previous stimulus"):
        assert float(found.sel(check=check)) < 0.01, check


def test_what_is_far_from_all_simulations_is_unlikely_however_many_trials_there_are(fit, monkeypatch):
    # As if simulating were too long for more than the fewest draws.
    monkeypatch.setattr(predictive_checks, "MOST_RESPONSES", 1)
    trials = fit.trials.copy(deep=True)
    before = np.roll(np.log(trials["stimulus"].values), 1, axis=1)
    trials["response"] = trials["response"] * np.exp(0.2 * (before - before.mean()))
    found = check_predictions(dataclasses.replace(fit, trials=trials))["p"].sel(check="previous stimulus")
    assert (found < UNLIKELY).all()


def test_estimates_have_a_row_for_each_subject_cost_and_parameter(fit):
    rows = list_estimates(fit)
    assert len(rows) == 12 * (6 + 7)
    row = next(r for r in rows if (r["subject"], r["cost"], r["parameter"]) == ("S01", "quadratic_effort", "mu_0"))
    assert row["unit"] == "N"
    assert float(row["interval_low"]) < float(row["mean"]) < float(row["interval_high"])
    table = tabulate_estimates(fit, "quadratic_effort")
    assert table.rows[0][0] == "mean of subjects"
    assert len(table.rows) == 13


def test_a_lead_within_two_errors_is_undecided():
    rng = np.random.default_rng(1)
    # The same on average: whoever is ahead is so by chance.
    close = compare_costs(make_posteriors(rng.normal(size=(8, 3, 40))))
    assert not is_total_decided(close.total)
    clear = compare_costs(make_posteriors(rng.normal(size=(8, 3, 40)) + np.array([0.0, 2.0, 0.0])[:, None]))
    assert is_total_decided(clear.total)


def test_a_winner_by_less_than_two_monte_carlo_errors_is_none():
    elpd = np.zeros((2, 2, 10))
    elpd[:, 1] = 0.1
    posteriors = make_posteriors(elpd, costs=("absolute", "quadratic"))
    assert compare_costs(posteriors).table["is_winner"].values[:, 1].all()
    for tree in posteriors.values():
        tree["loo"] = tree["loo"].to_dataset().assign(mcse=("dataset", np.array([0.1, 2.0])))
    found = compare_costs(posteriors)
    assert found.table["is_winner"].values[:, 1].tolist() == [True, False]
    assert found.num_close == 1


def test_weights_have_an_interval_over_people():
    rng = np.random.default_rng(2)
    # Half of the people follow one cost, half another.
    elpd = rng.normal(size=(12, 2, 20)) * 0.1
    elpd[:6, 0] += 1
    elpd[6:, 1] += 1
    total = compare_costs(make_posteriors(elpd, costs=("absolute", "quadratic"))).total
    low, high = total["weight_low"].values, total["weight_high"].values
    assert (low < total["weight"].values).all()
    assert (total["weight"].values < high).all()
    assert (high - low > 0.2).all()


def test_two_subjects_who_agree_by_chance_decide_nothing():
    rng = np.random.default_rng(3)
    elpd = rng.normal(size=(2, 2, 60))
    # The same small lead in both: its spread over subjects is nothing, that over trials is not.
    elpd[:, 1] += (elpd[:, 0] - elpd[:, 1]).mean(axis=1, keepdims=True) + 0.02
    found = compare_costs(make_posteriors(elpd, costs=("absolute", "quadratic")))
    assert float(found.total["difference_se"].max()) < 0.01
    assert not is_total_decided(found.total)


def test_failed_fits_say_nothing(fit):
    failed = {cost: tree.copy(deep=True) for cost, tree in fit.posteriors.items()}
    for tree in failed.values():
        tree["diagnostics"]["is_good"][:] = False
    one = dataclasses.replace(fit, posteriors={"quadratic": failed["quadratic"]}, comparison=None)
    assert one.verdict[1:] == ("No fit under the quadratic cost can be used: nothing is said about its parameters.",)
    both = dataclasses.replace(fit, posteriors=failed, comparison=compare_costs(failed))
    assert both.verdict == ("Undecided: no subject could be fitted under every cost.",)
