"""Which figure a result is drawn as: `result.plot()` and `designstudio.plot(result)`.

Each kind of result has a table of figures by name; the first is drawn unless another is asked for.
"""

import functools
from collections.abc import Callable, Mapping
from typing import Any

import holoviews as hv

from designstudio.errors import StudioError, UnknownNameError
from designstudio.evaluate.results import Evaluation
from designstudio.evaluate.study import StudyResult
from designstudio.viz.designs import draw_designs
from designstudio.viz.identifiability import draw_correlations
from designstudio.viz.recovery import draw_contraction, draw_coverage, draw_recovery


@functools.singledispatch
def plot_result(result: Any, **options: Any) -> hv.Layout:
    """A result as a figure.

    Args:
        result: of one of the commands.
        options: `figure`, the name of one of the figures of this kind of result, and what that figure takes.

    Raises:
        StudioError: if there is no figure of such a thing, or none of this name.
    """
    raise StudioError(f"There is no figure of a {type(result).__name__}: plot what evaluate, power, search or fit return.")


@plot_result.register
def plot_evaluations(result: StudyResult, figure: str = "recovery", **options: Any) -> hv.Layout:
    """Designs side by side: recovery, contraction, coverage, correlations or designs."""
    study = result.study
    summaries = {evaluation.design.name: evaluation.summaries for evaluation in result.evaluations}
    figures: Mapping[str, Callable[..., hv.Layout]] = {
        "recovery": functools.partial(draw_recovery, summaries, interval=study.interval, title="Posterior against truth"),
        "contraction": functools.partial(draw_contraction, summaries, title="Error against contraction"),
        "coverage": functools.partial(draw_coverage, summaries, interval=study.interval, title="Coverage of intervals"),
        "correlations": functools.partial(draw_correlations, summaries, title="Posterior correlations"),
        "designs": functools.partial(draw_designs, {d.name: d for d in study.designs}, title=study.title),
    }
    return _choose(figures, figure)(**options)


@plot_result.register
def plot_evaluation(result: Evaluation, figure: str = "recovery", **options: Any) -> hv.Layout:
    """One design, as designs side by side are drawn."""
    alone = StudyResult(result.study.replace(designs=(result.design,)), (result,), {}, ())
    return plot_evaluations(alone, figure, **options)


def _choose(figures: Mapping[str, Callable[..., hv.Layout]], name: str) -> Callable[..., hv.Layout]:
    if name not in figures:
        raise UnknownNameError("figure", name, figures)
    return figures[name]
