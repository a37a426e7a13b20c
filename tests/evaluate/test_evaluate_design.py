"""Evaluations: right where closed forms or designs say what must come out, kept when finished, and the same every time."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest

import designstudio
from designstudio.core.cache import BlockCache
from designstudio.evaluate import evaluate_design as module
from designstudio.evaluate.evaluate_design import estimate_seconds, evaluate_design
from designstudio.evaluate.evaluate_study import evaluate_study
from designstudio.evaluate.fingerprint import WITHOUT_EFFECT, fingerprint_design
from designstudio.model.priors import Constant
from designstudio.study import Analysis, Goal, Known, Population, Quantity
from tests.evaluate.make_study import EVERYONE_THE_SAME, ONE_LEVEL, TRUTH, TWO_LEVELS, make_study

NOWHERE = BlockCache(None)
# Where everyone is the same there is nothing to correlate with.
CONSTANT = ("pearson", "concordance")


@pytest.fixture(scope="module")
def results():
    """The paper's question at two fidelities."""
    return {f: evaluate_study(make_study(), fidelity=f, cache=NOWHERE) for f in ("information", "importance")}


@pytest.mark.parametrize("fidelity", ["information", "importance"])
def test_two_levels_separate_prior_from_cost_and_the_verdict_says_so(results, fidelity):
    result = results[fidelity]
    one, two = result.evaluations
    for name, factor in (("mu_0", 4), ("beta", 2)):
        assert one.recovery[name]["rmse"].value > factor * two.recovery[name]["rmse"].value
    assert any("one-level: mu_0 and beta are confounded" in sentence for sentence in result.verdict)
    assert any("add a second uncertainty level" in sentence for sentence in result.verdict)
    assert any("two-levels: mu_0 and beta are partly told apart" in sentence for sentence in result.verdict)
    assert [one.status.name, two.status.name] == ["confounded", "partly"]
    assert result.verdict[0].startswith("two-levels leaves least open")


def test_expected_information_predicts_what_fits_find(results):
    for cheap, thorough in zip(*(results[f].evaluations for f in ("information", "importance")), strict=True):
        for name in TRUTH:
            predicted, found = (e.recovery[name]["rmse"] for e in (cheap, thorough))
            # Three errors of the difference, and a tenth for what a parabola misses.
            assert abs(predicted.value - found.value) < 3 * np.hypot(predicted.mcse, found.mcse) + 0.1 * found.value
        first, second = (e.identifiability.information_gain["all"].value for e in (cheap, thorough))
        assert abs(first - second) < 0.4


def test_every_score_has_an_error_and_all_fits_are_accounted_for(results):
    for evaluation in results["importance"].evaluations:
        record = evaluation.as_dict()
        for scores in record["recovery"].values():
            for name in ("bias", "rmse", "coverage", "width", "contraction", "z_score"):
                assert scores[name]["mcse"] > 0
            # Everyone is the same: there is nothing to correlate with.
            assert scores["pearson"] == {"value": None, "mcse": None}
        convergence = record["convergence"]
        assert convergence["converged"] + convergence["failed"] == record["num_datasets"] == 100
        # There are no chains: weights have a k-hat and effective draws.
        assert convergence["max_rhat"] is None
        assert convergence["max_khat"] < 0.7
        assert convergence["min_ess"] >= 200
        assert record["seed"] == 1
        assert record["versions"]["jax"]


def test_coverage_is_nominal_when_participants_come_from_the_analysis_prior_and_not_when_sigma_is_wrong():
    population = Population(follows_analysis=True)
    study = make_study(population=population)
    right = evaluate_design(study, TWO_LEVELS, num_datasets=200, cache=NOWHERE)
    for name, scores in right.recovery.items():
        coverage = scores["coverage"]
        assert abs(coverage.value - study.interval) < 3.5 * coverage.mcse, name
    assert right.calibration is not None
    assert right.calibration["band_used"].max() < 1.5
    wrong = evaluate_design(
        make_study(population=population, analysis=Analysis(known={"sigma": Known(factor=2.0)})),
        TWO_LEVELS,
        num_datasets=200,
        cache=NOWHERE,
    )
    worst = min((scores["coverage"] for scores in wrong.recovery.values()), key=lambda coverage: coverage.value)
    assert worst.value < study.interval - 5 * worst.mcse


def test_a_quantity_is_scored_like_a_parameter():
    quantity = Quantity.from_formula("effort", "1 - beta")
    evaluation = evaluate_design(make_study(quantities=(quantity,)), TWO_LEVELS, cache=NOWHERE)
    effort, beta = evaluation.recovery["effort"], evaluation.recovery["beta"]
    assert effort["rmse"].value == pytest.approx(beta["rmse"].value, rel=1e-4)
    assert effort["bias"].value == pytest.approx(-beta["bias"].value, abs=1e-5)
    assert effort["coverage"].value == beta["coverage"].value


def test_a_rerun_is_found_and_more_data_sets_only_add_to_it(tmp_path):
    cache, study = BlockCache(tmp_path, block_size=20), make_study()
    first = evaluate_design(study, TWO_LEVELS, num_datasets=20, cache=cache)
    assert not first.is_cached
    again = evaluate_design(
        study, dataclasses.replace(TWO_LEVELS, name="renamed", num_participants=7), num_datasets=20, cache=cache
    )
    assert again.is_cached
    np.testing.assert_array_equal(first.summaries["mean"], again.summaries["mean"])
    more = evaluate_design(study, TWO_LEVELS, num_datasets=40, cache=cache)
    assert not more.is_cached
    np.testing.assert_array_equal(more.summaries["mean"].values[:20], first.summaries["mean"])
    together = evaluate_design(study, TWO_LEVELS, num_datasets=40, cache=BlockCache(None, block_size=20))
    np.testing.assert_allclose(together.summaries["mean"], more.summaries["mean"], rtol=1e-4)


def test_an_interrupted_evaluation_goes_on_where_it_stopped(tmp_path, monkeypatch):
    cache, study, calls = BlockCache(tmp_path, block_size=20), make_study(), []
    real = module.summarize_datasets

    def stops_at_the_second_block(*args, first, **kwargs):
        calls.append(first)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return real(*args, first=first, **kwargs)

    monkeypatch.setattr(module, "summarize_datasets", stops_at_the_second_block)
    with pytest.raises(KeyboardInterrupt):
        evaluate_design(study, TWO_LEVELS, num_datasets=40, cache=cache)
    assert not list(tmp_path.rglob(".saving-*"))
    evaluate_design(study, TWO_LEVELS, num_datasets=40, cache=cache)
    assert calls == [0, 20, 20]


def test_a_damaged_file_is_computed_again(tmp_path):
    cache, study = BlockCache(tmp_path), make_study()
    first = evaluate_design(study, TWO_LEVELS, num_datasets=20, cache=cache)
    (path,) = tmp_path.rglob("*.nc")
    path.write_bytes(path.read_bytes()[:200])
    again = evaluate_design(study, TWO_LEVELS, num_datasets=20, cache=cache)
    assert not again.is_cached
    np.testing.assert_array_equal(first.summaries["mean"], again.summaries["mean"])


def test_everything_that_the_fingerprint_leaves_out_is_there():
    package = Path(designstudio.__file__).parent
    assert [name for name in WITHOUT_EFFECT if not (package / name).exists()] == []


def test_the_fingerprint_knows_what_matters_and_ignores_the_rest():
    study = make_study()
    here = fingerprint_design(study, TWO_LEVELS, "importance")
    same = {
        "name": fingerprint_design(study, dataclasses.replace(TWO_LEVELS, name="x", seconds_per_trial=9), "importance"),
        "datasets": fingerprint_design(study.replace(num_datasets=50, title="x"), TWO_LEVELS, "importance"),
        "goals": fingerprint_design(study.replace(goals=(Goal("narrower", "beta", width=0.1),)), TWO_LEVELS, "importance"),
    }
    assert set(same.values()) == {here}
    other_people = study.population.replace(priors={**study.population.priors, "beta": Constant(0.9000001)})
    different = [
        fingerprint_design(study.replace(seed=2), TWO_LEVELS, "importance"),
        fingerprint_design(study, TWO_LEVELS, "nuts"),
        fingerprint_design(study, ONE_LEVEL, "importance"),
        fingerprint_design(study.replace(population=other_people), TWO_LEVELS, "importance"),
        fingerprint_design(study.replace(analysis=Analysis()), TWO_LEVELS, "importance"),
        fingerprint_design(study.replace(actor="exact"), TWO_LEVELS, "importance"),
        fingerprint_design(study.replace(interval=0.9), TWO_LEVELS, "importance"),
    ]
    assert len({here, *different}) == len(different) + 1


def test_the_estimate_learns_from_what_was_done(tmp_path):
    cache, study = BlockCache(tmp_path), make_study()
    before = estimate_seconds(study, cache=cache, num_datasets=1000)
    cache.note_seconds("importance, quadratic_effort, amortized, 1 conditions", 1.0)
    assert estimate_seconds(study, cache=cache, num_datasets=1000) > before
    evaluate_design(study, TWO_LEVELS, num_datasets=20, cache=cache)
    evaluate_design(study, ONE_LEVEL, num_datasets=20, cache=cache)
    assert estimate_seconds(study, cache=cache, num_datasets=20) == 0.0


def test_progress_counts_data_sets_of_all_designs():
    seen = []
    evaluate_study(make_study(), fidelity="information", num_datasets=20, cache=NOWHERE, progress=seen.append)
    assert [p.num_done for p in seen] == [20, 40]
    assert {p.num_total for p in seen} == {40}


def test_information_sees_what_importance_sees_where_participants_do_not_follow_the_fitted_model():
    spoilt = make_study(population=make_study().population.replace(lapse_rate=0.1))
    cheap, thorough = (
        evaluate_design(spoilt, TWO_LEVELS, fidelity=fidelity, cache=NOWHERE) for fidelity in ("information", "importance")
    )
    # Lapses look like motor noise.
    assert thorough.recovery["sigma_r"]["bias"].value > 0.1
    for name in TRUTH:
        assert cheap.recovery[name]["rmse"].value == pytest.approx(thorough.recovery[name]["rmse"].value, rel=0.05)


@pytest.mark.parametrize("beta", [0.5, 0.75, 1.0])
def test_information_answers_for_every_effort_and_number_of_trials(beta):
    everyone = Population({**EVERYONE_THE_SAME.priors, "beta": Constant(beta)})
    for num_trials in (10, 90, 2000):
        design = dataclasses.replace(
            ONE_LEVEL, conditions=(dataclasses.replace(ONE_LEVEL.conditions[0], num_trials=num_trials),)
        )
        found = evaluate_design(make_study(population=everyone), design, fidelity="information", cache=NOWHERE)
        assert found.convergence.failed <= 5
        scores = [score for scores in found.recovery.values() for name, score in scores.items() if name not in CONSTANT]
        assert all(np.isfinite(score.value) and score.mcse > 0 for score in scores)


def test_errors_of_information_are_those_of_other_seeds():
    goal = Goal("narrower", "beta", width=0.15)
    found = [
        evaluate_design(make_study(goals=(goal,), seed=seed), TWO_LEVELS, fidelity="information", cache=NOWHERE)
        for seed in range(40)
    ]
    for pick in (
        lambda e: e.recovery["beta"]["rmse"],
        lambda e: e.recovery["beta"]["coverage"],
        lambda e: e.identifiability.prior_cost["correlation"],
        lambda e: next(iter(e.power.values())),
    ):
        values, errors = np.array([(pick(e).value, pick(e).mcse) for e in found]).T
        # The standard deviation of 40 numbers is itself off by a ninth.
        assert 1 / 1.5 < values.std(ddof=1) / np.sqrt((errors**2).mean()) < 1.5


def test_fitting_another_cost_than_was_simulated_has_no_truth_for_its_parameter():
    population = Population({name: Constant(value) for name, value in TRUTH.items() if name != "beta"}, cost="quadratic")
    evaluation = evaluate_design(make_study(population=population), TWO_LEVELS, cache=NOWHERE)
    assert np.isnan(evaluation.recovery["beta"]["rmse"].value)
    assert evaluation.recovery["beta"]["width"].value > 0
    assert evaluation.recovery["mu_0"]["rmse"].value > 0
