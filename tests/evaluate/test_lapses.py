"""Planning with the analysis that will be run: what room for lapses costs, and what having none costs."""

import numpy as np
import pytest

from designstudio.errors import StudioError
from designstudio.evaluate.evaluate_design import evaluate_design
from designstudio.evaluate.preview import _find_quantile
from designstudio.study import Analysis, Known, read_study, write_study
from tests.evaluate.make_study import TWO_LEVELS, make_study

KNOWN = {"sigma": Known()}


@pytest.fixture(scope="module")
def evaluations():
    """People who lapse in 5 % of their trials, analysed with and without room for it."""
    found = {}
    for lapses in ("free", "off"):
        study = make_study(designs=(TWO_LEVELS,), analysis=Analysis(known=KNOWN, lapses=lapses))
        study = study.replace(population=study.population.replace(lapse_rate=0.05))
        found[lapses] = evaluate_design(study, TWO_LEVELS, fidelity="information", num_datasets=40)
    return found


def test_room_for_lapses_keeps_estimates_near_the_truth(evaluations):
    rmse = {lapses: one.recovery["sigma_r"]["rmse"].value for lapses, one in evaluations.items()}
    assert rmse["free"] < 0.5 * rmse["off"]
    assert evaluations["free"].convergence.failed == 0


def test_the_lapse_rate_belongs_to_the_analysis_and_is_not_scored(evaluations):
    assert "lapse_rate" not in evaluations["free"].recovery
    assert list(evaluations["free"].recovery) == list(evaluations["off"].recovery)


def test_information_gains_are_given_where_the_analysis_has_room_for_lapses(evaluations):
    gain = evaluations["free"].identifiability.information_gain
    assert 0 < gain["prior_cost"].value < gain["all"].value
    assert np.isnan(evaluations["off"].summaries["information_gain"].values).all()


@pytest.mark.parametrize("lapse_rate", [0.0, 0.02, 0.4])
def test_bands_of_previews_hold_as_many_responses_as_they_say(lapse_rate):
    mean, sd, ends = np.array([[-0.5, 0.7]]), np.array([[0.1, 0.3]]), np.array([-1.0, 2.0])
    rng = np.random.default_rng(3)
    responses = mean + sd * rng.standard_normal((400_000, 1, 2))
    lapses = rng.uniform(*ends, size=responses.shape)
    responses = np.where(rng.random(responses.shape) < lapse_rate, lapses, responses)
    for probability in (0.03, 0.5, 0.97):
        found = _find_quantile(probability, mean, sd, lapse_rate, ends)
        # Three errors of a share of 400,000.
        np.testing.assert_allclose((responses < found).mean(axis=0), probability, atol=3 * 0.5 / np.sqrt(400_000))


def test_a_study_file_says_what_is_done_about_lapses(tmp_path):
    for lapses in ("free", 0.02):
        study = make_study(designs=(TWO_LEVELS,), analysis=Analysis(known=KNOWN, lapses=lapses))
        path = tmp_path / "study.toml"
        write_study(study, path, overwrite=True)
        assert read_study(path).analysis.lapses == lapses


@pytest.mark.parametrize("lapses", ["sometimes", 0.0, 1.5, True])
def test_what_is_no_share_is_refused(lapses):
    with pytest.raises(StudioError, match="must be 'free' \\(estimated\\), 'off', or a share between 0 and 1"):
        make_study(designs=(TWO_LEVELS,), analysis=Analysis(known=KNOWN, lapses=lapses))


def test_a_known_rate_is_a_fixed_parameter():
    study = make_study(designs=(TWO_LEVELS,), analysis=Analysis(known=KNOWN, lapses=0.05))
    evaluation = evaluate_design(study, TWO_LEVELS, fidelity="information", num_datasets=20)
    assert evaluation.convergence.failed == 0
