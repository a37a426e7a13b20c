"""Conditions files of PsychoPy: one row for each trial, to be run in order (loopType sequential, one repetition).

Every column becomes a variable in PsychoPy's Builder, where a routine is called `trial` by default and `level` is taken: so
the number of a trial is called `trial_number` here.
"""

from designstudio.lab.formats.rows import make_row, write_csv
from designstudio.lab.schedule import Schedule, TrialList


def write_conditions(schedule: Schedule, trials: TrialList) -> str:
    """The conditions file of one participant."""
    rows = [make_row(schedule, trial) for trial in trials.trials]
    return write_csv([{"trial_number" if name == "trial" else name: row[name] for name in row} for row in rows])
