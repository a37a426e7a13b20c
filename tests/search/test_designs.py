"""From Optuna's parameters to designs: canonical, complete, never twice."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from designstudio.errors import StudioError
from designstudio.search.designs import (
    build_design,
    canonicalize,
    identify_design,
    list_distributions,
    list_levels,
    place_parameters,
    share_trials,
)
from designstudio.search.feasible import check_feasible, draw_feasible, find_design, measure_design
from designstudio.study import Choice, Constraint, Objective, Range, SearchPlan, Space

WIDE = Space(
    {
        "levels": Range(1, 4),
        "spacing": Choice(("log", "linear", "free")),
        "low_share": Range(0.2, 0.8),
        "trials": Range(20, 120),
        "participants": Range(5, 40, 5),
        "stimuli.distribution": Choice(("uniform", "log-uniform", "grid")),
        "stimuli.low": Range(0.1, 1.0),
        "stimuli.high": 5.0,
        "stimuli.num_values": Range(3, 9),
    },
    parameter="sigma",
    level=Range(0.05, 0.35),
)
UNIFORMS = st.lists(st.floats(0, 1), min_size=len(list_distributions(WIDE)), max_size=len(list_distributions(WIDE)))


@settings(max_examples=200, deadline=None)
@given(UNIFORMS)
def test_the_canonical_form_is_its_own_canonical_form_and_within_the_space(uniform):
    parameters = place_parameters(WIDE, uniform)
    assert canonicalize(WIDE, parameters) == parameters
    for name, distribution in list_distributions(WIDE).items():
        assert distribution._contains(distribution.to_internal_repr(parameters[name])), name


@settings(max_examples=200, deadline=None)
@given(UNIFORMS)
def test_levels_in_another_order_are_the_same_design(uniform):
    parameters = place_parameters(WIDE, uniform)
    swapped = {
        **parameters,
        "sigma_low": parameters["sigma_high"],
        "sigma_high": parameters["sigma_low"],
    }
    if parameters["levels"] == 4:
        swapped |= {"middle_1": parameters["middle_2"], "middle_2": parameters["middle_1"]}
    assert canonicalize(WIDE, swapped) == canonicalize(WIDE, parameters)


@settings(max_examples=200, deadline=None)
@given(UNIFORMS)
def test_a_design_has_the_trials_and_levels_that_were_asked_for(uniform):
    parameters = place_parameters(WIDE, uniform)
    try:
        design = build_design(WIDE, parameters)
    except StudioError:
        # Levels that three digits cannot tell apart, or stimuli that end before they begin.
        return
    assert design.num_trials == parameters["trials"]
    assert len(design.conditions) == parameters["levels"]
    levels = [condition.levels["sigma"] for condition in design.conditions]
    assert levels == sorted(set(levels))
    assert levels[0] > 0.0499
    assert levels[-1] < 0.351


def test_what_plays_no_role_does_not_make_another_design():
    base = place_parameters(WIDE, [0.5] * len(list_distributions(WIDE))) | {"levels": 1, "stimuli.distribution": "uniform"}
    other = base | {"sigma_high": 0.34, "spacing": "linear", "low_share": 0.7, "stimuli.num_values": 9, "middle_1": 0.9}
    base |= {"sigma_low": 0.1}
    other |= {"sigma_low": 0.1}
    assert canonicalize(WIDE, base) != canonicalize(WIDE, other)
    designs = [build_design(WIDE, canonicalize(WIDE, parameters)) for parameters in (base, other)]
    assert identify_design(designs[0]) == identify_design(designs[1])


def test_spacing_puts_the_levels_between_where_it_says():
    parameters = {"levels": 3, "sigma_low": 0.05, "sigma_high": 0.2, "middle_1": 0.25}
    assert list_levels(WIDE, parameters | {"spacing": "log"}) == (0.05, 0.1, 0.2)
    assert list_levels(WIDE, parameters | {"spacing": "linear"}) == (0.05, 0.125, 0.2)
    assert list_levels(WIDE, parameters | {"spacing": "free"}) == (0.05, 0.0707, 0.2)


def test_levels_of_a_choice_are_among_its_options():
    space = Space(
        {"levels": Range(2, 4), "trials": 60, "stimuli.low": 1.0, "stimuli.high": 4.0},
        parameter="sigma",
        level=Choice((0.05, 0.1, 0.15, 0.3)),
    )
    rng = np.random.default_rng(0)
    plan = SearchPlan(space)
    for parameters in draw_feasible(plan, rng, 50):
        design = find_design(plan, parameters)
        assert {c.levels["sigma"] for c in design.conditions} <= {0.05, 0.1, 0.15, 0.3}
        assert len(design.conditions) == parameters["levels"]


@pytest.mark.parametrize("num_levels", [1, 2, 3, 4])
def test_trials_are_shared_as_asked_and_none_is_lost(num_levels):
    for num_trials in range(num_levels, 60):
        for share in (0.2, 0.5, 0.77):
            counts = share_trials(num_trials, num_levels, share)
            assert sum(counts) == num_trials
            assert min(counts) >= 1
            assert counts == sorted(counts, reverse=share > 0.5) or share == 0.5
    assert share_trials(100, 2, 0.8) == [79, 21]
    assert max(share_trials(90, num_levels, 0.5)) - min(share_trials(90, num_levels, 0.5)) <= 1


def test_designs_are_told_apart_by_what_is_done_not_by_their_names():
    variables = {"levels": 2, "trials": 90, "participants": Range(1, 9), "stimuli.low": 0.25, "stimuli.high": 5.0}
    space = Space(variables, "sigma", Range(0.05, 0.35))
    parameters = {"sigma_low": 0.1, "sigma_high": 0.2, "participants": 3}
    first, second = build_design(space, parameters, "a"), build_design(space, parameters, "b")
    assert identify_design(first) == identify_design(second)
    assert identify_design(first) != identify_design(build_design(space, parameters | {"participants": 4}))
    assert identify_design(first) != identify_design(build_design(space, parameters | {"sigma_low": 0.101}))


def test_minutes_become_as_many_trials_as_fit():
    space = Space({"minutes": Range(5.0, 10.0), "stimuli.low": 0.25, "stimuli.high": 5.0}, seconds_per_trial=7)
    design = build_design(space, {"minutes": 7.5})
    assert design.num_trials == 64
    assert measure_design(Objective("minutes"), design) <= 7.5


def test_constraints_keep_infeasible_designs_out():
    plan = SearchPlan(
        WIDE,
        constraints=(Constraint(Objective("minutes"), at_most=5), Constraint(Objective("smallest_level"), at_least=0.1)),
    )
    for parameters in draw_feasible(plan, np.random.default_rng(1), 100):
        design = find_design(plan, parameters)
        assert design.minutes <= 5
        assert min(c.levels["sigma"] for c in design.conditions) >= 0.1


def test_a_constraint_that_nothing_meets_is_named_with_the_closest_value():
    plan = SearchPlan(WIDE, constraints=(Constraint(Objective("minutes"), at_most=1),))
    with pytest.raises(StudioError, match=r"'minutes at most 1': the closest has 1\.[67]"):
        check_feasible(plan)


def test_constraints_that_exclude_each_other_are_named_together():
    space = Space({"trials": Range(20, 120), "stimuli.low": 0.25, "stimuli.high": 5.0})
    limits = (Constraint(Objective("minutes"), at_most=4), Constraint(Objective("trials"), at_least=100))
    with pytest.raises(StudioError, match="'minutes at most 4' and 'trials at least 100' together"):
        check_feasible(SearchPlan(space, constraints=limits))


def test_an_empty_space_is_refused():
    with pytest.raises(StudioError, match="The search space is empty"):
        Space({"trials": 90, "stimuli.low": 0.25, "stimuli.high": 5.0})
