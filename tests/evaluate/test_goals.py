"""Power: goals are reached as often as they should be, and more of everything helps."""

import dataclasses

import numpy as np
import pytest

from designstudio.core.cache import BlockCache
from designstudio.errors import StudioError, UnknownNameError
from designstudio.evaluate.curves import map_power, read_power, tabulate_power, trace_power, vary_design, warn_of_curves
from designstudio.evaluate.evaluate_design import evaluate_design
from designstudio.evaluate.evaluate_study import evaluate_study
from designstudio.evaluate.goals import remove_effect, resolve_exclusion
from designstudio.evaluate.model_recovery import compare_pair, pair_study, recover_models
from designstudio.evaluate.power_words import warn_of_power
from designstudio.evaluate.verdict import find_verdict
from designstudio.metrics.monte_carlo import UNDEFINED, Score
from designstudio.metrics.power import PowerScore
from designstudio.model.priors import Constant
from designstudio.study import Goal, Population
from tests.evaluate.make_study import EVERYONE_THE_SAME, ONE_LEVEL, TWO_LEVELS, make_study

NOWHERE = BlockCache(None)
GROUPS = Goal("groups-differ", "beta", group={"beta": Constant(0.85)})


def test_more_trials_and_more_participants_give_more_power():
    study = make_study(goals=(Goal("narrower", "beta", width=0.15), GROUPS), fidelity="information")
    power = map_power(study, TWO_LEVELS, trials=[30, 90], participants=[5, 20], cache=NOWHERE)
    assert power["value"].dims == ("goal", "participants", "trials")
    value = power["value"].sel(goal="groups differ in beta").values
    assert (np.diff(value, axis=0) > 0).all()
    assert (np.diff(value, axis=1) > 0).all()
    narrow = power["value"].sel(goal="beta within 0.15").values
    # One participant's interval does not care how many there are.
    np.testing.assert_array_equal(narrow[0], narrow[1])
    assert narrow[0, 1] > narrow[0, 0]


def test_groups_that_do_not_differ_are_told_apart_as_often_as_the_test_errs():
    study = make_study(goals=(Goal("groups-differ", "beta", group={"beta": Constant(0.9)}),), fidelity="information")
    design = dataclasses.replace(TWO_LEVELS, num_participants=20)
    power = evaluate_design(study, design, num_datasets=200, cache=NOWHERE).power["groups differ in beta"]
    assert 0.05 <= power.value < 0.05 + 4 * power.mcse + 0.05


def test_a_neutral_value_at_the_end_of_the_prior_needs_a_margin():
    model = make_study().analysis.build_model(make_study().load_actor("quadratic_effort"), TWO_LEVELS)
    assert resolve_exclusion(Goal("excludes", "beta"), model) == (1.0, pytest.approx(0.025))
    assert resolve_exclusion(Goal("excludes", "beta", value=0.8), model) == (0.8, 0.0)
    assert resolve_exclusion(Goal("excludes", "beta", margin=0.1), model) == (1.0, 0.1)
    with pytest.raises(StudioError, match="has no neutral one"):
        resolve_exclusion(Goal("excludes", "mu_0"), model)


@pytest.mark.parametrize("fidelity", ["information", "importance"])
def test_power_from_a_confounded_design_is_called_what_it_is_with_both_numbers(fidelity):
    result = evaluate_study(make_study(goals=(Goal("excludes", "beta"),)), fidelity=fidelity, cache=NOWHERE)
    warnings = [sentence for sentence in result.verdict if "from the analysis prior, not from the data" in sentence]
    assert [sentence.split(":")[0] for sentence in warnings] == ["one-level"]
    power = result.evaluations[0].power["beta is not neutral"]
    assert power.errs_too_often
    for score in (power.present, power.when_absent):
        assert f"{score.percent} ({score.percent_error})" in warnings[0]
    assert "at most 6% should be" in warnings[0]


def test_a_design_that_tells_prior_and_cost_apart_errs_no_more_often_than_its_intervals_say():
    power = evaluate_design(make_study(goals=(Goal("excludes", "beta"),)), TWO_LEVELS, cache=NOWHERE).power
    score = power["beta is not neutral"]
    assert score.nominal == pytest.approx(0.06)
    assert score.when_absent.value <= 0.06
    assert score.is_more_than_absent
    assert warn_of_power("two-levels", power) == []


@pytest.mark.parametrize("fidelity", ["information", "importance"])
def test_the_effect_is_taken_from_the_same_participants_with_the_same_noise(fidelity):
    neutral = EVERYONE_THE_SAME.replace(priors={**EVERYONE_THE_SAME.priors, "beta": Constant(1.0)})
    study = make_study(goals=(Goal("excludes", "beta", value=0.9),), population=neutral, fidelity=fidelity)
    one = evaluate_design(study, TWO_LEVELS, cache=NOWHERE).power["beta is not 0.9"]
    other = evaluate_design(study.replace(population=EVERYONE_THE_SAME), TWO_LEVELS, cache=NOWHERE).power["beta is not 0.9"]
    assert one.when_absent == other.present == other.when_absent
    assert one.value > other.value
    assert one.absent == "beta is 0.9 for everybody"


def test_groups_without_a_difference_are_compared_by_the_same_formula_and_the_verdict_says_what_it_gives():
    study, design = make_study(fidelity="information"), dataclasses.replace(TWO_LEVELS, num_participants=60)
    same = Goal("groups-differ", "beta", group={"beta": Constant(0.9)})
    scores = evaluate_design(study.replace(goals=(same,)), design, cache=NOWHERE).power["groups differ in beta"]
    assert scores.when_absent == scores.present
    score = evaluate_design(study.replace(goals=(GROUPS,)), design, cache=NOWHERE).power["groups differ in beta"]
    assert score.when_absent == scores.present
    (warning,) = warn_of_power("two-levels", {"groups differ in beta": score._replace(when_absent=Score(0.2, 0.1))})
    assert "20% (± 10%) for groups that do not differ, where a test gives 5%" in warning


def test_a_narrow_interval_has_no_effect_to_be_absent():
    study = make_study(goals=(Goal("narrower", "beta", width=0.15),), fidelity="information")
    evaluation = evaluate_design(study, TWO_LEVELS, cache=NOWHERE)
    (described,) = evaluation.as_dict()["power"].values()
    assert described["when_absent"] is None
    assert "no effect that could be absent" in described["absent"]
    assert not any("false-positive rate" in sentence for sentence in find_verdict([evaluation]))


def test_an_effect_that_no_participant_can_lack_is_as_small_as_actors_know():
    study = make_study(cost="linex", population=Population(), goals=(Goal("excludes", "alpha"),))
    absence = remove_effect(study, TWO_LEVELS, study.goals[0])
    assert absence.study.population.priors["alpha"] == Constant(0.05)
    assert absence.words == "alpha is 0.05 for everybody, the nearest to 0 that actors know"


def test_an_effect_that_a_block_has_is_absent_from_the_block():
    low, high = TWO_LEVELS.conditions
    blocks = (low, dataclasses.replace(high, population={"beta": Constant(0.7)}))
    design = dataclasses.replace(TWO_LEVELS, conditions=blocks)
    absence = remove_effect(make_study(), design, Goal("excludes", "beta"))
    assert absence.design.conditions[1].population == {"beta": Constant(1.0)}
    assert absence.design.conditions[0] == low
    assert absence.study.population.priors["beta"] == Constant(1.0)


def test_results_state_the_rule_with_the_margin_that_an_end_of_the_prior_needs():
    goals = (
        Goal("excludes", "beta"),
        Goal("excludes", "beta", value=0.9),
        Goal("excludes", "beta", value=0.5, margin_at_end=0.1),
    )
    power = evaluate_design(make_study(goals=goals, fidelity="information"), TWO_LEVELS, cache=NOWHERE).as_dict()["power"]
    rules = [score["rule"] for score in power.values()]
    assert "stays away from 1 by more than 0.025, 5% of the prior's range, because the prior ends there" in rules[0]
    assert rules[1].endswith("94% interval of beta stays away from 0.9")
    assert "stays away from 0.5 by more than 0.05, 10% of the prior's range" in rules[2]


def test_a_curve_says_at_which_points_power_comes_from_the_prior():
    study = make_study(goals=(Goal("excludes", "beta"),), fidelity="importance")
    points = trace_power(study, ONE_LEVEL, "trials", [90], cache=NOWHERE)
    (warning,) = warn_of_curves(points)
    assert warning.startswith("beta is not neutral, at every point: power comes in part from the analysis prior")
    score = read_power(points.isel(goal=0, trials=0))
    assert f"{score.when_absent.percent} ({score.when_absent.percent_error}) without it" in warning


def test_a_rate_that_may_be_too_high_is_a_warning_until_more_data_sets_tell():
    few = PowerScore(0.5, 0.1, Score(0.2, 0.09), "beta is 1 for everybody", 0.06, "excludes", "")
    (sentence,) = warn_of_power("ten-trials", {"effort": few})
    assert sentence.startswith(
        "ten-trials: effort: the false-positive rate may be too high: 50% (± 10%) with the effect, 20%"
    )
    assert sentence.endswith("where at most 6% should be; more data sets would tell.")
    assert warn_of_power("fine", {"effort": few._replace(when_absent=Score(0.1, 0.07))}) == []


def test_participants_without_the_effect_are_told_that_there_is_none_to_find():
    nobody = EVERYONE_THE_SAME.replace(priors={**EVERYONE_THE_SAME.priors, "beta": Constant(1.0)})
    study = make_study(goals=(Goal("excludes", "beta"),), population=nobody, fidelity="information")
    power = evaluate_design(study, TWO_LEVELS, num_datasets=20, cache=NOWHERE).power["beta is not neutral"]
    assert power.present == power.when_absent
    assert power.absent == "beta is 1 for everybody, as it is in the study: there is no effect to find"


def test_a_value_that_the_prior_excludes_is_said_to_be_excluded_whatever_the_data_are():
    study = make_study(goals=(Goal("excludes", "beta", value=1.5),), fidelity="information")
    power = evaluate_design(study, TWO_LEVELS, num_datasets=20, cache=NOWHERE).power
    assert power["beta is not 1.5"].value == power["beta is not 1.5"].when_absent.value == 1.0
    (sentence,) = warn_of_power("two-levels", power)
    assert "; the analysis prior, 0.5 to 1, excludes 1.5 whatever the data are)" in sentence


def test_a_test_of_groups_with_one_participant_each_has_no_power_and_says_why():
    study = make_study(goals=(GROUPS,), fidelity="information", designs=(TWO_LEVELS,), num_datasets=20)
    evaluation = evaluate_design(study, dataclasses.replace(TWO_LEVELS, num_participants=1), cache=NOWHERE)
    power = evaluation.power["groups differ in beta"]
    words = "no power: a test needs 2 participants in each group, and 3 good fits of each."
    assert warn_of_power("two-levels", evaluation.power) == [f"two-levels: groups differ in beta: {words}"]
    # Some failed fits are not the reason.
    points = tabulate_power(["g"], {"trials": [90]}, [{"g": power._replace(num_failed=2).as_dict()}])
    assert warn_of_curves(points) == [f"g, at every point: {words}"]


def test_power_without_fits_says_nothing():
    nothing = PowerScore(*UNDEFINED, UNDEFINED, "beta is 1 for everybody", 0.06, "excludes", "")
    assert warn_of_power("two-levels", {"beta is not neutral": nothing}) == []
    assert nothing.as_dict()["when_absent"] == {"value": None, "mcse": None}


def test_designs_are_varied_in_one_thing():
    assert [c.num_trials for c in vary_design(TWO_LEVELS, "trials", 61).conditions] == [30, 31]
    assert vary_design(TWO_LEVELS, "participants", 12).num_participants == 12
    assert [c.levels["sigma"] for c in vary_design(TWO_LEVELS, "sigma[1]", 0.3).conditions] == [0.1, 0.3]
    assert vary_design(TWO_LEVELS, "stimuli.high", 3.0).stimuli.high == 3.0
    with pytest.raises(UnknownNameError, match="participants"):
        vary_design(TWO_LEVELS, "colour", 1)
    with pytest.raises(StudioError, match="whole number, but 10"):
        vary_design(TWO_LEVELS, "trials", 10.5)
    with pytest.raises(StudioError, match="1 trials are too few for the 2 conditions"):
        vary_design(TWO_LEVELS, "trials", 1)


def test_power_without_goals_is_refused():
    with pytest.raises(StudioError, match="no goals"):
        trace_power(make_study(), TWO_LEVELS, "trials", [30], cache=NOWHERE)


def test_the_simulated_cost_wins_where_costs_differ_and_every_data_set_is_counted(tmp_path):
    study = make_study(candidates=("quadratic", "quadratic_effort"), fidelity="importance")
    # Half the weight on effort shrinks responses far below what any quadratic cost would do.
    study = study.replace(population=study.population.replace(priors={**study.population.priors, "beta": Constant(0.6)}))
    recovery = recover_models(study, TWO_LEVELS, num_datasets=20, cache=BlockCache(tmp_path))
    np.testing.assert_allclose(recovery.confusion.sum("fitted") + recovery.undecided, 1.0)
    # Every data set that is decided; of one a trial has a large k-hat.
    assert recovery.confusion.sel(simulated="quadratic_effort", fitted="quadratic") == 0.0
    assert recovery.chance_to_win("quadratic_effort").value >= 0.95
    assert recovery.counts["num_failed"].sum() == 0
    assert len(list(tmp_path.rglob("*.nc"))) == 4


def test_costs_that_one_level_cannot_tell_apart_are_undecided_and_the_verdict_says_so(tmp_path):
    study = make_study(candidates=("quadratic", "quadratic_effort"), designs=(TWO_LEVELS,), fidelity="importance")
    # Without a dislike of effort both costs predict the same.
    study = study.replace(population=study.population.replace(priors={**study.population.priors, "beta": Constant(1.0)}))
    cache = BlockCache(tmp_path)
    recovery = recover_models(study, TWO_LEVELS, num_datasets=20, cache=cache)
    assert (recovery.undecided > 0).all()
    assert recovery.counts["num_close"].sum() > 0
    (sentence,) = find_verdict([], {"two-levels": recovery})
    assert "Undecided, within the Monte Carlo error of the fits: quadratic in" in sentence
    # Over seeds of the fits a sum of predictive densities varies by its printed error: 100 degrees of freedom, off by 7 %.
    pair = pair_study(study, "quadratic", "quadratic_effort")
    fits = [compare_pair(pair, TWO_LEVELS, num_datasets=20, cache=cache, fit_seed=seed) for seed in range(1, 7)]
    elpd, mcse = (np.array([found[name].values for found in fits]) for name in ("elpd", "mcse"))
    assert 0.75 < np.sqrt(np.mean(elpd.var(axis=0, ddof=1)) / np.mean(mcse**2)) < 1.3


def test_a_pair_of_costs_keeps_only_what_applies_to_it():
    pair = pair_study(make_study(), "quadratic", "quadratic_effort")
    assert pair.population.cost == "quadratic"
    assert "beta" not in pair.population.priors
    assert pair.cost == "quadratic_effort"
    assert set(pair.analysis.known) == {"sigma"}
    assert pair_study(make_study(designs=(ONE_LEVEL,)), "quadratic_effort", "quadratic").cost == "quadratic"
