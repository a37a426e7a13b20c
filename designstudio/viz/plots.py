"""Which figure a result is drawn as: `result.plot()` and `designstudio.plot(result)`.

Each kind of result has a table of figures by name; the first is drawn unless another is asked for.
"""

import functools
import sys
from collections.abc import Callable, Mapping
from typing import Any

import holoviews as hv

from designstudio.errors import StudioError, UnknownNameError
from designstudio.evaluate.calibration import Calibration
from designstudio.evaluate.curves import PowerCurves
from designstudio.evaluate.evaluate_study import StudyResult
from designstudio.evaluate.results import Evaluation
from designstudio.fitting.empirical_fit import EmpiricalFit
from designstudio.fitting.plan import Plan, choose_cost
from designstudio.search.search_result import SearchResult
from designstudio.search.sweep import SweepResult
from designstudio.viz import theme  # noqa: F401  (registers the backends)
from designstudio.viz.calibration import draw_calibration
from designstudio.viz.designs import draw_designs
from designstudio.viz.fits import draw_fit_costs, draw_fit_predictive, draw_fit_subjects
from designstudio.viz.front import draw_front
from designstudio.viz.history import draw_history
from designstudio.viz.identifiability import draw_correlations
from designstudio.viz.model_comparison import draw_model_comparison, draw_subject_winners
from designstudio.viz.posteriors import draw_fit_posterior
from designstudio.viz.power import draw_power
from designstudio.viz.precision import draw_precision
from designstudio.viz.recovery import draw_contraction, draw_coverage, draw_recovery
from designstudio.viz.variables import draw_importance, draw_parallel


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


@plot_result.register
def plot_power(result: PowerCurves, **options: Any) -> hv.Layout:
    """A curve along one variable, or contours over participants and trials."""
    points = result.points
    goal = options.pop("goal", None)
    return draw_power(points if goal is None else points.sel(goal=[goal]), **options)


@plot_result.register
def plot_search(result: SearchResult, figure: str = "history", **options: Any) -> hv.Layout:
    """How the search went (history), its front, importance of variables, or all candidates (parallel)."""
    figures = {"history": draw_history, "front": draw_front, "importance": draw_importance, "parallel": draw_parallel}
    if len(result.objectives) < 2:
        del figures["front"]
    return _choose(figures, figure)(result, **options)


@plot_result.register
def plot_sweep(result: SweepResult, **options: Any) -> hv.Layout:
    """Power over the grid; see `plot_power`."""
    design = result.question.design(result.grid.design)
    return plot_power(PowerCurves(result.question, design, result.tabulate_power()), **options)


@plot_result.register
def plot_fit(
    result: EmpiricalFit, figure: str | None = None, *, cost: str | None = None, subject: str | None = None, **options: Any
) -> hv.Layout:
    """Which cost predicts best (comparison), subjects' estimates (subjects), or one subject (posterior, predictive, costs).

    Args:
        result: the fits.
        figure: by default `comparison` if several costs were fitted, else `subjects`.
        cost: of which; by default the one that predicts best.
        subject: of whom; by default the first.
        options: of the figure.
    """
    figure = figure or ("subjects" if result.comparison is None else "comparison")
    who = result.subjects[0] if subject is None else subject

    def chosen() -> str:
        return choose_cost(result, cost)

    figures: dict[str, Callable[..., hv.Layout]] = {
        "subjects": lambda **given: draw_fit_subjects(result, chosen(), **given),
        "posterior": lambda **given: draw_fit_posterior(result, chosen(), who, **given),
        "predictive": lambda **given: draw_fit_predictive(result, chosen(), who, **given),
        "costs": lambda **given: draw_fit_costs(result, who, **given),
    }
    if result.comparison is not None:
        comparison = result.comparison
        figures["comparison"] = lambda **given: draw_model_comparison(comparison, **{"title": result.name, **given})
        figures["winners"] = lambda **given: draw_subject_winners(comparison, **{"title": result.name, **given})
    return _choose(figures, figure)(**options)


@plot_result.register
def plot_plan(result: Plan, **options: Any) -> hv.Layout:
    """Planned against achieved precision."""
    if result.precision is None:
        raise StudioError("This plan was not compared with its pilot: plan with num_datasets of at least 10.")
    return draw_precision(result.precision, **{"title": f"{result.fit.name}: planned and achieved precision", **options})


@plot_result.register
def plot_calibration(result: Calibration, **options: Any) -> hv.Layout:
    """Ranks of the true values against uniform ones."""
    return draw_calibration(result.ranks, **{"title": f"Calibration of {result.cost}", **options})


def _choose(figures: Mapping[str, Callable[..., hv.Layout]], name: str) -> Callable[..., hv.Layout]:
    if name not in figures:
        raise UnknownNameError("figure", name, figures)
    return figures[name]


def enable_display() -> None:
    """Let a notebook show figures as pictures, which HoloViews does once its extension is loaded; nothing anywhere else."""
    ipython = sys.modules.get("IPython")
    if ipython is not None and ipython.get_ipython() is not None and not hv.extension._loaded:
        hv.extension("matplotlib", logo=False)
