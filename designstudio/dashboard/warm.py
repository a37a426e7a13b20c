"""Compile what the first visitors will look at, before they do."""

import importlib
import threading
import time

from designstudio.dashboard.previews import preview_study
from designstudio.dashboard.state.design import DesignChoice
from designstudio.errors import StudioError

# Trials in all: one for each size that shapes are padded to.
SIZES = (90, 200, 400)
LEVELS = (2, 1, 3, 4)
# Seconds between two, so that pages come first.
PAUSE = 0.2


def warm_first() -> None:
    """What every visitor sees first."""
    _preview(DesignChoice())


def warm_others() -> threading.Thread:
    """What sliders lead to, in a thread of its own."""
    thread = threading.Thread(target=_warm_all, daemon=True, name="designstudio-warm")
    thread.start()
    return thread


def _warm_all() -> None:
    # Pages that are built when somebody looks bring their libraries along.
    for name in ("search", "fit", "power", "runs"):
        importlib.import_module(f"designstudio.dashboard.pages.{name}")
    for size in SIZES:
        for num in LEVELS:
            sigmas = [0.1 * (k + 1) for k in range(num)]
            _preview(DesignChoice(sigmas=sigmas, trials=[size // num] * num))
            time.sleep(PAUSE)


def _preview(choice: DesignChoice) -> None:
    try:
        preview_study(choice.to_study(fidelity="information"))
    except StudioError:
        # Nobody waits for this; the page will say it.
        return
