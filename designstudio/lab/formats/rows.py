"""The trials of a list as rows, in the columns that all formats share."""

import csv
import io
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from designstudio.lab.schedule import ListedTrial, Schedule

Row = dict[str, Any]


def make_row(schedule: "Schedule", trial: "ListedTrial") -> Row:
    """What an experiment needs to know about a trial."""
    return {
        "trial": trial.number,
        "block": trial.block,
        "condition": trial.condition,
        **{name: float(value) for name, value in trial.levels.items()},
        "stimulus": trial.stimulus,
        "seconds": float(schedule.design.seconds_per_trial),
    }


def write_csv(rows: Sequence[Mapping[str, Any]]) -> str:
    """Rows as CSV; numbers with all their digits, nothing where there is None."""
    buffer = io.StringIO()
    writer = csv.DictWriter(buffer, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return buffer.getvalue()
