"""Jobs in processes of their own: they can be watched, stopped, killed and taken up again."""

import json
import os
import signal
import threading
import time

import pytest
from filelock import FileLock

from designstudio.errors import StudioError
from designstudio.runs.jobs import FAILED, FINISHED, LOST, STOPPED, JobStore
from designstudio.runs.jobs import job as jobs
from designstudio.runs.jobs import store as jobs_store
from designstudio.runs.jobs import work as job_process
from designstudio.runs.jobs.job import EVALUATE, JOB, LOCK, OUTCOME, PID, STARTING, STUDY, JobSettings
from designstudio.study import format_study, read_study
from tests.evaluate.make_study import TWO_LEVELS, make_study


@pytest.fixture
def store(tmp_path):
    return JobStore(tmp_path / "runs")


def wait_for(condition, seconds=900):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "this took too long"
        time.sleep(0.05)


def write_study(**changes):
    return format_study(make_study(designs=(TWO_LEVELS,), **changes))


def test_a_job_does_what_the_command_line_does_and_leaves_it_in_its_folder(store):
    text = write_study(fidelity="information", num_datasets=20)
    job = store.begin(EVALUATE, "a <title>", {}, files={STUDY: text})
    wait_for(lambda: not job.is_active)
    assert (job.state, job.message) == (FINISHED, ""), job.read_log()
    assert (job.folder / "result.json").exists()
    assert job.progress.num_done == job.progress.num_total or job.progress.stage == "drawing figures"
    assert [found.name for found in store.list()] == [job.name]
    assert store.find(job.name).title == "a <title>"


def test_a_job_is_stopped_and_taken_up_again(store):
    job = store.begin(EVALUATE, "long", {}, files={STUDY: write_study(fidelity="importance", num_datasets=3000)})
    wait_for(job.is_locked)
    job.ask_to_stop()
    wait_for(lambda: not job.is_active or job.end_if_overdue())
    assert job.state in (STOPPED, LOST)
    (job.folder / STUDY).write_text(write_study(fidelity="information", num_datasets=20))
    store.start(job)
    wait_for(lambda: not job.is_active)
    assert job.state == FINISHED, job.read_log()


def test_a_killed_job_is_said_to_be_interrupted(tmp_path):
    store = JobStore(tmp_path, JobSettings(patience=0.0))
    job = store.begin(EVALUATE, "killed", {}, files={STUDY: write_study(fidelity="importance", num_datasets=3000)})
    wait_for(lambda: job.is_locked() and (job.folder / ".pid").exists())
    os.kill(int((job.folder / ".pid").read_text()), signal.SIGKILL)
    wait_for(lambda: job.state == LOST)
    assert "Resume it" in job.message


def test_a_job_that_begins_while_somebody_looks_at_it_is_not_called_lost(tmp_path):
    (tmp_path / JOB).write_text(json.dumps({"kind": EVALUATE, "title": "one", "started": time.time()}))

    class Job(jobs.Job):
        def is_locked(self):
            # Not yet; a moment later the process has its lock and writes its id.
            (self.folder / PID).write_text("1")
            return False

    assert Job(tmp_path).state == STARTING


def test_a_job_is_not_called_lost_between_being_written_down_and_started(store):
    assert store.prepare(EVALUATE, "one", {}).state == STARTING


def test_a_job_that_is_taken_up_again_is_not_called_lost_at_any_moment(store, monkeypatch):
    job = store.prepare(EVALUATE, "one", {})
    # It failed long ago.
    (job.folder / OUTCOME).write_text(json.dumps({"state": FAILED}))
    (job.folder / JOB).write_text(json.dumps({**job.record, "created": 0.0, "started": 0.0}))
    seen = []

    def look_before(change):
        def changed(*arguments, **options):
            seen.append(job.state)
            return change(*arguments, **options)

        return changed

    monkeypatch.setattr(type(job.folder), "unlink", look_before(type(job.folder).unlink))
    monkeypatch.setattr(jobs_store, "write_json", look_before(jobs_store.write_json))
    monkeypatch.setattr(jobs_store, "OwnProcess", look_before(lambda *_, **__: None))
    store.start(job)
    assert set(seen) == {FAILED, STARTING}


def test_a_job_waits_for_those_who_only_look_whether_it_runs(tmp_path, monkeypatch):
    # Its process is this one, which keeps its priority and hears the same signals as before.
    monkeypatch.setattr(job_process.os, "nice", lambda _: None)
    monkeypatch.setattr(job_process.signal, "signal", lambda *_: None)
    (tmp_path / JOB).write_text(json.dumps({"kind": "no such kind", "title": "one", "started": time.time()}))
    looked = FileLock(tmp_path / LOCK, thread_local=False)
    looked.acquire()
    threading.Timer(2.0, looked.release).start()
    assert job_process.work(tmp_path) == 1
    assert jobs.Job(tmp_path).state == FAILED


def test_a_wrong_study_fails_with_the_sentence_of_the_command_line(store):
    job = store.begin(EVALUATE, "wrong", {}, files={STUDY: 'cost = "quadratc"\n'})
    wait_for(lambda: not job.is_active)
    assert job.state == FAILED
    with pytest.raises(StudioError) as error:
        read_study(job.folder / STUDY)
    assert job.message == str(error.value)


def test_names_from_an_address_lead_nowhere_else(store, tmp_path):
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "job.json").write_text('{"kind": "evaluate"}')
    assert store.find("../secret") is None
    assert store.find("") is None
    job = store.prepare(EVALUATE, "t", {}, files={"../../escape.txt": "x"})
    assert (job.folder / "escape.txt").exists()


def test_a_folder_that_cannot_be_written_to_is_one_sentence(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StudioError, match="choose another folder with --runs"):
        JobStore(tmp_path / "file").begin(EVALUATE, "t", {})
