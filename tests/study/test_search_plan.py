"""A search for power names its goals, and wants them seldom reached where there is nothing to find."""

import dataclasses
import math

import pytest

from designstudio.errors import StudioError, UnknownNameError
from designstudio.metrics.monte_carlo import Score
from designstudio.metrics.power import PowerScore
from designstudio.model.priors import Constant
from designstudio.study import Constraint, Goal, Objective, Quantity, format_study, parse_study
from tests.evaluate.make_study import TWO_LEVELS, make_study
from tests.search.make_search import PLAN, TEXT

EFFORT = Goal("excludes", "beta", name="effort")
PRECISE = Goal("narrower", "mu_0", width=0.5)
GOALS = """
[[goals]]
kind = "excludes"
quantity = "beta"
name = "effort"
[[goals]]
kind = "narrower"
quantity = "mu_0"
width = 0.5
"""


def make(*objectives, goals=(EFFORT, PRECISE), interval=0.94, **changes):
    return make_study(
        designs=(TWO_LEVELS,),
        goals=goals,
        interval=interval,
        quantities=(Quantity.from_formula("ratio", "mu_0 / sigma_0"),),
        search=dataclasses.replace(PLAN, objectives=objectives, **changes),
    ).search


@pytest.mark.parametrize("of", [(), ("1",), ("effort",)])
def test_an_objective_has_the_name_of_its_goal_also_if_its_number_or_nothing_was_given(of):
    (objective,) = make(Objective("power", of)).objectives
    assert objective == Objective("power", ("effort",))
    assert objective.label == "power: effort"


def test_a_goal_without_a_name_is_called_by_its_kind_and_quantity():
    (objective,) = make(Objective("power", ("2",))).objectives
    assert objective.of == ("mu_0 within 0.5",)


def test_a_search_for_power_limits_false_positives_unless_the_study_has_a_limit_of_its_own():
    limit = Constraint(Objective("when_absent", ("effort",)), at_most=0.06)
    assert make(Objective("power")).constraints == (limit,)
    own = Constraint(Objective("when_absent"), at_most=0.2)
    (kept,) = make(Objective("power"), constraints=(own,)).constraints
    assert kept == Constraint(Objective("when_absent", ("effort",)), at_most=0.2)
    assert make(Objective("rmse", ("beta",))).constraints == ()
    # What has no effect cannot find one by mistake.
    assert make(Objective("power", ("2",))).constraints == ()
    ratio = Goal("excludes", "ratio", value=1.0)
    assert make(Objective("power"), goals=(ratio,)).constraints == ()


def test_a_false_positive_rate_breaks_its_limit_only_beyond_its_error():
    (limit,) = make(Objective("power")).constraints
    assert limit.exceed(0.08, 0.03) <= 0
    assert limit.exceed(0.43, 0.05) > 0
    assert Constraint(Objective("failed"), at_most=0.05).exceed(0.08, 0.03) > 0


@pytest.mark.parametrize("interval", [0.9, 0.94, 0.99])
def test_the_limit_is_the_level_at_which_verdicts_warn_so_that_intervals_that_are_right_are_never_refused(interval):
    (limit,) = make(Objective("power"), interval=interval).constraints
    nominal = EFFORT.nominal_level(interval)
    assert limit.at_most == nominal == pytest.approx(1 - interval)
    # Of very many data sets, for which noise is no excuse.
    num = 100_000
    for rate in (nominal, nominal + 0.01):
        mcse = math.sqrt(rate * (1 - rate) / num)
        score = PowerScore(0.9, 0.001, Score(rate, mcse), "beta is 1 for everybody", nominal, "excludes", "a rule")
        assert (limit.exceed(rate, mcse) > 0) == score.errs_too_often == (rate > nominal)
    groups = Goal("groups-differ", "beta", group={"beta": Constant(0.8)})
    assert make(Objective("power"), goals=(groups,), interval=interval).constraints[0].at_most == 0.05


def test_goals_that_are_not_there_are_refused_in_a_sentence():
    with pytest.raises(UnknownNameError, match="Unknown goal 'efort'"):
        make(Objective("power", ("efort",)))
    with pytest.raises(StudioError, match="There is no goal number 3: the study has 2"):
        make(Objective("power", ("3",)))
    with pytest.raises(StudioError, match=r"'mu_0 within 0.5' has no effect that could be absent: leave out 'when_absent'"):
        make(Objective("power"), constraints=(Constraint(Objective("when_absent", ("2",)), at_most=0.1),))
    with pytest.raises(StudioError, match="The goal 'effort' appears twice"):
        make(Objective("power"), goals=(EFFORT, Goal("narrower", "beta", width=0.1, name="effort")))
    with pytest.raises(StudioError, match="words in one line"):
        Goal("excludes", "beta", name="2")


@pytest.mark.parametrize("of", ["", ", of = 1", ', of = "effort"'])
def test_study_files_name_goals_and_older_ones_number_them(of):
    text = TEXT.replace("datasets = 32", f'objectives = [{{ score = "power"{of} }}]\ndatasets = 32', 1) + GOALS
    study = parse_study(text, "text")
    assert study.search.objectives == (Objective("power", ("effort",)),)
    written = format_study(study)
    assert 'of = "effort"' in written
    assert "at_most = 0.06" in written
    assert parse_study(written, "text") == study
