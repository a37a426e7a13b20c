"""What a format of trial lists is, and how to add one.

To add a format, write one file: derive a class from `AbstractFormat`, say how it is called, what it is for and how the list
of one participant is written, and register it:

    @register_format
    class MyFormat(AbstractFormat):
        name, suffix, about = "my_lab", ".txt", "one stimulus a line, for my program"

        def write_list(self, schedule, trials):
            return "".join(f"{trial.stimulus}\\n" for trial in trials.trials)

It is then written by `designstudio schedule`, can be chosen with `--format my_lab`, and is in its help, in the README of
every schedule and in the documentation. The file of `--cost-file` may register it together with a cost. Formats that are
tables share the columns of `make_row`.
"""

import csv
import io
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from designstudio.fitting.reading.columns import GROUP
from designstudio.model.parameters import STIMULUS_UNIT

if TYPE_CHECKING:
    from designstudio.lab.schedule import ListedTrial, Schedule, TrialList

Row = dict[str, Any]
# A column that says what stimulus and response are measured in, where that is known.
UNIT = "unit"


class AbstractFormat(ABC):
    """Trial lists for one program, a file for each participant in a folder of the format's name.

    Attributes:
        name: how `--format` and the folder call it.
        suffix: of its files.
        about: what its files are and how they are run, in a few words.
    """

    name: ClassVar[str]
    suffix: ClassVar[str]
    about: ClassVar[str]

    @abstractmethod
    def write_list(self, schedule: "Schedule", trials: "TrialList") -> str:
        """The file of one participant; `designstudio.lab.formats.base.make_row` gives what a trial needs."""

    def name_file(self, subject: str) -> str:
        """Path of a participant's file."""
        return f"{self.name}/sub-{subject}{self.suffix}"


def make_row(schedule: "Schedule", trials: "TrialList", trial: "ListedTrial") -> Row:
    """What an experiment needs to know about a trial of a participant."""
    return {
        **({GROUP: trials.group} if trials.group else {}),
        "trial": trial.number,
        "block": trial.block,
        "condition": trial.condition,
        **{name: float(value) for name, value in trial.levels.items()},
        "stimulus": trial.stimulus,
        **({UNIT: schedule.unit} if schedule.unit != STIMULUS_UNIT else {}),
        "seconds": float(schedule.design.seconds_per_trial),
    }


def count_people(schedule: "Schedule") -> str:
    """How many take part, and in which groups, in words."""
    num = len(schedule.lists)
    return f"{num} participant{'' if num == 1 else 's'}{schedule.group_sizes}"


def write_csv(rows: Sequence[Mapping[str, Any]]) -> str:
    """Rows as CSV; numbers with all their digits, nothing where there is None."""
    buffer = io.StringIO()
    writer = csv.DictWriter(buffer, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return buffer.getvalue()
