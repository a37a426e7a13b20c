"""What `import designstudio as ds` offers: each command as one function.

A study, or data, may be given as an object or as a path. Every function leaves nothing behind unless a folder is named, and
what it returns shows itself on one screen.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from designstudio.evaluate.study import StudyResult
    from designstudio.study import Study


def evaluate(
    study: "Study | str | Path",
    *,
    fidelity: str | None = None,
    num_datasets: int | None = None,
    seed: int | None = None,
) -> "StudyResult":
    """Simulate, fit and score every design of a study.

    Args:
        study: the study, or the path of its file.
        fidelity: `information`, `importance`, `nuts` or `paper`; by default the study's.
        num_datasets: simulated participants for each design; by default the study's.
        seed: of everything random; by default the study's.

    Returns:
        Scores of all designs, and what they mean.
    """
    from designstudio.evaluate.study import evaluate_study  # noqa: PLC0415

    return evaluate_study(_read(study).replace(fidelity=fidelity, num_datasets=num_datasets, seed=seed))


def plot(result: Any, **options: Any) -> Any:
    """A result as HoloViews figure.

    Args:
        result: of any function of this module.
        options: of the figure of this kind of result; see the functions of `designstudio.viz.plots`.
    """
    from designstudio.viz.notebooks import enable_display  # noqa: PLC0415  (imports the plotting stack)
    from designstudio.viz.plots import plot_result  # noqa: PLC0415

    enable_display()
    return plot_result(result, **options)


def _read(study: "Study | str | Path") -> "Study":
    from designstudio.study import Study, read_study  # noqa: PLC0415

    return study if isinstance(study, Study) else read_study(Path(study))
