"""What a run leaves besides its results: the study as it was run, the command that repeats it, and with what it was made.

| file | what it holds |
|---|---|
| as-run.toml | the study with every option of the command line in its place |
| as-run.json | the command, the versions of packages, when it was finished, and what it has found in sentences |

Commands are as they are typed in the folder of the run, so that the folder may move together with what is around it.
"""

import datetime
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from designstudio.core.files import write_json
from designstudio.core.versions import list_all_versions
from designstudio.study import Study, StudyFileError, write_study

STUDY, RUN = "as-run.toml", "as-run.json"
FORMAT = "designstudio run 1"
# Where a rerun puts its results, seen from the folder of the run.
AGAIN = "again"


class RunRecord(NamedTuple):
    """What is known about a run besides its results; nothing if it was made before such things were kept.

    Attributes:
        command: that repeats it, typed in its folder.
        versions: of Python and of packages.
        finished: when, in universal time.
        sentences: what it has found.
    """

    command: tuple[str, ...] = ()
    versions: dict[str, str] = {}  # noqa: RUF012  (never changed)
    finished: str = ""
    sentences: tuple[str, ...] = ()


def keep_run(
    folder: Path, command: Sequence[str], *, study: Study | None = None, sentences: Sequence[str] = ()
) -> list[str]:
    """Write both files; returns their names.

    Args:
        folder: of the run.
        command: that repeats it, typed in the folder.
        study: as it was run. One that files have no words for, which only Python can ask, is not written.
        sentences: what it has found.
    """
    names = [RUN]
    if study is not None:
        try:
            write_study(study, folder / STUDY, notes=["The study as it was run, every option in its place."], overwrite=True)
            names.insert(0, STUDY)
        except StudyFileError:
            (folder / STUDY).unlink(missing_ok=True)
    record = {
        "format": FORMAT,
        "command": list(command),
        "versions": list_all_versions(),
        "finished": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "sentences": list(sentences),
    }
    write_json(folder / RUN, record)
    return names


def read_run(folder: Path) -> RunRecord:
    """What a run has left; an empty record if it has left nothing, or nothing that can be read."""
    try:
        record: dict[str, Any] = json.loads((folder / RUN).read_text(encoding="utf-8"))
        if record["format"] != FORMAT:
            return RunRecord()
        versions = {str(package): str(number) for package, number in record["versions"].items()}
        command, sentences = (tuple(map(str, record[name])) for name in ("command", "sentences"))
        return RunRecord(command, versions, str(record["finished"]), sentences)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return RunRecord()


def name_from(path: Path | str, folder: Path) -> str:
    """How a file is called by whoever stands in a folder."""
    try:
        return os.path.relpath(Path(path).resolve(), folder.resolve())
    except ValueError:
        # On another drive of Windows.
        return str(Path(path).resolve())


def add_cost_file(command: Sequence[str], cost_file: Path | None, folder: Path) -> list[str]:
    """A command with the user's file of costs, if there is one."""
    return [*command, *([] if cost_file is None else ["--cost-file", name_from(cost_file, folder)])]
