"""Designs: what they take, and what is refused."""

import pytest

from designstudio.errors import StudioError, UnknownNameError
from designstudio.model.priors import Uniform
from designstudio.study.design import PRESETS, Condition, Design, Stimuli, get_preset

STIMULI = Stimuli(low=0.25, high=5.0)
LOW, HIGH = Condition("low", 45, {"sigma": 0.1}), Condition("high", 30, {"sigma": 0.2})


def test_a_design_knows_its_trials_and_minutes():
    design = Design("two levels", (LOW, HIGH), STIMULI, seconds_per_trial=4.0)
    assert design.num_trials == 75
    assert design.minutes == 5.0
    assert design.levels == ("sigma",)


def test_a_condition_may_show_its_own_stimuli_and_have_its_own_prior():
    block = Condition("after long stimuli", 10, population={"mu_0": Uniform(3.0, 4.0)}, stimuli=Stimuli(low=3.0, high=5.0))
    design = Design("blocks", (Condition("before", 10), block), STIMULI)
    assert [design.stimuli_of(condition).low for condition in design.conditions] == [0.25, 3.0]
    assert design.own_parameters == ("mu_0",)


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_is_a_design_of_that_name(name):
    design = get_preset(name)
    assert design.name == name
    assert 1 < design.minutes < 60


def test_published_ranges_are_as_published():
    assert get_preset("force").stimuli.shown_values == (10, 40, 70, 100, 130, 160)
    assert get_preset("bean-bag").stimuli.support == (0.9, 3.4)
    assert get_preset("puck").stimuli.support == (1.0, 5.0)
    assert get_preset("paper-evaluation").num_trials == 60
    assert [condition.num_trials for condition in get_preset("paper-two-levels").conditions] == [45, 45]


def test_an_unknown_preset_or_parameter_names_the_known_ones():
    with pytest.raises(UnknownNameError, match="Available: paper-evaluation"):
        get_preset("beanbag")
    with pytest.raises(UnknownNameError, match=r"Unknown parameter 'sigma'\. Available: mu_0"):
        Design("two levels", (LOW, HIGH), STIMULI).check_parameters(["mu_0"])


@pytest.mark.parametrize(
    ("build", "sentence"),
    [
        (lambda: Condition("", 1), "needs a name"),
        (lambda: Condition("a", 0), "at least 1 trial"),
        (lambda: Condition("a", 1, {"sigma": 0.0}), "sets sigma to 0"),
        (lambda: Condition("a", 1, {"sigma": 0.1}, {"sigma": Uniform(0.1, 0.2)}), "also draws it"),
        (lambda: Design("", (LOW,), STIMULI), "needs a name"),
        (lambda: Design("a", (), STIMULI), "at least one condition"),
        (lambda: Design("a", (LOW, LOW), STIMULI), "two conditions called 'low'"),
        (lambda: Design("a", (LOW, Condition("b", 5)), STIMULI), "in all or in none"),
        (lambda: Design("a", (LOW,), STIMULI, seconds_per_trial=0.0), "seconds_per_trial > 0"),
        (lambda: Design("a", (LOW,), STIMULI, num_participants=0), "at least 1 participant"),
    ],
)
def test_impossible_designs_are_refused_with_a_sentence(build, sentence):
    with pytest.raises(StudioError, match=sentence):
        build()
