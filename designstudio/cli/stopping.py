"""Stop cleanly: the first Ctrl-C ends after what has begun, the second at once; and say what was kept, and how to go on."""

import shlex
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import FrameType
from typing import Any

# What each command has kept by the time that it is stopped. {out} is the folder of its option --out.
BLOCKS = "designs and blocks of data sets that were finished are kept"
KEPT = {
    "evaluate": BLOCKS,
    "power": BLOCKS,
    "preregister": BLOCKS,
    "search": "candidates that were finished are kept in {out}",
    "sweep": "points that were finished are kept in {out}",
    "worker": "what was finished is kept in the storage",
}
NOTHING = "nothing was kept"


def describe_stop(command: str, options: Mapping[str, Any]) -> str:
    """What was kept when a command was stopped, and the command that goes on.

    Args:
        command: name of its function.
        options: that it was called with.
    """
    out = options.get("out")
    if command in ("search", "sweep") and out is None:
        out = f"{options['study'].stem}-{command}"
    kept = KEPT.get(command, NOTHING).format(out=f"'{out}'")
    if command == "fit":
        without = "nothing was kept, because there is no --out"
        kept = without if out is None else f"costs that were finished are kept in '{out}'"
    goes_on = "to begin anew" if kept.startswith("nothing") else "to go on"
    return f"Stopped: {kept}; {goes_on}, run {shlex.join(['designstudio', *sys.argv[1:]])}"


@contextmanager
def stop_on_signal(on_stop: Callable[[], None] = lambda: None) -> Iterator[Callable[[], bool]]:
    """A function that says whether the user, or the system, has asked to stop."""
    is_stopped = threading.Event()

    def stop(number: int, _: FrameType | None) -> None:
        if is_stopped.is_set() and number == signal.SIGINT:
            raise KeyboardInterrupt
        is_stopped.set()
        on_stop()

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield is_stopped.is_set
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
