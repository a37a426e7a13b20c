"""The same question in another unit has the same answers, in that unit."""

import dataclasses

import numpy as np
import pytest

from designstudio.evaluate.evaluate_design import evaluate_design
from designstudio.evaluate.example_fit import fit_example
from designstudio.evaluate.group_questions import describe_group_rule, find_margin, list_questions
from designstudio.evaluate.preview import preview_design
from designstudio.model.priors import Constant, Uniform
from designstudio.study import Analysis, Goal, Known, Population, Quantity
from designstudio.study.design import Stimuli
from tests.evaluate.make_study import TWO_LEVELS, make_study

FACTOR = 500.0


def ask(unit, size):
    """The paper's question about twenty people, with goals and a quantity, in a unit of which so many are the actor's."""
    return make_study(
        designs=(dataclasses.replace(TWO_LEVELS, stimuli=Stimuli(low=0.25 * size, high=5.0 * size)),),
        unit=unit,
        scale=size if unit else None,
        population=Population({"mu_0": Uniform(1.2 * size, 1.8 * size), "sigma_0": Constant(0.2), "sigma_r": Constant(0.15),
                               "beta": Constant(0.9)}),
        analysis=Analysis(known={"sigma": Known()}, priors={"mu_0": Uniform(0.2 * size, 4.0 * size)}),
        quantities=(Quantity.from_formula("twice", "2 * mu_0", unit or "no unit"),),
        goals=(Goal("narrower", "mu_0", width=0.3 * size), Goal("excludes", "mu_0", value=0.9 * size),
               Goal("excludes", "twice", value=1.8 * size)),
        num_datasets=20,
    )  # fmt: skip


@pytest.fixture(scope="module")
def studies():
    return ask("", 1.0), ask("ms", FACTOR)


@pytest.fixture(scope="module")
def evaluations(studies):
    return [evaluate_design(study, study.designs[0], fidelity="information") for study in studies]


def test_summaries_differ_by_the_size_of_the_unit(evaluations):
    own, other = (evaluation.summaries for evaluation in evaluations)
    names = own["quantity"].values.tolist()
    sizes = np.array([FACTOR if name in ("mu_0", "twice") else 1.0 for name in names])
    for name in ("truth", "mean", "sd", "low", "high"):
        np.testing.assert_allclose(other[name], own[name] * sizes, rtol=1e-3, err_msg=name)
    for name in ("rank", "log_covariance", "mass_at_end", "is_good"):
        np.testing.assert_allclose(other[name], own[name], atol=0.02, err_msg=name)
    units = dict(zip(names, other["unit"].values.tolist(), strict=True))
    assert (units["mu_0"], units["sigma_0"], units["beta"]) == ("ms", "log units", "no unit")
    np.testing.assert_allclose(other["prior_end"].sel(parameter="mu_0"), [100.0, 2000.0])


def test_scores_are_the_same_and_rules_name_the_unit(evaluations):
    own, other = evaluations
    assert [score.value for score in own.power.values()] == [score.value for score in other.power.values()]
    narrow, excludes, twice = other.power.values()
    assert narrow.rule == "a participant's 94% interval of mu_0 is narrower than 150 ms"
    assert excludes.rule == "a participant's 94% interval of mu_0 stays away from 450 ms"
    assert excludes.absent == "mu_0 is 450 ms for everybody"
    assert excludes.when_absent.value == list(own.power.values())[1].when_absent.value
    assert twice.rule == "a participant's 94% interval of twice stays away from 900 ms"
    assert twice.absent == "twice is 900 ms for everybody, whose mu_0 went the least way there"
    assert (twice.present, twice.when_absent) == (excludes.present, excludes.when_absent)
    ratio = other.recovery["mu_0"]["rmse"].value / own.recovery["mu_0"]["rmse"].value
    assert ratio == pytest.approx(FACTOR, rel=1e-3)
    assert own.status.name == other.status.name


def test_rules_about_groups_name_the_unit(studies):
    _, study = studies
    goal = Goal("group-mean", "mu_0", value=0.9 * FACTOR, margin=0.1 * FACTOR, decision="t-test")
    study = study.replace(goals=(goal,))
    rule = describe_group_rule(study, study.designs[0], goal, *find_margin(study, study.designs[0], goal))
    assert (
        rule
        == "mu_0 of everybody stays away from 450 ms by more than 50 ms: the 95% interval of a t test on posterior means"
    )
    (question,) = list_questions(study, study.designs[0], [6])
    assert question.words == "the median of mu_0 is 450 ms"


def test_one_participant_is_shown_in_the_studys_unit(studies):
    own, other = (preview_design(study, study.designs[0], num_datasets=20) for study in studies)
    assert other.trials["stimulus"].attrs["units"] == other.trials["response"].attrs["units"] == "ms"
    for name in ("stimulus", "response"):
        np.testing.assert_allclose(other.trials[name], FACTOR * own.trials[name], rtol=1e-4)
    np.testing.assert_allclose(other.band["stimulus"], FACTOR * own.band["stimulus"], rtol=1e-4)
    np.testing.assert_allclose(other.band["median"], FACTOR * own.band["median"], rtol=1e-3)
    assert own.trials["stimulus"].attrs["units"] == "stimulus unit"


def test_a_fitted_participant_is_too(studies, evaluations):
    own, other = (fit_example(study, study.designs[0]) for study in studies)
    assert other.truth["mu_0"] == pytest.approx(FACTOR * own.truth["mu_0"], rel=1e-5)
    assert np.mean(other.draws["twice"]) == pytest.approx(FACTOR * np.mean(own.draws["twice"]), rel=1e-2)
    tree = evaluations[1].to_datatree()
    assert tree["posterior"]["mu_0"].attrs["units"] == "ms"
    assert float(tree["posterior"]["mu_0"].mean()) == pytest.approx(np.mean(other.draws["mu_0"]), rel=1e-4)
