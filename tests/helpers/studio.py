"""The studio in a process of its own, for what drives it: tests, benchmarks, pictures."""

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from designstudio.core.processes import OwnProcess
from designstudio.errors import StudioError

PATIENCE = 600.0


@contextmanager
def serve_studio(folder: Path, *options: str) -> Iterator[str]:
    """The address of a studio whose runs and whose `server.log` lie in a folder; options are those of the command.

    Raises:
        StudioError: if it does not start.
    """
    command = ("designstudio", "app", "--port", "0", "--no-browser", "--runs", str(folder / "runs"), *options)
    process = OwnProcess(*command, log=folder / "server.log")
    try:
        deadline = time.monotonic() + PATIENCE
        while (found := re.search(r"http://[\d.]+:\d+", process.read_log())) is None:
            if process.code is not None or time.monotonic() > deadline:
                raise StudioError(f"The studio did not start; its log says: {process.read_log().strip() or 'nothing'}")
            time.sleep(0.1)
        yield found.group()
    finally:
        process.ask_to_stop()
        process.wait()
