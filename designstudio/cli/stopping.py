"""Stop cleanly: the first Ctrl-C ends after what has begun, the second at once."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


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
