"""The process of a job: `python -m designstudio.runs.jobs.work FOLDER`."""

import contextlib
import os
import signal
import sys
import time
import traceback
from pathlib import Path

from filelock import FileLock, Timeout

from designstudio.core.files import write_json
from designstudio.core.garbage import look_for_garbage_less_often
from designstudio.core.progress import Progress
from designstudio.errors import StudioError
from designstudio.runs.jobs.job import FAILED, FINISHED, LOCK, OUTCOME, PID, PROGRESS, STOP, STOPPED, Job

# Seconds between two reports: the page looks every second.
PERIOD = 0.5
# The page that waits for the result should not have to wait for its processor.
NICENESS = 10
# Seconds in which a lock must be free, unless another process works on the job.
LOCK_PATIENCE = 5.0


class StopRequested(Exception):  # noqa: N818  (it is no error)
    """Somebody wants the job to end."""


class Reporter:
    """Writes how far the job is, and hears whether it should stop."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._reported = folder, 0.0

    def should_stop(self) -> bool:
        """Whether somebody wants the job to end."""
        return (self._folder / STOP).exists()

    def report(self, progress: Progress) -> None:
        """Write it down, unless that was done a moment ago."""
        now = time.monotonic()
        if progress.is_done or now - self._reported > PERIOD:
            self._reported = now
            # Details are for those who are told, not for files.
            write_json(self._folder / PROGRESS, {**progress._asdict(), "details": {}})

    def report_or_stop(self, progress: Progress) -> None:
        """For work that keeps what it has finished, and can be left at any time."""
        self.report(progress)
        if self.should_stop():
            raise StopRequested


def work(folder: Path) -> int:
    """Do the job of a folder; returns the exit code."""
    lock = FileLock(folder / LOCK)
    try:
        # Whoever asks whether the job runs has the lock for a moment.
        lock.acquire(timeout=LOCK_PATIENCE)
    except Timeout:
        return 0
    started = time.time()
    try:
        (folder / PID).write_text(str(os.getpid()))
        with contextlib.suppress(OSError):
            os.nice(NICENESS)
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        state, message = _run(Job(folder), Reporter(folder))
        write_json(folder / OUTCOME, {"state": state, "message": message, "seconds": time.time() - started})
        # The outcome says more. Left behind only by a process that was killed.
        (folder / PID).unlink(missing_ok=True)
    finally:
        # Now, not when the process has ended: that takes a moment, and somebody may want to resume the job.
        lock.release()
    return 1 if state == FAILED else 0


def _run(job: Job, reporter: Reporter) -> tuple[str, str]:
    reporter.report(Progress())
    try:
        from designstudio.core.configuration import configure  # noqa: PLC0415  (the lock comes first: this takes seconds)
        from designstudio.runs.jobs.run_job import run_job  # noqa: PLC0415

        configure()
        is_whole = run_job(job, reporter)
    except (StopRequested, KeyboardInterrupt):
        return STOPPED, "Stopped; what was finished is kept, and resuming goes on from there."
    except StudioError as error:
        return FAILED, str(error)
    except Exception as error:
        traceback.print_exc()
        return FAILED, f"This should not have happened ({type(error).__name__}: {error}); the log of the run says more."
    return (FINISHED, "") if is_whole else (STOPPED, "Stopped; what was finished is kept, and resuming goes on from there.")


if __name__ == "__main__":
    look_for_garbage_less_often()
    sys.exit(work(Path(sys.argv[1])))
