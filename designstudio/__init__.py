"""designstudio: design and simulate experiments for Bayesian actor models, before any data are collected.

    import designstudio as ds

    result = ds.evaluate("study.toml")

Every name of `__all__` is public and is imported when it is first used: importing this package takes milliseconds, loads no
JAX and changes no setting. What is not in `__all__` is internal, and may change without notice.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from designstudio.core.configuration import configure
    from designstudio.errors import StudioError
    from designstudio.study import Study, read_study, write_study
    from designstudio.study.design import Condition, Design, Stimuli

    __version__: str

# Where each public name is.
_PLACES = {
    "Condition": "designstudio.study.design",
    "Design": "designstudio.study.design",
    "Stimuli": "designstudio.study.design",
    "StudioError": "designstudio.errors",
    "Study": "designstudio.study",
    "configure": "designstudio.core.configuration",
    "read_study": "designstudio.study",
    "write_study": "designstudio.study",
}
__all__ = [
    "Condition",
    "Design",
    "Stimuli",
    "StudioError",
    "Study",
    "__version__",
    "configure",
    "read_study",
    "write_study",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version  # noqa: PLC0415  (takes longer than all else here)

        value: Any = version(__name__)
    elif name in _PLACES:
        value = getattr(importlib.import_module(_PLACES[name]), name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
