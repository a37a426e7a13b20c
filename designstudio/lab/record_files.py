"""Records on disk: record.json for programs, record.md for people, written once."""

import dataclasses
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from designstudio.core.fingerprint import hash_text
from designstudio.errors import StudioError
from designstudio.lab.record import Record
from designstudio.lab.record_text import write_text
from designstudio.lab.text_folder import check_folder, write_folder, write_pretty

FORMAT = "designstudio record 1"
RECORD, TEXT = "record.json", "record.md"


@dataclasses.dataclass(frozen=True)
class StoredRecord:
    """A record as it was found, right or wrong.

    Attributes:
        record: its content.
        stated: the fingerprint that the file states.
        stated_text: the SHA-256 of the text that the file states.
        text: the text that stands beside it; None if there is none.
    """

    record: Record
    stated: str
    stated_text: str
    text: str | None


def check_target(folder: Path) -> None:
    """Refuse a folder that holds something else than a record, before anything is computed for it.

    Raises:
        StudioError: naming what is there.
    """
    paths = [folder / name for name in (TEXT, RECORD)]
    check_folder(folder, {path.name: path.read_bytes().decode("utf-8", "replace") for path in paths if path.is_file()})


def save_record(record: Record, folder: Path) -> None:
    """Write a record and its text to a folder.

    Raises:
        StudioError: if the folder holds something else, or cannot be written.
    """
    write_folder(folder, {TEXT: write_text(record), RECORD: format_record(record)})


def format_record(record: Record) -> str:
    """What record.json holds."""
    text = write_text(record)
    return write_pretty(
        {
            "format": FORMAT,
            "fingerprint": record.fingerprint,
            "text_sha256": hash_text(text),
            "content": record.content,
        }
    )


def load_record(path: Path) -> StoredRecord:
    """Read a record.

    Args:
        path: of record.json, or of the folder that holds it.

    Raises:
        StudioError: if there is none, or it is not a record.
    """
    path = path / RECORD if path.is_dir() else path
    if not path.is_file():
        raise StudioError(f"There is no record '{path}': give what designstudio preregister --out has written.")
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise StudioError(
            f"The record '{path}' cannot be read as JSON ({error}): give the file as it was written."
        ) from None
    if not _is_record(stored):
        raise StudioError(f"'{path}' is not a {FORMAT!r}: give the {RECORD} that designstudio preregister has written.")
    beside = path.with_name(TEXT)
    text = beside.read_bytes().decode("utf-8", "replace") if beside.is_file() else None
    return StoredRecord(Record(stored["content"]), stored["fingerprint"], stored["text_sha256"], text)


def _is_record(stored: Any) -> bool:
    return (
        isinstance(stored, Mapping)
        and stored.get("format") == FORMAT
        and isinstance(stored.get("content"), Mapping)
        and all(isinstance(stored.get(name), str) for name in ("fingerprint", "text_sha256"))
    )
