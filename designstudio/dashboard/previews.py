"""Previews that were seen a moment ago are kept, for all visitors: sliders go back and forth, and everybody begins alike."""

import threading
from collections import OrderedDict

from designstudio.evaluate.preview import Preview, preview_design
from designstudio.study import Study

MOST_KEPT = 128

_kept: OrderedDict[str, Preview] = OrderedDict()
_lock = threading.Lock()


def preview_study(study: Study) -> Preview:
    """The preview of a study's first design. Visitors share it: nobody changes it.

    Raises:
        StudioError: if it cannot be computed.
    """
    key = study.identity
    with _lock:
        if key in _kept:
            _kept.move_to_end(key)
            return _kept[key]
    found = preview_design(study, study.designs[0])
    with _lock:
        _kept[key] = found
        if len(_kept) > MOST_KEPT:
            _kept.popitem(last=False)
    return found
