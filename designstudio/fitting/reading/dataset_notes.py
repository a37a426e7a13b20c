"""What the sidecars and the rows tell about the whole data set: its unit, and what a person should know."""

from collections.abc import Sequence

import pandas as pd

from designstudio.errors import DataError
from designstudio.fitting.reading.load_report import count, shorten
from designstudio.fitting.reading.rows import NUMBER_ROLES, Rows
from designstudio.fitting.reading.sidecars import ColumnInfo
from designstudio.model.parameters import STIMULUS_UNIT
from designstudio.model.trials.schema import ONLY_CONDITION

# With more, a column of the stimulus itself was perhaps taken for the condition.
MANY_CONDITIONS = 20


def settle_unit(parts: Sequence[Rows], wanted: str | None) -> tuple[str, list[str]]:
    """The unit of stimulus and response, and notes about where it comes from.

    Raises:
        DataError: if sidecars name several units and none was given.
    """
    found = {
        info.unit: f"{info.unit!r} for the {role} in {part.source.file}"
        for part in reversed(parts)
        for role in reversed(NUMBER_ROLES)
        if (info := _get_info(part, role)).unit
    }
    if wanted is not None:
        if not wanted.strip():
            raise DataError("The unit must have a name, such as 's' or 'mm', but '' was given.")
        others = [unit for unit in found if unit != wanted]
        return wanted, [f"The unit {wanted!r} was given, although the sidecar says {others[0]!r}."] if others else []
    if len(found) > 1:
        first, second = list(found.values())[::-1][:2]
        raise DataError(
            f"The sidecars say {first} but {second}: convert the numbers to one unit, "
            "or name the right one with --unit if only the sidecar is wrong."
        )
    if found:
        unit = next(iter(found))
        return unit, [f"The unit {unit!r} comes from the sidecar."]
    return STIMULUS_UNIT, ["The unit of stimulus and response is not known: name it, for example with --unit s."]


def describe_columns(parts: Sequence[Rows], conditions: Sequence[str]) -> list[str]:
    """Notes about what columns and conditions mean."""
    notes: dict[str, None] = {}
    for part in parts:
        for role in ("stimulus", "response", "condition"):
            description = _get_info(part, role).description
            if description:
                notes[f"The {role} is described as {description!r}."] = None
        for level, meaning in _get_info(part, "condition").levels.items():
            if meaning and level in conditions:
                notes[f"Condition {level!r} is described as {meaning!r}."] = None
        if part.is_named_by_file:
            notes["The subject comes from the names of the files."] = None
    return list(notes)


def describe_conditions(table: pd.DataFrame, has_conditions: bool) -> list[str]:
    """Notes about the conditions: none, very many, or not for all subjects."""
    if not has_conditions:
        return [f"There is no column for the condition: all trials are in one, called {ONLY_CONDITION!r}."]
    # Subjects in the order of the files.
    counts = pd.crosstab(table["subject"], table["condition"]).loc[table["subject"].unique()]
    notes = []
    if counts.shape[1] > MANY_CONDITIONS:
        notes.append(
            f"There are {counts.shape[1]} conditions: check that the column is meant, or choose none with "
            "--column condition=."
        )
    for condition in counts.columns:
        lacking = [str(subject) for subject in counts.index[counts[condition] == 0]]
        if lacking:
            notes.append(
                f"Condition {condition!r} has no trials of {len(lacking)} of {count(len(counts), 'subject')} "
                f"({shorten(lacking)}): what belongs to it alone stays as uncertain for them as before."
            )
    return notes


def describe_labels(parts: Sequence[Rows]) -> list[str]:
    """A note if files of several tasks were put together."""
    tasks = sorted({part.source.labels["task"] for part in parts if "task" in part.source.labels})
    if len(tasks) < 2:
        return []
    return [f"Trials of the tasks {', '.join(tasks)} are taken together: choose one with the filter task == {tasks[0]}."]


def _get_info(part: Rows, role: str) -> ColumnInfo:
    return part.source.info.get(part.roles.get(role, ""), ColumnInfo())
