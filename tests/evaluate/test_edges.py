"""Edges: nobody who lies outside of the analysis prior or of the actor's box is silently fitted at its end."""

import numpy as np
import pytest

from designstudio.core.cache import BlockCache
from designstudio.errors import OutsideTrainingBoxWarning
from designstudio.evaluate.edges import _find_tails
from designstudio.evaluate.evaluate_design import evaluate_design
from designstudio.evaluate.verdict import find_verdict
from designstudio.model.priors import Constant, HalfNormal, Interval, LogNormal, Uniform
from designstudio.runs.evaluate import announce_edges
from designstudio.runs.power import PowerRequest, run_power
from designstudio.runs.sweep import SweepRequest, run_sweep
from designstudio.study import Analysis, Goal, Known, Population
from designstudio.study.design import Condition, Design, Stimuli
from tests.evaluate.make_study import STIMULI, TRUTH, TWO_LEVELS, make_study

NOWHERE = BlockCache(None)
FAR_LEVELS = Design("far", (Condition("low", 45, {"sigma": 0.3}), Condition("high", 45, {"sigma": 0.8})), STIMULI)


def populate(**changes):
    """Everyone the same, but for these parameters."""
    return Population({**{name: Constant(value) for name, value in TRUTH.items()}, **changes})


def test_a_truth_outside_of_the_analysis_prior_is_named_with_the_share_of_participants():
    """Levels of 0.3 and 0.8: all fits were good, and 94 % intervals of sigma held the truth in none."""
    evaluation = evaluate_design(make_study(analysis=Analysis()), FAR_LEVELS, num_datasets=20, cache=NOWHERE)
    edges = evaluation.edges.parameters["sigma[high]"]
    assert edges.outside_prior.value == 1.0
    assert evaluation.edges.parameters["sigma[low]"].outside_prior.value == 0.0
    sentences = find_verdict([evaluation])
    said = "far: sigma[high] of 100% of the participants lies outside of its analysis prior (0.01 to 0.5)"
    assert any(sentence.startswith(said) for sentence in sentences)
    assert evaluation.as_dict()["edges"]["parameters"]["sigma[high]"]["outside_prior"]["value"] == 1.0
    assert evaluation.status.name != "told apart"


def test_posteriors_that_pile_up_at_an_end_of_the_prior_are_flagged_and_natural_ends_are_not():
    analysis = Analysis(known={"sigma": Known()}, priors={"mu_0": Uniform(2.0, 5.0)})
    evaluation = evaluate_design(make_study(analysis=analysis), TWO_LEVELS, num_datasets=20, cache=NOWHERE)
    edges = evaluation.edges.parameters["mu_0"]
    assert edges.outside_prior.value == 1.0
    assert edges.at_end[0].value > 0.2 > edges.prior_at_end[0]
    assert any(
        "posteriors of mu_0 pile up at the lower end of the analysis prior (2)" in s for s in find_verdict([evaluation])
    )
    # Nothing lies beyond a share of 1.
    assert np.isnan(evaluation.edges.parameters["beta"].at_end[1].value)


def test_people_inside_of_everything_get_no_warning():
    for population in (populate(), Population(follows_analysis=True)):
        evaluation = evaluate_design(make_study(population=population), TWO_LEVELS, fidelity="information", cache=NOWHERE)
        assert evaluation.edges.list_warnings() == []


def test_people_and_beliefs_outside_of_the_actors_box_are_flagged():
    study = make_study(population=populate(sigma_r=Uniform(0.5, 3.0)))
    evaluation = evaluate_design(study, TWO_LEVELS, num_datasets=20, cache=NOWHERE)
    assert evaluation.edges.parameters["sigma_r"].outside_box.value > 0.5
    sentences = evaluation.edges.list_warnings()
    assert any("outside of the range in which the actor was trained" in sentence for sentence in sentences)
    assert evaluation.edges.beliefs_outside.value > 0.5
    # Stimuli may be the reason, too.
    large = Design("large", TWO_LEVELS.conditions, Stimuli("log-uniform", low=5.0, high=1000.0))
    evaluation = evaluate_design(make_study(), large, num_datasets=20, cache=NOWHERE)
    assert evaluation.edges.beliefs_outside.value == 1.0


@pytest.mark.parametrize(
    ("prior", "low", "high"),
    [
        (Uniform(0.5, 1.0), False, False),
        (HalfNormal(0.25).within(Interval(0.01, 0.5)), False, False),
        (HalfNormal(0.1).within(Interval(0.01, 0.5)), False, True),
        (LogNormal(2.5, 0.5).within(Interval(0.1, 60.0)), True, True),
        (LogNormal(2.5, 0.5).within(Interval(2.0, 3.0)), False, False),
    ],
)
def test_a_prior_has_a_far_tail_only_where_its_density_has_fallen(prior, low, high):
    assert tuple(np.isfinite(_find_tails(prior))) == (low, high)


def test_a_truth_in_the_far_tail_of_the_prior_is_flagged():
    analysis = Analysis(known={"sigma": Known()}, priors={"mu_0": LogNormal(4.0, 0.2)})
    evaluation = evaluate_design(make_study(analysis=analysis), TWO_LEVELS, num_datasets=20, cache=NOWHERE)
    assert evaluation.edges.parameters["mu_0"].in_tail.value == 1.0
    assert any("mu_0 of 100% of the participants lies in the far tail" in s for s in evaluation.edges.list_warnings())


def test_a_level_beyond_the_box_that_leads_to_beliefs_inside_is_no_extrapolation():
    design = Design("far", (Condition("low", 45, {"sigma": 0.3}), Condition("high", 45, {"sigma": 1.5})), STIMULI)
    with pytest.warns(OutsideTrainingBoxWarning, match="where beliefs are outside as well"):
        evaluation = evaluate_design(make_study(), design, fidelity="information", num_datasets=20, cache=NOWHERE)
    assert evaluation.edges.parameters["sigma[high]"].outside_box.value == 1.0
    assert evaluation.edges.beliefs_outside.value == 0.0
    assert not any("extrapolation" in sentence for sentence in evaluation.edges.list_warnings())


def test_people_whom_the_fit_cannot_represent_are_named_before_anything_is_simulated():
    told = []
    study = make_study(analysis=Analysis(), designs=(TWO_LEVELS, FAR_LEVELS))
    announce_edges(study, study.designs, told.append)
    assert [sentence.split(" of ")[0] for sentence in told] == ["far: sigma[high]"]
    assert "lies outside of its analysis prior (0.01 to 0.5)" in told[0]


def test_a_sweep_and_a_curve_name_them_too_once_for_all_points_before_they_start(tmp_path):
    study = make_study(analysis=Analysis(), goals=(Goal("excludes", "beta"),), fidelity="information")
    values = {"sigma[1]": (0.2, 0.6, 0.9), "participants": (5.0, 10.0)}
    told = []
    request = SweepRequest(study, values, tmp_path / "sweep", "two-levels", num_datasets=20)
    # Asked first, so that nothing was computed when the sentence came.
    run_sweep(request, notify=told.append, should_stop=lambda: True)
    (sentence,) = told
    assert sentence.startswith(
        "two-levels, at sigma[1] 0.6 and participants 5, sigma[1] 0.6 and participants 10, sigma[1] 0.9"
    )
    assert "sigma[high] of 100% of the participants lies outside of its analysis prior (0.01 to 0.5)" in sentence
    again = []
    run_power(PowerRequest(study, "sigma[1]", (0.6, 0.9), design="two-levels", num_datasets=10), notify=again.append)
    (sentence,) = again
    assert sentence.startswith("two-levels, at every point: sigma[high] of 100%")
