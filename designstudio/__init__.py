"""designstudio: design and simulate experiments for Bayesian actor models, before any data are collected.

    import designstudio as ds

    result = ds.evaluate("study.toml")

Every name of `__all__` is public and is imported when it is first used: importing this package takes milliseconds, loads no
JAX and changes no setting. What is not in `__all__` is internal, and may change without notice.

Some rooms of the package have the name of a command: `ds.evaluate` is the command, and what is in the room is imported with
`from designstudio.evaluate.study import ...`.
"""

import importlib
import sys
import types
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from designstudio.api import evaluate, plot
    from designstudio.core.configuration import configure
    from designstudio.errors import StudioError
    from designstudio.evaluate.results import Evaluation
    from designstudio.evaluate.study import StudyResult
    from designstudio.study import Study, read_study, write_study
    from designstudio.study.design import Condition, Design, Stimuli

    __version__: str

# Where each public name is.
_PLACES = {
    "Condition": "designstudio.study.design",
    "Design": "designstudio.study.design",
    "Evaluation": "designstudio.evaluate.results",
    "Stimuli": "designstudio.study.design",
    "StudioError": "designstudio.errors",
    "Study": "designstudio.study",
    "StudyResult": "designstudio.evaluate.study",
    "configure": "designstudio.core.configuration",
    "evaluate": "designstudio.api",
    "plot": "designstudio.api",
    "read_study": "designstudio.study",
    "write_study": "designstudio.study",
}
__all__ = [
    "Condition",
    "Design",
    "Evaluation",
    "Stimuli",
    "StudioError",
    "Study",
    "StudyResult",
    "__version__",
    "configure",
    "evaluate",
    "plot",
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


class _Package(types.ModuleType):
    """This package. Importing a room would put it in the place of the command that has the same name: that is left out."""

    def __setattr__(self, name: str, value: Any) -> None:
        if not (name in _PLACES and isinstance(value, types.ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
