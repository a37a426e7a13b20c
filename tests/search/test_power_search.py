"""A whole search for power, in a space that holds designs whose power comes from the prior: these are never called best."""

import dataclasses
import json

import pytest

from designstudio.core.cache import BlockCache
from designstudio.model.priors import Constant
from designstudio.runs.search import SearchRequest, add_best, write_search
from designstudio.runs.search import run_search as run_request
from designstudio.search.finalists import compare_contenders
from designstudio.search.ranking import build_contender
from designstudio.search.run_search import Budget, run_search
from designstudio.search.verdict import describe_search
from designstudio.study import Choice, Goal, Objective, Range, SearchPlan, Space
from tests.evaluate.make_study import ONE_LEVEL, TWO_LEVELS, make_study

POWER = Objective("power", ("effort",))
# One level of 0.2 to 0.25 has a power of 0.6 to 0.8, and finds as much effort where nobody avoids it.
ONE_OR_TWO = Space(
    {"levels": Choice((1, 2)), "trials": 90, "stimuli.low": 0.25, "stimuli.high": 5.0}, "sigma", Range(0.1, 0.25)
)
ONLY_ONE = Space({"levels": 1, "trials": 90, "stimuli.low": 0.25, "stimuli.high": 5.0}, "sigma", Range(0.2, 0.25))
QUICK = {"fidelity": "information", "verify_fidelity": "information", "num_screened": 0, "num_fresh": 100}


def search(space, folder, *, designs=(ONE_LEVEL,), objectives=(POWER,), num_candidates=8):
    plan = SearchPlan(space, objectives, num_datasets=64, num_finalists=2, **QUICK)
    study = make_study(designs=designs, goals=(Goal("excludes", "beta", name="effort"),), search=plan)
    return run_search(study, folder, Budget(num_candidates), cache=BlockCache(None))


@pytest.fixture(scope="module")
def mixed(tmp_path_factory):
    """A search among designs with one level and with two, to beat a design with one."""
    return search(ONE_OR_TWO, tmp_path_factory.mktemp("mixed"))


def test_a_design_whose_power_comes_from_the_prior_is_never_called_best(mixed):
    levels = [record.parameters["levels"] for record in mixed.records]
    assert {1, 2} <= set(levels)
    # By power alone, designs with one level would win.
    rates = {record.number: record.scores["power without the effect: effort"].value for record in mixed.records}
    eligible = [record for record in mixed.records if record.is_eligible]
    assert max(rates.values()) > 0.3
    assert all(rates[record.number] < 0.2 for record in eligible)
    winner = mixed.verification.winner
    assert len(winner.design.conditions) == 2
    power = winner.evaluation.power["effort"]
    assert power.is_more_than_absent
    assert not power.errs_too_often
    assert add_best(mixed).designs[-1].conditions == winner.design.conditions


def test_what_could_not_win_and_why_stands_with_the_winner_and_its_warnings_in_every_place(mixed, tmp_path):
    sentences, winner = describe_search(mixed), mixed.verification.winner
    (excluded,) = [sentence for sentence in sentences if sentence.startswith("one-level cannot win")]
    mine = mixed.verification.references[0].evaluation.power["effort"]
    assert f"comes from the prior ({mine.present.chance}, and {mine.when_absent.chance} without the effect)" in excluded
    (value,) = [sentence for sentence in sentences if sentence.startswith("Its power: effort is")]
    assert f"and {winner.evaluation.power['effort'].when_absent.chance} without the effect" in value
    # Two levels between 0.1 and 0.25 are close: evaluate would say so, and so does the search.
    assert winner.warnings
    assert set(winner.warnings) <= set(sentences)
    write_search(mixed, tmp_path)
    # Comments are wrapped.
    written = " ".join((tmp_path / "winner.toml").read_text().replace("\n#", " ").split())
    for warning in (*winner.warnings, excluded):
        assert " ".join(warning.split()) in written
    assert json.loads((tmp_path / "result.json").read_text())["verdict"] == sentences


def test_the_table_of_finalists_shows_power_beside_its_false_positive_rate(mixed):
    overview = mixed.overview()
    at = overview.columns.index("power: effort,\neffect absent")
    rates = {row[0]: row[at] for row in overview.rows}
    for contender in mixed.verification.ranked:
        name = f"winner: {contender.name}" if contender is mixed.verification.winner else contender.name
        assert rates[name] == contender.evaluation.power["effort"].when_absent.chance


def test_where_all_power_comes_from_the_prior_nothing_is_called_best_and_nobody_is_told_to_loosen_the_limit(tmp_path):
    (tmp_path / "winner.toml").write_text("of an earlier run")
    result = search(ONLY_ONE, tmp_path, num_candidates=4)
    sentences = describe_search(result)
    assert result.verification.winner is None
    assert "No design can be called best on fresh data." in sentences
    (failure,) = [sentence for sentence in sentences if sentence.startswith("No design kept to all constraints")]
    assert "4 of 4 break 'power without the effect: effort at most 0.06'" in failure
    assert "loosen" not in failure
    assert "power that comes from the prior is none" in failure
    write_search(result, tmp_path)
    assert not (tmp_path / "winner.toml").exists()


def test_the_studys_own_design_is_what_to_take_if_no_candidate_may_win(tmp_path):
    result = search(ONLY_ONE, tmp_path, designs=(ONE_LEVEL, TWO_LEVELS), num_candidates=4)
    assert result.verification.winner.name == "two-levels"
    assert "Nothing beats two-levels, the best of the study's own designs: no finalist may win." in describe_search(result)
    assert add_best(result).designs[-1].conditions == TWO_LEVELS.conditions


def test_with_several_aims_what_cannot_win_is_told_and_not_recommended(mixed, tmp_path):
    question = mixed.question.replace(
        search=dataclasses.replace(mixed.question.search, objectives=(POWER, Objective("trials")))
    )
    # Had one level been thought to be on the front.
    finalist, own = mixed.verification.finalists[0], mixed.verification.references[0]
    lucky = build_contender(question, own.evaluation, finalist.candidate)
    good = build_contender(question, finalist.evaluation, finalist.candidate)
    verification = compare_contenders(question, [lucky, good], [])
    result = dataclasses.replace(mixed, question=question, verification=verification)
    assert any(sentence.startswith("one-level cannot win: ") for sentence in describe_search(result))
    assert [design.name for design in add_best(result).designs] == ["one-level", finalist.name]


def test_a_search_all_of_whose_fits_fail_says_so_and_nothing_about_rates_or_early_ends(tmp_path):
    far = make_study().population.replace(priors={**make_study().population.priors, "mu_0": Constant(100.0)})
    plan = SearchPlan(ONE_OR_TWO, (POWER,), num_datasets=16, num_finalists=2, **{**QUICK, "num_fresh": 20})
    study = make_study(goals=(Goal("excludes", "beta", name="effort"),), population=far, designs=(TWO_LEVELS,), search=plan)
    told = []
    result = run_request(SearchRequest(study, tmp_path, Budget(3)), notify=told.append)
    assert "mu_0 of 100% of the participants lies outside of its analysis prior" in told[0]
    sentences = describe_search(result)
    assert sentences[0] == "3 designs were tried."
    assert "No design kept to all constraints (3 of 3 break 'failed at most 0.1'): too many fits fail" in sentences[1]
    assert any(
        "two-levels cannot win: it has no power without the effect: effort, because fits failed" in s for s in sentences
    )
    assert not any("nan" in sentence or "the prior is none" in sentence for sentence in sentences)


def test_a_false_positive_rate_of_which_too_many_fits_failed_lets_no_design_win(mixed):
    winner = mixed.verification.winner
    power = {"effort": winner.evaluation.power["effort"]._replace(num_failed_absent=30)}
    failed = build_contender(mixed.question, dataclasses.replace(winner.evaluation, power=power), winner.candidate)
    assert failed.breaks == ("its power: effort has no known false-positive rate: 30 of 100 fits without the effect failed",)
