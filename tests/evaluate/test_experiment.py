"""Simulated experiments: designs share participants, places of stimuli and noise, and differ by what they are."""

import dataclasses

import numpy as np
import pytest

from designstudio.core.configuration import count_programs
from designstudio.errors import StudioError
from designstudio.evaluate.experiment import prepare_experiment, simulate_experiment
from designstudio.model.priors import Constant, Uniform
from designstudio.study import Analysis, Factor, Known, Population, parse_study
from designstudio.study.design import Condition, Design
from designstudio.study.file import format_study
from tests.evaluate.make_study import ONE_LEVEL, STIMULI, TRUTH, TWO_LEVELS, make_study


def simulate(study, design, first=0, num_datasets=4):
    experiment = prepare_experiment(study, design, first=first, num_datasets=num_datasets)
    return experiment, simulate_experiment(study, design, experiment)


def test_two_designs_have_the_same_participants():
    study = make_study(population=Population({"sigma_r": Constant(0.1)}))
    one, two = (
        prepare_experiment(study, design, first=0, num_datasets=4).participants for design in (ONE_LEVEL, TWO_LEVELS)
    )
    for name in TRUTH:
        np.testing.assert_array_equal(one[name], two[name])
    assert len(np.unique(one["mu_0"])) == 4


def test_a_longer_experiment_begins_like_a_shorter_one():
    longer = dataclasses.replace(ONE_LEVEL, conditions=(dataclasses.replace(ONE_LEVEL.conditions[0], num_trials=96),))
    short, long = (simulate(make_study(), design)[1] for design in (ONE_LEVEL, longer))
    for name in ("stimulus", "response"):
        np.testing.assert_allclose(long[name].values[:, :90], short[name].values, rtol=1e-6)


def test_another_level_changes_the_responses_by_the_same_noise():
    # With no prior to speak of and no motor noise, log response is log stimulus plus sigma times the noise.
    population = Population(
        {"mu_0": Constant(1.5), "sigma_0": Constant(5.0), "sigma_r": Constant(1e-4), "beta": Constant(1.0)}
    )
    study = make_study(population=population, actor="exact", analysis=Analysis(known={"sigma": Known()}))
    noises = []
    for sigma in (0.1, 0.2):
        design = dataclasses.replace(ONE_LEVEL, conditions=(Condition("all trials", 90, {"sigma": sigma}),))
        trials = simulate(study, design)[1]
        noise = np.log(trials["response"].values / trials["stimulus"].values) / sigma
        noises.append(noise - noise.mean())
    np.testing.assert_allclose(noises[0], noises[1], atol=0.02)


def test_data_sets_are_numbered_on_and_do_not_depend_on_how_many_there_are():
    whole, rest = simulate(make_study(), TWO_LEVELS)[1], simulate(make_study(), TWO_LEVELS, first=2, num_datasets=2)[1]
    np.testing.assert_array_equal(rest["dataset"], [2, 3])
    np.testing.assert_allclose(whole["response"].values[2:], rest["response"].values, rtol=1e-6)


def test_conditions_may_have_different_numbers_of_trials_and_stimuli():
    few = dataclasses.replace(STIMULI, low=1.0, high=2.0)
    conditions = (Condition("long", 45, {"sigma": 0.1}), Condition("short", 20, {"sigma": 0.2}, stimuli=few))
    trials = simulate(make_study(), Design("uneven", conditions, STIMULI))[1]
    index = trials["condition_index"].values[0]
    assert np.bincount(index).tolist() == [45, 20]
    shown = trials["stimulus"].values[:, index == 1]
    assert shown.shape == (4, 20)
    assert shown.min() >= 1.0
    assert shown.max() <= 2.0


def test_a_block_draws_its_own_prior_and_the_rest_stays_shared():
    conditions = (Condition("before", 45), Condition("after", 45, population={"mu_0": Uniform(3.0, 4.0)}))
    study = make_study(population=Population({"mu_0": Uniform(1.0, 2.0)}), analysis=Analysis())
    experiment = prepare_experiment(study, Design("blocks", conditions, STIMULI), first=0, num_datasets=20)
    mu_0 = experiment.participants["mu_0"].values
    assert (mu_0[:, 0] < 2).all()
    assert (mu_0[:, 1] > 3).all()
    assert experiment.participants["beta"].dims == ("dataset",)
    assert experiment.fitted.per_condition == ("mu_0",)


@pytest.mark.parametrize(("rate", "least", "most"), [("lapse_rate", 0.2, 0.4), ("outlier_rate", 0.2, 0.4)])
def test_lapses_and_outliers_change_as_many_responses_as_they_should(rate, least, most):
    clean = make_study()
    spoilt = make_study(population=clean.population.replace(**{rate: 0.3}))
    before, after = (simulate(study, TWO_LEVELS, num_datasets=20)[1]["response"].values for study in (clean, spoilt))
    is_changed = ~np.isclose(before, after, rtol=1e-5)
    assert least < is_changed.mean() < most
    if rate == "lapse_rate":
        assert (after[is_changed] <= 5.0).all()


def test_participants_can_come_from_the_prior_that_the_fit_assumes():
    study = make_study(population=Population({"beta": Constant(0.9)}, follows_analysis=True))
    experiment = prepare_experiment(study, TWO_LEVELS, first=0, num_datasets=400)
    mu_0 = experiment.participants["mu_0"].values
    assert mu_0.min() < 0.3
    assert mu_0.max() > 4.7
    assert (experiment.participants["beta"].values == 0.9).all()
    np.testing.assert_array_equal(experiment.participants["sigma"].values[0], [0.1, 0.2])


def test_a_known_parameter_may_be_known_wrongly():
    study = make_study(analysis=Analysis(known={"sigma": Known(factor=1.5)}))
    experiment = prepare_experiment(study, TWO_LEVELS, first=0, num_datasets=2)
    np.testing.assert_allclose(experiment.fixed["sigma"].values, [[0.15, 0.3]] * 2)
    np.testing.assert_allclose(experiment.participants["sigma"].values, [[0.1, 0.2]] * 2)


def test_other_numbers_of_data_sets_compile_nothing_new():
    study = make_study()
    simulate(study, TWO_LEVELS, num_datasets=3)
    before = count_programs()
    numbers = simulate(study, TWO_LEVELS, num_datasets=7)[1]["dataset"]
    assert numbers.values.tolist() == list(range(7))
    assert sum(count_programs() - before) == 0


def test_a_factor_multiplies_everybodys_own_value_and_people_may_differ_in_it():
    before, after = Condition("before", 45), Condition("after", 45, population={"mu_0": Factor(1.2, spread=0.1)})
    other = Condition("other", 45, population={"mu_0": Uniform(1.0, 2.0)})
    design = Design("training", (before, other, after, Condition("later", 45)), STIMULI)
    study = make_study(designs=(design,), population=Population({"mu_0": Uniform(1.0, 2.0), "sigma": Constant(0.1)}))
    people = prepare_experiment(study, design, first=0, num_datasets=400).participants["mu_0"].values
    np.testing.assert_array_equal(people[:, 3], people[:, 0])
    assert abs(np.corrcoef(people[:, 0], people[:, 1])[0, 1]) < 0.15
    changes = np.log(people[:, 2] / people[:, 0])
    assert np.median(changes) == pytest.approx(np.log(1.2), abs=0.02)
    assert changes.std() == pytest.approx(0.1, abs=0.01)
    alike = dataclasses.replace(design, conditions=(before, dataclasses.replace(after, population={"mu_0": Factor(1.2)})))
    people = prepare_experiment(study, alike, first=0, num_datasets=4).participants["mu_0"].values
    np.testing.assert_allclose(people[:, 1], 1.2 * people[:, 0])
    assert parse_study(format_study(study), "again") == study
    impossible = dataclasses.replace(before, name="beyond", population={"beta": Factor(1.2)})
    with pytest.raises(
        StudioError,
        match=r"^The factor of beta in condition 'beyond' makes 1.0[0-9]* of it for somebody, but beta can only be",
    ):
        prepare_experiment(study, Design("beyond", (before, impossible), STIMULI), first=0, num_datasets=4)
