"""Goals about changes within participants: before and after a training, with its effect and without."""

import dataclasses

import numpy as np
import pytest

from designstudio.core.cache import BlockCache
from designstudio.errors import StudioError
from designstudio.evaluate.experiment import prepare_experiment
from designstudio.evaluate.group_goals import score_group_goals
from designstudio.evaluate.group_questions import list_questions
from designstudio.evaluate.group_studies import prepare_group
from designstudio.model.priors import Constant, Uniform
from designstudio.study import Analysis, Factor, Goal, Group, Known, Population, Quantity, parse_study
from designstudio.study.design import Condition, Design
from designstudio.study.file import format_study
from tests.evaluate.make_study import ONE_LEVEL, STIMULI, make_study

SIZE = 6
POPULATION = Population({"mu_0": Uniform(1.2, 1.8), "sigma_0": Uniform(0.15, 0.3), "beta": Uniform(0.65, 0.8)})
BEFORE, AFTER = Condition("before", 45, {"sigma": 0.1}), Condition("after", 45, {"sigma": 0.1}, {"beta": Factor(1.2)})
TRAINING = Design("training", (BEFORE, AFTER), STIMULI, num_participants=SIZE)
GOALS = (Goal("changes", "beta"), Goal("changes", "beta", decision="t-test", conditions=("before", "after")))


@pytest.fixture(scope="module")
def study():
    # With the motor noise known, too, groups have as many entries as those of other tests: one program.
    analysis = Analysis(known={"sigma": Known(), "sigma_r": Known()})
    return make_study(designs=(TRAINING,), population=POPULATION, goals=GOALS, num_studies=10, analysis=analysis)


def test_a_change_within_people_is_found_and_is_not_found_without_it(study):
    scores = score_group_goals(study, TRAINING, cache=BlockCache(None))[SIZE]
    assert list(scores) == ["beta changes, hierarchical", "beta changes from before to after, t-test"]
    for score in scores.values():
        assert score.num_failed <= 2
        assert score.value > 0.7
        assert score.is_more_than_absent
        assert score.absent == "everybody's beta is in after what it is in before"
        assert 0.7 < score.type_m.value < 1.3
        assert "beta of everybody in after minus before stays away from 0" in score.rule
    hierarchical, paired = scores.values()
    assert (hierarchical.nominal, paired.nominal) == (0.06, 0.05)
    assert "whose mean and change vary between people" in hierarchical.rule
    assert "paired t test" in paired.rule


def test_without_the_effect_everybody_is_after_as_before(study):
    (present,), (absent,) = (getattr(list_questions(study, TRAINING, [SIZE])[0], name) for name in ("present", "absent"))
    people = [prepare_group(members, TRAINING, np.arange(2), SIZE).participants["beta"] for members in (present, absent)]
    np.testing.assert_allclose(people[0][:, 1], 1.2 * people[0][:, 0])
    np.testing.assert_array_equal(people[1][:, 1], people[1][:, 0])
    np.testing.assert_array_equal(people[1][:, 0], people[0][:, 0])


def test_changes_stand_in_a_study_file_and_come_back(study):
    text = format_study(study)
    assert "beta = { factor = 1.2 }" in text
    assert 'conditions = ["before", "after"]' in text
    assert parse_study(text, "again") == study


def test_a_factor_that_makes_the_impossible_is_refused_by_its_condition(study):
    everybody = study.population.replace(priors={**study.population.priors, "beta": Constant(0.9)})
    words = r"factor of beta in condition 'after' makes 1\.08 of it for somebody, but beta can only be from 0 to 1: choose"
    with pytest.raises(StudioError, match=words):
        prepare_experiment(study.replace(population=everybody), TRAINING, first=0, num_datasets=2)


def test_changes_that_nobody_could_see_are_refused_with_a_sentence(study):
    with pytest.raises(StudioError, match=r"needs an estimate of mu_0 in each condition .* per_condition"):
        study.replace(goals=(Goal("changes", "mu_0"),))
    study.replace(goals=(Goal("changes", "mu_0"),), analysis=Analysis(per_condition=("mu_0",)))
    with pytest.raises(StudioError, match="needs two conditions, but design 'one-level' has one"):
        study.replace(designs=(ONE_LEVEL,))
    with pytest.raises(StudioError, match=r"Unknown condition of a goal \(design 'training'\) 'later'"):
        study.replace(goals=(Goal("changes", "beta", conditions=("before", "later")),))
    with pytest.raises(StudioError, match="takes two conditions, but 1 were given"):
        Goal("changes", "beta", conditions=("before",))
    with pytest.raises(StudioError, match="takes no conditions"):
        Goal("group-mean", "beta", conditions=("before", "after"))
    ratio = (Quantity.from_formula("ratio", "sigma_0 / sigma_r"),)
    with pytest.raises(StudioError, match="make the change itself one"):
        study.replace(quantities=ratio, goals=(Goal("changes", "ratio"),))
    with pytest.raises(StudioError, match="The beta factor of group 'a' has no spread"):
        Group("a", differs={"beta": Factor(1.2, spread=0.1)})
    lonely = dataclasses.replace(TRAINING, num_participants=1)
    with pytest.raises(StudioError, match="needs at least 2 participants"):
        score_group_goals(study, lonely, cache=BlockCache(None))
