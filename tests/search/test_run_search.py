"""A whole search: found, verified, and the same however often it is interrupted."""

import dataclasses
import json
import random

import optuna
import pytest

from designstudio.core.cache import BlockCache
from designstudio.errors import StudioError
from designstudio.search import search_job
from designstudio.search.records import read_record
from designstudio.search.run_search import Budget, run_search
from designstudio.search.search_result import list_recorded
from designstudio.search.storage import open_storage
from designstudio.search.sweep import Grid, parse_along, run_sweep
from designstudio.study import Choice, Constraint, Goal, Objective, Range, Space
from tests.search.make_search import SPACE, make_question, remember_evaluations

# The first ten are drawn at random; the others depend on what was seen.
NUM_TRIALS = 16
EXACT = ("state", "parameters", "values", "pruned_at", "beaten_by", "num_datasets")


def search(question, folder, num_trials=NUM_TRIALS, **options):
    return run_search(question, folder, Budget(num_trials), cache=BlockCache(None), **options)


def show_scores(result):
    """What must not depend on how the search was run: all designs with their scores."""
    return [tuple(json.dumps(record.as_dict()[key], sort_keys=True) for key in EXACT) for record in result.records]


@pytest.fixture(scope="module")
def question():
    return make_question()


@pytest.fixture(autouse=True, scope="module")
def evaluate():
    """Each design is evaluated once for all tests; this evaluates it again."""
    with pytest.MonkeyPatch.context() as patch:
        yield remember_evaluations(patch)


@pytest.fixture(scope="module")
def whole(question, tmp_path_factory):
    """A search that nothing disturbs."""
    return search(question, tmp_path_factory.mktemp("whole"))


def test_all_trials_are_finished_and_weak_designs_are_given_up(whole):
    states = [record.state for record in whole.records]
    assert len(states) == NUM_TRIALS
    assert set(states) == {"complete", "pruned"}
    for record in whole.records:
        assert record.num_datasets == (32 if record.state == "complete" else 16)
        assert (record.beaten_by is None) == (record.state == "complete")
    assert whole.num_fits < NUM_TRIALS * 32


def test_no_design_is_evaluated_twice(whole):
    designs = [json.dumps(record.design, sort_keys=True) for record in whole.records]
    assert len(set(designs)) == NUM_TRIALS


def test_everything_compiles_once(whole):
    # All designs share one shape: the first candidate makes the programs ready, and later ones at most a stage of its own.
    assert sum(record.compiled > 0 for record in whole.records[1:]) <= 1


def test_finalists_are_the_best_and_scored_on_fresh_data(whole):
    values = sorted((r.value(whole.objectives[0]) for r in whole.records if r.is_eligible), reverse=True)
    finalists = whole.verification.finalists
    assert [f.candidate.value(whole.objectives[0]) for f in finalists] == values[:2]
    for finalist in finalists:
        assert finalist.evaluation.summaries["dataset"].values.tolist() == list(range(1_000_000, 1_000_020))
        assert finalist.fresh["information gain of prior and cost"].mcse > 0
    # Ranked by what fresh data say, together with the design to beat.
    label, ranking = whole.objectives[0].label, whole.verification.ranking
    values = [contender.fresh[label].value for contender in whole.verification.ranked]
    assert values == sorted(values, reverse=True)
    assert ranking.to_beat == "two-levels"
    assert set(whole.verification.ratios) == ({"two-levels"} if ranking.is_better else set())


def test_a_search_knows_what_its_data_sets_can_tell_apart(whole):
    (found,) = whole.resolution
    assert (found.label, found.num_datasets) == (whole.objectives[0].label, 32)
    assert 0 < found.error < 1
    assert whole.as_dict()["resolution"][0]["num_needed"] == found.num_needed


def test_the_result_is_plain_json(whole):
    result = json.loads(json.dumps(whole.as_dict(), allow_nan=False))
    assert {"candidates", "finalists", "compilations", "seconds", "front", "winner"} <= set(result)
    first = result["candidates"][0]
    assert {"parameters", "values", "state", "pruned_at"} <= set(first)
    assert set(first["values"]["information gain of prior and cost"]) == {"value", "mcse"}
    finalist = result["finalists"][0]
    for part in ("search", "fresh"):
        assert set(finalist[part]["information gain of prior and cost"]) == {"value", "mcse"}


def test_candidates_are_found_in_results_of_earlier_versions(whole):
    result = whole.as_dict()
    assert len(list_recorded(result)) == NUM_TRIALS
    earlier = {"trials": result["candidates"]}
    assert list_recorded(earlier) == list_recorded(result)


def test_a_search_interrupted_five_times_is_the_same_as_one_that_was_not(question, whole, evaluate, tmp_path, monkeypatch):
    rng, num_interrupted = random.Random(5), 0

    def interrupt_sometimes(*arguments, goes_on, **options):
        # Before, in the middle of, or at the end of a candidate, as a signal would.
        when = rng.choice(["before", "within", "after", *["never"] * 6])
        if when == "before":
            raise KeyboardInterrupt

        def step(done):
            answer = goes_on(done)
            if when == "within":
                raise KeyboardInterrupt
            return answer

        last = evaluate(*arguments, goes_on=step, **options)
        if when == "after":
            raise KeyboardInterrupt
        return last

    monkeypatch.setattr(search_job, "evaluate_steps", interrupt_sometimes)
    while num_interrupted < 5:
        try:
            result = search(question, tmp_path / "run", verifies=False)
            break
        except KeyboardInterrupt:
            num_interrupted += 1
    monkeypatch.setattr(search_job, "evaluate_steps", evaluate)
    result = search(question, tmp_path / "run", verifies=False)
    assert num_interrupted == 5
    assert show_scores(result) == show_scores(whole)


def test_a_search_that_should_stop_does_so_and_goes_on_later(question, whole, tmp_path):
    seen = []
    part = search(question, tmp_path / "run", progress=seen.append, should_stop=lambda: len(seen) > 8)
    assert part.verification is None
    assert 0 < len(part.finished) < NUM_TRIALS
    rest = search(question, tmp_path / "run", must_exist=True)
    assert show_scores(rest) == show_scores(whole)
    more = search(question, tmp_path / "run", num_trials=NUM_TRIALS + 2, verifies=False)
    assert show_scores(more)[:NUM_TRIALS] == show_scores(whole)
    assert len(more.finished) == NUM_TRIALS + 2


def test_progress_counts_candidates_and_shows_the_best(question, tmp_path):
    seen = []
    search(question, tmp_path / "run", num_trials=5, progress=seen.append, verifies=False)
    last = seen[-1]
    assert (last.stage, last.num_done, last.num_total) == ("searching", 5, 5)
    assert last.seconds_left == 0
    values = [record.value(Objective("information_gain", ("prior_cost",))) for record in last.details["best"]]
    assert values == sorted(values, reverse=True)


def test_screening_starts_the_search_where_information_is_high(tmp_path):
    result = search(make_question(num_screened=20), tmp_path / "run", num_trials=3, verifies=False)
    plain = search(make_question(), tmp_path / "plain", num_trials=3, verifies=False)
    objective = result.objectives[0]
    assert min(r.value(objective) for r in result.records) > max(r.value(objective) for r in plain.records) - 0.3
    assert result.screened == 20


def test_the_journal_is_a_storage_that_optuna_opens_as_it_is(question, tmp_path):
    search(question, tmp_path / "run", num_trials=4, verifies=False)
    storage = open_storage(str(tmp_path / "run" / "search.journal"))
    (name,) = optuna.get_all_study_names(storage)
    study = optuna.load_study(study_name=name, storage=storage)
    assert len(study.trials) == 4
    assert study.metric_names == ["information gain of prior and cost"]
    assert study.best_trial.value == max(
        read_record(t).value(Objective("information_gain", ("prior_cost",))) for t in study.trials
    )


def test_a_journal_whose_last_line_was_torn_is_repaired(question, whole, tmp_path):
    run = tmp_path / "run"
    search(question, run, num_trials=6, verifies=False)
    with (run / "search.journal").open("ab") as journal:
        journal.write(b'{"op_code": 8, "worker_id": "x", "tri')
    result = search(question, run, verifies=False)
    assert show_scores(result) == show_scores(whole)


def test_two_aims_give_a_front_of_feasible_designs(tmp_path):
    space = dataclasses.replace(SPACE, variables={**SPACE.variables, "trials": Range(30, 90)})
    aims = (Objective("rmse", ("mu_0", "beta")), Objective("minutes"))
    limit = Constraint(Objective("minutes"), at_most=6)
    question = make_question(space, objectives=aims, constraints=(limit,))
    result = search(question, tmp_path / "run", num_trials=12)
    assert all(record.design["minutes"] <= 6 for record in result.records)
    front = result.front
    for record in result.finished:
        if record.is_eligible and record not in front:
            assert any(all(other.value(aim) <= record.value(aim) for aim in aims) and other is not record for other in front)
    assert result.verification.finalists[0].candidate in front
    assert any(record.state == "pruned" for record in result.records) or len(front) > 1


def test_a_score_may_be_constrained(tmp_path):
    tight = Constraint(Objective("rmse", ("beta",)), at_most=1e-6)
    result = search(make_question(constraints=(tight,)), tmp_path / "run", num_trials=4)
    assert not any(record.is_feasible for record in result.records)
    assert result.verification.finalists == ()
    storage = open_storage(str(tmp_path / "run" / "search.journal"))
    study = optuna.load_study(study_name=result.name, storage=storage)
    assert all(max(trial.constraints.values()) > 0 for trial in study.trials)


def test_a_space_smaller_than_the_budget_is_not_evaluated_twice(tmp_path):
    space = Space({"levels": 2, "trials": 90, "stimuli.low": 0.25, "stimuli.high": 5.0}, "sigma", Choice((0.05, 0.1, 0.2)))
    result = search(make_question(space), tmp_path / "run", num_trials=6, verifies=False)
    assert sum(record.num_datasets > 0 for record in result.records) == 3
    assert len(result.finished) == 6


def test_a_folder_of_another_search_is_refused_and_left_alone(question, tmp_path):
    search(question, tmp_path / "run", num_trials=2, verifies=False)
    before = (tmp_path / "run" / "search.journal").read_bytes()
    with pytest.raises(StudioError, match="holds the search of another question"):
        search(make_question(num_datasets=48), tmp_path / "run", num_trials=2)
    assert (tmp_path / "run" / "search.journal").read_bytes() == before


def test_two_searches_do_not_share_a_folder(question, tmp_path):
    caught = []

    def try_again(_):
        if not caught:
            with pytest.raises(StudioError, match="Another search is running") as error:
                search(question, tmp_path / "run", num_trials=2)
            caught.append(error)

    search(question, tmp_path / "run", num_trials=2, progress=try_again, verifies=False)
    assert caught


def test_resume_needs_something_to_resume(question, tmp_path):
    with pytest.raises(StudioError, match="nothing to resume"):
        search(question, tmp_path / "none", must_exist=True)
    assert not (tmp_path / "none").exists()


def test_a_sweep_gives_the_scores_of_its_points_and_goes_on(tmp_path):
    from designstudio.evaluate.evaluate_design import evaluate_design

    question = make_question().replace(goals=(Goal("excludes", "beta"),))
    grid = Grid("two-levels", dict([parse_along("trials=60:90:30"), parse_along("participants=1,2")]), "information", 32)
    part = run_sweep(question, grid, tmp_path / "run", should_stop=iter([False, False, *[True] * 99]).__next__)
    assert 0 < len(part.points) < 4
    result = run_sweep(question, grid, tmp_path / "run")
    assert result.is_finished
    power = result.tabulate_power()
    assert power["value"].dims == ("goal", "trials", "participants")
    for values, evaluation in result.points:
        design = grid.build(question, values)
        expected = evaluate_design(question, design, fidelity="information", num_datasets=32).power
        at = power.sel({"goal": "beta is not neutral", **values})
        assert float(at["value"]) == pytest.approx(expected["beta is not neutral"].value)
        assert evaluation["minutes"] == design.minutes


@pytest.mark.parametrize(
    "text", ["trials", "trials=", "trials=a,b", "trials=30:300", "trials=300:30:30", "=3", "trials=1:9:0"]
)
def test_what_is_no_grid_is_refused(text):
    with pytest.raises(StudioError, match="--along takes a variable"):
        parse_along(text)


def test_grids_are_read_without_losing_their_end():
    assert parse_along("trials=30:300:30") == ("trials", tuple(float(n) for n in range(30, 301, 30)))
    assert parse_along("sigma[1]=0.1:0.3:0.1") == ("sigma[1]", (0.1, 0.2, 0.3))
