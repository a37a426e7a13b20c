"""designstudio: design and simulate experiments for Bayesian actor models, before any data are collected.

    import designstudio as ds

    result = ds.evaluate("study.toml")

Every name of `__all__` is public and is imported when it is first used: importing this package takes milliseconds, loads no
JAX and changes no setting. What is not in `__all__` is internal, and may change without notice.

Some rooms of the package have the name of a command: `ds.evaluate` is the command, and what is in the room is imported with
`from designstudio.evaluate.evaluate_study import ...`.
"""

import importlib
import sys
import types
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from designstudio.api import evaluate, fit, plan, plot, power, report, search
    from designstudio.core.configuration import configure
    from designstudio.core.presentation import AbstractResult
    from designstudio.errors import StudioError
    from designstudio.evaluate.curves import PowerCurves
    from designstudio.evaluate.evaluate_study import StudyResult
    from designstudio.evaluate.results import Evaluation
    from designstudio.fitting.empirical_fit import EmpiricalFit
    from designstudio.fitting.plan import Plan
    from designstudio.fitting.reading import read_data
    from designstudio.fitting.request import FitRequest
    from designstudio.inference.settings import FitSettings
    from designstudio.lab.formats import register_format
    from designstudio.metrics import register_metric
    from designstudio.model.costs import register_cost
    from designstudio.model.priors import register_prior
    from designstudio.runs.load import load_run
    from designstudio.search.search_result import SearchResult
    from designstudio.search.sweep import SweepResult
    from designstudio.study import Study, read_study, write_study
    from designstudio.study.design import Condition, Design, Stimuli
    from designstudio.study.stimuli import register_distribution

    __version__: str

# Where each public name is.
_PLACES = {
    "AbstractResult": "designstudio.core.presentation",
    "Condition": "designstudio.study.design",
    "Design": "designstudio.study.design",
    "EmpiricalFit": "designstudio.fitting.empirical_fit",
    "Evaluation": "designstudio.evaluate.results",
    "FitRequest": "designstudio.fitting.request",
    "FitSettings": "designstudio.inference.settings",
    "Plan": "designstudio.fitting.plan",
    "PowerCurves": "designstudio.evaluate.curves",
    "SearchResult": "designstudio.search.search_result",
    "Stimuli": "designstudio.study.design",
    "StudioError": "designstudio.errors",
    "Study": "designstudio.study",
    "StudyResult": "designstudio.evaluate.evaluate_study",
    "SweepResult": "designstudio.search.sweep",
    "configure": "designstudio.core.configuration",
    "evaluate": "designstudio.api",
    "fit": "designstudio.api",
    "load_run": "designstudio.runs.load",
    "plan": "designstudio.api",
    "plot": "designstudio.api",
    "power": "designstudio.api",
    "read_data": "designstudio.fitting.reading",
    "read_study": "designstudio.study",
    "register_cost": "designstudio.model.costs",
    "register_distribution": "designstudio.study.stimuli",
    "register_format": "designstudio.lab.formats",
    "register_metric": "designstudio.metrics",
    "register_prior": "designstudio.model.priors",
    "report": "designstudio.api",
    "search": "designstudio.api",
    "write_study": "designstudio.study",
}
__all__ = [
    "AbstractResult",
    "Condition",
    "Design",
    "EmpiricalFit",
    "Evaluation",
    "FitRequest",
    "FitSettings",
    "Plan",
    "PowerCurves",
    "SearchResult",
    "Stimuli",
    "StudioError",
    "Study",
    "StudyResult",
    "SweepResult",
    "__version__",
    "configure",
    "evaluate",
    "fit",
    "load_run",
    "plan",
    "plot",
    "power",
    "read_data",
    "read_study",
    "register_cost",
    "register_distribution",
    "register_format",
    "register_metric",
    "register_prior",
    "report",
    "search",
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
