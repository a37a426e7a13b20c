"""Goals judged on data: participants are counted, groups are compared, and nothing is said that nobody can know."""

import dataclasses
from types import SimpleNamespace

import numpy as np
import pytest
import xarray as xr
from scipy import integrate, stats

from designstudio.fitting.goal_outcome import COUNTED, NOT_JUDGED, NOT_REACHED, REACHED
from designstudio.fitting.goals import compute_share_interval, describe_plan, judge_goals
from designstudio.fitting.planned import PlannedAnalysis, PlannedGoal
from designstudio.model.actors import ExactActor
from designstudio.model.costs import get_cost
from designstudio.model.likelihood.model import BehaviorModel
from designstudio.model.scale import Scale

EFFORT = PlannedGoal("effort", "excludes", "beta", value=1.0, margin=0.025, nominal=0.06)
PRECISE = PlannedGoal("precise", "narrower", "sigma_0", width=0.1)
GROUPS = PlannedGoal("groups differ in beta", "groups-differ", "beta", alpha=0.05, nominal=0.05)
POWER = {
    "computed": True,
    "fidelity": "importance",
    "datasets": 100,
    "goals": [
        {
            "name": name,
            "power": {"value": 0.8, "mcse": 0.04},
            "when_absent": {"value": 0.05, "mcse": 0.02},
            "absent": "beta is 1 for everybody",
        }
        for name in ("effort", "groups differ in beta")
    ],
}
PLAN = PlannedAnalysis("record", "ab" * 32, "two-levels", "quadratic_effort", (EFFORT, PRECISE), power=POWER)


def make_fit(beta, plan=PLAN, *, is_good=None, sigma_0=0.2, spread=0.01, has_condition=None, best=None):
    """Fits of one cost whose posteriors of beta are narrow around the given means; two conditions with their own sigma."""
    beta = np.asarray(beta, float)
    num = len(beta)
    rng = np.random.default_rng(0)

    def draw(mean):
        return rng.normal(np.broadcast_to(mean, (num,))[:, None, None], spread, (num, 4, 200))

    model = BehaviorModel(
        ExactActor(get_cost("quadratic_effort")), num_conditions=2, per_condition=("sigma_r",), fixed=("sigma",)
    )
    dims = ("dataset", "chain", "draw")
    draws = {name: (dims, draw(mean)) for name, mean in (("mu_0", 1.5), ("sigma_0", sigma_0), ("beta", beta))}
    draws["sigma_r"] = ((*dims, "condition"), np.stack([draw(0.1), draw(0.3)], axis=-1))
    good = np.ones(num, bool) if is_good is None else np.asarray(is_good)
    known = {"fixed_sigma": (("dataset", "condition"), np.tile([0.1, 0.2], (num, 1)))}
    tree = xr.DataTree.from_dict(
        {
            "posterior": xr.Dataset(draws),
            "constant_data": xr.Dataset(known),
            "diagnostics": xr.Dataset({"is_good": ("dataset", good)}),
        }
    )
    shown = np.ones((num, 2), bool) if has_condition is None else np.asarray(has_condition)
    trials = xr.Dataset(
        {
            "is_present": (("dataset", "trial"), shown),
            "condition_index": (("dataset", "trial"), np.tile([0, 1], (num, 1))),
        },
        coords={"condition": ["clear", "blurred"]},
    )
    total = None if best is None else xr.Dataset(
        {
            "elpd": ("cost", [0.0, 50.0]),
            "difference": ("cost", [50.0, 0.0]),
            "difference_se": ("cost", [1.0, 0.0]),
            "difference_se_trials": ("cost", [1.0, 0.0]),
        },
        coords={"cost": ["quadratic_effort", best]},
    )  # fmt: skip
    return SimpleNamespace(
        plan=plan,
        models={"quadratic_effort": model},
        posteriors={"quadratic_effort": tree},
        subjects=[f"S{i}" for i in range(num)],
        conditions=["clear", "blurred"],
        scale=Scale(1.0, "m"),
        trials=trials,
        request=SimpleNamespace(interval=0.94),
        comparison=None if total is None else SimpleNamespace(total=total),
    )


def replace(**changes):
    return dataclasses.replace(PLAN, **changes)


def test_participants_who_meet_a_goal_are_counted_beside_what_was_planned():
    effort, precise = judge_goals(make_fit([0.8] * 8 + [0.99] * 4))
    assert (effort.status, effort.num_reached, effort.num_judged) == (REACHED, 8, 12)
    assert effort.participants["S0"] is True
    assert effort.participants["S11"] is False
    assert "in 8 of 12 participants (67%; 94% interval 40% to 87%)" in effort.sentence
    assert "power 0.80 ± 0.04, 0.05 ± 0.02 without the effect (100 simulated participants by importance)" in effort.sentence
    # A narrow interval has no rate of false positives, so that nothing is said about the group.
    assert (precise.status, precise.num_reached) == (COUNTED, 12)
    assert "No power was computed for it" in precise.sentence


def test_numbers_of_goals_have_their_unit():
    goals = (
        PlannedGoal("precise", "narrower", "mu_0", width=250.0),
        PlannedGoal("late", "excludes", "mu_0", value=1000.0, margin=10.0, nominal=0.06),
        PlannedGoal("groups differ in mu_0", "groups-differ", "mu_0", alpha=0.05, nominal=0.05),
        EFFORT,
    )
    fit = make_fit([0.8] * 4, replace(goals=goals, groups={f"S{i}": "ab"[i % 2] for i in range(4)}))
    said = [outcome.sentence for outcome in judge_goals(SimpleNamespace(**{**vars(fit), "scale": Scale(1000.0, "ms")}))]
    assert "is narrower than 250 ms" in said[0]
    assert "stays away from 1000 ms by more than 10 ms" in said[1]
    assert "posterior means of mu_0 are 1500 ms in 'a' (n = 2) and 1500 ms in 'b' (n = 2)" in said[2]
    assert "stays away from 1 by more than 0.025" in said[3]


def test_one_of_twelve_is_no_more_than_false_positives_explain():
    effort = judge_goals(make_fit([0.8] + [0.99] * 11))[0]
    assert effort.status == NOT_REACHED
    assert "not clearly more than the 6% that false positives explain" in effort.sentence


def test_a_rate_that_was_computed_counts_if_it_is_larger_and_without_one_participants_are_only_counted():
    goals = [{**POWER["goals"][0], "when_absent": {"value": 0.9, "mcse": 0.03}}]
    assert judge_goals(make_fit([0.8] * 12, replace(power={**POWER, "goals": goals})))[0].status == NOT_REACHED
    unknown = judge_goals(make_fit([0.8] * 12, replace(power={"computed": False, "reason": "nobody wanted it"})))[0]
    assert unknown.status == COUNTED
    assert "how many do so without the effect is not known" in unknown.sentence
    assert "No power was computed for it (nobody wanted it)." in unknown.sentence


def test_fits_that_failed_are_counted_apart():
    effort = judge_goals(make_fit([0.8] * 6, is_good=[True] * 4 + [False] * 2))[0]
    assert (effort.num_judged, effort.num_failed) == (4, 2)
    assert "2 more without a usable fit" in effort.sentence
    assert "S5" not in effort.participants
    nobody = judge_goals(make_fit([0.8] * 2, is_good=[False, False]))[0]
    assert nobody.status == NOT_JUDGED
    assert "no participant has a usable fit" in nobody.sentence


def test_a_quantity_of_one_condition_is_judged_in_those_who_had_it():
    goal = PlannedGoal("motor", "narrower", "sigma_r", width=0.1)
    fit = make_fit([0.8] * 3, replace(goals=(goal,)), has_condition=[[True, True], [True, False], [True, True]])
    clear, blurred = judge_goals(fit)
    assert (clear.goal, clear.num_judged) == ("motor (sigma_r[clear])", 3)
    assert (blurred.goal, blurred.num_judged) == ("motor (sigma_r[blurred])", 2)


def test_formulas_see_known_values():
    goal = PlannedGoal("ratio", "excludes", "ratio", value=1.0, nominal=0.06)
    fit = make_fit([0.8] * 3, replace(goals=(goal,), quantities={"ratio": "sigma_0 / sigma[1]"}), sigma_0=[0.2, 0.4, 0.1])
    assert list(judge_goals(fit)[0].participants.values()) == [False, True, True]
    assert judge_goals(SimpleNamespace(**{**vars(fit), "plan": None})) == []
    text = replace(goals=(goal,), quantities={"ratio": "my function, version 2"})
    assert judge_goals(make_fit([0.8] * 3, text))[0].status == NOT_JUDGED


def test_groups_are_compared_by_the_planned_t_test():
    groups = {f"S{i}": "old" if i < 6 else "young" for i in range(12)}
    beta = [0.7, 0.72, 0.74, 0.71, 0.73, 0.7, 0.8, 0.83, 0.79, 0.82, 0.81, 0.84]
    (outcome,) = judge_goals(make_fit(beta, replace(goals=(GROUPS,), groups=groups)))
    assert outcome.status == REACHED
    assert outcome.p_value == pytest.approx(stats.ttest_ind(beta[:6], beta[6:]).pvalue, rel=0.2)
    assert "'old' (n = 6)" in outcome.sentence
    (same,) = judge_goals(make_fit(beta, replace(goals=(GROUPS,), groups={f"S{i}": "ab"[i % 2] for i in range(12)})))
    assert same.status == NOT_REACHED


@pytest.mark.parametrize(
    ("groups", "why"),
    [
        ({}, "no column that says who is in which group"),
        ({"S0": "a", "S1": "b", "S2": "c"}, "3 groups (a, b, c)"),
        ({"S0": "a", "S1": "b", "S2": "b"}, "group 'a' has fewer than two usable fits"),
    ],
)
def test_groups_that_cannot_be_compared_are_told_in_a_sentence(groups, why):
    (outcome,) = judge_goals(make_fit([0.8] * 3, replace(goals=(GROUPS,), groups=groups)))
    assert outcome.status == NOT_JUDGED
    assert why in outcome.sentence


def test_goals_are_judged_under_the_planned_cost_even_if_another_wins():
    said = describe_plan(make_fit([0.8] * 3, replace(rules=("No one under 18.",), deviations=("Two left.",)), best="linex"))
    assert said[0] == "Analysed as planned for design 'two-levels', by the record abababababababab."
    assert "Deviation: Two left." in said
    assert "To be applied by hand, as planned: No one under 18." in said
    assert said[-1].endswith("although linex predicts better.")


@pytest.mark.parametrize(("num", "total"), [(0, 3), (2, 12), (7, 12), (12, 12)])
def test_the_interval_of_a_share_is_that_of_its_posterior(num, total):
    low, high = compute_share_interval(num, total, 0.94)
    constant, _ = integrate.quad(lambda p: p ** (num - 0.5) * (1 - p) ** (total - num - 0.5), 0, 1)
    inside, _ = integrate.quad(lambda p: p ** (num - 0.5) * (1 - p) ** (total - num - 0.5), low, high)
    # An end at 0 or 1 leaves no tail there.
    expected = 0.94 if 0 < num < total else 0.97
    assert inside / constant == pytest.approx(expected, abs=2e-3)
