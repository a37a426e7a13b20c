"""Where candidates are kept: a journal file in the run's folder, or a database that many machines share."""

import os
import warnings
from pathlib import Path
from typing import Any

import optuna
from optuna.storages import BaseStorage, JournalStorage, RDBStorage, RetryHeartbeatStaleTrialCallback
from optuna.storages.journal import JournalFileBackend, JournalFileOpenLock

from designstudio.errors import StudioError

# Seconds between signs of life of a worker; after how many missing ones its candidate is given to another.
HEARTBEAT, PATIENT_BEATS = 10, 4
# Seconds until a database that does not answer counts as unreachable.
PATIENCE = 10


def open_storage(target: str, *, heartbeat: int = HEARTBEAT, only_reads: bool = False) -> BaseStorage:
    """Open a journal file, or a database by its URL.

    Args:
        target: path or URL.
        heartbeat: seconds between signs of life of a worker.
        only_reads: for those who watch: nothing is repaired, because others may be writing, and nothing is created.

    Raises:
        StudioError: if it cannot be reached.
    """
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    warnings.filterwarnings("ignore", category=optuna.exceptions.ExperimentalWarning)
    if "://" not in target:
        return _open_journal(Path(target), repairs=not only_reads)
    from sqlalchemy.exc import SQLAlchemyError  # noqa: PLC0415  (a journal does without)

    url = target.replace("postgresql://", "postgresql+psycopg://", 1).replace("postgres://", "postgresql+psycopg://", 1)
    # A connection that the database closed meanwhile is opened again; many workers may share the database.
    engine: dict[str, Any] = {"pool_pre_ping": True, "pool_size": 2, "max_overflow": 2}
    if "postgresql" in url:
        engine["connect_args"] = {"connect_timeout": PATIENCE}
    try:
        return RDBStorage(
            url,
            engine_kwargs=engine if "postgresql" in url else None,
            heartbeat_interval=heartbeat,
            grace_period=heartbeat * PATIENT_BEATS,
            heartbeat_stale_trial_callback=RetryHeartbeatStaleTrialCallback(),
            skip_table_creation=only_reads,
        )
    except (SQLAlchemyError, ImportError, RuntimeError, OSError) as error:
        raise StudioError(
            f"The storage '{hide_password(target)}' cannot be reached ({_first_line(error)}): check the address and that "
            "the database is running."
        ) from None


def close_storage(storage: BaseStorage) -> None:
    """Close connections to a database."""
    if isinstance(storage, RDBStorage):
        storage.remove_session()
        storage.engine.dispose()


def _open_journal(path: Path, *, repairs: bool = True) -> BaseStorage:
    if repairs and path.exists():
        _drop_torn_line(path)
    # Only Windows has no links to lock with.
    lock = JournalFileOpenLock(str(path)) if os.name == "nt" else None
    try:
        return JournalStorage(JournalFileBackend(str(path), lock))
    except (OSError, ValueError) as error:
        raise StudioError(f"The journal '{path}' cannot be read ({_first_line(error)}): choose another folder.") from None


def _drop_torn_line(path: Path) -> None:
    """A process that was killed while writing leaves half a line, to which the next one would be glued."""
    with path.open("rb+") as journal:
        end = journal.seek(0, os.SEEK_END)
        tail = b""
        start = end
        while start > 0 and b"\n" not in tail:
            start = max(0, start - 65536)
            journal.seek(start)
            tail = journal.read(end - start)
        whole = start + tail.rfind(b"\n") + 1
        if whole < end:
            journal.truncate(whole)


def hide_password(url: str) -> str:
    """An address as it may be shown."""
    scheme, separator, rest = url.partition("://")
    user, at, host = rest.rpartition("@")
    name, colon, _ = user.partition(":")
    return f"{scheme}{separator}{name}{colon and ':***'}{at}{host}"


def _first_line(error: BaseException) -> str:
    cause = getattr(error, "orig", None) or error
    lines = [line.strip() for line in str(cause).splitlines() if line.strip()]
    return lines[0].rstrip(".")[:150] if lines else type(cause).__name__
