"""Whether a record is intact, and whether a study and data still agree with it."""

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from designstudio.core.fingerprint import hash_text
from designstudio.errors import StudioError, UnknownNameError
from designstudio.fitting.reading import read_data
from designstudio.lab.compare_data import compare_data, compare_schedule, note_data
from designstudio.lab.differences import DATA, NOTHING, RECORD, STUDY, Difference, compare_contents
from designstudio.lab.record import POWER, RecordOptions, make_record
from designstudio.lab.record_files import TEXT, StoredRecord, load_record
from designstudio.model.parameters import STIMULUS_UNIT
from designstudio.study import Study

# A newer package is no other plan, and power is a result.
VERSIONS = "versions"
NO_PLAN = (VERSIONS, POWER)
# What records of before do not have, though their plan was the same.
NEW = (("analysis", "priors_of_candidates"), ("decision", "goals_on_data"))


@dataclasses.dataclass(frozen=True)
class Verification:
    """What was compared with a record, and what differs.

    Attributes:
        fingerprint: of the record's content, computed anew.
        checked: of `record`, `study` and `data` those that were compared.
        differences: none if all agree.
        notes: what a person should know; none of it is a difference.
    """

    fingerprint: str
    checked: tuple[str, ...]
    differences: tuple[Difference, ...]
    notes: tuple[str, ...] = ()

    @property
    def matches(self) -> bool:
        """Whether nothing differs."""
        return not self.differences

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "matches": self.matches,
            "fingerprint": self.fingerprint,
            "checked": list(self.checked),
            "differences": [difference.as_dict() for difference in self.differences],
            "notes": list(self.notes),
        }


def verify_record(
    path: Path,
    *,
    study: Study | None = None,
    data: Path | None = None,
    columns: Mapping[str, str] | None = None,
    deposited: str | None = None,
) -> Verification:
    """Hold a record against itself, a study and data.

    Args:
        path: of record.json, or of its folder.
        study: as it is now.
        data: a table or folder, read with the filters and limits that the record names.
        columns: the data's own names of some columns, as in `designstudio.fitting.reading.read_data`.
        deposited: the fingerprint that was deposited elsewhere; a record that was changed with its fingerprint is found so.

    Raises:
        StudioError: if there is no record, or the data cannot be read.
    """
    stored = load_record(path)
    differences = check_record(stored, deposited)
    found = stored.record.fingerprint
    if differences:
        note = "The record was changed, so that nothing else was compared with it."
        return Verification(found, (RECORD,), tuple(differences), () if study is None and data is None else (note,))
    checked, content = [RECORD], stored.record.content
    notes: list[str] = []
    if study is not None:
        differences, notes = compare_study(content, study)
        checked.append(STUDY)
    if data is not None:
        options = RecordOptions.from_dict(content["options"])
        loaded = read_data(data, columns=columns, where=options.where, min_trials=options.min_trials)
        differences += [*compare_schedule(content, data), *compare_data(content, loaded)]
        notes += note_data(loaded)
        checked.append(DATA)
    return Verification(found, tuple(checked), tuple(differences), tuple(notes))


def check_record(stored: StoredRecord, deposited: str | None = None) -> list[Difference]:
    """Whether record and text are as they were written."""
    found = stored.record.fingerprint
    differences = []
    if stored.stated != found:
        sentence = "The content of the record was changed after it was made: its fingerprint is another."
        differences.append(Difference(RECORD, "fingerprint", stored.stated, found, sentence))
    if deposited is not None and deposited.strip().lower() != found:
        sentence = "This is not the record whose fingerprint was deposited."
        differences.append(Difference(RECORD, "deposited fingerprint", deposited.strip().lower(), found, sentence))
    if stored.text is not None and hash_text(stored.text) != stored.stated_text:
        sentence = f"The text {TEXT} beside the record was changed after it was made."
        differences.append(Difference(RECORD, TEXT, stored.stated_text, hash_text(stored.text), sentence))
    return differences


def compare_study(content: Mapping[str, Any], study: Study) -> tuple[list[Difference], list[str]]:
    """Where a study differs from the record, and notes about versions."""
    name = content["design"]["name"]
    try:
        design = study.design(name)
    except UnknownNameError:
        sentence = f"The study no longer has a design {name!r}."
        return [Difference(STUDY, "design", name, NOTHING, sentence)], []
    planned, own = str(content["options"]["unit"]), study.unit or STIMULUS_UNIT
    # A record of a study without a unit may have named one, for its readers.
    if own != planned and ("scale" in content["model"] or study.unit):
        sentence = (
            f"The record is in {planned!r}, but the study is now in {own!r}: none of its numbers was compared. Write the "
            f"study in {planned!r} again."
        )
        return [Difference(STUDY, "unit", planned, own, sentence)], []
    try:
        now = make_record(study, design, RecordOptions.from_dict(content["options"])).content
    except StudioError as error:
        return [Difference(STUDY, "plan", "complete", NOTHING, f"The study can no longer be recorded: {error}")], []
    now = _forget_new(content, now)
    recorded, found = ({key: part for key, part in plan.items() if key not in NO_PLAN} for plan in (content, now))
    before, after = content.get(VERSIONS, {}), now[VERSIONS]
    notes = [f"{n} was {before[n]} and is now {after[n]}." for n in after if after[n] != before.get(n, after[n])]
    return compare_contents(recorded, found), notes


def _forget_new(recorded: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, Any]:
    """The plan as an older version would have recorded it, where the record lacks what is new."""
    kept = dict(now)
    for part, key in NEW:
        if key not in recorded.get(part, {}):
            kept[part] = {name: value for name, value in kept[part].items() if name != key}
    return kept
