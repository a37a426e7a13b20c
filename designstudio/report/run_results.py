"""Folders of runs: what kind of run it was, its results, and its study."""

import json
from pathlib import Path
from typing import Any

from designstudio.core.run_record import STUDY
from designstudio.errors import StudioError
from designstudio.study import Study, read_study

RESULT = "result.json"
EVALUATION, SEARCH, SWEEP, FIT = "evaluation", "search", "sweep", "fit"
# What the results of each kind have, and no other's.
_SIGNS = {EVALUATION: "designs", SEARCH: "objectives", SWEEP: "along", FIT: "subjects"}
_COMMANDS = "designstudio evaluate --out, search, sweep or fit --out"


def read_result(folder: Path) -> dict[str, Any]:
    """The results of a run.

    Raises:
        StudioError: if the folder holds none.
    """
    if not folder.exists():
        raise StudioError(f"There is no folder '{folder}': give one that {_COMMANDS} has written.")
    if not folder.is_dir():
        raise StudioError(f"'{folder}' is a file: give the folder that {_COMMANDS} has written.")
    path = folder / RESULT
    if not path.is_file():
        raise StudioError(f"There is no {RESULT} in '{folder}': give a folder that {_COMMANDS} has finished.")
    try:
        result = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise StudioError(f"'{path}' cannot be read ({error}): run the command of this folder again.") from None
    if not isinstance(result, dict) or not any(sign in result for sign in _SIGNS.values()):
        raise StudioError(f"'{path}' holds no results of a run: give a folder that {_COMMANDS} has written.")
    return result


def find_kind(result: dict[str, Any]) -> str:
    """What kind of run has these results."""
    return next(kind for kind, sign in _SIGNS.items() if sign in result)


def find_study(folder: Path, given: Path | None) -> Study:
    """The study of a run: the one that is given, else the one that the run has kept.

    Raises:
        StudioError: if there is none.
    """
    if given is not None:
        return read_study(given)
    if not (folder / STUDY).is_file():
        raise StudioError(
            f"'{folder}' keeps no {STUDY}, as runs of older versions do not: name the study file with --study FILE, or run "
            "the command of this folder again."
        )
    return read_study(folder / STUDY)
