"""Goals of whole studies: decisions against SciPy, and simulated studies with and without an effect."""

import dataclasses

import numpy as np
import pytest
from scipy import stats

from designstudio.core.cache import BlockCache
from designstudio.errors import StudioError
from designstudio.evaluate.goals import score_goals
from designstudio.evaluate.group_decisions import Decisions, decide_by_interval, decide_by_t_test, score_errors
from designstudio.evaluate.group_goals import score_group_goals
from designstudio.evaluate.group_questions import list_questions
from designstudio.evaluate.group_studies import Sample, find_members, prepare_group, simulate_group
from designstudio.evaluate.power_words import warn_of_power
from designstudio.model.priors import Uniform
from designstudio.study import Factor, Goal, Group, Population, parse_study, write_study
from designstudio.study.file import format_study
from tests.evaluate.make_study import TWO_LEVELS, make_study

NUM_STUDIES, SIZE = 10, 6
NOWHERE = BlockCache(None)
DESIGN = dataclasses.replace(TWO_LEVELS, num_participants=SIZE)
POPULATION = Population({"mu_0": Uniform(1.2, 1.8), "sigma_0": Uniform(0.15, 0.3), "beta": Uniform(0.7, 0.8)})
GROUPS = (Group("controls"), Group("patients", dropout=0.2, differs={"beta": Uniform(0.9, 0.98), "sigma": Factor(1.2)}))
GOALS = (Goal("groups-differ", "beta"), Goal("groups-differ", "beta", decision="t-test"), Goal("group-mean", "beta"))
SEARCH = """
[search.space]
levels = 2
sigma = { range = [0.05, 0.3] }
trials = 90
stimuli = { low = 0.25, high = 5.0 }
"""


@pytest.fixture(scope="module")
def study():
    return make_study(designs=(DESIGN,), population=POPULATION, groups=GROUPS, goals=GOALS, num_studies=NUM_STUDIES)


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return BlockCache(tmp_path_factory.mktemp("studies"))


@pytest.fixture(scope="module")
def scores(study, cache):
    return score_group_goals(study, DESIGN, cache=cache)[SIZE]


def make_sample(rng, shift, num_studies=40, size=9):
    mean = rng.normal(shift, 1 + abs(shift), (num_studies, size))
    mean[::3, 0] = np.nan
    middle = mean[:, 1:2] + rng.normal(size=(num_studies, 200))
    return Sample(mean, mean, middle, np.arange(num_studies) != 5)


def test_t_tests_decide_as_scipy_does():
    rng = np.random.default_rng(1)
    first, second = make_sample(rng, 0.0), make_sample(rng, 1.0)
    two, one = decide_by_t_test([first, second], 0.0), decide_by_t_test([second], 0.4)
    for k in range(len(first.mean)):
        a, b = (sample.mean[k][np.isfinite(sample.mean[k])] for sample in (first, second))
        expected = stats.ttest_ind(b, a, equal_var=False).confidence_interval(0.95)
        np.testing.assert_allclose([two.low[k], two.high[k]], expected)
        np.testing.assert_allclose(
            [one.low[k] + 0.4, one.high[k] + 0.4], stats.ttest_1samp(b, 0.4).confidence_interval(0.95)
        )
    assert (two.find_effect(0.0) == (two.low > 0) | (two.high < 0)).all()
    assert two.find_effect(0.5).sum() < two.find_effect(0.0).sum()


def test_a_change_is_decided_by_a_paired_test():
    rng = np.random.default_rng(4)
    before, after = make_sample(rng, 0.0), make_sample(rng, 1.0)
    decided = decide_by_t_test([after.minus(before)], 0.0)
    for k in range(len(before.mean)):
        is_there = np.isfinite(before.mean[k])
        expected = stats.ttest_rel(after.mean[k][is_there], before.mean[k][is_there]).confidence_interval(0.95)
        np.testing.assert_allclose([decided.low[k], decided.high[k]], expected)


def test_an_analysis_that_cannot_be_trusted_decides_nothing():
    rng = np.random.default_rng(2)
    first, second = make_sample(rng, 0.0), make_sample(rng, 1.0)
    decisions = decide_by_interval([first, second], 0.0, 0.9)
    assert np.flatnonzero(~decisions.is_made).tolist() == [5]
    assert not decisions.find_effect(0.0)[5]
    draws = second.middle[0] - first.middle[0]
    np.testing.assert_allclose([decisions.low[0], decisions.high[0]], np.quantile(draws, [0.05, 0.95]))


def test_wrong_signs_and_exaggeration_are_counted_among_what_is_found():
    estimate = np.array([2.0, 4.0, -2.0, 0.1, 9.0])
    # The fourth finds nothing, the last decides nothing.
    low, high = estimate - np.array([1, 1, 1, 1, np.nan]), estimate + 1.0
    wrong, large = score_errors(Decisions(estimate, low, high), 0.0, effect=2.0)
    assert wrong.value == pytest.approx(1 / 3)
    assert large.value == pytest.approx((1 + 2 + 1) / 3)
    assert score_errors(Decisions(estimate, low, high), 0.0, effect=0.0) == (None, None)


def test_every_goal_of_groups_has_power_and_a_false_positive_rate(scores):
    assert list(scores) == [goal.label for goal in GOALS]
    for label, score in scores.items():
        assert score.num_studies == score.num_datasets == NUM_STUDIES
        assert score.num_failed <= NUM_STUDIES // 2
        assert score.when_absent is not None, label
        assert score.is_more_than_absent
    hierarchical, t_test, mean = scores.values()
    assert (hierarchical.nominal, t_test.nominal, mean.nominal) == (0.06, 0.05, 0.06)
    # Effort is far from none among controls, with 0.7 to 0.8, and nobody has the sign wrong.
    assert t_test.value > 0.6
    assert t_test.type_s.value == 0
    assert 0.5 < t_test.type_m.value < 2
    assert "patients minus controls in beta stays away from 0" in t_test.rule
    assert "beta is 1 for everybody" in mean.absent
    assert all("formula" not in sentence for sentence in warn_of_power("two-levels", scores))


def test_the_absence_of_what_actors_do_not_know_says_what_stands_for_it(study):
    (question,) = list_questions(study.replace(goals=(Goal("group-mean", "sigma_r", value=1.5),)), DESIGN, [SIZE])
    assert question.words == (
        "sigma_r is 1 for everybody, the nearest to 1.5 that actors know; the analysis prior, 0.01 to 0.5, excludes 1.5 "
        "whatever the data are"
    )
    assert list_questions(study, DESIGN, [SIZE])[-1].words == "beta is 1 for everybody"


def test_a_smaller_study_has_the_first_people_of_a_larger_one(study, cache):
    patients = find_members(study, study.groups[1], 1)
    studies = np.arange(NUM_STUDIES)
    many, few = (prepare_group(patients, DESIGN, studies, size).participants["beta"] for size in (SIZE, 4))
    np.testing.assert_array_equal(few.values.reshape(-1, 4), many.values.reshape(-1, SIZE)[:, :4])
    sample = simulate_group(patients, DESIGN, num_studies=NUM_STUDIES, cache=cache)[SIZE]["beta", ""]
    is_lost = np.isnan(sample.truth)
    assert 0 < is_lost.sum() < is_lost.size / 2
    assert np.isnan(sample.mean[is_lost]).all()
    np.testing.assert_array_equal(sample.truth[~is_lost], many.values.reshape(-1, SIZE)[~is_lost])
    assert np.nanmin(sample.truth) >= 0.9


def test_a_factor_multiplies_what_the_design_sets(study):
    people = [prepare_group(find_members(study, group, 0), DESIGN, np.arange(3), 2) for group in study.groups]
    np.testing.assert_allclose(people[0].participants["sigma"][0], [0.1, 0.2])
    np.testing.assert_allclose(people[1].participants["sigma"][0], [0.12, 0.24])
    # What is known to the fit is what is true of these people.
    np.testing.assert_allclose(people[1].fixed["sigma"][0], [0.12, 0.24])


def test_groups_stand_in_a_study_file_and_come_back(study, tmp_path):
    assert parse_study(format_study(study), "again") == study
    write_study(study, tmp_path / "study.toml")
    assert "sigma = { factor = 1.2 }" in (tmp_path / "study.toml").read_text()


def test_what_groups_cannot_be_is_refused_with_a_sentence(study):
    with pytest.raises(StudioError, match=r"Design 'two-levels' sets sigma.*group 'a'.*sigma = \{ factor = 1.5 \}"):
        study.replace(groups=(Group("a", differs={"sigma": Uniform(0.1, 0.2)}), Group("b")))
    silent = study.replace(goals=(Goal("groups-differ", "beta", group={"sigma": Uniform(0.1, 0.2)}),))
    with pytest.raises(StudioError, match=r"sets sigma .*the second group of the goal"):
        score_goals(silent, DESIGN, lambda *_: None)
    with pytest.raises(StudioError, match="needs a second group: give the study two"):
        study.replace(groups=(Group("a"),))
    with pytest.raises(StudioError, match="Unknown group of a goal 'c'"):
        study.replace(goals=(Goal("group-mean", "beta", groups=("c",)),))
    with pytest.raises(StudioError, match="appears twice"):
        study.replace(groups=(Group("a"), Group("a")))
    with pytest.raises(StudioError, match="Unknown parameter of group 'b'"):
        study.replace(groups=(Group("a"), Group("b", differs={"gamma": Factor(2.0)})))
    with pytest.raises(StudioError, match="needs at least 2 participants in each group"):
        score_group_goals(study, TWO_LEVELS, cache=NOWHERE)
    with pytest.raises(StudioError, match="A search cannot aim at whole studies"):
        parse_study(f"{format_study(study)}{SEARCH}", "again")
