"""Studies: what they refuse, which model they fit, and what that model takes as known."""

import dataclasses

import numpy as np
import pytest
import xarray as xr

from designstudio.errors import StudioError, UnknownNameError
from designstudio.model.actors import ExactActor
from designstudio.model.costs import get_cost
from designstudio.model.priors import Constant, HalfNormal, Interval, Uniform
from designstudio.study import Analysis, Factor, Goal, Group, Known, Population, Quantity, Study
from designstudio.study.design import Condition, Design, Stimuli

STIMULI = Stimuli(low=0.25, high=5.0)
ONE_LEVEL = Design("one", (Condition("all trials", 90, {"sigma": 0.1}),), STIMULI)
TWO_LEVELS = Design("two", (Condition("low", 45, {"sigma": 0.1}), Condition("high", 45, {"sigma": 0.2})), STIMULI)
BLOCKS = Design("blocks", (Condition("a", 45), Condition("b", 45, population={"mu_0": Uniform(2.0, 3.0)})), STIMULI)
STUDY = Study("quadratic_effort", (ONE_LEVEL, TWO_LEVELS))
ACTOR = ExactActor(get_cost("quadratic_effort"))
RATIO = Quantity.from_formula("ratio", "sigma_0 / sigma[0]")


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"designs": ()}, "A study needs at least one design"),
        ({"designs": (ONE_LEVEL, ONE_LEVEL)}, "The design 'one' appears twice"),
        ({"quantities": (RATIO, RATIO)}, "The quantity 'ratio' appears twice"),
        ({"candidates": ("quadratic", "quadratic")}, "The candidate 'quadratic' appears twice"),
        ({"candidates": ("quadratic",)}, "between two or more candidates, but only 'quadratic' was given"),
        ({"fidelity": "fast"}, r"Unknown fidelity 'fast'\. Available: information, importance, nuts"),
        ({"num_datasets": 9}, "at least 10 data sets, but 9 was given"),
        ({"interval": 0.4}, "at least 0.5 and below 1, but it is 0.4"),
        ({"interval": 1.0}, "at least 0.5 and below 1, but it is 1"),
        ({"seed": -1}, "The seed must be 0 or more, but -1 was given"),
        ({"cost": "quadratc"}, r"Unknown cost 'quadratc'\. Available: absolute, quadratic"),
        ({"candidates": ("quadratc",)}, "Unknown cost 'quadratc'"),
        ({"population": Population(cost="quadratc")}, "Unknown cost 'quadratc'"),
        (
            {"population": Population({"gamma": Constant(1.0)})},
            r"Unknown parameter of the population \(cost quadratic_effort\)",
        ),
        ({"population": Population({"mu_0": Uniform(-1.0, 1.0)})}, "mu_0 must be a positive number"),
        ({"population": Population({"beta": Constant(1.1)})}, "beta must be above 0 and at most 1, but 1.1 was given"),
        ({"designs": (Design("g", (Condition("a", 9, {"gamma": 1.0}),), STIMULI),)}, "Unknown parameter 'gamma'"),
        ({"analysis": Analysis(priors={"gamma": Uniform(1.0, 2.0)})}, r"parameter of the analysis .*'gamma'.*mu_0"),
        ({"analysis": Analysis(known={"gamma": Known()})}, "parameter of the analysis .*'gamma'"),
        ({"analysis": Analysis(per_condition=("gamma",))}, "parameter of the analysis .*'gamma'"),
        ({"analysis": Analysis(shared=("gamma",))}, "parameter of the analysis .*'gamma'"),
        ({"goals": (Goal("excludes", "gamma"),)}, r"Unknown quantity of a goal 'gamma'\. Available: mu_0"),
    ],
)
def test_impossible_studies_are_refused_with_a_sentence(change, sentence):
    with pytest.raises(StudioError, match=sentence):
        dataclasses.replace(STUDY, **change)


@pytest.mark.parametrize(
    ("build", "sentence"),
    [
        (
            lambda: Goal("exclude", "beta"),
            r"Unknown goal 'exclude'\. Available: excludes, narrower, groups-differ, group-mean",
        ),
        (lambda: Goal("narrower", "beta"), "'narrower' needs a width"),
        (lambda: Goal("excludes", "beta", width=0.1), "'excludes' takes no width"),
        (lambda: Goal("groups-differ", "beta", groups=("a",)), "'groups-differ' takes 2 groups, but 1 were given"),
        (lambda: Goal("groups-differ", "beta", group={"beta": Constant(0.7)}, margin=0.1), r"\[\[groups\]\]"),
        (lambda: Goal("group-mean", "beta", decision="vote"), "Unknown decision 'vote'. Available: hierarchical, t-test"),
        (lambda: Group("a", 1), "Group 'a' needs at least 2 participants, but 1 was given"),
        (lambda: Group("a", dropout=1.0), "dropout of group 'a' must be at least 0 and below 1, not 1"),
        (lambda: Factor(0.0), "A factor must be positive, but 0 was given"),
        (lambda: Goal("excludes", "beta", group={"beta": Constant(0.7)}), "'excludes' takes no second group"),
        (lambda: Goal("narrower", "beta", width=0.1, value=1.0), "'narrower' takes no value or margin"),
        (lambda: Goal("narrower", "beta", width=0.0), "width of a goal must be positive, but 0 was given"),
        (lambda: Goal("excludes", "beta", margin=-0.1), "margin of a goal must be 0 or more, but -0.1 was given"),
        (lambda: Known(value=1.0, factor=2.0), "a value or a factor, not both"),
        (lambda: Known(value=0.0), "must be positive, but 0 was given"),
        (lambda: Known(factor=-1.0), "must be positive, but -1 was given"),
    ],
)
def test_impossible_goals_and_known_values_are_refused_with_a_sentence(build, sentence):
    with pytest.raises(StudioError, match=sentence):
        build()


def test_goals_say_what_they_are():
    assert str(Goal("excludes", "beta")) == "the interval of beta excludes its neutral value"
    assert str(Goal("excludes", "mu_0", value=2.0)) == "the interval of mu_0 excludes 2"
    assert str(Goal("narrower", "beta", width=0.1)) == "the interval of beta is narrower than 0.1"
    group = Goal("groups-differ", "beta", group={"beta": Constant(0.7)})
    assert str(group) == "beta differs from a group with beta always 0.7"


def test_a_goal_may_be_about_a_quantity():
    study = dataclasses.replace(STUDY, quantities=(RATIO,), goals=(Goal("excludes", "ratio", value=1.0),))
    assert study.goals[0].quantity == "ratio"


def test_participants_may_minimise_another_cost_than_the_fit_assumes():
    population = Population({"gamma": Constant(2.0)}, cost="inverted_gaussian")
    study = dataclasses.replace(STUDY, population=population)
    assert population.resolve(get_cost("inverted_gaussian"))["gamma"] == Constant(2.0)
    assert study.load_actor("inverted_gaussian").cost.name == "inverted_gaussian"


def test_the_population_is_the_papers_where_nothing_else_is_said():
    priors = Population({"beta": Constant(0.9)}).resolve(get_cost("quadratic_effort"))
    assert list(priors) == ["mu_0", "sigma_0", "sigma", "sigma_r", "beta"]
    assert (priors["beta"], priors["mu_0"]) == (Constant(0.9), Uniform(2.0, 5.0))


def test_designs_are_found_by_name():
    assert STUDY.design("two") is TWO_LEVELS
    with pytest.raises(UnknownNameError, match=r"Unknown design 'three'\. Available: one, two"):
        STUDY.design("three")


def test_an_exact_study_has_an_exact_actor():
    assert isinstance(dataclasses.replace(STUDY, actor="exact").load_actor("quadratic"), ExactActor)


def test_levels_and_own_parameters_become_per_condition():
    assert Analysis().build_model(ACTOR, TWO_LEVELS).per_condition == ("sigma",)
    assert Analysis().build_model(ACTOR, BLOCKS).per_condition == ("mu_0",)
    further = Analysis(per_condition=("sigma_r",)).build_model(ACTOR, TWO_LEVELS)
    assert further.per_condition == ("sigma", "sigma_r")
    assert further.num_conditions == 2
    assert further.num_free == 7


def test_shared_parameters_stay_shared_although_the_design_changes_them():
    model = Analysis(shared=("sigma",)).build_model(ACTOR, TWO_LEVELS)
    assert model.per_condition == ()
    assert "sigma" in model.free


def test_known_parameters_are_fixed_and_not_estimated():
    model = Analysis(known={"sigma": Known()}, per_condition=("beta",)).build_model(ACTOR, TWO_LEVELS)
    assert model.fixed == ("sigma",)
    assert model.per_condition == ("beta",)
    assert model.free == ("mu_0", "sigma_0", "sigma_r", "beta")


def test_priors_of_the_analysis_replace_the_papers():
    model = Analysis(priors={"mu_0": Uniform(1.0, 2.0)}).build_model(ACTOR, ONE_LEVEL)
    assert model.priors["mu_0"] == Uniform(1.0, 2.0)
    assert isinstance(model.priors["sigma"], HalfNormal)


def test_an_analysis_is_widened_up_to_the_box_of_the_actors():
    wide = {"sigma_0": Uniform(0.005, 1.0), "sigma": HalfNormal(0.5), "mu_0": Uniform(0.02, 20.0)}
    study = dataclasses.replace(STUDY, analysis=Analysis(priors=wide))
    model = study.analysis.build_model(study.load_actor(study.cost), study.designs[0])
    assert model.priors["sigma_0"] == Uniform(0.005, 1.0)
    assert model.priors["sigma"].support == Interval(0.005, 1.0)
    assert model.priors["mu_0"] == Uniform(0.02, 20.0)
    assert model.priors["sigma_r"].support == Interval(0.01, 0.5)


@pytest.mark.parametrize(
    "prior", [Uniform(0.1, 1.2), Uniform(0.001, 0.5), HalfNormal(0.25, Interval(0.01, 2.0)), Uniform(2, 3)]
)
def test_an_analysis_beyond_the_box_is_refused_unless_the_actor_is_exact(prior):
    with pytest.raises(
        StudioError, match=r"^The analysis prior of sigma, .*, reaches beyond 0\.005 to 1, where the actor was"
    ):
        dataclasses.replace(STUDY, analysis=Analysis(priors={"sigma": prior}))
    exact = dataclasses.replace(STUDY, analysis=Analysis(priors={"sigma": prior}), actor="exact")
    model = exact.analysis.build_model(exact.load_actor(exact.cost), exact.designs[0])
    assert model.priors["sigma"] == prior


def test_a_constant_is_no_prior_for_a_fit():
    with pytest.raises(
        StudioError, match=r"analysis prior of 'beta' is the constant 0\.9: a fit needs a range; make it known"
    ):
        Analysis(priors={"beta": Constant(0.9)}).build_model(ACTOR, ONE_LEVEL)


PARTICIPANTS = xr.Dataset(
    {
        "mu_0": ("dataset", [1.0, 2.0, 3.0]),
        "sigma": (("dataset", "condition"), [[0.1, 0.2], [0.1, 0.2], [0.1, 0.2]]),
    }
)


def test_known_values_are_the_truth_a_number_or_off_by_a_factor():
    values = Analysis(known={"sigma": Known(factor=1.5), "mu_0": Known(), "beta": Known(value=0.8)}).fix_values(PARTICIPANTS)
    np.testing.assert_allclose(values["sigma"], [[0.15, 0.3]] * 3)
    np.testing.assert_allclose(values["mu_0"], [1.0, 2.0, 3.0])
    np.testing.assert_allclose(values["beta"], [0.8, 0.8, 0.8])


def test_a_known_number_is_one_for_each_participant_whatever_else_differs_between_conditions():
    participants = PARTICIPANTS[["sigma"]].rename({"sigma": "mu_0"})
    values = Analysis(known={"beta": Known(value=0.8)}).fix_values(participants)
    assert values["beta"].dims == ("dataset",)


def test_a_truth_that_nobody_has_cannot_be_known():
    with pytest.raises(StudioError, match="simulated participants have no 'beta': give its value"):
        Analysis(known={"beta": Known()}).fix_values(PARTICIPANTS)


def test_equal_studies_have_one_identity_and_others_another():
    again = dataclasses.replace(STUDY, quantities=(RATIO,)), dataclasses.replace(STUDY, quantities=(RATIO,))
    assert again[0].identity == again[1].identity
    assert len(STUDY.identity) < 100
    high = dataclasses.replace(TWO_LEVELS.conditions[1], levels={"sigma": 0.2 + 1e-12})
    changes = [
        {"seed": 2},
        {"designs": (ONE_LEVEL, dataclasses.replace(TWO_LEVELS, conditions=(TWO_LEVELS.conditions[0], high)))},
        {"quantities": (RATIO,)},
        {"quantities": (Quantity.from_formula("ratio", "sigma_0 / sigma[1]"),)},
        {"population": Population({"beta": Constant(0.9)})},
        {"analysis": Analysis(known={"sigma": Known()})},
    ]
    identities = [STUDY.identity, *(dataclasses.replace(STUDY, **change).identity for change in changes)]
    assert len(set(identities)) == len(identities)
