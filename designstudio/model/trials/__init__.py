"""Trials: one schema for what was simulated and what was measured, so that a fit cannot tell them apart."""

from designstudio.model.trials.netcdf import load_trials, save_trials
from designstudio.model.trials.schema import TrialsError, check_trials, make_trials, trials_from_rows
from designstudio.model.trials.weaknesses import find_weaknesses

__all__ = [
    "TrialsError",
    "check_trials",
    "find_weaknesses",
    "load_trials",
    "make_trials",
    "save_trials",
    "trials_from_rows",
]
