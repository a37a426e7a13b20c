"""All figures of fits to real data."""

import itertools
import re
from collections.abc import Mapping, Sequence

import holoviews as hv
import xarray as xr

from designstudio.fitting.empirical_fit import EmpiricalFit
from designstudio.fitting.plan import choose_cost
from designstudio.fitting.predict import compare_prior_means, infer_cost_function, predict_responses
from designstudio.inference.hierarchical import compute_shrinkage
from designstudio.inference.posterior import restore_posterior
from designstudio.model.family import DEFAULT_FAMILY
from designstudio.viz.cost_functions import draw_cost_functions
from designstudio.viz.estimates import SHARED, estimate_group, estimate_subjects, label_parameters
from designstudio.viz.families import name_cost
from designstudio.viz.model_comparison import draw_model_comparison, draw_subject_winners
from designstudio.viz.precision import draw_precision
from designstudio.viz.predictive import draw_predictive
from designstudio.viz.prior_means import draw_prior_means
from designstudio.viz.shrinkage import draw_shrinkage, list_medians
from designstudio.viz.subjects import draw_subjects
from designstudio.viz.theme import join_lines


def draw_fit(
    fit: EmpiricalFit, *, subjects: Sequence[str] | None = None, precision: xr.Dataset | None = None
) -> dict[str, hv.Layout]:
    """All figures of a fit, by name.

    Costs are compared if there are several, and shrinkage is shown where subjects were pooled.

    Args:
        fit: all fits to one set of data.
        subjects: whose responses are compared with those that the best cost predicts, by default all; the first
            of them has a figure of inferred costs.
        precision: planned and achieved, see `designstudio.fitting.plan.compare_precision`; it takes simulations, so it is
            drawn if it is given.

    Raises:
        UnknownNameError: if there is no such subject.
    """
    shown = fit.subjects if subjects is None else list(subjects)
    figures: dict[str, hv.Layout] = {}
    if fit.comparison is not None:
        figures["comparison"] = draw_model_comparison(fit.comparison, title=f"{fit.name}: costs compared")
        figures["winners"] = draw_subject_winners(fit.comparison, title=f"{fit.name}: best cost of each subject")
    for cost in fit.posteriors:
        figures[f"subjects_{cost}"] = draw_fit_subjects(fit, cost)
    for cost in fit.pooled:
        figures[f"shrinkage_{cost}"] = draw_fit_shrinkage(fit, cost)
    if all(DEFAULT_FAMILY.prior_location.name in model.free for model in fit.models.values()):
        figures["prior_means"] = draw_fit_prior_means(fit)
    for cost, subject in itertools.product(_find_best(fit), shown):
        figures[_name_file(figures, "predictive", cost, subject)] = draw_fit_predictive(fit, cost, subject)
    for subject in shown[:1]:
        figures[_name_file(figures, "cost_functions", subject)] = draw_fit_costs(fit, subject)
    if precision is not None:
        figures["precision"] = draw_precision(precision, title=f"{fit.name}: planned and achieved precision")
    return figures


def draw_fit_subjects(fit: EmpiricalFit, cost: str) -> hv.Layout:
    """All subjects under one cost: pooled, with the group, if they were pooled."""
    model = fit.models[cost]
    pooled, interval = fit.pooled.get(cost), fit.request.interval
    estimates = estimate_subjects(fit.posteriors[cost] if pooled is None else pooled, model, fit.scale, interval=interval)
    group = None if pooled is None else estimate_group(pooled, model, fit.scale, interval=interval)
    kind = "separate fits" if pooled is None else "pooled"
    labels = label_parameters(model, fit.scale.unit, fit.conditions)
    title = f"{fit.name}: {name_cost(cost)} cost, {kind}"
    return draw_subjects(estimates, labels, group=group, interval=interval, title=title)


def draw_fit_shrinkage(fit: EmpiricalFit, cost: str) -> hv.Layout:
    """What pooling has done under one cost, in the unit of the data."""
    model = fit.models[cost]
    shrinkage = compute_shrinkage(
        *(restore_posterior(trees[cost], model, fit.scale) for trees in (fit.posteriors, fit.pooled))
    )
    is_good = fit.pooled[cost]["diagnostics"].to_dataset()["is_good"]
    num_excluded = fit.pooled[cost]["excluded"].sizes["dataset"]
    excluded = f"{num_excluded} of {len(fit.subjects)} subjects have no usable separate fit" if num_excluded else ""
    return draw_shrinkage(
        shrinkage.assign(is_good=is_good.drop_vars("subject")),
        label_parameters(model, fit.scale.unit, fit.conditions),
        group=list_medians(estimate_group(fit.pooled[cost], model, fit.scale), fit.conditions),
        title=join_lines(f"{fit.name}: {name_cost(cost)} cost, what pooling does", excluded),
    )


def draw_fit_prior_means(fit: EmpiricalFit) -> hv.Layout:
    """Prior means of all subjects under all costs, and the mean stimulus."""
    stimuli, is_present = fit.trials["stimulus"].values, fit.trials["is_present"].values
    index = fit.trials["condition_index"].values
    own = {condition: stimuli[is_present & (index == k)] for k, condition in enumerate(fit.conditions)}
    own[SHARED] = stimuli[is_present]
    return draw_prior_means(
        compare_prior_means(fit),
        mean_stimuli={condition: float(values.mean()) for condition, values in own.items() if values.size},
        title=f"{fit.name}: prior mean under each cost",
    )


def draw_fit_predictive(fit: EmpiricalFit, cost: str, subject: str) -> hv.Layout:
    """Responses of a subject, and those that a cost predicts."""
    title = f"{fit.name}, subject {subject}: {name_cost(cost)} cost"
    return draw_predictive(predict_responses(fit, cost, subject), title=join_lines(title, _warn(fit, subject, [cost])))


def draw_fit_costs(fit: EmpiricalFit, subject: str) -> hv.Layout:
    """What every cost says about one subject."""
    functions = {cost: infer_cost_function(fit, cost, subject) for cost in fit.models}
    title = f"{fit.name}, subject {subject}: inferred costs"
    return draw_cost_functions(functions, title=join_lines(title, _warn(fit, subject, list(functions))))


def _find_best(fit: EmpiricalFit) -> list[str]:
    """The cost that predicts best; none if no subject could be fitted with all of them."""
    is_known = len(fit.models) == 1 or (fit.comparison is not None and fit.comparison.total["elpd"].notnull().any())
    return [choose_cost(fit)] if is_known else []


def _warn(fit: EmpiricalFit, subject: str, costs: Sequence[str]) -> str:
    """Which of these fits cannot be used; empty if all can."""
    failed = [failure for failure in fit.failures if failure.subject == subject and failure.cost in costs]
    return "; ".join(f"{name_cost(failure.cost)} has no usable fit ({failure.reason})" for failure in failed)


def _name_file(taken: Mapping[str, hv.Layout], *parts: str) -> str:
    """A name for a file of its own: labels of subjects may hold anything, and may differ only in what files cannot hold."""
    name = "_".join(re.sub(r"[^\w.-]+", "_", part) for part in parts)
    free, number = name, 2
    while free in taken:
        free, number = f"{name}_{number}", number + 1
    return free
