"""The folder of a run: its journal, what it is a search for, and locks that tell who is still alive."""

import json
import uuid
from pathlib import Path

from filelock import FileLock, Timeout

from designstudio.core.files import write_json
from designstudio.errors import StudioError

JOURNAL, RUN = "search.journal", "run.json"


class RunFolder:
    """A folder that one search owns, from the first run to the last."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = FileLock(path / ".lock")

    @property
    def journal(self) -> Path:
        """The embedded storage."""
        return self.path / JOURNAL

    def read(self) -> dict[str, str]:
        """What it is a search for; nothing if it is new."""
        try:
            return {str(key): str(value) for key, value in json.loads((self.path / RUN).read_text()).items()}
        except FileNotFoundError:
            return {}
        except (OSError, ValueError):
            raise StudioError(f"'{self.path / RUN}' is damaged: choose another folder with --out.") from None

    def check(self, name: str, storage: str) -> bool:
        """Whether the folder already holds this search.

        Raises:
            StudioError: if it holds another one.
        """
        if self.path.exists() and not self.path.is_dir():
            raise StudioError(f"--out takes a folder, but '{self.path}' is a file.")
        kept = self.read()
        if not kept:
            return False
        if kept.get("search") != name:
            raise StudioError(
                f"'{self.path}' holds the search of another question: the study file, its seed or the package changed "
                "since. Choose another folder with --out, or bring the study file back to what it was."
            )
        if kept.get("storage") != storage:
            raise StudioError(
                f"The search in '{self.path}' keeps its candidates in {kept.get('storage')}, but {storage} was given: use "
                "the same storage, or another folder with --out."
            )
        return True

    def begin(self, name: str, storage: str) -> None:
        """Take possession of the folder.

        Raises:
            StudioError: if another process works in it.
        """
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            self._lock.acquire(timeout=0)
        except Timeout:
            raise StudioError(f"Another search is running in '{self.path}': wait for it, or choose another --out.") from None
        except OSError as error:
            raise StudioError(f"'{self.path}' cannot be written to ({error.strerror}): choose another --out.") from None
        if not self.read():
            write_json(self.path / RUN, {"search": name, "storage": storage, "run": uuid.uuid4().hex[:12]})

    def end(self) -> None:
        """Leave the folder to others."""
        self._lock.release()

    def name_worker(self, number: int) -> str:
        """How a worker of this run is called in the storage."""
        return f"{self.read()['run']}/{number}"

    def lock_worker(self, number: int) -> FileLock:
        """A lock that a worker holds as long as it lives."""
        return FileLock(self.path / f".worker-{number}.lock")

    def is_dead(self, worker: str) -> bool | None:
        """Whether a worker of this run lives no more; None if it is of another run."""
        run, _, number = worker.partition("/")
        if run != self.read().get("run") or not number.isdigit():
            return None
        lock = self.lock_worker(int(number))
        try:
            lock.acquire(timeout=0)
        except Timeout:
            return False
        lock.release()
        return True
