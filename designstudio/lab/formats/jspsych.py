"""Timeline variables of jsPsych: a list with one object for each trial, to be run in order (no randomize_order)."""

from designstudio.lab.folder import write_pretty
from designstudio.lab.formats.rows import make_row
from designstudio.lab.schedule import Schedule, TrialList


def write_timeline(schedule: Schedule, trials: TrialList) -> str:
    """The timeline variables of one participant."""
    return write_pretty([make_row(schedule, trial) for trial in trials.trials])
