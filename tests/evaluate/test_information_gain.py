"""Information gained: against nested Monte Carlo, written down independently for the quadratic cost with effort."""

import dataclasses

import numpy as np
import pytest
from scipy.special import logsumexp

from designstudio.evaluate.evaluate_design import evaluate_design
from designstudio.evaluate.experiment import prepare_experiment, simulate_experiment
from designstudio.evaluate.fidelities import summarize_datasets
from designstudio.search.estimates import list_objectives
from designstudio.study import Analysis, Known, Objective, Population
from tests.evaluate.make_study import TWO_LEVELS, make_study
from tests.evaluate.test_evaluate_design import NOWHERE

NUM_DATASETS, NUM_OUTER, NUM_INNER = 20, 100_000, 4000
NAMES = ("mu_0", "sigma_0", "sigma_r", "beta")
# Few trials, so that draws from the prior reach the posterior.
SHORT = dataclasses.replace(
    TWO_LEVELS, conditions=tuple(dataclasses.replace(condition, num_trials=8) for condition in TWO_LEVELS.conditions)
)
STUDY = make_study(population=Population(follows_analysis=True))


def log_likelihood(parameters, conditions, log_broad=None):
    """Log likelihood of many participants (one for each row) given trials as (sigma, log stimuli, log responses).

    With the log density of a lapse, each trial is one with the probability that is called `lapse_rate`.
    """
    mu_0, sigma_0, sigma_r, beta = (parameters[name][:, None] for name in NAMES)
    total = 0.0
    for sigma, x, y in conditions:
        weight = sigma_0**2 / (sigma_0**2 + sigma**2)
        mean = weight * x + (1 - weight) * np.log(mu_0) + (weight * sigma**2 - 3 * sigma_r**2) / 2 + np.log(beta)
        variance = (weight * sigma) ** 2 + sigma_r**2
        of_trial = -((y - mean) ** 2) / (2 * variance) - np.log(2 * np.pi * variance) / 2
        if log_broad is not None:
            rate = parameters["lapse_rate"][:, None]
            of_trial = np.log((1 - rate) * np.exp(of_trial) + rate * np.exp(log_broad))
        total = total + np.sum(of_trial, axis=1)
    return total


def average(logs):
    """Logarithm of a mean of exponentials, and its Monte Carlo error."""
    weights = np.exp(logs - logs.max())
    return logsumexp(logs) - np.log(len(logs)), weights.std() / weights.mean() / np.sqrt(len(logs))


def nest(study):
    """Gains about all parameters, and about prior and cost, of every data set, with errors."""
    rng = np.random.default_rng(1955)
    experiment = prepare_experiment(study, SHORT, first=0, num_datasets=NUM_DATASETS)
    trials = simulate_experiment(study, SHORT, experiment)
    may_lapse = study.analysis.lapses == "free"
    names, noises = (*NAMES, *["lapse_rate"] * may_lapse), ("sigma_r", *["lapse_rate"] * may_lapse)
    prior = {name: experiment.fitted.priors[name].quantile(rng.uniform(size=NUM_OUTER)) for name in names}
    rows = []
    for i in range(NUM_DATASETS):
        truth = {name: experiment.participants[name].values[i : i + 1] for name in NAMES}
        truth["lapse_rate"] = np.array([study.population.lapse_rate])
        one = trials.isel(dataset=i)
        log_broad = -np.log(np.ptp(np.log(one["response"].values))) if may_lapse else None
        conditions = [
            (
                condition.levels["sigma"],
                *(np.log(one[name].values[one["condition_index"].values == k]) for name in ("stimulus", "response")),
            )
            for k, condition in enumerate(SHORT.conditions)
        ]
        evidence, error = average(log_likelihood(prior, conditions, log_broad))
        inner = {name: np.repeat(truth[name], NUM_INNER) for name in NAMES}
        inner |= {name: prior[name][:NUM_INNER] for name in noises}
        of_pair, inner_error = average(log_likelihood(inner, conditions, log_broad))
        gain = log_likelihood(truth, conditions, log_broad)[0] - evidence
        rows.append((gain, error, of_pair - evidence, np.hypot(error, inner_error)))
    return np.array(rows).T


def compare(study, fidelity, nested):
    """Gains of a fidelity are those of nested Monte Carlo."""
    gain, error, of_pair, pair_error = nested
    assert np.median(error) < 0.1
    found = summarize_datasets(study, SHORT, fidelity, first=0, num_datasets=NUM_DATASETS)["information_gain"]
    # The noise of a few hundred weighted draws, on top of that of nested Monte Carlo.
    for part, expected, spread in (("all", gain, error), ("prior_cost", of_pair, pair_error)):
        difference = found.sel(part=part).values - expected
        assert (np.abs(difference) < 4 * np.hypot(spread, 0.15)).all()
        assert abs(difference.mean()) < 4 * np.hypot(np.sqrt((spread**2).mean()), 0.15) / np.sqrt(NUM_DATASETS)


@pytest.fixture(scope="module")
def nested():
    return nest(STUDY)


@pytest.mark.parametrize("fidelity", ["information", "importance", "nuts"])
def test_gains_are_those_of_nested_monte_carlo(nested, fidelity):
    compare(STUDY, fidelity, nested)


@pytest.mark.parametrize("lapse_rate", [0.0, 0.1])
def test_gains_with_room_for_lapses_are_those_of_nested_monte_carlo(lapse_rate):
    study = STUDY.replace(
        population=STUDY.population.replace(lapse_rate=lapse_rate),
        analysis=dataclasses.replace(STUDY.analysis, lapses="free"),
    )
    compare(study, "information", nest(study))


def test_prior_and_cost_gain_less_than_all_parameters():
    gain = evaluate_design(make_study(), TWO_LEVELS, fidelity="information", cache=NOWHERE).identifiability.information_gain
    assert 0 < gain["prior_cost"].value < gain["all"].value
    assert 0 < gain["all"].mcse < 0.3


@pytest.mark.parametrize(
    "changes",
    [
        {"population": make_study().population.replace(lapse_rate=0.1)},
        {"analysis": Analysis(known={"sigma": Known(factor=1.5)})},
        {"analysis": Analysis(known={"sigma": Known()}, lapses=0.05)},
    ],
)
def test_without_a_true_likelihood_there_is_no_gain_and_searches_go_by_volume(changes):
    study = make_study(**changes)
    found = evaluate_design(study, TWO_LEVELS, fidelity="information", cache=NOWHERE).identifiability
    assert np.isnan(found.information_gain["all"].value)
    assert found.scores["volume_ratio"]["all"].value > 0
    assert list_objectives(study) == (Objective("volume_ratio", ("prior_cost",)),)
