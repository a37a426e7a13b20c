"""Processes of our own: watched, stopped, and left alone without a trace."""

import os
import subprocess
import sys
import time

from designstudio.core.processes import OwnProcess

# Any module that runs as a command will do.
SLEEP = ("timeit", "-n1", "-r1", "import time; time.sleep(60)")


def test_what_it_prints_is_in_the_log_and_it_says_how_it_ended(tmp_path):
    process = OwnProcess("timeit", "-n1", "-r1", "print('hello')", log=tmp_path / "log.txt")
    assert process.wait() == process.code == 0
    assert process.read_log().startswith("hello")
    assert OwnProcess("timeit", "1/0", log=tmp_path / "log.txt").wait() == 1


def test_it_ends_when_it_is_asked_to(tmp_path):
    process = OwnProcess(*SLEEP, log=tmp_path / "log.txt")
    assert process.code is None
    process.ask_to_stop()
    assert process.wait() != 0
    process.ask_to_stop()


def test_its_environment_is_ours_and_what_was_added(tmp_path, monkeypatch):
    monkeypatch.setenv("OURS", "1")
    show = "import os; print(os.environ['OURS'], os.environ['ADDED'])"
    process = OwnProcess("timeit", "-n1", "-r1", show, log=tmp_path / "log.txt", environment={"ADDED": "2"})
    process.wait()
    assert process.read_log().startswith("1 2\n")


def test_one_that_outlives_its_starter_goes_on_and_nobody_warns(tmp_path):
    code = f"""
from pathlib import Path
from designstudio.core.processes import OwnProcess
print(OwnProcess(*{SLEEP!r}, log=Path({str(tmp_path / "log.txt")!r}), outlives=True).pid)
"""
    command = [sys.executable, "-W", "error", "-X", "dev", "-c", code]
    starter = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert (starter.returncode, starter.stderr) == (0, "")
    # It is still there; only this test wants it to end.
    os.kill(int(starter.stdout), 15)


def test_one_that_outlives_its_starter_leaves_no_zombie(tmp_path):
    process = OwnProcess("timeit", "-n1", "-r1", "1", log=tmp_path / "log.txt", outlives=True)
    deadline = time.monotonic() + 120
    while True:
        try:
            # A zombie still has its number; one that was reaped has not.
            os.kill(process.pid, 0)
        except ProcessLookupError:
            break
        assert time.monotonic() < deadline
        time.sleep(0.01)
    # The thread that has reaped it says so a moment later.
    while process.code is None:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert process.code == 0
