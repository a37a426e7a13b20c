"""The studio in a process of its own, for what drives it: tests, benchmarks, pictures."""

import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from designstudio.errors import StudioError

PATIENCE = 120.0


@contextmanager
def serve_studio(folder: Path) -> Iterator[str]:
    """The address of a studio whose runs and whose `server.log` lie in a folder.

    Raises:
        StudioError: if it does not start.
    """
    log = folder / "server.log"
    command = [sys.executable, "-m", "designstudio", "app", "--port", "0", "--no-browser", "--runs", str(folder / "runs")]
    with log.open("wb") as out:
        process = subprocess.Popen(command, stdout=out, stderr=out)
    try:
        deadline = time.monotonic() + PATIENCE
        while (found := re.search(r"http://[\d.]+:\d+", log.read_text())) is None:
            if process.poll() is not None or time.monotonic() > deadline:
                raise StudioError(f"The studio did not start; its log says: {log.read_text().strip() or 'nothing'}")
            time.sleep(0.1)
        yield found.group()
    finally:
        process.terminate()
        process.wait()
