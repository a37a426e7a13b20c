"""Conditions files of PsychoPy: one row for each trial, to be run in order (loopType sequential, one repetition).

Every column becomes a variable in PsychoPy's Builder, where a routine is called `trial` by default and `level` is taken: so
the number of a trial is called `trial_number` here.
"""

from typing import TYPE_CHECKING

from designstudio.lab.formats.base import AbstractFormat, make_row, write_csv

if TYPE_CHECKING:
    from designstudio.lab.schedule import Schedule, TrialList


class PsychoPy(AbstractFormat):
    """Conditions files."""

    name, suffix = "psychopy", ".csv"
    about = "conditions file for a loop of PsychoPy: loopType sequential, nReps 1"

    def write_list(self, schedule: "Schedule", trials: "TrialList") -> str:
        """The conditions file of one participant."""
        rows = [make_row(schedule, trials, trial) for trial in trials.trials]
        return write_csv([{"trial_number" if name == "trial" else name: row[name] for name in row} for row in rows])
