"""All jobs of a folder: begin, find, take up again."""

import json
import os
import re
import secrets
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import platformdirs

from designstudio.core.files import read_json, write_json
from designstudio.core.processes import OwnProcess
from designstudio.errors import StudioError
from designstudio.runs.jobs.job import DEFAULT_SETTINGS, JOB, LOG, OUTCOME, PID, PROGRESS, STOP, Job, JobSettings

MOST_LETTERS = 40
# Seconds.
LEAVING = 5.0


def runs_folder() -> Path:
    """Where jobs are kept: in the user's data folder, or where DESIGNSTUDIO_RUNS says."""
    configured = os.environ.get("DESIGNSTUDIO_RUNS")
    return Path(configured) if configured else Path(platformdirs.user_data_dir("designstudio")) / "runs"


class JobStore:
    """The jobs of one folder."""

    def __init__(self, folder: Path | None = None, waiting: JobSettings = DEFAULT_SETTINGS) -> None:
        self.folder, self._waiting = runs_folder() if folder is None else folder, waiting

    def begin(
        self, kind: str, title: str, settings: Mapping[str, Any], *, files: Mapping[str, str | bytes] | None = None
    ) -> Job:
        """Write down a new job and start its process.

        Args:
            kind: see `designstudio.runs.jobs.run_job`.
            title: for people.
            settings: plain data.
            files: what the job reads, by name.

        Raises:
            StudioError: if the folder cannot be written to.
        """
        job = self.prepare(kind, title, settings, files=files)
        self.start(job)
        return job

    def prepare(
        self, kind: str, title: str, settings: Mapping[str, Any], *, files: Mapping[str, str | bytes] | None = None
    ) -> Job:
        """Write down a new job without starting it."""
        now = time.time()
        stamp = time.strftime("%Y%m%d-%H%M%S", time.localtime(now))
        slug = re.sub(r"[^a-z0-9]+", "-", title.lower())[:MOST_LETTERS].strip("-")
        folder = self.folder / "-".join(part for part in (stamp, kind, slug, secrets.token_hex(2)) if part)
        try:
            folder.mkdir(parents=True)
            for name, content in (files or {}).items():
                path = folder / Path(name).name
                path.write_bytes(content.encode() if isinstance(content, str) else content)
            # Plain data only, whatever it was.
            plain = json.loads(json.dumps(dict(settings)))
            write_json(folder / JOB, {"kind": kind, "title": title, "created": now, "settings": plain})
        except OSError as error:
            raise StudioError(
                f"'{self.folder}' cannot be written to ({error.strerror}): choose another folder with --runs."
            ) from None
        return Job(folder, self._waiting)

    def start(self, job: Job) -> None:
        """Start the process of a job, or start it again after it was stopped."""
        if not _wait_for_lock(job):
            return
        # Whoever looks in between finds how it ended, or that it has just started: never neither.
        write_json(job.folder / JOB, {**job.record, "started": time.time()})
        for name in (STOP, PROGRESS, PID, OUTCOME):
            (job.folder / name).unlink(missing_ok=True)
        # Stopping the server, or Ctrl-C in its terminal, does not stop the job.
        OwnProcess("designstudio.runs.jobs.work", str(job.folder), log=job.folder / LOG, outlives=True)

    def list(self) -> list[Job]:
        """All jobs, the newest first."""
        if not self.folder.is_dir():
            return []
        jobs = [Job(path, self._waiting) for path in self.folder.iterdir() if (path / JOB).is_file()]
        return sorted(jobs, key=lambda job: (job.created, job.name), reverse=True)

    def find(self, name: str) -> Job | None:
        """The job of this name."""
        # Names come from addresses in a browser: nothing but a plain name is looked for.
        if not re.fullmatch(r"[\w-]+", name) or not read_json(self.folder / name / JOB):
            return None
        return Job(self.folder / name, self._waiting)


def _wait_for_lock(job: Job) -> bool:
    """Whether nobody works on a job; one that has just said how it ended gets a moment to leave."""
    deadline = time.monotonic() + LEAVING
    while job.is_locked():
        if not job.outcome or time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True
