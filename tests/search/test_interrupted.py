"""A search may be killed at any moment: whatever was written last, it goes on as if nothing had happened."""

import functools
import itertools

import pytest
from optuna.trial import TrialState
from sqlalchemy import Engine, event

from designstudio.search.job import OWNER
from designstudio.search.run_search import Budget, run_search
from designstudio.search.storage import open_storage
from tests.search.make_search import make_question, remember_evaluations
from tests.search.test_run_search import show_scores


@pytest.fixture(autouse=True, scope="module")
def evaluations():
    """Each design is evaluated once for all tests."""
    with pytest.MonkeyPatch.context() as patch:
        remember_evaluations(patch)
        yield


def search(question, folder, num_trials, **options):
    return run_search(question, folder, Budget(num_trials), verifies=False, **options)


def check_states(place, states, whole, go_on):
    """Go on from each state with one candidate, as after a kill, and compare all that are finished then."""
    expected = show_scores(whole)
    for number, state in enumerate(states):
        place.write_bytes(state)
        again = go_on(should_stop=itertools.chain([False], itertools.repeat(True)).__next__)
        finished = len(again.finished)
        assert finished > 0
        assert show_scores(again)[:finished] == expected[:finished], f"killed before write {number} of {len(states)}"


# TPE draws its first ten designs, and learns from what was seen for later ones: of a long search, the last lines will do.
@pytest.mark.parametrize(("sampler", "num_trials"), [("tpe", 3), ("tpe", 12), ("qmc", 3), ("nsga2", 3)])
def test_a_journal_that_ends_after_any_of_its_lines_is_gone_on_with(sampler, num_trials, tmp_path):
    question, place = make_question(sampler=sampler), tmp_path / "search.journal"
    whole = search(question, tmp_path, num_trials)
    lines = place.read_bytes().splitlines(keepends=True)
    states = [b"".join(lines[:num]) for num in range(len(lines))]
    assert len(states) > 9 * num_trials
    check_states(place, states[-40:], whole, functools.partial(search, question, tmp_path, num_trials))


def test_a_database_that_was_left_before_any_commit_is_gone_on_with(tmp_path):
    question, place, states, seen = make_question(), tmp_path / "search.db", [], []
    go_on = functools.partial(search, question, tmp_path, 3, storage=f"sqlite:///{place}")

    def before_commit(_):
        # What is not committed yet is lost if the process is killed now. One candidate of three will do: it takes long.
        if seen and seen[-1].num_done == 2:
            states.append(place.read_bytes())

    event.listen(Engine, "commit", before_commit)
    try:
        whole = go_on(progress=seen.append)
    finally:
        event.remove(Engine, "commit", before_commit)
    assert len(states) > 9
    check_states(place, states, whole, go_on)


def test_a_candidate_that_runs_has_an_owner_from_its_first_moment_on(tmp_path):
    # By the clock, candidates are made one by one; one without an owner could not be told from one that is worked on.
    stops = itertools.chain([False, False], itertools.repeat(True))
    run_search(make_question(), tmp_path, Budget(minutes=60), verifies=False, should_stop=stops.__next__)
    lines = (tmp_path / "search.journal").read_bytes().splitlines(keepends=True)
    num_running = 0
    for num in range(len(lines)):
        (tmp_path / "part.journal").write_bytes(b"".join(lines[:num]))
        storage = open_storage(str(tmp_path / "part.journal"), only_reads=True)
        for study in storage.get_all_studies():
            for trial in storage.get_all_trials(study._study_id, states=(TrialState.RUNNING,)):
                assert OWNER in trial.user_attrs
                num_running += 1
    assert num_running > 0
