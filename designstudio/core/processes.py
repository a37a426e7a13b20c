"""Commands of this package in processes of their own: started, watched and stopped.

Whoever starts one either waits for it (a search for its workers), or lets it go on alone (a job, which outlives the browser
and even the server).
"""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path


class OwnProcess:
    """A module of this package that runs as `python -m MODULE ...`; what it prints goes to a log."""

    def __init__(
        self, module: str, *arguments: str, log: Path, environment: Mapping[str, str] | None = None, outlives: bool = False
    ) -> None:
        """Start it.

        Args:
            module: what `python -m` runs.
            *arguments: its arguments.
            log: file for all that it prints.
            environment: variables beyond those of this process.
            outlives: whether it goes on when this process ends or is interrupted; then the log is appended to.
        """
        self.log = log
        with log.open("ab" if outlives else "wb") as out:
            self._process = subprocess.Popen(  # noqa: S603  (our own command)
                [sys.executable, "-m", module, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                env={**os.environ, **(environment or {})},
                # Ctrl-C in the terminal, or the end of this process, does not reach it.
                start_new_session=outlives,
            )
        if outlives:
            # Somebody must be told that it has ended, or it would stay behind as a zombie.
            threading.Thread(target=self._process.wait, daemon=True).start()

    @property
    def pid(self) -> int:
        """Its number."""
        return self._process.pid

    @property
    def code(self) -> int | None:
        """The exit code; None while it runs, and for the moment in which its end is being noted."""
        return self._process.poll()

    def ask_to_stop(self) -> None:
        """Let it end at the next good moment."""
        if self.code is None:
            self._process.send_signal(signal.SIGTERM)

    def wait(self) -> int:
        """Until it has ended; gives the exit code."""
        return self._process.wait()

    def read_log(self) -> str:
        """All that it has printed."""
        return self.log.read_text(errors="replace")
