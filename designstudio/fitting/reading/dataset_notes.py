"""What the sidecars and the rows tell about the whole data set: its unit, and what a person should know."""

from collections.abc import Sequence

import pandas as pd

from designstudio.errors import DataError
from designstudio.fitting.reading.cells import is_missing
from designstudio.fitting.reading.columns import match_name
from designstudio.fitting.reading.load_report import count, shorten
from designstudio.fitting.reading.rows import LABEL_ROLES, NUMBER_ROLES, Rows
from designstudio.fitting.reading.sidecars import ColumnInfo
from designstudio.model.parameters import STIMULUS_UNIT
from designstudio.model.trials.schema import ONLY_CONDITION

# With more, a column of the stimulus itself was perhaps taken for the condition.
MANY_CONDITIONS = 20
UNIT_COLUMN = "unit"


def settle_unit(parts: Sequence[Rows], wanted: str | None) -> tuple[str, list[str]]:
    """The unit of stimulus and response, and notes about where it comes from: a sidecar, or a column called unit.

    Raises:
        DataError: if sidecars name several units and none was given, or rows are in several.
    """
    in_rows = _find_in_rows(parts)
    if len(in_rows) > 1:
        (first, column), (second, _) = list(in_rows.items())[:2]
        raise DataError(
            f"The column {column!r} says {first!r} and {second!r}: convert the numbers to one unit, or keep the rows of one "
            f"with --where '{column} == {first}'."
        )
    found = {
        info.unit: f"{info.unit!r} for the {role} in {part.source.file}"
        for part in reversed(parts)
        for role in reversed(NUMBER_ROLES)
        if (info := _get_info(part, role)).unit
    }
    if wanted is not None:
        if not wanted.strip():
            raise DataError("The unit must have a name, such as 's' or 'mm', but '' was given.")
        others = [f"the sidecar says {unit!r}" for unit in found if unit != wanted]
        others += [f"the column {column!r} says {unit!r}" for unit, column in in_rows.items() if unit != wanted]
        return wanted, [f"The unit {wanted!r} was given, although {others[0]}."] if others else []
    if len(found) > 1:
        first, second = list(found.values())[::-1][:2]
        raise DataError(
            f"The sidecars say {first} but {second}: convert the numbers to one unit, "
            "or name the right one with --unit if only the sidecar is wrong."
        )
    if found:
        unit = next(iter(found))
        others = [f", although the column {column!r} says {other!r}" for other, column in in_rows.items() if other != unit]
        return unit, [f"The unit {unit!r} comes from the sidecar{''.join(others)}."]
    if in_rows:
        unit, column = next(iter(in_rows.items()))
        return unit, [f"The unit {unit!r} comes from the column {column!r}."]
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


def describe_spellings(table: pd.DataFrame) -> list[str]:
    """Notes about labels that are probably meant to be one."""
    notes = []
    for role in LABEL_ROLES:
        spellings: dict[str, list[str]] = {}
        for label in table[role].unique():
            spellings.setdefault(" ".join(label.lower().split()), []).append(label)
        notes += [
            f"The {role}s {' and '.join(map(repr, labels))} are taken for {len(labels)}: if one is meant, write it one way."
            for labels in spellings.values()
            if len(labels) > 1
        ]
    return notes


def describe_labels(parts: Sequence[Rows]) -> list[str]:
    """A note if files of several tasks were put together."""
    tasks = sorted({part.source.labels["task"] for part in parts if "task" in part.source.labels})
    if len(tasks) < 2:
        return []
    return [f"Trials of the tasks {', '.join(tasks)} are taken together: choose one with the filter task == {tasks[0]}."]


def _find_in_rows(parts: Sequence[Rows]) -> dict[str, str]:
    """The column that says so, for each unit in which usable rows are."""
    found: dict[str, str] = {}
    for part in parts:
        column = match_name(UNIT_COLUMN, part.table.columns)
        cells = [] if column is None or column in part.roles.values() else part.table.columns[column]
        found |= {cell: str(column) for cell in dict.fromkeys(cells) if not is_missing(cell) and cell not in found}
    return found


def _get_info(part: Rows, role: str) -> ColumnInfo:
    return part.source.info.get(part.roles.get(role, ""), ColumnInfo())
