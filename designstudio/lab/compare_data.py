"""Data against a plan: conditions, levels, trials, participants and stimuli."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from designstudio.core.fingerprint import hash_json
from designstudio.errors import StudioError
from designstudio.fitting.reading import LoadedData
from designstudio.fitting.reading.columns import GROUP
from designstudio.fitting.reading.load_report import count, shorten
from designstudio.lab.differences import DATA, NOTHING, Difference
from designstudio.lab.formats.psych_ds import ORIGIN, SIMULATED
from designstudio.lab.formats.save_schedule import SCHEDULE
from designstudio.lab.labels import label_condition
from designstudio.lab.record import GROUPS
from designstudio.model.parameters import STIMULUS_UNIT
from designstudio.model.trials.schema import ONLY_CONDITION
from designstudio.study.design import Stimuli

# Tables are often written with fewer digits than were shown.
TOLERANCE = 1e-3


def compare_data(content: Mapping[str, Any], loaded: LoadedData) -> list[Difference]:
    """Where data differ from the plan of a record.

    Args:
        content: of the record.
        loaded: read with the record's own filters and limits.
    """
    conditions = content["design"]["conditions"]
    planned = {label_condition(condition["name"]): condition for condition in conditions}
    table = loaded.table
    if len(planned) == 1 and set(table["condition"]) == {ONLY_CONDITION}:
        # Nobody names the only condition there is.
        table = table.assign(condition=next(iter(planned)))
    differences = [*_compare_conditions(planned, table), *_compare_people(content, table)]
    for label, condition in planned.items():
        rows = table[table["condition"] == label]
        if len(rows):
            differences += _compare_trials(label, condition["trials"], table, rows)
            differences += _compare_levels(label, condition["levels"], rows)
            differences += _compare_stimuli(label, condition["stimuli"], rows)
    return [*differences, *_compare_units(content["options"]["unit"], loaded.report.unit)]


def compare_schedule(content: Mapping[str, Any], folder: Path) -> list[Difference]:
    """Whether the schedule that stands beside the data, if there is one, was made for the recorded design."""
    path = folder / SCHEDULE
    if not path.is_file():
        return []
    try:
        scheduled = str(json.loads(path.read_text(encoding="utf-8"))["design_fingerprint"])
    except (OSError, ValueError, KeyError, TypeError):
        raise StudioError(f"'{path}' is damaged: give the data without it, or as it was written.") from None
    recorded = hash_json(content["design"])
    if scheduled == recorded:
        return []
    sentence = "The trials were scheduled for another design than the recorded one."
    return [Difference(DATA, "design of the schedule", recorded[:16], scheduled[:16], sentence)]


def note_data(loaded: LoadedData) -> list[str]:
    """What to know about data that a comparison does not say."""
    report = loaded.report
    notes = [f"Subject {entry.subject!r} was left out: {entry.reason}." for entry in report.excluded_subjects]
    notes += [f"{count(rows.count, 'row')} left out because {rows.reason}." for rows in report.excluded_rows]
    notes += [f"The filter {entry.text!r} removed {count(entry.num_removed, 'row')}." for entry in report.filters]
    if ORIGIN in loaded.table and (loaded.table[ORIGIN] == SIMULATED).any():
        notes.append("The responses are SIMULATED: they are no data of people.")
    return notes


def _compare_conditions(planned: Mapping[str, Any], table: pd.DataFrame) -> Iterator[Difference]:
    found = table["condition"].value_counts()
    for label in sorted(set(found.index) - set(planned)):
        sentence = f"The data have a condition {label!r}, with {found[label]} trials, that was not planned."
        yield Difference(DATA, "conditions", ", ".join(planned), label, sentence)
    for label in planned:
        if label not in found.index:
            sentence = f"The data have no trials of the planned condition {label!r}."
            yield Difference(DATA, "conditions", label, NOTHING, sentence)


def _compare_people(content: Mapping[str, Any], table: pd.DataFrame) -> Iterator[Difference]:
    groups = content.get(GROUPS)
    if not groups:
        people = content["participants"]
        yield from _compare_number(people["each_group"] * people["groups"], table["subject"].nunique())
        return
    if GROUP not in table:
        sentence = "No column of the data says who is in which of the planned groups."
        yield Difference(DATA, "groups", ", ".join(groups), NOTHING, sentence)
        return
    by_group = table.groupby(GROUP)["subject"].nunique()
    for name, group in groups.items():
        yield from _compare_number(group["participants"], int(by_group.get(name, 0)), f" of {name}")
    for name in sorted(set(map(str, by_group.index)) - set(groups)):
        sentence = f"The data have a group {name!r} that was not planned."
        yield Difference(DATA, "groups", ", ".join(groups), name, sentence)


def _compare_number(planned: int, found: int, of: str = "") -> Iterator[Difference]:
    if found < planned:
        sentence = f"Not yet complete: {found} of {planned} planned participants{of} are in the data."
    elif found > planned:
        more = found - planned
        sentence = f"There {'is' if more == 1 else 'are'} {count(more, 'participant')}{of} more than planned."
    else:
        return
    yield Difference(DATA, f"participants{of}", str(planned), str(found), sentence)


def _compare_trials(label: str, planned: int, table: pd.DataFrame, rows: pd.DataFrame) -> Iterator[Difference]:
    counts = rows["subject"].value_counts()
    counts = {str(subject): int(counts.get(subject, 0)) for subject in table["subject"].unique()}
    others = {subject: num for subject, num in counts.items() if num != planned}
    if others:
        sentence = (
            f"{len(others)} of {len(counts)} participants have another number of trials of {label!r} than the planned "
            f"{planned}: {shorten([f'{subject} has {num}' for subject, num in others.items()])}."
        )
        yield Difference(DATA, f"trials of {label!r}", str(planned), _format_range(list(others.values())), sentence)


def _compare_levels(label: str, levels: Mapping[str, float], rows: pd.DataFrame) -> Iterator[Difference]:
    """Only where the data say which levels were run."""
    for name, value in levels.items():
        if name not in rows:
            continue
        numbers = pd.to_numeric(rows[name], errors="coerce").to_numpy(float)
        if not np.isclose(numbers, value, rtol=TOLERANCE, atol=0).all():
            others = sorted({str(cell) for cell in rows[name]})
            sentence = f"{name} of {label!r} was planned to be {value:g}, but the data say {shorten(others)}."
            yield Difference(DATA, f"{name} of {label!r}", repr(value), shorten(others), sentence)


def _compare_stimuli(label: str, described: Mapping[str, Any], rows: pd.DataFrame) -> Iterator[Difference]:
    stimuli = Stimuli(**{**described, "values": tuple(described.get("values", ()))})
    shown = rows["stimulus"].to_numpy(float)
    if stimuli.shown_values:
        values = np.asarray(stimuli.shown_values)
        is_planned = np.isclose(shown[:, None], values, rtol=TOLERANCE, atol=0).any(axis=1)
        what = "are none of the planned values"
    else:
        low, high = stimuli.support
        is_planned = (shown >= low * (1 - TOLERANCE)) & (shown <= high * (1 + TOLERANCE))
        what = "lie outside the planned range"
    if not is_planned.all():
        others = shown[~is_planned]
        sentence = (
            f"{others.size} of {shown.size} stimuli of {label!r} {what} ({stimuli}): they reach from {others.min():g} to "
            f"{others.max():g}."
        )
        yield Difference(DATA, f"stimuli of {label!r}", str(stimuli), _format_range(others.tolist()), sentence)


def _compare_units(planned: str, found: str) -> Iterator[Difference]:
    """Only where both are named."""
    if STIMULUS_UNIT not in (planned, found) and planned != found:
        yield Difference(DATA, "unit", planned, found, f"The plan is in {planned!r}, but the data are in {found!r}.")


def _format_range(numbers: Sequence[float]) -> str:
    low, high = min(numbers), max(numbers)
    return f"{low:g}" if low == high else f"{low:g} to {high:g}"
