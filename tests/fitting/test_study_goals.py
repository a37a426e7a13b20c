"""Goals of whole studies judged on data: t tests are SciPy's, and what cannot be judged says why."""

import numpy as np
import pytest
from scipy import stats

from designstudio.core.numbers import format_significant
from designstudio.evaluate.bayes_factor import compute_log_bayes_factor
from designstudio.fitting.goal_outcome import NOT_JUDGED, NOT_REACHED, REACHED
from designstudio.fitting.goals import judge_goals
from designstudio.fitting.planned import PlannedAnalysis, PlannedGoal
from tests.fitting.test_goals import make_fit, replace

T_TEST = {"value": 0.0, "nominal": 0.05, "decision": "t-test"}
DIFFER = PlannedGoal("differ", "groups-differ", "beta", groups=("a", "b"), **T_TEST)
GROUPS = {f"S{i}": "ab"[i // 5] for i in range(10)}
BETA = np.array([0.7, 0.72, 0.75, 0.71, 0.74, 0.8, 0.83, 0.9, 0.85, 0.81])


def judge(goal, beta=BETA, groups=GROUPS, **options):
    [outcome] = judge_goals(make_fit(beta, replace(goals=(goal,), groups=groups), **options))
    return outcome


def test_groups_differ_by_welchs_test_on_posterior_means():
    fit = make_fit(BETA, replace(goals=(DIFFER,), groups=GROUPS))
    [outcome] = judge_goals(fit)
    means = fit.posteriors["quadratic_effort"]["posterior"]["beta"].values.mean(axis=(1, 2))
    interval = stats.ttest_ind(means[5:], means[:5], equal_var=False).confidence_interval(0.95)
    assert (outcome.low, outcome.high) == pytest.approx(tuple(interval))
    assert outcome.estimate == pytest.approx(means[5:].mean() - means[:5].mean())
    assert outcome.status == REACHED
    assert "b minus a in beta is" in outcome.sentence
    assert "t test on posterior means, 5 a and 5 b" in outcome.sentence
    assert "No power was computed for it" in outcome.sentence


def test_a_difference_within_the_margin_is_not_reached():
    outcome = judge(PlannedGoal("differ", "groups-differ", "beta", groups=("a", "b"), margin=0.2, **T_TEST))
    assert outcome.status == NOT_REACHED
    assert "which is not clearly away from 0 by more than 0.2" in outcome.sentence


def test_groups_that_do_not_differ_are_found_to_in_one_of_twenty_studies():
    rng = np.random.default_rng(0)
    found = [judge(DIFFER, rng.normal(0.8, 0.03, 10)).status == REACHED for _ in range(300)]
    assert np.mean(found) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 300)


def test_a_mean_is_held_against_its_value_and_a_change_within_people_is_paired():
    fit = make_fit(BETA)
    draws = fit.posteriors["quadratic_effort"]["posterior"]
    mean = judge(PlannedGoal("mean", "group-mean", "beta", **{**T_TEST, "value": 0.75}), groups={})
    of_beta = stats.ttest_1samp(draws["beta"].values.mean(axis=(1, 2)), 0.75).confidence_interval(0.95)
    assert (mean.low, mean.high) == pytest.approx(tuple(np.array(of_beta) - 0.75))
    change = judge(PlannedGoal("change", "changes", "sigma_r", conditions=("clear", "blurred"), **T_TEST), groups={})
    clear, blurred = draws["sigma_r"].values.mean(axis=(1, 2)).T
    of_change = stats.ttest_rel(blurred, clear).confidence_interval(0.95)
    assert (change.low, change.high) == pytest.approx(tuple(of_change))
    assert "sigma_r[blurred] minus sigma_r[clear] is 0.2" in change.sentence


def test_a_bayes_factor_decides_where_the_plan_says_so():
    weak = {**T_TEST, "decision": "bayes-factor", "least_factor": 3.0, "nominal": 1 / 3}
    found = judge(PlannedGoal("differ", "groups-differ", "beta", groups=("a", "b"), **weak))
    means = make_fit(BETA).posteriors["quadratic_effort"]["posterior"]["beta"].values.mean(axis=(1, 2))
    t = stats.ttest_ind(means[5:], means[:5]).statistic
    factor = np.exp(compute_log_bayes_factor(np.array([t]), np.array([2.5]), np.array([8.0]))[0])
    assert found.status == REACHED
    assert f"Bayes factor {format_significant(factor)} where 3 is asked for" in found.sentence
    strict = PlannedGoal("differ", "groups-differ", "beta", groups=("a", "b"), **{**weak, "least_factor": 2 * factor})
    assert judge(strict).status == NOT_REACHED


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"groups": {}}, "no column says who is in which group: name it by --column group=NAME"),
        ({"groups": dict.fromkeys(GROUPS, "a")}, "the data have no group 'b', only 'a'"),
        ({"is_good": [True] * 5 + [False] * 4 + [True]}, "group 'b' has 1 usable fit, and 2 are needed"),
    ],
)
def test_what_data_cannot_decide_is_not_judged(change, why):
    outcome = judge(DIFFER, **change)
    assert outcome.status == NOT_JUDGED
    assert f"not judged, because {why}" in outcome.sentence


def test_what_has_no_spread_or_no_end_leaves_no_odd_number_in_a_sentence():
    evidence = {**T_TEST, "decision": "bayes-factor", "least_factor": 10.0, "nominal": 0.1}
    huge = PlannedGoal("differ", "groups-differ", "beta", groups=("a", "b"), **evidence)
    assert "Bayes factor above 1,000,000 where 10" in judge(huge, np.repeat([0.6, 0.9], 5) + 1e-4 * np.arange(10)).sentence
    for goal in (DIFFER, huge):
        alike = judge(goal, np.full(10, 0.8), spread=0.0)
        assert alike.status == NOT_JUDGED
        assert "nan" not in alike.sentence


def test_people_without_a_usable_fit_are_left_out_and_counted():
    outcome = judge(DIFFER, is_good=[False] + [True] * 9)
    assert (outcome.num_judged, outcome.num_failed) == (9, 1)
    assert "1 more without a usable fit" in outcome.sentence


def test_a_parameter_that_does_not_differ_between_conditions_has_no_change():
    outcome = judge(PlannedGoal("change", "changes", "beta", conditions=("clear", "blurred"), **T_TEST), groups={})
    assert "not judged, because the fit has no beta[clear]" in outcome.sentence


def test_plans_are_read_back_from_json_and_those_of_before_too():
    plan = replace(goals=(DIFFER,), groups=GROUPS)
    assert PlannedAnalysis.from_dict(plan.as_dict()) == plan
    before = {name: value for name, value in plan.as_dict()["goals"][0].items() if name not in ("groups", "conditions")}
    assert PlannedGoal.from_dict(before).groups == ()
