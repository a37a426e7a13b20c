"""Timeline variables of jsPsych: a list with one object for each trial, to be run in order (no randomize_order)."""

from typing import TYPE_CHECKING

from designstudio.lab.formats.base import AbstractFormat, make_row
from designstudio.lab.text_folder import write_pretty

if TYPE_CHECKING:
    from designstudio.lab.schedule import Schedule, TrialList


class JsPsych(AbstractFormat):
    """Timeline variables."""

    name, suffix = "jspsych", ".json"
    about = "timeline_variables for jsPsych: run them in order, without randomize_order"

    def write_list(self, schedule: "Schedule", trials: "TrialList") -> str:
        """The timeline variables of one participant."""
        return write_pretty([make_row(schedule, trials, trial) for trial in trials.trials])
