"""Power: goals are reached as often as they should be, and more of everything helps."""

import dataclasses

import numpy as np
import pytest

from designstudio.core.cache import BlockCache
from designstudio.errors import StudioError, UnknownNameError
from designstudio.evaluate.curves import map_power, trace_power, vary_design
from designstudio.evaluate.goals import resolve_exclusion
from designstudio.evaluate.model_recovery import pair_study, recover_models
from designstudio.evaluate.run import evaluate_design
from designstudio.model.priors import Constant
from designstudio.study import Goal
from tests.evaluate.make_study import ONE_LEVEL, TWO_LEVELS, make_study

NOWHERE = BlockCache(None)
GROUPS = Goal("groups-differ", "beta", group={"beta": Constant(0.85)})


def test_more_trials_and_more_participants_give_more_power():
    study = make_study(goals=(Goal("narrower", "beta", width=0.15), GROUPS), fidelity="information")
    power = map_power(study, TWO_LEVELS, trials=[30, 90], participants=[5, 20], cache=NOWHERE)
    assert power["value"].dims == ("goal", "participants", "trials")
    value = power["value"].sel(goal="groups differ in beta").values
    assert (np.diff(value, axis=0) > 0).all()
    assert (np.diff(value, axis=1) > 0).all()
    narrow = power["value"].sel(goal="beta within 0.15").values
    # One participant's interval does not care how many there are.
    np.testing.assert_array_equal(narrow[0], narrow[1])
    assert narrow[0, 1] > narrow[0, 0]


def test_groups_that_do_not_differ_are_told_apart_as_often_as_the_test_errs():
    study = make_study(goals=(Goal("groups-differ", "beta", group={"beta": Constant(0.9)}),), fidelity="information")
    design = dataclasses.replace(TWO_LEVELS, num_participants=20)
    power = evaluate_design(study, design, num_datasets=200, cache=NOWHERE).power["groups differ in beta"]
    assert 0.05 <= power.value < 0.05 + 4 * power.mcse + 0.05


def test_a_neutral_value_at_the_end_of_the_prior_needs_a_margin():
    model = make_study().analysis.build_model(make_study().load_actor("quadratic_effort"), TWO_LEVELS)
    assert resolve_exclusion(Goal("excludes", "beta"), model) == (1.0, pytest.approx(0.025))
    assert resolve_exclusion(Goal("excludes", "beta", value=0.8), model) == (0.8, 0.0)
    assert resolve_exclusion(Goal("excludes", "beta", margin=0.1), model) == (1.0, 0.1)
    with pytest.raises(StudioError, match="has no neutral one"):
        resolve_exclusion(Goal("excludes", "mu_0"), model)


def test_power_from_a_confounded_design_is_called_what_it_is():
    from designstudio.evaluate.study import evaluate_study

    result = evaluate_study(make_study(goals=(Goal("excludes", "beta"),)), fidelity="information", cache=NOWHERE)
    warnings = [sentence for sentence in result.verdict if "comes from the analysis prior" in sentence]
    assert [sentence.split(":")[0] for sentence in warnings] == ["one-level"]


def test_designs_are_varied_in_one_thing():
    assert [c.num_trials for c in vary_design(TWO_LEVELS, "trials", 61).conditions] == [30, 31]
    assert vary_design(TWO_LEVELS, "participants", 12).num_participants == 12
    assert [c.levels["sigma"] for c in vary_design(TWO_LEVELS, "sigma[1]", 0.3).conditions] == [0.1, 0.3]
    assert vary_design(TWO_LEVELS, "stimuli.high", 3.0).stimuli.high == 3.0
    with pytest.raises(UnknownNameError, match="participants"):
        vary_design(TWO_LEVELS, "colour", 1)
    with pytest.raises(StudioError, match="whole number, but 10"):
        vary_design(TWO_LEVELS, "trials", 10.5)
    with pytest.raises(StudioError, match="1 trials are too few for the 2 conditions"):
        vary_design(TWO_LEVELS, "trials", 1)


def test_power_without_goals_is_refused():
    with pytest.raises(StudioError, match="no goals"):
        trace_power(make_study(), TWO_LEVELS, "trials", [30], cache=NOWHERE)


def test_the_simulated_cost_wins_where_costs_differ_and_every_data_set_is_counted(tmp_path):
    study = make_study(candidates=("quadratic", "quadratic_effort"), fidelity="importance")
    # Half the weight on effort shrinks responses far below what any quadratic cost would do.
    study = study.replace(population=study.population.replace(priors={**study.population.priors, "beta": Constant(0.6)}))
    recovery = recover_models(study, TWO_LEVELS, num_datasets=20, cache=BlockCache(tmp_path))
    np.testing.assert_allclose(recovery.confusion.sum("fitted"), 1.0)
    assert recovery.chance_to_win("quadratic_effort").value == 1.0
    assert recovery.num_undecided.sum() == 0
    assert len(list(tmp_path.rglob("*.nc"))) == 4


def test_a_pair_of_costs_keeps_only_what_applies_to_it():
    pair = pair_study(make_study(), "quadratic", "quadratic_effort")
    assert pair.population.cost == "quadratic"
    assert "beta" not in pair.population.priors
    assert pair.cost == "quadratic_effort"
    assert set(pair.analysis.known) == {"sigma"}
    assert pair_study(make_study(designs=(ONE_LEVEL,)), "quadratic_effort", "quadratic").cost == "quadratic"
