"""The effect of a quantity is taken away by the least change of every person: against SciPy's constrained optimiser."""

import dataclasses

import numpy as np
import pytest
from scipy import optimize

from designstudio.core.cache import BlockCache
from designstudio.evaluate.evaluate_design import evaluate_design
from designstudio.evaluate.experiment import prepare_experiment, show_participants
from designstudio.evaluate.goals import remove_effect
from designstudio.evaluate.group_goals import score_group_goals
from designstudio.evaluate.moving import describe_move, move_people
from designstudio.evaluate.power_words import warn_of_power
from designstudio.evaluate.verdict import find_verdict
from designstudio.model.priors import Constant, Uniform
from designstudio.study import Goal, Population, Quantity
from tests.evaluate.make_study import ONE_LEVEL, TWO_LEVELS, make_study

NOWHERE = BlockCache(None)
PEOPLE = Population({"mu_0": Uniform(1.0, 2.0), "sigma_0": Uniform(0.15, 0.3), "beta": Uniform(0.6, 0.95)})
FREE = ("mu_0", "sigma_0", "sigma_r", "beta")


def move(formula, value, *, study=None, design=TWO_LEVELS, num=30):
    study = study or make_study(population=PEOPLE)
    quantity = Quantity.from_formula("what", formula)
    experiment = prepare_experiment(study, design, first=0, num_datasets=num)
    people = show_participants(experiment)
    moved = move_people(
        people,
        quantity,
        value,
        parameters=experiment.generative.parameters,
        fitted=experiment.fitted,
        scale=experiment.scale,
        given=tuple(design.levels),
    )
    return people, moved, quantity, experiment


@pytest.mark.parametrize(
    ("formula", "value", "names", "exact"),
    [
        ("mu_0 * beta", 1.0, ("mu_0", "beta"), lambda v: v["mu_0"] * v["beta"]),
        ("mu_0 * beta / sigma_r ** 2", 30.0, FREE[:1] + FREE[2:], lambda v: v["mu_0"] * v["beta"] / v["sigma_r"] ** 2),
        ("sigma_0 / sigma[0]", 1.0, ("sigma_0",), lambda v: v["sigma_0"] / v["sigma"]),
        ("log(mu_0) + beta", 1.0, ("mu_0", "beta"), lambda v: np.log(v["mu_0"]) + v["beta"]),
        ("sigma_0 ** 2 - sigma_r ** 2", 0.0, ("sigma_0", "sigma_r"), lambda v: v["sigma_0"] ** 2 - v["sigma_r"] ** 2),
    ],
)
def test_nobody_could_go_a_shorter_way(formula, value, names, exact):
    people, moved, _, experiment = move(formula, value)
    assert set(moved.names) == set(names)
    assert moved.is_there.all()
    np.testing.assert_allclose(moved.reached, value, atol=1e-4)
    rng = np.random.default_rng(0)
    priors = experiment.fitted.priors
    sds = np.array([np.log(priors[name].quantile(rng.uniform(size=100_000))).std() for name in FREE])
    boxes = {p.name: p.box for p in experiment.generative.parameters}
    for person in range(4):
        others = {name: float(np.ravel(array.values[person])[0]) for name, array in people.items()}
        start = np.log([others[name] for name in FREE])

        def compute(logs, others=others):
            values = {**others, **dict(zip(FREE, np.exp(logs), strict=True))}
            return exact(values) - value

        oracle = optimize.minimize(
            lambda logs, start=start: (((logs - start) / sds) ** 2).sum(),
            start,
            method="SLSQP",
            bounds=[(np.log(boxes[name].low), np.log(boxes[name].high)) for name in FREE],
            constraints={"type": "eq", "fun": compute},
            options={"ftol": 1e-9, "maxiter": 500},
        )
        assert oracle.success
        ours = np.log([float(np.ravel(moved.people[name].values[person])[0]) for name in FREE])
        length = (((ours - start) / sds) ** 2).sum()
        np.testing.assert_allclose(length, oracle.fun, rtol=0.02, atol=1e-6)


def test_where_actors_end_people_stop_and_the_words_say_so():
    _, moved, quantity, experiment = move("mu_0 * beta", 0.0)
    box = {p.name: p.box for p in experiment.generative.parameters}
    assert not moved.is_there.any()
    np.testing.assert_allclose(moved.reached, box["mu_0"].low * box["beta"].low, rtol=1e-5)
    assert describe_move(moved, quantity, 0.0) == "what is 0.01, the nearest to 0 that actors know, by moving mu_0 and beta"


def test_who_is_beyond_what_actors_know_keeps_all_that_the_quantity_does_not_depend_on():
    beyond = make_study(population=PEOPLE.replace(priors={**PEOPLE.priors, "sigma_r": Constant(1.5)}))
    people, moved, _, _ = move("mu_0 * beta", 1.0, study=beyond)
    assert moved.is_there.all()
    np.testing.assert_allclose(moved.people["sigma_r"].values, people["sigma_r"].values)


def test_a_step_into_what_has_no_logarithm_is_made_shorter():
    _, moved, _, _ = move("log(mu_0 - 0.9)", -3.0)
    assert moved.is_there.all()
    np.testing.assert_allclose(moved.people["mu_0"].values, 0.9 + np.exp(-3.0), rtol=1e-4)


def test_what_conditions_set_is_moved_only_if_nothing_else_changes_the_quantity():
    people, moved, _, _ = move("sigma[1] / sigma[0]", 1.0)
    assert moved.names == ("sigma",)
    # From 0.1 and 0.2 the nearest is the geometric mean.
    np.testing.assert_allclose(moved.people["sigma"].values, np.sqrt(0.02), rtol=1e-4)
    assert people["sigma"].values.max() == 0.2
    _, moved, _, _ = move("sigma_0 / sigma[1]", 0.5)
    assert moved.names == ("sigma_0",)
    assert move("gamma_of_nobody * 2", 1.0)[1] is None


@pytest.mark.parametrize("fidelity", ["information", "importance"])
def test_a_quantity_of_one_parameter_has_the_false_positive_rate_of_the_parameter(fidelity):
    goals = (Goal("excludes", "beta", value=0.95), Goal("excludes", "effort", value=0.05))
    effort = Quantity.from_formula("effort", "1 - beta")
    study = make_study(goals=goals, quantities=(effort,), population=PEOPLE, fidelity=fidelity)
    power = evaluate_design(study, TWO_LEVELS, cache=NOWHERE).power
    of_parameter, of_quantity = power["beta is not 0.95"], power["effort is not 0.05"]
    assert of_parameter.absent == "beta is 0.95 for everybody"
    assert of_quantity.absent == "effort is 0.05 for everybody, whose beta went the least way there"
    assert abs(of_parameter.value - of_quantity.value) <= 0.011
    assert abs(of_parameter.when_absent.value - of_quantity.when_absent.value) <= 0.011


def test_a_quantity_that_one_level_identifies_is_not_found_where_it_is_absent():
    """mu_0 and beta are confounded there, but not their product: its power does not come from the prior."""
    goal = Goal("excludes", "product", value=1.0)
    product = Quantity.from_formula("product", "mu_0 * beta")
    study = make_study(goals=(goal,), quantities=(product,), population=PEOPLE)
    evaluation = evaluate_design(study, ONE_LEVEL, cache=NOWHERE)
    score = evaluation.power["product is not 1"]
    assert score.is_more_than_absent
    assert not score.errs_too_often
    assert evaluation.as_dict()["power"]["product is not 1"]["absent"].startswith("product is 1 for everybody, whose mu_0")


def test_the_middle_of_a_group_is_moved_to_the_value_of_a_quantity():
    effort = Quantity.from_formula("effort", "1 - beta")
    goals = (Goal("group-mean", "beta", value=0.9, decision="t-test"),)
    goals += (Goal("group-mean", "effort", value=0.1, decision="t-test"),)
    design = dataclasses.replace(TWO_LEVELS, num_participants=6)
    study = make_study(
        designs=(design,), population=PEOPLE, goals=goals, quantities=(effort,), num_studies=10, fidelity="information"
    )
    one, other = score_group_goals(study, design, cache=NOWHERE)[6].values()
    assert one.absent == "the median of beta is 0.9"
    assert other.absent == "the median person's beta went the least way to where effort is 0.1, and all others with them"
    assert one.value == other.value
    assert one.when_absent == other.when_absent


def test_participants_without_the_parameter_have_no_effect_to_find():
    study = make_study(goals=(Goal("excludes", "beta"),), fidelity="information")
    quadratic = Population({"mu_0": Constant(1.5), "sigma_0": Constant(0.2), "sigma_r": Constant(0.15)}, cost="quadratic")
    score = evaluate_design(study.replace(population=quadratic), ONE_LEVEL, cache=NOWHERE).power["beta is not neutral"]
    assert score.when_absent == score.present
    assert score.absent == "the simulated participants have no beta: there is no effect to find"
    assert score.errs_too_often


def test_power_is_not_stated_where_the_effect_cannot_be_taken_away():
    quadratic = Population({"mu_0": Constant(1.5), "sigma_0": Constant(0.2), "sigma_r": Constant(0.15)}, cost="quadratic")
    study = make_study(goals=(Goal("excludes", "beta", value=0.8),), population=quadratic, fidelity="information")
    assert remove_effect(study, TWO_LEVELS, study.goals[0]).study is None
    evaluation = evaluate_design(study, TWO_LEVELS, cache=NOWHERE)
    score = evaluation.power["beta is not 0.8"]
    assert np.isnan(score.value)
    words = "no power: its false-positive rate cannot be known, because the simulated participants have no beta."
    assert warn_of_power("two-levels", {"beta is not 0.8": score}) == [f"two-levels: beta is not 0.8: {words}"]
    assert any(words in sentence for sentence in find_verdict([evaluation]))
    assert "nan" not in str(evaluation.overview().rows)
