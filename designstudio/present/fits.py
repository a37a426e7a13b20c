"""All figures of fits to real data, as objects and as PNG and SVG files."""

import re
from collections.abc import Mapping
from pathlib import Path

import holoviews as hv
import numpy as np
import xarray as xr

from designstudio.empirical.results import EmpiricalFit
from designstudio.errors import UnknownNameError
from designstudio.fit.pooling import compute_shrinkage
from designstudio.present.cost_functions import draw_cost_functions
from designstudio.present.estimates import estimate_group, estimate_subjects, label_parameters, restore_posterior
from designstudio.present.families import name_cost
from designstudio.present.files import write_figures
from designstudio.present.model_comparison import draw_model_comparison, draw_subject_winners
from designstudio.present.precision import draw_precision
from designstudio.present.predictive import draw_predictive
from designstudio.present.prior_means import draw_prior_means
from designstudio.present.shrinkage import draw_shrinkage, list_medians
from designstudio.present.subjects import draw_subjects
from designstudio.present.theme import join_lines

# Results of one cost for one subject.
ByCostAndSubject = Mapping[tuple[str, str], xr.Dataset]


def write_fit_figures(fit: EmpiricalFit, folder: Path, **results: object) -> list[str]:
    """Write all figures of a fit into a folder; for the results see `draw_fit`. Returns the names of the PNG files."""
    return write_figures(draw_fit(fit, **results), folder)  # type: ignore[arg-type]


def draw_fit(
    fit: EmpiricalFit,
    *,
    predictions: ByCostAndSubject | None = None,
    cost_functions: ByCostAndSubject | None = None,
    prior_means: xr.Dataset | None = None,
    shrinkage: Mapping[str, xr.Dataset] | None = None,
    precision: xr.Dataset | None = None,
) -> dict[str, hv.Layout]:
    """Figures of a fit, by name; what is not given is not drawn.

    Args:
        fit: all fits to one set of data.
        predictions: see `draw_predictive`; a figure for each cost and subject.
        cost_functions: see `draw_cost_functions`; a figure for each subject, with all of its costs.
        prior_means: see `draw_prior_means`.
        shrinkage: of each cost, in the unit of the data; by default computed for all costs that were pooled.
        precision: planned and achieved; see `draw_precision`.
    """
    figures: dict[str, hv.Layout] = {}
    if fit.comparison is not None:
        figures["comparison"] = draw_model_comparison(fit.comparison, title=f"{fit.name}: costs compared")
        figures["winners"] = draw_subject_winners(fit.comparison, title=f"{fit.name}: costs compared, subject by subject")
    for cost in fit.posteriors:
        figures[f"subjects_{cost}"] = draw_fit_subjects(fit, cost)
    for cost in fit.pooled:
        given = (shrinkage or {}).get(cost)
        figures[f"shrinkage_{cost}"] = draw_fit_shrinkage(fit, cost, given)
    if prior_means is not None:
        present = fit.trials["is_present"].values
        figures["prior_means"] = draw_prior_means(
            prior_means,
            unit=fit.scale.unit,
            mean_stimulus=float(np.mean(fit.trials["stimulus"].values[present])),
            title=f"{fit.name}: prior mean under each cost",
        )
    for (cost, subject), predicted in (predictions or {}).items():
        figures[_name_file(figures, "predictive", cost, subject)] = draw_predictive(
            choose_subject(fit.trials, subject), predicted, title=f"{fit.name}, subject {subject}: {name_cost(cost)} cost"
        )
    for subject in dict.fromkeys(subject for _, subject in cost_functions or {}):
        functions = {cost: function for (cost, whose), function in (cost_functions or {}).items() if whose == subject}
        figures[_name_file(figures, "cost_functions", subject)] = draw_cost_functions(
            functions, title=f"{fit.name}, subject {subject}: inferred costs"
        )
    if precision is not None:
        figures["precision"] = draw_precision(precision, title=f"{fit.name}: planned and achieved precision")
    return figures


def draw_fit_subjects(fit: EmpiricalFit, cost: str) -> hv.Layout:
    """All subjects under one cost: pooled, with the group, if they were pooled."""
    model = fit.models[cost]
    pooled = fit.pooled.get(cost)
    estimates = estimate_subjects(fit.posteriors[cost] if pooled is None else pooled, model, fit.scale)
    group = None if pooled is None else estimate_group(pooled, model, fit.scale)
    kind = "separate fits" if pooled is None else "pooled"
    labels = label_parameters(model, fit.scale.unit, _list_conditions(fit))
    return draw_subjects(estimates, labels, group=group, title=f"{fit.name}: {name_cost(cost)} cost, {kind}")


def draw_fit_shrinkage(fit: EmpiricalFit, cost: str, shrinkage: xr.Dataset | None = None) -> hv.Layout:
    """What pooling has done under one cost, in the unit of the data."""
    model, conditions = fit.models[cost], _list_conditions(fit)
    if shrinkage is None:
        trees = (restore_posterior(tree[cost], model, fit.scale) for tree in (fit.posteriors, fit.pooled))
        shrinkage = compute_shrinkage(*trees)
        is_good = fit.pooled[cost]["diagnostics"].to_dataset()["is_good"]
        shrinkage = shrinkage.assign(is_good=is_good.drop_vars("subject"))
    num_excluded = fit.pooled[cost]["excluded"].sizes["dataset"]
    excluded = f"{num_excluded} of {len(fit.subjects)} subjects have no usable separate fit" if num_excluded else ""
    return draw_shrinkage(
        shrinkage,
        label_parameters(model, fit.scale.unit, conditions),
        group=list_medians(estimate_group(fit.pooled[cost], model, fit.scale), conditions),
        title=join_lines(f"{fit.name}: {name_cost(cost)} cost, what pooling does", excluded),
    )


def choose_subject(trials: xr.Dataset, subject: str) -> xr.Dataset:
    """The trials of one subject.

    Raises:
        UnknownNameError: if there is no such subject.
    """
    names = trials["subject"].values.astype(str).tolist()
    if subject not in names:
        raise UnknownNameError("subject", subject, names)
    return trials.isel(dataset=[names.index(subject)])


def _list_conditions(fit: EmpiricalFit) -> list[str]:
    return fit.trials["condition"].values.astype(str).tolist()


def _name_file(taken: Mapping[str, hv.Layout], *parts: str) -> str:
    """A name for a file of its own: labels of subjects may hold anything, and may differ only in what files cannot hold."""
    name = "_".join(re.sub(r"[^\w.-]+", "_", part) for part in parts)
    free, number = name, 2
    while free in taken:
        free, number = f"{name}_{number}", number + 1
    return free
