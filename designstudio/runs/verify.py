"""`verify`: is this what was planned?"""

import dataclasses
from collections.abc import Mapping
from pathlib import Path

from designstudio.lab.verify import Verification, verify_record
from designstudio.runs.folder import resolve_study, use_cost_file
from designstudio.study import Study


@dataclasses.dataclass(frozen=True)
class VerifyRequest:
    """What is to be held against a record.

    Attributes:
        record: record.json, or its folder.
        study: as it is now, or its file.
        data: a table, or a Psych-DS or BIDS folder.
        columns: the data's own names of columns, by role.
        fingerprint: the one that was deposited elsewhere.
        cost_file: a user's file of costs, which is executed.
    """

    record: Path
    study: Study | Path | str | None = None
    data: Path | None = None
    columns: Mapping[str, str] = dataclasses.field(default_factory=dict)
    fingerprint: str | None = None
    cost_file: Path | None = None


def run_verify(request: VerifyRequest) -> Verification:
    """Whether the record is intact, and whether study and data agree with it."""
    use_cost_file(request.cost_file)
    study = None if request.study is None else resolve_study(request.study)
    return verify_record(
        request.record, study=study, data=request.data, columns=request.columns, deposited=request.fingerprint
    )
