"""A job: the folder in which a process works, and what it says there about itself.

| file | what it holds |
|---|---|
| job.json | what is to be done, written before the process starts |
| progress.json | how far it is |
| outcome.json | how it ended |
| log.txt | what the process printed |
| stop | exists if somebody wants it to stop |

The process holds a lock as long as it lives, so nobody needs to trust a process id. Results lie beside these files, as the
command line would have left them.
"""

import contextlib
import dataclasses
import os
import signal
import time
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from designstudio.core.files import read_json
from designstudio.core.progress import Progress

JOB, PROGRESS, OUTCOME, LOG, STOP, LOCK, PID = (
    "job.json",
    "progress.json",
    "outcome.json",
    "log.txt",
    "stop",
    ".working",
    ".pid",
)
EVALUATE, SEARCH, POWER, FIT, PLAN = "evaluate", "search", "power", "fit", "plan"
# The study that a job is about, as its door has written it.
STUDY = "study.toml"
STARTING, RUNNING, FINISHED, FAILED, STOPPED, LOST = "starting", "running", "finished", "failed", "stopped", "lost"


@dataclasses.dataclass(frozen=True)
class JobSettings:
    """How long to wait for the processes of jobs.

    Attributes:
        patience: seconds within which a process that was started must have taken its lock.
        grace: seconds after which a process that was asked to stop is ended; it may be compiling, and cannot ask whether to
            stop.
    """

    patience: float = 90.0
    grace: float = 8.0


DEFAULT_SETTINGS = JobSettings()


class Job:
    """One job, finished or not. Reads its files anew each time: others may have changed them."""

    def __init__(self, folder: Path, waiting: JobSettings = DEFAULT_SETTINGS) -> None:
        self.folder, self._waiting = folder, waiting

    @property
    def name(self) -> str:
        """Of its folder."""
        return self.folder.name

    @property
    def record(self) -> dict[str, Any]:
        """What is to be done."""
        return read_json(self.folder / JOB)

    @property
    def kind(self) -> str:
        """What sort of work it is."""
        return str(self.record.get("kind", ""))

    @property
    def title(self) -> str:
        """How people call it."""
        return str(self.record.get("title", self.name))

    @property
    def created(self) -> float:
        """When it was made, in seconds since 1970."""
        return float(self.record.get("created", 0.0))

    @property
    def settings(self) -> dict[str, Any]:
        """What its kind needs to know."""
        return dict(self.record.get("settings", {}))

    @property
    def progress(self) -> Progress:
        """How far it is."""
        found = read_json(self.folder / PROGRESS)
        return Progress(**{name: found[name] for name in Progress._fields if name in found})

    @property
    def outcome(self) -> dict[str, Any]:
        """How it ended; empty while it has not."""
        return read_json(self.folder / OUTCOME)

    @property
    def state(self) -> str:
        """One of `starting`, `running`, `finished`, `failed`, `stopped` and `lost` (its process ended without a word)."""
        # Looked at before the lock, which its process takes first: it may begin between the two looks.
        has_begun = (self.folder / PID).exists()
        outcome = self.outcome
        if outcome:
            return str(outcome["state"])
        if self.is_locked():
            return RUNNING
        # It may have ended between the two looks.
        outcome = self.outcome
        if outcome:
            return str(outcome["state"])
        # Read last: a new start is noted before the last outcome is removed. What is only written down is about to start.
        record = self.record
        waited = time.time() - float(record.get("started", record.get("created", 0.0)))
        is_new = not has_begun and waited < self._waiting.patience
        return STARTING if is_new else LOST

    @property
    def is_active(self) -> bool:
        """Whether a process works on it."""
        return self.state in (STARTING, RUNNING)

    @property
    def message(self) -> str:
        """Why it failed, in a sentence; empty if it did not."""
        if self.state == LOST:
            return "The process of this job ended without a word: it was killed, or the machine was switched off. Resume it."
        return str(self.outcome.get("message", ""))

    def is_locked(self) -> bool:
        """Whether a process holds the lock."""
        lock = FileLock(self.folder / LOCK)
        try:
            lock.acquire(timeout=0)
        except Timeout:
            return True
        except OSError:
            return False
        lock.release()
        return False

    def ask_to_stop(self) -> None:
        """Let it end at the next good moment; what is finished is kept."""
        if self.is_active:
            (self.folder / STOP).touch()

    def end_if_overdue(self) -> None:
        """End a process that was asked to stop long ago."""
        with contextlib.suppress(OSError, ValueError):
            if time.time() - (self.folder / STOP).stat().st_mtime < self._waiting.grace or not self.is_locked():
                return
            # Only its own process holds the lock, so the id is still its own.
            os.kill(int((self.folder / PID).read_text()), signal.SIGTERM)

    def read_log(self, num_letters: int = 4000) -> str:
        """The end of what its process printed."""
        with contextlib.suppress(OSError):
            return (self.folder / LOG).read_text(errors="replace")[-num_letters:]
        return ""
