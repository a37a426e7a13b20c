"""Objectives estimated from summaries agree with the evaluation's own scores, and can be paired by data set."""

import dataclasses

import numpy as np
import pytest

from designstudio.core.cache import BlockCache
from designstudio.evaluate.evaluate_design import evaluate_design
from designstudio.metrics.paired import compare_rmse
from designstudio.metrics.registry import list_quantity_metrics
from designstudio.model.priors import Constant, Uniform
from designstudio.search.estimates import estimate_objective, list_objectives
from designstudio.search.evaluate_steps import Populations, evaluate_steps
from designstudio.study import Analysis, Goal, Known, Objective
from tests.evaluate.make_study import ONE_LEVEL, TWO_LEVELS, make_study
from tests.search.make_search import PLAN

GOALS = (
    Goal("excludes", "beta"),
    Goal("narrower", "mu_0", width=0.5),
    Goal("groups-differ", "beta", group={"beta": Constant(0.7)}),
)


@pytest.fixture(scope="module")
def study():
    study = make_study(goals=GOALS, seed=3)
    population = {**study.population.priors, "mu_0": Uniform(1.0, 2.0), "beta": Uniform(0.8, 0.95)}
    return study.replace(population=dataclasses.replace(study.population, priors=population))


@pytest.fixture(scope="module")
def evaluation(study):
    return evaluate_design(study, TWO_LEVELS, fidelity="information", num_datasets=64, cache=BlockCache(None))


@pytest.mark.parametrize("score", [name for name, metric in list_quantity_metrics().items() if metric.direction])
def test_recovery_scores_are_those_of_the_evaluation(study, evaluation, score):
    estimate = estimate_objective(Objective(score, ("beta",)), study, TWO_LEVELS, evaluation.summaries)
    expected = evaluation.recovery["beta"][score]
    assert estimate.score.value == pytest.approx(abs(expected.value), rel=1e-9)
    # Shares have a softened error, everything else the jackknife's.
    assert estimate.score.mcse == pytest.approx(expected.mcse, rel=0.35 if score == "coverage" else 0.02)


def test_several_quantities_are_averaged_as_sizes(study, evaluation):
    estimate = estimate_objective(Objective("rmse", ("mu_0", "beta")), study, TWO_LEVELS, evaluation.summaries)
    single = [evaluation.recovery[name]["rmse"].value for name in ("mu_0", "beta")]
    assert estimate.score.value == pytest.approx(np.sqrt(single[0] * single[1]), rel=1e-9)


def test_shapes_of_posteriors_are_those_of_the_evaluation(study, evaluation):
    def read(score, *of):
        return estimate_objective(Objective(score, of), study, TWO_LEVELS, evaluation.summaries).score

    found = evaluation.identifiability
    assert read("information_gain", "all") == pytest.approx(found.information_gain["all"])
    assert read("information_gain", "prior_cost") == pytest.approx(found.information_gain["prior_cost"])
    assert read("confounding", "prior_cost") == pytest.approx(found.prior_cost["confounding"])
    assert read("remaining") == pytest.approx(found.remaining)
    assert read("failed").value == 0


@pytest.mark.parametrize("number", [1, 2])
def test_power_is_that_of_the_evaluation(study, evaluation, number):
    estimate = estimate_objective(Objective("power", (str(number),)), study, TWO_LEVELS, evaluation.summaries)
    assert estimate.score.value == pytest.approx(list(evaluation.power.values())[number - 1].value)


def test_power_to_tell_groups_apart_is_that_of_the_evaluation(study, evaluation):
    from designstudio.evaluate.goals import second_group

    design = dataclasses.replace(TWO_LEVELS, num_participants=3)
    second = evaluate_design(
        second_group(study, GOALS[2]), design, fidelity="information", num_datasets=64, cache=BlockCache(None)
    ).summaries
    whole = evaluate_design(study, design, fidelity="information", num_datasets=64, cache=BlockCache(None))
    estimate = estimate_objective(Objective("power", ("3",)), study, design, whole.summaries, second)
    assert estimate.score.value == pytest.approx(whole.power["groups differ in beta"].value)
    assert estimate.score.mcse == pytest.approx(whole.power["groups differ in beta"].mcse)


def test_pseudo_values_average_to_the_objective_and_pair_designs_as_the_paired_score_does(study, evaluation):
    other = evaluate_design(study, ONE_LEVEL, fidelity="information", num_datasets=64, cache=BlockCache(None))
    estimates = [estimate_objective(Objective("rmse", ("mu_0",)), study, e.design, e.summaries) for e in (evaluation, other)]
    difference = estimates[1].pseudo_values - estimates[0].pseudo_values
    ratio = compare_rmse(evaluation.summaries, other.summaries)["mu_0"]
    # The ratio's logarithm, up to the jackknife's own bias correction; and its error.
    assert difference.mean() == pytest.approx(np.log(ratio.value), abs=0.05)
    assert difference.std(ddof=1) / 8 == pytest.approx(ratio.mcse / ratio.value, rel=0.1)


def test_failed_fits_have_no_pseudo_value_and_are_counted(study, evaluation):
    summaries = evaluation.summaries.copy(deep=True)
    summaries["is_good"][:4] = False
    estimate = estimate_objective(Objective("rmse", ("beta",)), study, TWO_LEVELS, summaries)
    assert np.isnan(estimate.pseudo_values[:4]).all()
    assert np.isfinite(estimate.pseudo_values[4:]).all()
    assert estimate_objective(Objective("failed"), study, TWO_LEVELS, summaries).score.value == pytest.approx(4 / 64)


def test_the_default_objective_is_information_on_prior_and_cost_where_both_are_unknown():
    assert list_objectives(make_study())[0] == Objective("information_gain", ("prior_cost",))
    known = Analysis(known={"sigma": Known(), "beta": Known()})
    assert list_objectives(make_study(analysis=known))[0] == Objective("information_gain", ("all",))


def test_false_positives_are_those_of_the_evaluation(study, evaluation):
    for goal in (GOALS[0], GOALS[2]):
        design = dataclasses.replace(TWO_LEVELS, num_participants=3)
        objective = Objective("when_absent", (goal.label,))
        populations = Populations(study, design, [objective])
        populations.add_block("information", 0, 64)
        estimate = estimate_objective(objective, study, design, *populations.join(objective))
        whole = evaluate_design(study, design, fidelity="information", num_datasets=64, cache=BlockCache(None))
        assert estimate.score.value == pytest.approx(whole.power[goal.label].when_absent.value)


def test_a_search_for_power_refuses_one_level_and_takes_two(study):
    plan = dataclasses.replace(PLAN, objectives=(Objective("power"),))
    question = make_study(goals=GOALS[:1], search=plan)
    (limit, failed) = question.search.all_constraints
    exceeds = []
    for design in (ONE_LEVEL, TWO_LEVELS):
        step = evaluate_steps(question, design, "importance", block_size=100, num_datasets=100, goes_on=lambda _: True)
        exceeds.append(limit.exceed(*step.scores[limit.objective]))
        assert failed.exceed(*step.scores[failed.objective]) <= 0
    assert exceeds[0] > 0
    assert exceeds[1] <= 0


def test_several_objectives_share_participants(study):
    names = (Objective("power"), Objective("when_absent"), Objective("rmse", ("beta",)), Objective("power", ("2",)))
    populations = Populations(study, TWO_LEVELS, names)
    populations.add_block("information", 0, 64)
    assert len(populations._blocks) == 2
    assert populations.join(names[0])[0].identical(populations.join(names[2])[0])
    assert not populations.join(names[0])[0].identical(populations.join(names[1])[0])
