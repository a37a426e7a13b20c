"""Read behavioural data as psychophysicists keep them, and say what became of every row."""

import dataclasses
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import xarray as xr

from designstudio.errors import DataError
from designstudio.fitting.reading.cells import is_missing, parse_number, tidy_label
from designstudio.fitting.reading.columns import GROUP, ROLES, check_chosen
from designstudio.fitting.reading.copies import describe_repeats, find_copies
from designstudio.fitting.reading.dataset_notes import (
    describe_columns,
    describe_conditions,
    describe_labels,
    describe_spellings,
    settle_unit,
)
from designstudio.fitting.reading.folders import find_sources
from designstudio.fitting.reading.load_report import AppliedFilter, ExcludedSubject, LoadReport, count, group_rows
from designstudio.fitting.reading.rows import LABEL_ROLES, NUMBER_ROLES, Rows, read_rows
from designstudio.fitting.reading.where import Filter, parse_filters
from designstudio.model.trials.schema import ONLY_CONDITION, trials_from_rows

MIN_TRIALS = 10
# Beyond it, not every whole number is a float.
LARGEST_WHOLE = 2**53


@dataclasses.dataclass(frozen=True, eq=False)
class LoadedData:
    """Behavioural data, ready for a fit.

    Attributes:
        trials: one data set for each subject, in the schema of `designstudio.model.trials`.
        table: the same trials in the order of the files, with all other columns; its index says file and line.
        rejected: file, line and reason of every row that is not in the table.
        report: what was read, left out and noticed.
    """

    trials: xr.Dataset
    table: pd.DataFrame
    rejected: pd.DataFrame
    report: LoadReport


def read_data(
    path: str | os.PathLike[str],
    *,
    columns: Mapping[str, str] | None = None,
    where: Sequence[str] = (),
    unit: str | None = None,
    min_trials: int = MIN_TRIALS,
) -> LoadedData:
    """Read a table with one row for each trial, or a folder of such tables.

    Args:
        path: of a CSV or TSV file, a Psych-DS folder or a BIDS folder.
        columns: the file's own name for some of the roles subject, condition, trial, stimulus, response, where it cannot be
            recognised; "" for a condition or trial means none.
        where: which rows to keep, such as "keep == 1" or "block in 1, 2 and rt < 2.5"; see
            `designstudio.fitting.reading.where`.
        unit: what stimulus and response are measured in; by default what a sidecar says.
        min_trials: subjects with fewer usable trials are left out.

    Raises:
        DataError: if the data cannot be read, or nobody is left.
    """
    if isinstance(min_trials, bool) or not isinstance(min_trials, int) or min_trials < 1:
        raise DataError(f"min_trials must be a whole number of 1 or more, but {min_trials!r} was given.")
    chosen = dict(columns or {})
    check_chosen(chosen)
    filters = parse_filters(where)
    parts = [read_rows(source, chosen, filters) for source in find_sources(Path(path))]
    used = [part for part in parts if part.roles]
    rejected = [row for part in parts for row in (*part.filtered, *part.rejected)]
    table = _join(used) if used else None
    copies = [] if table is None else find_copies(table)
    table = table if table is None else table.drop(index=[(file, line) for file, line, _ in copies])
    rejected += copies
    excluded = [] if table is None else _check_subjects(table, min_trials)
    is_out = np.zeros(0, bool) if table is None else table["subject"].isin([entry.subject for entry in excluded]).values
    if table is None or is_out.all():
        raise DataError(_explain_emptiness(path, parts, filters, excluded))
    places = table.index[is_out]
    rejected += [
        (*place, f"subject {name!r} was left out") for place, name in zip(places, table["subject"][is_out], strict=True)
    ]
    table = table[~is_out]
    unit, notes = settle_unit(used, unit)
    trials = _make_trials(table, unit)
    has_conditions = any("condition" in part.roles for part in used)
    notes += describe_columns(used, trials["condition"].values.tolist())
    notes += describe_conditions(table, has_conditions) + describe_labels(used)
    notes += describe_repeats(table) + describe_spellings(table)
    report = LoadReport(
        files=tuple(part.source.file for part in parts),
        num_rows=sum(part.num_read for part in parts),
        renamed={column: role for part in used for role, column in part.roles.items() if column != role},
        filters=_count_removed(parts, filters),
        excluded_rows=group_rows([*(row for part in parts for row in part.rejected), *copies]),
        excluded_subjects=tuple(excluded),
        notes=tuple(notes),
        unit=unit,
        num_subjects=trials.sizes["dataset"],
        num_conditions=trials.sizes["condition"],
        num_trials=len(table),
    )
    return LoadedData(trials, table, pd.DataFrame(rejected, columns=["file", "line", "reason"]), report)


def _join(parts: Sequence[Rows]) -> pd.DataFrame:
    """The usable rows of all tables, as one."""
    with_condition = [part for part in parts if "condition" in part.roles]
    if 0 < len(with_condition) < len(parts):
        without = next(part for part in parts if "condition" not in part.roles)
        raise DataError(
            f"{with_condition[0].source.file} has a column for the condition and {without.source.file} has none: "
            "add it, or choose none with --column condition=."
        )
    frames = []
    for part in parts:
        num_rows = part.table.num_rows
        index = pd.MultiIndex.from_arrays([[part.source.file] * num_rows, list(part.table.lines)], names=["file", "line"])
        condition = part.labels("condition")
        values: dict[str, Sequence[str] | Sequence[float]] = {
            "subject": part.labels("subject") or [],
            "condition": [ONLY_CONDITION] * num_rows if condition is None else condition,
            **part.numbers,
            **part.extras(),
        }
        frames.append(pd.DataFrame({name: pd.Series(cells, index, dtype=object) for name, cells in values.items()}, index))
    joined = pd.concat(frames)
    first = [role for role in ROLES if role in joined]
    ordered = [*first, *(name for name in joined if name not in first)]
    return pd.DataFrame({name: _choose_type(joined[name]) for name in ordered})


def _choose_type(column: pd.Series) -> pd.Series:
    """Numbers if all cells are numbers; subjects and conditions are labels, even if they look like numbers."""
    if column.name in LABEL_ROLES:
        return column.astype(str)
    if column.name == GROUP:
        # As conditions are: a group called 1 is a label, too.
        return pd.Series([tidy_label(cell) if isinstance(cell, str) else "" for cell in column], column.index, dtype=object)
    if column.name in NUMBER_ROLES:
        return column.astype(float)
    # Rows of a table without the column have NaN here.
    texts = [value if isinstance(value, str) else "" for value in column]
    numbers = [np.nan if is_missing(text) else parse_number(text) for text in texts]
    if None in numbers:
        return pd.Series([None if is_missing(text) else text for text in texts], column.index, dtype=object)
    is_whole = all(number is not None and float(number).is_integer() and abs(number) < LARGEST_WHOLE for number in numbers)
    return pd.Series(numbers, column.index, dtype=int if is_whole else float)


def _check_subjects(table: pd.DataFrame, min_trials: int) -> list[ExcludedSubject]:
    """Subjects who cannot be fitted, in the order in which they appear."""
    excluded = []
    for subject, trials in table.groupby("subject", sort=False):
        num_trials, stimuli = len(trials), trials["stimulus"].unique()
        if num_trials < min_trials:
            reason = f"{count(num_trials, 'usable trial')}, but at least {min_trials} are needed (--min-trials)"
            excluded.append(ExcludedSubject(str(subject), num_trials, reason))
        elif len(stimuli) == 1:
            reason = f"every stimulus is {stimuli[0]:g}, but prior and bias can only be told apart if it varies"
            excluded.append(ExcludedSubject(str(subject), num_trials, reason))
    return excluded


def _make_trials(table: pd.DataFrame, unit: str) -> xr.Dataset:
    """Trials with the conditions in order: of their numbers if they have some, else of the alphabet."""
    columns = (table[name].tolist() for name in ("subject", "stimulus", "response", "condition"))
    trials = trials_from_rows(*columns, unit=unit)
    labels = trials["condition"].values.tolist()
    order = np.array(sorted(range(len(labels)), key=lambda number: _order_label(labels[number])))
    index = trials["condition_index"]
    # argsort gives each old number its new one.
    trials["condition_index"] = index.copy(data=np.where(trials["is_present"], np.argsort(order)[index.values], 0))
    return trials.assign_coords(condition=np.array(labels)[order])


def _order_label(label: str) -> tuple[bool, float, str]:
    number = parse_number(label)
    return number is None, number or 0.0, label


def _count_removed(parts: Sequence[Rows], filters: Sequence[Filter]) -> tuple[AppliedFilter, ...]:
    return tuple(
        AppliedFilter(condition.text, sum(part.num_removed[number] for part in parts))
        for number, condition in enumerate(filters)
    )


def _explain_emptiness(
    path: str | os.PathLike[str], parts: Sequence[Rows], filters: Sequence[Filter], excluded: Sequence[ExcludedSubject]
) -> str:
    reasons = [f"{entry.text!r} removed {count(entry.num_removed, 'row')}" for entry in _count_removed(parts, filters)]
    rows = group_rows([row for part in parts for row in part.rejected])
    reasons += [f"in {count(entry.count, 'row')} {entry.reason}" for entry in rows]
    reasons += [f"subject {entry.subject!r} was left out ({entry.reason})" for entry in excluded[:1]]
    more = f", and {count(len(excluded) - 1, 'more subject')} too" if len(excluded) > 1 else ""
    num_rows = sum(part.num_read for part in parts)
    advice = ["change the filters"] if filters else []
    advice += ["correct these rows, or choose other columns with --column"] if rows else []
    advice += ["give people with more trials and stimuli"] if excluded else []
    return f"Nobody is left of the {count(num_rows, 'row')} in '{path}': {'; '.join(reasons)}{more}: {', or '.join(advice)}."
