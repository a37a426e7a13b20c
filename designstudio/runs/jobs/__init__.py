"""Long work in processes of its own: a folder for each job, which any process may look at, stop or take up again."""

from designstudio.runs.jobs.job import FAILED, FINISHED, LOST, RUNNING, STARTING, STOPPED, Job
from designstudio.runs.jobs.shelf import JobShelf, runs_folder

__all__ = [
    "FAILED",
    "FINISHED",
    "LOST",
    "RUNNING",
    "STARTING",
    "STOPPED",
    "Job",
    "JobShelf",
    "runs_folder",
]
