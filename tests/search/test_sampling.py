"""Proposals: every sampler by name, canonical, new, and the same for the same seed."""

import dataclasses

import optuna
import pytest

from designstudio.errors import StudioError
from designstudio.search.designs import canonicalize, identify_design, list_distributions, suggest
from designstudio.search.feasible import find_design
from designstudio.search.sampling import NEEDS, DesignSampler, check_sampler
from designstudio.study import Choice, Range, Space
from designstudio.study.search_plan import SAMPLERS
from tests.search.make_search import PLAN
from tests.search.test_designs import WIDE

AVAILABLE = [name for name in SAMPLERS if name not in NEEDS]


def propose(plan, num, seed=0, starts=()):
    """Proposals of a search whose objective is cheap."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(sampler=DesignSampler(plan, starts, seed))
    found = []
    for _ in range(num):
        trial = study.ask()
        parameters = {name: suggest(trial, name, d) for name, d in list_distributions(plan.space).items()}
        design = find_design(plan, parameters)
        found.append((parameters, identify_design(design)))
        study.tell(trial, sum(condition.levels["sigma"] for condition in design.conditions))
    return found


@pytest.mark.parametrize("sampler", AVAILABLE)
def test_proposals_are_canonical_allowed_new_and_repeatable(sampler):
    plan = dataclasses.replace(PLAN, space=WIDE, sampler=sampler)
    found = propose(plan, 25)
    for parameters, _ in found:
        assert canonicalize(plan.space, parameters) == parameters
    assert len({key for _, key in found}) == 25
    assert propose(plan, 25) == found
    if sampler != "qmc":
        assert propose(plan, 25, seed=1) != found


def test_tpe_learns_where_the_objective_is_small():
    plan = dataclasses.replace(PLAN, space=WIDE)
    sums = [
        sum(find_design(plan, p).conditions[k].levels["sigma"] for k in range(p["levels"])) for p, _ in propose(plan, 60)
    ]
    assert sum(sums[-10:]) < 0.6 * sum(sums[:10])


def test_a_small_space_is_exhausted_without_repeats_and_then_repeats():
    space = Space({"levels": 2, "trials": 90, "stimuli.low": 0.25, "stimuli.high": 5.0}, "sigma", Choice((0.05, 0.1, 0.2)))
    keys = [key for _, key in propose(dataclasses.replace(PLAN, space=space), 5)]
    assert len(set(keys[:3])) == 3
    assert set(keys[3:]) <= set(keys[:3])


def test_parameters_that_a_killed_worker_had_noted_are_kept():
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(sampler=DesignSampler(PLAN, (), 0))
    distributions = list_distributions(PLAN.space)
    noted = {"sigma_low": 0.3}
    study.add_trial(
        optuna.create_trial(
            state=optuna.trial.TrialState.WAITING, params=noted, distributions={"sigma_low": distributions["sigma_low"]}
        )
    )
    trial = study.ask()
    parameters = {name: suggest(trial, name, distribution) for name, distribution in distributions.items()}
    assert parameters["sigma_low"] == 0.3
    assert canonicalize(PLAN.space, parameters) == parameters
    assert find_design(PLAN, parameters) is not None


def test_starts_come_first():
    starts = [
        {"sigma_low": 0.06, "sigma_high": 0.3, "low_share": 0.5},
        {"sigma_low": 0.1, "sigma_high": 0.2, "low_share": 0.4},
    ]
    found = propose(PLAN, 4, starts=starts)
    assert [parameters for parameters, _ in found[:2]] == starts


@pytest.mark.parametrize("sampler", NEEDS)
def test_a_sampler_whose_package_is_missing_says_how_to_get_it(sampler, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(StudioError, match=f"pip install {NEEDS[sampler]}"):
        check_sampler(dataclasses.replace(PLAN, sampler=sampler), 1)


def test_ranges_with_steps_and_whole_numbers_keep_to_them():
    space = Space(
        {
            "trials": Range(30, 90, 15),
            "low_share": 0.5,
            "stimuli.low": Range(0.2, 0.6, 0.1),
            "stimuli.high": 5.0,
            "levels": 2,
        },
        "sigma",
        Range(0.05, 0.35),
    )
    for parameters, _ in propose(dataclasses.replace(PLAN, space=space), 15):
        assert parameters["trials"] in (30, 45, 60, 75, 90)
        assert min(abs(parameters["stimuli.low"] - value) for value in (0.2, 0.3, 0.4, 0.5, 0.6)) < 1e-9
