"""What a run leaves besides its results: the command that repeats it, with what it was made, and what it has written.

| file | what it holds |
|---|---|
| as-run.toml | the study with every option of the command in its place; see `designstudio.runs.folder` |
| as-run.json | the command, the versions of packages, when it was finished, what it has found in sentences, names of files |

Commands are as they are typed in the folder of the run, so that the folder may move together with what is around it.
"""

import datetime
import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from designstudio.core.files import read_json, write_json
from designstudio.core.versions import list_all_versions

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
        files: names of what it has written.
    """

    command: tuple[str, ...] = ()
    versions: dict[str, str] = {}  # noqa: RUF012  (never changed)
    finished: str = ""
    sentences: tuple[str, ...] = ()
    files: tuple[str, ...] = ()


def write_record(folder: Path, command: Sequence[str], *, sentences: Sequence[str] = (), files: Sequence[str] = ()) -> None:
    """Write down a run that is finished; for the arguments see `RunRecord`."""
    record = {
        "format": FORMAT,
        "command": list(command),
        "versions": list_all_versions(),
        "finished": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "sentences": list(sentences),
        "files": list(files),
    }
    write_json(folder / RUN, record)


def read_record(folder: Path) -> RunRecord:
    """What a run has left; an empty record if it has left nothing, or nothing that can be read."""
    record = read_json(folder / RUN)
    try:
        if record["format"] != FORMAT:
            return RunRecord()
        versions = {str(package): str(number) for package, number in record["versions"].items()}
        # Older runs do not name their files.
        command, sentences, files = (tuple(map(str, record.get(name, ()))) for name in ("command", "sentences", "files"))
        return RunRecord(command, versions, str(record["finished"]), sentences, files)
    except (KeyError, TypeError, AttributeError):
        return RunRecord()


def name_from(path: Path | str, folder: Path) -> str:
    """How a file is called by whoever stands in a folder."""
    try:
        return os.path.relpath(Path(path).resolve(), folder.resolve())
    except ValueError:
        # On another drive of Windows.
        return str(Path(path).resolve())
