"""Objectives of a design, estimated from the summaries of its data sets, in a form in which designs can race.

Every metric is a statistic with a weight for each data set, so its error and the pseudo-values by which two designs are
compared on the same data sets follow from leaving out one data set at a time.
"""

import math

import numpy as np
import xarray as xr

from designstudio.evaluate.goals import build_criterion
from designstudio.evaluate.information_gain import follows_analysis_model
from designstudio.evaluate.results import list_cost_parameters, list_prior_parameters
from designstudio.metrics import ALL, PRIOR_COST, AbstractPosteriorMetric, AbstractQuantityMetric
from designstudio.metrics.base import Statistic
from designstudio.metrics.failed import Failed
from designstudio.metrics.monte_carlo import FEWEST, UNDEFINED, MetricEstimate, Score, estimate_by_jackknife
from designstudio.metrics.posterior.information_gain import InformationGain
from designstudio.metrics.posterior.volume_ratio import VolumeRatio
from designstudio.metrics.power import Power
from designstudio.metrics.samples import find_quantities, sample_quantity, shape_posteriors
from designstudio.search.feasible import measure_design
from designstudio.study import Objective, Study
from designstudio.study.design import Design


def list_objectives(study: Study) -> tuple[Objective, ...]:
    """What the study's search is for; by default information on prior and cost, or on everything if one of them is known.

    Where participants do not follow the fitted model, the likelihood of their parameters means nothing: the volume does.
    """
    if study.search is not None and study.search.objectives:
        return study.search.objectives
    sides = (list_prior_parameters(study), list_cost_parameters(study))
    has_both = all(any(name not in study.analysis.known for name in names) for names in sides)
    name = (InformationGain if follows_analysis_model(study) else VolumeRatio).name
    return (Objective(name, (PRIOR_COST if has_both else ALL,)),)


def estimate_objective(
    objective: Objective, study: Study, design: Design, summaries: xr.Dataset, second: xr.Dataset | None = None
) -> MetricEstimate:
    """The value of an objective, with pseudo-values.

    Args:
        objective: which one.
        study: the question.
        design: of which.
        summaries: of the data sets that the objective is about: of participants without the effect, for false positives.
        second: summaries of a goal's second group, for the power to tell groups apart.
    """
    metric, is_good = objective.metric, summaries["is_good"].values
    if objective.is_of_design:
        return MetricEstimate(Score(measure_design(objective, design), 0.0), np.full(is_good.size, np.nan))
    if isinstance(metric, Failed):
        return metric.estimate(is_good)
    pseudo_values = np.full(is_good.size, np.nan)
    if is_good.sum() < FEWEST:
        return MetricEstimate(UNDEFINED, pseudo_values)
    if second is not None:
        is_good = is_good & second["is_good"].values
        second = second.isel(dataset=np.flatnonzero(is_good))
    good = summaries.isel(dataset=np.flatnonzero(is_good))
    (value, mcse), own = estimate_by_jackknife(_build_statistic(objective, study, design, good, second), int(is_good.sum()))
    pseudo_values[is_good] = -own if objective.is_larger_better else own
    if metric.is_size:
        value, mcse = math.exp(value), math.exp(value) * mcse
    return MetricEstimate(Score(value, mcse), pseudo_values)


def _build_statistic(
    objective: Objective, study: Study, design: Design, good: xr.Dataset, second: xr.Dataset | None
) -> Statistic:
    """The objective as a function of weights on the data sets, on the scale on which designs are compared."""
    metric = objective.metric
    if isinstance(metric, AbstractQuantityMetric):
        parts = [metric.compared(sample_quantity(good, name)) for name in find_quantities(good, *objective.of)]
        return lambda weights: np.mean([part(weights) for part in parts], axis=0)
    if isinstance(metric, AbstractPosteriorMetric):
        shape = shape_posteriors(good, list_prior_parameters(study), list_cost_parameters(study))
        return metric.statistic(shape.select_prior_and_cost() if objective.of == (PRIOR_COST,) else shape)
    goal = study.find_goal(objective)
    name = find_quantities(good, goal.quantity)[0]
    return Power().statistic(sample_quantity(good, name), build_criterion(study, goal, design, name, second))
