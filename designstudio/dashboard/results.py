"""Finished jobs, read back from their folders."""

from pathlib import Path

import xarray as xr

from designstudio.errors import StudioError
from designstudio.evaluate.results import Evaluation, score_evaluation
from designstudio.runs.jobs.job import STUDY
from designstudio.study import read_study


def load_checked(folder: Path) -> Evaluation:
    """The first design of an evaluation, scored again from what was kept of every fit.

    Raises:
        StudioError: if the folder holds no whole evaluation.
    """
    study = read_study(folder / STUDY)
    design = study.designs[0]
    path = folder / f"{design.name}.nc"
    if not path.exists():
        raise StudioError(f"'{folder.name}' holds no evaluation of {design.name!r}: run the check again.")
    with xr.open_dataset(path, engine="h5netcdf") as opened:
        summaries = opened.load()
    seconds = float(summaries.attrs.get("seconds", 0.0))
    return score_evaluation(study, design, study.fidelity, summaries, seconds=seconds, is_cached=True, power={})
