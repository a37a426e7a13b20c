"""The status of a design: what was learned comes first, and no better one is due to noise."""

import json
import math
from functools import partial

import numpy as np
import pytest

from designstudio.core.cache import BlockCache
from designstudio.core.numbers import format_fixed
from designstudio.dashboard.parts.score_tables import write_tiles
from designstudio.evaluate.curves import read_power, tabulate_power, warn_of_curves
from designstudio.evaluate.evaluate_design import evaluate_design
from designstudio.evaluate.evaluate_study import evaluate_study
from designstudio.evaluate.goals import score_goals
from designstudio.evaluate.results import score_evaluation
from designstudio.evaluate.status import RULES, STATUSES, find_status
from designstudio.evaluate.verdict import _list_ratios, find_verdict
from designstudio.metrics.monte_carlo import UNDEFINED, Score
from designstudio.metrics.paired import compare_rmse
from designstudio.metrics.power import PowerScore
from designstudio.model.priors import Constant
from designstudio.study import Analysis, Goal, Known, Population
from tests.evaluate.make_study import ONE_LEVEL, TRUTH, TWO_LEVELS, make_study
from tests.metrics.make_summaries import make_covariances

NOWHERE = BlockCache(None)
NAMES = ("mu_0", "beta")


def decide(contraction=(0.95, 0.95), correlation=0.0, *, error=0.0, coverage=0.94, num=100, num_failed=0, names=NAMES):
    """The status of posteriors with these contractions of two parameters, in both scales, and this correlation."""
    sds = np.sqrt(1 - np.asarray(contraction))
    # Data sets that differ by so much that the mean contraction has this error.
    wiggle = error * math.sqrt(num - 1) * np.where(np.arange(num) % 2, 1.0, -1.0)
    covariances = [np.outer(sds, sds) * [[1, correlation], [correlation, 1]] - np.diag([w, 0.0]) for w in wiggle]
    summaries = make_covariances(names, covariances, np.eye(2), is_good=np.arange(num) >= num_failed)
    summaries["reason"] = ("dataset", np.where(np.arange(num) < num_failed, "Pareto k-hat 2.0", ""))
    scores = {"coverage": Score(coverage, 0.02)}
    recovery = {name: {"contraction": Score(c, error), **scores} for name, c in zip(names, contraction, strict=True)}
    return find_status(summaries, recovery, ("mu_0", "sigma_0"), ("beta",), interval=0.94)


@pytest.mark.parametrize(
    ("expected", "changes"),
    [
        ("told apart", {}),
        ("not learned", {"contraction": (0.95, 0.03)}),
        ("not learned", {"contraction": (0.3, 0.95)}),
        ("confounded", {"contraction": (0.2, 0.1), "correlation": -0.97}),
        ("partly", {"correlation": -0.9}),
        ("partly", {"contraction": (0.95, 0.6)}),
        ("partly", {"coverage": 0.6}),
        ("not learned", {"coverage": 0.3}),
        ("partly", {"coverage": math.nan}),
        ("partly", {"num_failed": 20}),
        ("no answer", {"num_failed": 60}),
        ("no answer", {"num_failed": 100}),
        ("no answer", {"num": 10, "num_failed": 6}),
        ("no answer", {"contraction": (0.95, math.nan)}),
    ],
)
def test_a_status_says_what_was_learned(expected, changes):
    status = decide(**changes)
    assert status.name == expected, status.reason
    assert "nan" not in status.sentence


def test_a_better_status_is_never_due_to_noise():
    for limit, below, above in (
        (RULES.min_contraction, "not learned", "partly"),
        (RULES.well_learned, "partly", "told apart"),
    ):
        for error in (0.001, 0.01):
            assert decide(contraction=(limit + 3 * error, 0.95), error=error).name == above
            close = decide(contraction=(limit + error, 0.95), error=error)
            assert close.name == below
            assert not close.is_clear
            assert "within the Monte Carlo error of a limit" in close.reason
            assert ("may not be learned" in close.reason) == (close.name == "not learned")
            assert decide(contraction=(limit - 3 * error, 0.95), error=error).is_clear


def test_what_may_have_been_learned_is_not_said_to_be_mostly_prior():
    status = decide(contraction=(0.52, 0.05), error=0.02)
    assert status.is_clear
    assert status.reason.startswith("beta (contraction 0.05 ± 0.02) is not learned: what the fits say about it is mostly")
    assert status.reason.endswith("; mu_0 (contraction 0.52 ± 0.02) may not be learned either")
    unclear = decide(contraction=(0.52, 0.95), error=0.02)
    assert "mu_0 (contraction 0.52 ± 0.02) may not be learned: what the fits say about it may be mostly" in unclear.reason


def test_a_posterior_that_follows_a_skewed_prior_to_where_it_is_narrow_has_learned_nothing():
    summaries = make_covariances(NAMES, [np.diag([0.05, 0.98])] * 20, np.eye(2))
    good = {"contraction": Score(0.95, 0.01), "coverage": Score(0.94, 0.02)}
    status = find_status(summaries, dict.fromkeys(NAMES, good), ("mu_0",), ("beta",), interval=0.94)
    assert status.name == "not learned"
    assert "beta (contraction 0.02" in status.reason


def test_without_a_pair_the_status_is_about_what_is_free():
    assert decide(names=("mu_0", "sigma_0")).name == "told apart"
    assert "no pair to confound" in decide(names=("mu_0", "sigma_0")).reason
    assert decide(names=("mu_0", "sigma_0"), correlation=0.95).name == "told apart"
    assert decide(names=("mu_0", "sigma_r"), contraction=(0.95, 0.1)).name == "told apart"
    assert decide(names=("sigma", "sigma_r"), contraction=(0.95, 0.1)).name == "not learned"


GAMMA = {
    "cost": "inverted_gaussian",
    "population": Population({n: Constant(v) for n, v in {**TRUTH, "gamma": 2.5}.items() if n != "beta"}),
}
ALPHA = {
    "cost": "linex",
    "population": Population({n: Constant(v) for n, v in {**TRUTH, "alpha": 0.5}.items() if n != "beta"}),
}


@pytest.mark.parametrize("changes", [GAMMA, ALPHA], ids=["gamma of inverted_gaussian", "alpha of linex"])
def test_a_cost_about_which_the_data_say_nothing_is_not_told_from_the_prior(changes):
    evaluation = evaluate_design(make_study(**changes), ONE_LEVEL, fidelity="information", cache=NOWHERE)
    (name,) = {"gamma", "alpha"} & set(evaluation.recovery)
    assert evaluation.recovery[name]["contraction"].value < 0.2
    assert evaluation.status.name == "not learned"
    assert not any("told apart" in sentence for sentence in find_verdict([evaluation]))
    assert 'class="good"' not in write_tiles(evaluation)
    assert 'class="bad"' in write_tiles(evaluation)


@pytest.fixture(scope="module")
def failed():
    """An evaluation with goals all of whose fits have failed."""
    study = make_study(goals=(Goal("excludes", "beta"),))
    summaries = evaluate_design(study, TWO_LEVELS, fidelity="information", cache=NOWHERE).summaries
    summaries["is_good"][:] = False
    summaries["reason"] = ("dataset", np.full(summaries.sizes["dataset"], "Pareto k-hat 2.0"))
    return score_evaluation(study, TWO_LEVELS, "importance", summaries, seconds=1.0, is_cached=False, power={})


def test_there_is_no_verdict_without_fits_and_no_nan_in_a_sentence(failed):
    assert failed.status.name == "no answer"
    sentences = find_verdict([failed, failed])
    assert sentences == [f"two-levels: {failed.status.reason}."] * 2
    assert "100 of 100 fits failed (most often: Pareto k-hat 2.0)" in sentences[0]
    for text in (*sentences, write_tiles(failed), repr(failed)):
        assert "nan" not in text
    assert json.loads(json.dumps(failed.as_dict(), allow_nan=False))["status"] == "no answer"


def test_the_few_fits_of_a_design_without_an_answer_say_nothing_about_coverage(failed):
    summaries = failed.summaries.copy(deep=True)
    summaries["is_good"][-10:] = True
    # No interval holds anything.
    summaries["low"] = summaries["high"]
    evaluation = score_evaluation(failed.study, TWO_LEVELS, "importance", summaries, seconds=1.0, is_cached=False, power={})
    assert find_verdict([evaluation]) == [f"two-levels: {evaluation.status.reason}."]
    assert "90 of 100 fits failed" in evaluation.status.reason


def test_a_tile_is_green_only_for_told_apart(failed):
    for name in STATUSES:
        tile = write_tiles(failed.__class__(**{**failed.__dict__, "status": failed.status._replace(name=name)}))
        assert ('class="good"' in tile) == (name == "told apart")
        assert f">{name}<" in tile


def test_table_frame_and_json_show_the_same_status():
    result = evaluate_study(make_study(), fidelity="information", cache=NOWHERE)
    names = [evaluation.status.name for evaluation in result.evaluations]
    assert names == ["confounded", "partly"]
    record = result.as_dict()["designs"]
    assert [design["status"] for design in record] == names
    for evaluation, design in zip(result.evaluations, record, strict=True):
        assert design["status_reason"] == evaluation.status.sentence
        assert design["status_reason"].endswith(".")
    assert result.overview().rows[0] == ("status", *names)
    assert list(result.to_frame().groupby("design", sort=False)["status"].first()) == names


def test_a_known_prior_leaves_only_the_cost_to_learn():
    known = Analysis(known=dict.fromkeys(("sigma", "mu_0", "sigma_0"), Known()))
    evaluation = evaluate_design(make_study(analysis=known), ONE_LEVEL, fidelity="information", cache=NOWHERE)
    assert evaluation.status.name == "told apart"
    assert evaluation.status.reason.startswith("beta can be learned: contraction")


def test_many_failed_fits_bound_coverage_and_power_in_table_json_and_words():
    study = make_study(goals=(Goal("excludes", "beta"),))
    whole = evaluate_design(study, TWO_LEVELS, fidelity="information", cache=NOWHERE)
    assert whole.bounds == {}
    summaries = fail_first(whole.summaries, 5)
    power = score_goals(study, TWO_LEVELS, lambda of, _: summaries if of == study else whole.summaries)
    some = score_evaluation(study, TWO_LEVELS, "importance", summaries, seconds=1.0, is_cached=False, power=power)
    assert some.convergence.failed == 5
    coverage = some.recovery["beta"]["coverage"].value
    assert some.bounds["coverage"]["beta"] == pytest.approx((0.95 * coverage, 0.95 * coverage + 0.05))
    goal = power["beta is not neutral"].value
    assert some.as_dict()["bounds"]["power"]["beta is not neutral"] == pytest.approx([0.95 * goal, 0.95 * goal + 0.05])
    rows = {row[0]: row[1] for row in some.overview().rows}
    assert rows["P(beta is not neutral), failed counted"] == f"{0.95 * goal:.2f} to {0.95 * goal + 0.05:.2f}"
    assert "coverage, failed counted" in rows
    (sentence,) = [text for text in find_verdict([some]) if "5 of 100 fits failed" in text]
    assert "counted as misses or as hits, coverage of mu_0 is between" in sentence


def fail_first(summaries, num):
    """The same summaries, had the first fits failed."""
    failed = summaries.copy(deep=True)
    failed["is_good"][:num] = False
    failed["reason"] = ("dataset", np.where(np.arange(failed.sizes["dataset"]) < num, "Pareto k-hat 2.0", ""))
    return failed


def test_failed_fits_without_the_effect_bound_the_false_positive_rate_in_table_json_and_words():
    study, label = make_study(goals=(Goal("excludes", "beta"),), fidelity="information"), "beta is not neutral"
    made = {}

    def summarize(of, design, *, num_failed):
        has_effect = of == study
        if has_effect not in made:
            made[has_effect] = evaluate_design(of.replace(goals=()), design, cache=NOWHERE).summaries
        return made[has_effect] if has_effect else fail_first(made[has_effect], num_failed)

    scores = {num: score_goals(study, ONE_LEVEL, partial(summarize, num_failed=num))[label] for num in (0, 1, 5, 100)}
    evaluations = {
        num: score_evaluation(
            study, ONE_LEVEL, "information", made[True], seconds=1.0, is_cached=False, power={label: score}
        )
        for num, score in scores.items()
    }
    rate = scores[5].when_absent.value
    bounds = pytest.approx([0.95 * rate, 0.95 * rate + 0.05])
    assert evaluations[5].as_dict()["bounds"] == {"when_absent": {label: bounds}}
    assert evaluations[5].as_dict()["power"][label]["num_failed_absent"] == 5
    rows = {row[0]: row[1] for row in evaluations[5].overview().rows}
    low, high = (format_fixed(end, 2) for end in evaluations[5].bounds["when_absent"][label])
    assert rows[f"P({label}), effect absent, failed counted"] == f"{low} to {high}"
    (sentence,) = [text for text in find_verdict([evaluations[5]]) if "5 of 100" in text]
    assert sentence.startswith(
        f"one-level: {label}: some fits without the effect (beta is 1 for everybody) failed: 5 of 100"
    )
    assert sentence.endswith(f"counted as misses or as hits, the false-positive rate is between {low} and {high}.")
    # Up to 1 % are counted only, and where all have failed there is nothing to bound.
    assert not any(evaluations[num].bounds for num in (0, 1, 100))
    assert any("failed: 1 of 100, which the false-positive rate leaves out." in s for s in find_verdict([evaluations[1]]))
    assert any("false-positive rate is not known: no fit worked" in s for s in find_verdict([evaluations[100]]))
    assert not any("failed" in sentence or "not known" in sentence for sentence in find_verdict([evaluations[0]]))


def test_a_curve_counts_failed_fits_and_says_where_no_rate_is_known():
    powers = [
        PowerScore(0.5, 0.05, Score(0.1, 0.03), "beta is 1 for everybody", 0.06, "excludes", "a rule", 100, *failed)
        for failed in ((0, 0), (4, 10))
    ]
    powers.append(powers[0]._replace(when_absent=UNDEFINED, num_failed_absent=100))
    powers.append(powers[0]._replace(value=np.nan, mcse=np.nan, num_failed=100))
    points = tabulate_power(["effort"], {"trials": [10, 20, 30, 40]}, [{"effort": power.as_dict()} for power in powers])
    for place, power in enumerate(powers):
        assert str(read_power(points.isel(goal=0, trials=place))) == str(power)
    sentences = warn_of_curves(points)
    assert not any("nan" in sentence for sentence in sentences)
    for place, words in {
        "trials 20": "some fits with the effect failed: 4 of 100, which power leaves out; counted as misses or as hits, "
        "power is between 0.48 and 0.52",
        "trials 30": "its false-positive rate is not known: no fit worked where beta is 1 for everybody",
        "trials 40": "no power, because fits failed: 100 of 100",
    }.items():
        assert any(sentence.startswith(f"effort, at {place}: {words}") for sentence in sentences)
    assert any("the false-positive rate is between 0.09 and 0.19" in sentence for sentence in sentences)


def test_fits_that_miss_the_truth_have_not_learned_it():
    status = decide(coverage=0.1)
    assert status.name == "not learned"
    assert "94% intervals hold the truth of mu_0 in only 10%" in status.reason
    # No other design would help.
    assert not status.is_of_design


def test_a_truth_at_an_end_of_its_prior_is_not_called_missed():
    """No equal-tailed interval of a share holds 1, however well the share is known."""
    population = Population({**{n: Constant(v) for n, v in TRUTH.items()}, "beta": Constant(1.0)})
    evaluation = evaluate_design(make_study(population=population), TWO_LEVELS, cache=NOWHERE)
    assert evaluation.recovery["beta"]["coverage"].value == 0
    assert evaluation.status.name in ("partly", "told apart")
    sentences = find_verdict([evaluation])
    assert any("beta of the participants lies at an end of its analysis prior" in sentence for sentence in sentences)
    assert not any("intervals of beta hold the truth in only" in sentence for sentence in sentences)


def test_errors_are_called_smaller_only_where_they_clearly_are():
    """Both designs see the same participants, so a design against itself is no better, and against a worse one it is."""
    study = make_study()
    one, two = (evaluate_design(study, design, fidelity="information", cache=NOWHERE) for design in (ONE_LEVEL, TWO_LEVELS))
    ratios = {name: compare_rmse(two.summaries, one.summaries)[name] for name in ("mu_0", "beta")}
    assert _list_ratios(ratios, two).count("times") == 2
    noisy = {name: Score(ratio.value, ratio.value) for name, ratio in ratios.items()}
    reverse = compare_rmse(one.summaries, two.summaries)
    assert _list_ratios(noisy, two) == _list_ratios(reverse, one) == ""
