"""Winners on fresh data: what beats what, what cannot be told apart, and what may not win at all."""

import dataclasses
import math

import numpy as np
import pytest

from designstudio.evaluate.results import Convergence
from designstudio.evaluate.status import Status
from designstudio.metrics.monte_carlo import Score
from designstudio.metrics.power import PowerScore
from designstudio.runs.search import add_best, write_search
from designstudio.search.finalists import compare_contenders
from designstudio.search.ranking import Lead, build_contender, compare_pseudo_values, format_lead
from designstudio.search.resolution import describe_resolution, estimate_resolution, read_resolution
from designstudio.search.search_result import SearchResult, list_contenders
from designstudio.search.verdict import describe_search
from designstudio.study import Constraint, Goal, Objective
from tests.viz.test_recovery import make_summaries
from tests.viz.test_search import PAPER, RECORDS, RMSE, make_design, make_evaluation, make_study

POWER = Objective("power")
OTHER = make_design("other", **{"0.1": 30, "0.3": 30})


def evaluate(design, sd, *, seed=1, **changes):
    """An evaluation whose errors have this size; the same seed has the same errors but for their size."""
    summaries = make_summaries(seed, sd=sd, num_failed=0).assign_attrs(settings="{}", versions="{}")
    return dataclasses.replace(make_evaluation(design, sd), summaries=summaries, **changes)


def run(finalists, references, question=None):
    """The verification of a search with finalists and designs to beat, given as evaluations."""
    question = make_study((RMSE,)).replace(designs=tuple(e.design for e in references)) if question is None else question
    seen = {objective.label: Score(0.5, 0.1) for objective in question.search.objectives}
    candidate = dataclasses.replace(RECORDS[5], scores=seen | RECORDS[5].scores)
    found = [build_contender(question, evaluation, candidate) for evaluation in finalists]
    own = [build_contender(question, evaluation, None) for evaluation in references]
    return SearchResult(question, "search", RECORDS, compare_contenders(question, found, own), 12.0, {}, 0)


def finalist(number, sd, **options):
    return evaluate(make_design(f"finalist-{number}", **{"0.06": 20, "0.3": 40}), sd, **options)


def read(result):
    return " ".join(describe_search(result))


def test_finalists_are_ranked_by_fresh_data_whatever_the_search_has_seen():
    result = run([finalist(1, 0.12), finalist(2, 0.08)], [evaluate(PAPER, 0.2)])
    ranking = result.verification.ranking
    assert [place.name for place in ranking.places] == ["finalist-2", "finalist-1", "paper"]
    assert result.verification.winner.name == "finalist-2"
    # The same participants and noise: the ratio of the errors is known without noise.
    assert ranking.lead.score.value == pytest.approx(math.log(0.2 / 0.08))
    assert "finalist-2 beats paper, the study's own design: RMSE of mu_0, beta of finalist-2 is 60.0" in read(result)
    assert "The runner-up is finalist-1: its RMSE of mu_0, beta is 50.0" in read(result)


def test_nothing_beats_the_studys_own_design_within_the_error_is_a_result_and_winner_toml_holds_it(tmp_path):
    result = run([finalist(1, 0.1, seed=2), finalist(2, 0.11, seed=3)], [evaluate(PAPER, 0.1), evaluate(OTHER, 0.3)])
    ranking = result.verification.ranking
    assert (ranking.winner, ranking.to_beat, ranking.is_better) == ("paper", "paper", False)
    assert "Nothing beats paper, the best of the study's own designs, within the error: RMSE" in read(result)
    assert add_best(result).designs[-1] == dataclasses.replace(PAPER, name="winner")
    write_search(result, tmp_path)
    text = (tmp_path / "winner.toml").read_text()
    assert "# Nothing beats paper" in text
    recorded = list_contenders(result.as_dict())
    assert [contender.name for contender in recorded if contender.is_winner] == ["paper"]
    assert result.as_dict()["winner"] is None


def test_a_design_to_beat_that_is_clearly_better_stays_the_winner_and_is_said_to_be():
    result = run([finalist(1, 0.2)], [evaluate(PAPER, 0.1)])
    assert result.verification.winner.name == "paper"
    assert "Nothing beats paper, the study's own design: RMSE of mu_0, beta of finalist-1 is 100.0" in read(result)


def test_designs_that_fresh_data_cannot_tell_apart_are_named():
    result = run([finalist(1, 0.1, seed=4), finalist(2, 0.1, seed=5)], [])
    first, second = (place.name for place in result.verification.ranking.places)
    assert result.verification.ranking.tied == [second]
    assert f"{first} and {second} (" in read(result)
    assert "cannot be told apart on fresh data" in read(result)


def test_by_chance_alone_finalists_seldom_beat_a_design_that_is_as_good():
    rng = np.random.default_rng(1)
    wins = []
    for _ in range(2000):
        # Five finalists and a design to beat, on the same forty data sets.
        designs = rng.normal(size=(6, 40)) + rng.normal(size=40)
        best = min(designs[1:], key=np.mean)
        wins.append(compare_pseudo_values(best, designs[0]).is_clear(2.0, num_choices=5))
    assert np.mean(wins) < 0.035


def test_a_lead_without_pairs_is_not_clear():
    assert not Lead(Score(1.0, 0.0), 0).is_clear(2.0)
    assert not compare_pseudo_values(np.full(9, np.nan), np.zeros(9)).is_clear(2.0)
    assert compare_pseudo_values(np.zeros(9), np.ones(9)).is_clear(2.0)


@pytest.mark.parametrize(
    ("objective", "lead", "words"),
    [
        (RMSE, Score(math.log(2), 0.02), "50 ± 1 % smaller"),
        (RMSE, Score(-math.log(2), 0.02), "100 ± 4 % larger"),
        (POWER, Score(0.1, 0.02), "0.10 ± 0.02 larger"),
        (POWER, Score(-0.1, 0.02), "0.10 ± 0.02 smaller"),
    ],
)
def test_leads_in_words_are_about_the_objective(objective, lead, words):
    assert format_lead(objective, lead) == words


def test_a_design_that_breaks_a_constraint_on_fresh_data_cannot_win():
    question = make_study((RMSE,))
    limit = Constraint(Objective("minutes"), at_most=PAPER.minutes - 1)
    question = question.replace(search=dataclasses.replace(question.search, constraints=(limit,)))
    result = run([finalist(1, 0.3)], [evaluate(PAPER, 0.1)], question)
    assert result.verification.winner.name == "finalist-1"
    assert "paper cannot win: it breaks the constraint 'minutes at most" in read(result)


def power_of(value, absent):
    score = PowerScore(value, 0.02, Score(absent, 0.02), "beta is 1 for everybody", 0.06, "excludes", "beyond 1")
    return {"beta is not neutral": score}


def search_for_power(finalists, references):
    question = make_study((RMSE,)).replace(goals=(Goal("excludes", "beta"),))
    question = question.replace(search=dataclasses.replace(question.search, objectives=(POWER,)))
    return run(finalists, references, question)


def test_a_search_for_power_has_a_winner_on_fresh_data():
    wide, narrow = finalist(1, 0.3, power=power_of(0.3, 0.04)), finalist(2, 0.02, power=power_of(0.9, 0.03))
    result = search_for_power([wide, narrow], [evaluate(PAPER, 0.3, power=power_of(0.3, 0.04))])
    assert result.verification.winner.name == "finalist-2"
    assert "finalist-2 beats paper" in read(result)
    assert "is 0.90 ± 0.02, and 0.03 ± 0.02 without the effect, on 40 fresh data sets" in read(result)


def test_a_design_whose_power_comes_from_the_prior_is_not_called_best():
    from_prior = finalist(1, 0.02, power=power_of(0.81, 0.43))
    result = search_for_power([from_prior], [evaluate(PAPER, 0.3, power=power_of(0.3, 0.04))])
    assert result.verification.winner.name == "paper"
    assert "comes from the prior (0.81 ± 0.02, and 0.43 ± 0.02 without the effect)" in read(result)
    alone = search_for_power([from_prior], [])
    assert alone.verification.winner is None
    assert "No design can be called best on fresh data." in read(alone)
    assert add_best(alone) is None


def test_warnings_of_evaluate_follow_a_winner_into_sentences_json_and_its_file(tmp_path):
    status = Status("confounded", "mu_0 and beta are confounded: correlation -0.95", True)
    went = Convergence(37, 0, 3, 1.0, math.nan, math.nan, {"k-hat 0.9": 3})
    result = run([finalist(1, 0.08, status=status, convergence=went)], [evaluate(PAPER, 0.1)])
    for text in ("mu_0 and beta are confounded", "3 of 40 fits failed"):
        assert text in read(result)
        assert text in " ".join(result.as_dict()["finalists"][0]["warnings"])
    write_search(result, tmp_path)
    assert "# finalist-1: mu_0 and beta are confounded" in (tmp_path / "winner.toml").read_text()


def test_one_fresh_design_whose_fits_all_failed_wins_nothing():
    failed = make_summaries(1, sd=0.1, num_failed=40).assign_attrs(settings="{}", versions="{}")
    result = run([dataclasses.replace(finalist(1, 0.1), summaries=failed)], [])
    assert result.verification.winner is None
    assert "nan" not in read(result)


def test_a_result_of_an_earlier_version_keeps_its_winner_and_its_order():
    record = run([finalist(1, 0.12), finalist(2, 0.08)], [evaluate(PAPER, 0.2)]).as_dict()
    earlier = {key: value for key, value in record.items() if key not in ("ranking", "resolution")}
    earlier["winner"] = record["finalists"][0]["number"]
    assert [contender.name for contender in list_contenders(earlier)] == ["finalist-1", "finalist-2", "paper"]
    assert list_contenders(earlier)[0].is_winner


def test_with_several_objectives_it_is_said_whether_a_finalist_beats_the_studys_own_design_in_everything():
    question = make_study((RMSE, Objective("minutes")))
    assert "no finalist is better than paper in everything" in read(
        run([finalist(1, 0.2)], [evaluate(PAPER, 0.1)], question)
    )
    # It has fewer trials, too.
    better = run([finalist(1, 0.05), finalist(2, 0.2)], [evaluate(PAPER, 0.1)], question)
    assert "On fresh data finalist-1 is better than paper in everything." in read(better)
    assert better.verification.winner is None


@pytest.mark.parametrize(("spread", "is_enough"), [(0.1, True), (1.0, False)])
def test_a_search_says_how_many_data_sets_a_difference_worth_having_takes(spread, is_enough):
    rng = np.random.default_rng(2)
    plan = dataclasses.replace(make_study((RMSE,)).search, num_datasets=32)
    shared = rng.normal(size=200)
    designs = [[shared + spread * rng.normal(size=200)] for _ in range(6)]
    (found,) = estimate_resolution([RMSE], plan, designs)
    # The difference of two has a spread of the root of two; 10 % must be two errors.
    expected = (2 * math.sqrt(2) * spread / math.log(1.1)) ** 2
    assert found.num_needed == pytest.approx(expected, rel=0.25)
    assert found.error == pytest.approx(math.sqrt(2 / 32) * spread, rel=0.15)
    assert found.is_enough == is_enough
    assert ("cannot be seen" in describe_resolution(found)) == (not is_enough)
    assert read_resolution(found.as_dict()) == found
