"""Long work in processes of its own: a folder for each job, which any process may look at, stop or take up again."""

from designstudio.runs.jobs.job import FAILED, FINISHED, LOST, RUNNING, STARTING, STOPPED, Job
from designstudio.runs.jobs.store import JobStore, runs_folder

__all__ = [
    "FAILED",
    "FINISHED",
    "LOST",
    "RUNNING",
    "STARTING",
    "STOPPED",
    "Job",
    "JobStore",
    "runs_folder",
]
